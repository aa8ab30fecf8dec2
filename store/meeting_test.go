package store

import (
	"fmt"
	"net/url"
	"os"
	"runtime"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// meeting has two processes on one Postgres, with the calendar "busy" of alice.
type meeting struct {
	*testing.T
	store, other *Store
	// program is the name of the first process in the database.
	program string
}

func newMeeting(t *testing.T) *meeting {
	t.Helper()
	m := &meeting{T: t}
	m.program = fmt.Sprintf("meeting-%d-%p", os.Getpid(), m)
	where := testdb.Postgres(t)
	named, err := url.Parse(where)
	m.fine(err)
	q := named.Query()
	q.Set("application_name", m.program)
	named.RawQuery = q.Encode()
	m.other = m.open(where)
	m.fine(m.other.Migrate(t.Context()))
	m.store = m.open(named.String())
	m.fine(m.other.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"))
	m.fine(m.other.Update(t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "busy", Owner: "alice", Segment: "busy"})
	}))
	return m
}

func (m *meeting) open(where string) *Store {
	m.Helper()
	s, err := Open(m.Context(), where, db.Options{})
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *meeting) fine(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func objectAt(
	in calendar.CalendarID, name calendar.ObjectName, uid calendar.UID, data string, at calendar.Version,
) calendar.Object {
	o := calendar.Object{Calendar: in, Name: name, Version: at, Data: []byte(data), Size: int64(len(data))}
	o.UID = uid
	return o
}

// waitsForLock returns when the first process waits for a lock of the database.
func (m *meeting) waitsForLock() {
	m.Helper()
	late := time.After(20 * time.Second)
	for {
		n, err := db.RowOf(m.Context(), m.other.db.Reads, db.ScanNumber,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`, m.program)
		m.fine(err)
		if n > 0 {
			return
		}
		select {
		case <-late:
			m.Fatal("the first process does not wait for a lock")
		default:
			runtime.Gosched()
		}
	}
}
