package mirror_test

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// TestCreatedHereAndDeletedThere: Xandikos lists no deletion of an object that was created after the sync token (RFC
// 6578 §3.5.2 does not ask for it). Objects that are written here are such until the next sync.
func TestCreatedHereAndDeletedThere(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.silent, h.model.size = true, 100
		h.model.set("stays", "stays", event("stays", "Stays"))
		h.must(h.refresh())
		write := func(uid, title string) {
			h.t.Helper()
			_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{
				Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, title)),
			})
			h.must(err)
		}
		write("new", "New")
		write("new", "Changed")
		write("kept", "Kept")
		h.model.change(func() {
			for ref, o := range h.model.objects {
				if o.UID == "new" {
					delete(h.model.objects, ref)
					h.model.log = append(h.model.log, ref)
				}
			}
		})
		h.must(h.refresh())
		h.must(h.refresh())
		h.same(cal)
		calls := h.model.calls
		h.must(h.refresh())
		if n := h.model.calls - calls; n != 1 {
			h.t.Errorf("a later sync asks %d times", n)
		}
	})
}
