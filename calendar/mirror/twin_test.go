package mirror_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// asked counts the queries for hidden objects.
type asked struct {
	calendar.Store
	queries int
}

func (s *asked) MirroredUIDs(
	ctx context.Context, id calendar.CalendarID, uids []calendar.UID,
) (map[calendar.UID]bool, error) {
	if len(uids) > 0 {
		s.queries++
	}
	return s.Store.MirroredUIDs(ctx, id, uids)
}

func (s *asked) MirroredByUID(
	ctx context.Context, id calendar.CalendarID, uid calendar.UID,
) (calendar.Mirrored, error) {
	s.queries++
	return s.Store.MirroredByUID(ctx, id, uid)
}

// TestManyHiddenObjects: a sync asks once about all objects that are hidden, not once about each.
func TestManyHiddenObjects(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		counted := &asked{Store: h.Store}
		h.openOn(counted)
		cal := h.link()
		h.model.size = 100
		set := func(copies int) {
			h.model.change(func() {
				for i := range 20 {
					for n := range 2 {
						ref := strconv.Itoa(i) + "-" + strconv.Itoa(n)
						h.model.log = append(h.model.log, ref)
						if n < copies {
							h.model.objects[ref] = mirror.Object{
								Ref: ref, Version: "1", UID: "u" + strconv.Itoa(i),
								Data: []byte(event("u"+strconv.Itoa(i), "One of two")),
							}
						}
					}
				}
			})
		}
		sync := func(want int) {
			h.t.Helper()
			counted.queries = 0
			h.must(h.refresh())
			if n := len(h.texts(cal)); n != 20 || counted.queries > want {
				h.t.Errorf("%d objects are shown after %d queries", n, counted.queries)
			}
		}
		set(2)
		sync(1)
		sync(1)
		state, err := h.Store.Mirror(h.ctx, cal.ID)
		h.must(err)
		if state.Faults != 20 {
			h.t.Errorf("%d objects are hidden", state.Faults)
		}
	})
}

// TestSameUIDTwice: of two objects at the source with one UID, one is shown. The account says that the other is kept
// out, and shows it when the first is gone, with and without a listing of everything.
func TestSameUIDTwice(t *testing.T) {
	t.Parallel()
	for _, feed := range []bool{false, true} {
		each(t, func(h *house) {
			cal := h.link()
			h.model.feed, h.model.size = feed, 10
			there := func(ref, title string) {
				h.model.change(func() {
					delete(h.model.objects, ref)
					if title != "" {
						h.model.objects[ref] = mirror.Object{
							Ref: ref, Version: title, UID: "u", Data: []byte(event("u", title)),
						}
					}
					h.model.log = append(h.model.log, ref)
				})
				h.must(h.refresh())
			}
			shown := func(what, title string, faults int64) {
				h.t.Helper()
				state, err := h.Store.Mirror(h.ctx, cal.ID)
				h.must(err)
				text := h.texts(cal)["u"]
				if state.Faults != faults || !strings.Contains(text, "SUMMARY:"+title) {
					h.t.Errorf("feed %v, %s: %d kept out, and shown is\n%s", feed, what, state.Faults, text)
				}
			}
			there("a", "First")
			shown("one", "First", 0)
			there("b", "Second")
			shown("two", "Second", 1)
			h.must(h.refresh())
			shown("two, looked at again", "Second", 1)
			kept, err := h.Store.Mirrored(h.ctx, cal.ID, []string{"a"})
			h.must(err)
			if why := kept["a"].Fault; why != "it has the same UID as b, which is shown instead" {
				h.t.Errorf("kept out because %q", why)
			}
			there("b", "")
			h.must(h.refresh())
			shown("the first alone", "First", 0)
			if feed {
				return // an empty listing deletes nothing at first
			}
			there("a", "")
			if _, still := h.texts(cal)["u"]; still {
				h.t.Error("neither is there, and one is shown")
			}
		})
	}
}
