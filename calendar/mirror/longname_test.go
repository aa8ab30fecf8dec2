package mirror_test

import (
	"context"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// following counts the calendars whose new names, or rights, are taken over.
type following struct {
	mirror.Ledger
	n int
}

func (f *following) Follow(
	ctx context.Context, cal calendar.Calendar, m calendar.Mirror, name string, from calendar.Origin,
) error {
	f.n++
	return f.Ledger.Follow(ctx, cal, m, name, from)
}

// TestALongNameIsTakenOverOnce: a name of which a part only fits here, cut in the middle of a letter, is no new one
// each time.
func TestALongNameIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.name = "x" + strings.Repeat("é", calendar.MaxNameLength)
		cal := h.link()
		count := &following{Ledger: h.Ledger}
		h.Mirrors.Serve(count)
		h.must(h.refresh())
		if count.n != 0 {
			h.t.Error("the name that it was linked under is a new one")
		}
		h.model.name = "y" + h.model.name
		h.must(h.refresh())
		h.must(h.refresh())
		if count.n != 1 {
			h.t.Errorf("a new name is taken over %d times", count.n)
		}
		if got := h.as(h.alice.User.ID, cal).Name; !strings.HasPrefix(got, "yxé") ||
			!strings.HasPrefix(h.model.name, got) {
			h.t.Errorf("it is called %q", got)
		}
	})
}
