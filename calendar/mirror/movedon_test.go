package mirror_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// delayed does something before the next lease of a calendar is taken.
type delayed struct {
	calendar.Store
	do func()
}

func (s *delayed) Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error) {
	if do := s.do; do != nil && strings.HasPrefix(name, "mirror ") {
		s.do = nil
		do()
	}
	return s.Store.Lease(ctx, name, holder, now, until)
}

// TestAWriteThatWaitsIsCheckedAgain: a write waits until another process has synced the calendar, which brings a newer
// version. The version that the client has named is no longer the present one, so nothing is written to the source.
func TestAWriteThatWaitsIsCheckedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		when func(calendar.ETag) calendar.Precondition
		want calendar.Reason
	}{
		"If-Match": {func(e calendar.ETag) calendar.Precondition {
			return calendar.Precondition{Match: []calendar.ETag{e}}
		}, calendar.Stale},
		"If-None-Match": {nil, calendar.Stale},
		"none":          {func(calendar.ETag) calendar.Precondition { return calendar.Precondition{} }, 0},
	} {
		each(t, func(h *house) {
			cal := h.link()
			draft := calendar.Draft{Name: "a.ics", Data: []byte(event("a", "mine"))}
			if test.when != nil {
				first := calendar.Draft{Name: "a.ics", Data: []byte(event("a", "first"))}
				saved, err := h.Put(h.ctx, h.alice, cal, first)
				h.must(err)
				draft.When = test.when(saved.Object.ETag)
			} else {
				draft.When.NoneMatchAny = true
			}
			other := *h
			other.open()
			h.storing = func(s calendar.Store) calendar.Store {
				return &delayed{s, func() {
					h.model.change(func() {
						ref := ""
						if refs := h.model.refs(); len(refs) > 0 {
							ref = refs[0]
						}
						h.model.set(ref, "a", event("a", "theirs"))
					})
					h.must(other.refresh())
				}}
			}
			h.open()
			writes := h.model.writes
			_, err := h.Put(h.ctx, h.alice, cal, draft)
			if test.want == 0 {
				h.must(err)
				writes++
			} else if calendar.ReasonOf(err) != test.want {
				h.t.Errorf("%s: %v", name, err)
			}
			if h.model.writes != writes {
				h.t.Errorf("%s: the source was written %d times", name, h.model.writes-writes)
			}
			h.same(cal)
		})
	}
}
