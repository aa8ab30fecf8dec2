package caldav_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestRoomPrincipal: programs find a room by a part of its name, and see its kind.
func TestRoomPrincipal(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.Admit(t, calendar.User{
			ID: "u-blue", Name: "blue", DisplayName: "Blue room", Email: "blue@example.com", Created: now,
			Room: calendar.Room{Kind: calendar.RoomToMeet},
		})
		for context, finds := range map[string]bool{
			"attendee": true, "location": true, "resource": false, "user": false,
		} {
			got := h.send(t, "REPORT /dav/principals/\nDepth: 0\nContent-Type: application/xml\nAs: bob",
				`<A:calendarserver-principal-search xmlns:A="http://calendarserver.org/ns/" context="`+context+
					`"><A:search-token>blu</A:search-token><A:prop xmlns:A="DAV:"><C:calendar-user-type `+
					`xmlns:C="urn:ietf:params:xml:ns:caldav"/><A:displayname/></A:prop></`+
					`A:calendarserver-principal-search>`).body
			for _, want := range []string{"/dav/principals/blue/", ">ROOM<", "Blue room"} {
				if strings.Contains(got, want) != finds {
					t.Errorf("as %s, whether %q is there: %s", context, want, got)
				}
			}
		}
	})
}
