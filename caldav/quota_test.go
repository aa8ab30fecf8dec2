package caldav_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// RFC 4331: an owner sees used and available bytes, a sharee does not. A write beyond the quota is refused with 507
// and the rule.
func TestQuota(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		ask := func(at, as string) string {
			return h.must(t, "PROPFIND "+at+"\nDepth: 0\nContent-Type: application/xml\nAs: "+as,
				`<propfind xmlns="DAV:"><prop><quota-used-bytes/><quota-available-bytes/></prop></propfind>`).body
		}
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		text := event("a", "x")
		used, left := fmt.Sprintf("quota-used-bytes>%d<", len(text)), fmt.Sprintf("quota-available-bytes>%d<",
			500-len(text))
		h.must(t, "PUT /dav/calendars/alice/work/a.ics\nContent-Type: text/calendar", text)
		if body := ask("/dav/calendars/alice/", "alice"); !strings.Contains(body, used) ||
			!strings.Contains(body, "<d:quota-available-bytes/>") {
			t.Errorf("without a bound (%d bytes): %s", len(text), body)
		}
		h.middle.Quota = calendar.Quota{Bytes: 500, Calendars: 1}
		h.remake(t, nil)
		for _, at := range []string{"/dav/calendars/alice/", "/dav/calendars/alice/work/"} {
			if body := ask(at, "alice"); !strings.Contains(body, used) || !strings.Contains(body, left) {
				t.Errorf("%s: %s", at, body)
			}
		}
		if body := ask("/dav/calendars/alice/", "alice bound"); strings.Contains(body, used) {
			t.Errorf("a token for other calendars learns: %s", body)
		}
		for head, body := range map[string]string{
			"PUT /dav/calendars/alice/work/b.ics\nContent-Type: text/calendar": event("b", strings.Repeat("y", 200)),
			"MKCALENDAR /dav/calendars/alice/more/":                            "",
		} {
			r := h.send(t, head, body)
			if r.status != http.StatusInsufficientStorage || !strings.Contains(r.body, "<d:quota-not-exceeded/>") {
				t.Errorf("%s: %d %s", head, r.status, r.body)
			}
		}
	})
}
