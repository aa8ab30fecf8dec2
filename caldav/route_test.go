package caldav_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestTheWayToTheStoreIsShort checks this for a PUT.
func TestTheWayToTheStoreIsShort(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	route := &housetest.Route{Store: h.Store}
	h.middle.Store = route
	h.remake(t, nil)
	h.must(t, "PUT /dav/calendars/alice/work/a.ics\nContent-Type: text/calendar", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"+
		"PRODID:-//x//EN\r\nBEGIN:VEVENT\r\n"+
		"UID:a\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260303T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	const most = 9
	if files := route.Files(); len(files) < 4 || len(files) > most ||
		!strings.Contains(strings.Join(files, " "), "/caldav/put.go") {
		t.Errorf("the way is through %d files, want %d at most: %q", len(files), most, files)
	}
}
