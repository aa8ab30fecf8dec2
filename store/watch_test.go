package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// await waits for a matching hint.
func await(t *testing.T, hints <-chan calendar.Hint, what string, like func(calendar.Hint) bool) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case hint := <-hints:
			if like(hint) {
				return
			}
		case <-late:
			t.Fatalf("%s: not heard of", what)
		}
	}
}

func everything(h calendar.Hint) bool { return h.Everything }

// TestWatchOutlivesPostgres: watchers get hints again when the database is back, first that they may have
// missed any change.
func TestWatchOutlivesPostgres(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	s, other := open(t, server.URL(), store.Options{}), open(t, server.URL(), store.Options{})
	prepare(t, other)
	hints := make(chan calendar.Hint, 1000)
	t.Cleanup(s.Watch(func(h calendar.Hint) { hints <- h }))
	await(t, hints, "the beginning", everything)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	away(t, other)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	comesBack(t, other)
	await(t, hints, "the database's return", everything)
	if _, err := put(t.Context(), other, "after"); err != nil {
		t.Fatal(err)
	}
	await(t, hints, "a write", func(h calendar.Hint) bool {
		return !h.Everything && slices.Contains(h.Calendars, theCalendar)
	})
}

// TestNobodyListensNobodyTells: NOTIFY serializes commits, so it is sent only while a process listens.
func TestNobodyListensNobodyTells(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t)
	s := open(t, url, store.Options{})
	prepare(t, s)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	var channel string
	if err := conn.QueryRow(t.Context(), `SELECT 'caldav_mcp_' || md5(current_schema())`).Scan(&channel); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "LISTEN "+channel); err != nil {
		t.Fatal(err)
	}
	heard := func(name string) string {
		t.Helper()
		writer, err := store.Open(t.Context(), url, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = put(t.Context(), writer, name)
		if err = errors.Join(err, writer.Close()); err != nil { // the end sends all hints
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SELECT pg_notify($1, 'mark')", channel); err != nil {
			t.Fatal(err)
		}
		n, err := conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n.Payload
	}
	if got := heard("a"); got != "mark" {
		t.Errorf("nobody watches, and there is told %s", got)
	}
	hints := make(chan calendar.Hint, 1000)
	t.Cleanup(s.Watch(func(h calendar.Hint) { hints <- h }))
	await(t, hints, "the beginning", everything)
	if got := heard("b"); !strings.Contains(got, string(theCalendar)) {
		t.Errorf("somebody watches, and there is told %s", got)
	}
}
