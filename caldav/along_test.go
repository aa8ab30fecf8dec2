package caldav_test

import (
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestAlong: the requested calendar is prefetched with the credentials, and the request uses the result.
func TestAlong(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		var asked *auth.Along
		h.door = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = auth.AlongOf(r.Context()) })
		for path, want := range map[string]calendar.Segment{
			"/dav/calendars/alice/work/": "work", "/dav/calendars/alice/w%C3%B6rk/a.ics": "wörk",
			"/dav/calendars/alice/": "", "/dav/calendars/alice/inbox/": "", "/dav/principals/alice/": "",
			"/nowhere": "",
		} {
			h.send(t, "PROPFIND "+path, "")
			if (asked != nil) != (want != "") || asked != nil && asked.At != want {
				t.Errorf("%s: %+v is asked for along, want %q", path, asked, want)
			}
		}
		taken := calendar.Calendar{
			ID: "x", Segment: "work", Properties: calendar.Properties{Name: "asked along"},
			Access: calendar.OwnerAccess,
		}
		h.door = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			alice := h.users["alice"]
			auth.AlongOf(r.Context()).Answer(alice.ID, taken, h.Now())
			h.handler.ServeDAV(w, r, calendar.Caller{User: alice, Scopes: calendar.ScopeAll})
		})
		got := h.send(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0",
			`<propfind xmlns="DAV:"><prop><displayname/></prop></propfind>`)
		if !strings.Contains(got.body, taken.Name) {
			t.Errorf("what was asked along is not in the answer: %+v", got)
		}
	})
}
