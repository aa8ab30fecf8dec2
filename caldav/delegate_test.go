package caldav_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestDelegationEndsWhileTheAnswerIsRead: a delegate who reads slowly sees no changes made after the delegation ended.
func TestDelegationEndsWhileTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		for i := range 24 { // two pages of the store, and many parts of the response
			h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/e%02d.ics", i), longEvent(i, "old"))
		}
		for _, ends := range []bool{false, true} {
			if _, err := h.service.AddDelegate(t.Context(), h.caller("alice"), "bob", calendar.ReadAccess); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), "REPORT", "/dav/calendars/alice/work/", strings.NewReader(
				`<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/>`+
					`</D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>`))
			r.Header.Set("Depth", "1")
			r.Header.Set("As", "bob")
			got, broken := h.read(t, r, func() {
				if ends {
					if err := h.service.RemoveDelegate(t.Context(), h.caller("alice"), "bob"); err != nil {
						t.Fatal(err)
					}
				}
				h.Pass(10 * time.Second)
			})
			if broken != ends || strings.Contains(got, "UID:e23") == ends {
				t.Errorf("ended %v: broken %v, %d bytes", ends, broken, len(got))
			}
		}
	})
}
