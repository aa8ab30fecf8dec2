package store

import (
	"context"
	"sync"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// fileMemory keeps what authentication reads of a SQLite file for as long as nothing is written to the file. A connection's data_version
// changes with each commit of any other connection, in this process or another one. So a credential that ended is noticed by the next
// request, as if it were read each time, and a request that comes between two writes needs no query of a table.
type fileMemory struct {
	mu      sync.Mutex
	version *db.FileVersion
	// of is the data_version at which the answers were read.
	of      int64
	answers map[stateKey]credentialState
}

// stateKey is what authentication asks for: a subject, and the calendar that the request names, "" for none.
type stateKey struct {
	auth.Subject
	at calendar.Segment
}

// credentialState is the answer. Own is the packed row of the calendar, nil if the user has none there.
type credentialState struct {
	generation int64
	user       calendar.UserID
	own        *string
}

// mostStates bounds the answers in memory.
const mostStates = 1000

// openFileMemory returns nil on Postgres.
func openFileMemory(ctx context.Context, d *db.DB) (*fileMemory, error) {
	version, err := d.FileVersion(ctx)
	if err != nil || version == nil {
		return nil, err
	}
	return &fileMemory{version: version, answers: map[stateKey]credentialState{}}, nil
}

func (m *fileMemory) close() error {
	if m == nil {
		return nil
	}
	return m.version.Close()
}

// recall returns an answer from memory, or reads it.
func (m *fileMemory) recall(ctx context.Context, key stateKey, read func() (credentialState, error)) (credentialState, error) {
	now, known, found, err := m.known(ctx, key)
	if err != nil || found {
		return known, err
	}
	answer, err := read()
	if err == nil {
		m.keep(now, key, answer)
	}
	return answer, err
}

// known returns the current data_version, and the answer from memory. A connection runs one statement at a time.
func (m *fileMemory) known(ctx context.Context, key stateKey) (now int64, known credentialState, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now, err = m.version.Now(ctx); err != nil {
		return 0, credentialState{}, false, err
	}
	if now == m.of {
		known, found = m.answers[key]
	}
	return now, known, found, nil
}

// keep keeps an answer that was read at a data_version or later. One of an earlier version than the others is dropped.
func (m *fileMemory) keep(now int64, key stateKey, answer credentialState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now > m.of || len(m.answers) >= mostStates {
		clear(m.answers)
		m.of = max(m.of, now)
	}
	if now == m.of {
		m.answers[key] = answer
	}
}
