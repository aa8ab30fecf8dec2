package mcp

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/calendar"
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

// objectReads counts the reads of single objects.
type objectReads struct {
	calendar.Store
	n atomic.Int64
}

func (r *objectReads) Object(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName,
) (calendar.Object, error) {
	r.n.Add(1)
	return r.Store.Object(ctx, cal, name)
}

func (r *objectReads) ObjectByUID(
	ctx context.Context, cal calendar.CalendarID, uid calendar.UID,
) (calendar.Object, error) {
	r.n.Add(1)
	return r.Store.ObjectByUID(ctx, cal, uid)
}

// TestNewObjectsAreNotReadBack: the results of create_event and create_task come from the change, not from the store.
func TestNewObjectsAreNotReadBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	middle, c := h.Middle(), h.config()
	reads := &objectReads{Store: middle.Store}
	middle.Store = reads
	c.Service = service.New(middle)
	door := h.open(t, c)
	var made map[string]any
	for tool, args := range map[string]params{
		"create_event": {
			"calendar_id": home, "title": "Lunch", "start": "2026-03-03T12:00:00",
			"end": "2026-03-03T13:00:00", "rrule": "FREQ=WEEKLY",
		},
		"create_task": {"calendar_id": home, "title": "Report"},
	} {
		use(t, door, "alice", tool, args, &made)
		if n := reads.n.Swap(0); n != 0 || made["uid"] == nil {
			t.Errorf("%s read %d objects, and made %v", tool, n, made)
		}
	}
	h.put(t, work, "standup", wrapped(calendar.Event, "standup", "DTSTART:20260302T080000Z", "SUMMARY:Standup"))
	use(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": "standup"}, &made)
	if reads.n.Load() == 0 {
		t.Error("the reads are not counted")
	}
}
