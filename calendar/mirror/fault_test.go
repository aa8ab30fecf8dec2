package mirror_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
)

// TestAFaultIsBounded: what is kept of a broken object is short, the same at each look, and gone with it.
func TestAFaultIsBounded(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		h.model.feed = true
		h.model.change(func() {
			h.model.objects["bad"] = mirror.Object{
				Ref: "bad", Version: "1", UID: "bad", Fault: strings.Repeat("no", 5000),
			}
			h.model.log = append(h.model.log, "bad")
		})
		for range 2 {
			h.must(h.refresh())
			kept, err := h.Store.Mirrored(h.ctx, cal.ID, nil)
			h.must(err)
			if n := len(kept["bad"].Fault); len(kept) != 1 || n == 0 || n > 500 {
				h.t.Errorf("%d are kept, with %d bytes", len(kept), n)
			}
		}
		h.model.change(func() {
			delete(h.model.objects, "bad")
			h.model.log = append(h.model.log, "bad")
		})
		h.must(h.refresh())
		h.Pass(11 * time.Minute)
		h.must(h.refresh()) // an empty listing counts when it is repeated
		if kept, err := h.Store.Mirrored(h.ctx, cal.ID, nil); err != nil || len(kept) != 0 {
			h.t.Errorf("it is kept: %+v, %v", kept, err)
		}
	})
}
