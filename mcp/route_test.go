package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestTheWayToTheStoreIsShort: anyone who reads how create_event comes from the door to the store, and its result back,
// opens twelve files at most.
func TestTheWayToTheStoreIsShort(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	route := &housetest.Route{Store: h.Store}
	middle, c := h.Middle(), h.config()
	middle.Store = route
	c.Service = service.New(middle)
	var made map[string]any
	use(t, h.open(t, c), "alice", "create_event", params{
		"calendar_id": home, "title": "Lunch",
		"start": "2026-03-03T12:00:00", "end": "2026-03-03T13:00:00",
	}, &made)
	const most = 13
	if files := route.Files(); len(files) < 4 || len(files) > most || !strings.Contains(strings.Join(files, " "),
		"/mcp/wire/gate.go") {
		t.Errorf("the way is through %d files, want %d at most: %q", len(files), most, files)
	}
}
