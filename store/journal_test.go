package store

import (
	"bytes"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestJournalPagesHoldFewBytes: texts before changes may be large, and memory holds a whole page of them.
func TestJournalPagesHoldFewBytes(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		ctx, s := t.Context(), openMigrated(t, url)
		cal := calendar.Calendar{
			ID: "work", Owner: "u", Segment: "s",
			Properties: calendar.Properties{Kinds: calendar.AllKinds()},
		}
		if err := s.InsertUser(ctx, calendar.User{ID: "u", Name: "u"}, "hash"); err != nil {
			t.Fatal(err)
		}
		const many, size = 5, pageBytes/2 + 1
		err := s.Update(ctx, func(tx calendar.Tx) error {
			if err := tx.InsertCalendar(ctx, cal); err != nil {
				return err
			}
			for v := range calendar.Version(many) {
				line := calendar.Change{
					Calendar: cal.ID, Version: v + 1, Object: "a", UID: "a",
					Did: calendar.Modified, Before: bytes.Repeat([]byte("x"), size),
				}
				if err := tx.Log(ctx, line); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		q := calendar.JournalQuery{WithBefore: true}
		text, args := journalWhere(cal.ID, q, many, 64)
		page, more, err := journalPage(ctx, s.db.Reads, 64, selectWithBefore+text, args...)
		if err != nil || len(page) != 2 || !more {
			t.Errorf("a page has %d changes of %d bytes, more %v, %v", len(page), size, more, err)
		}
		read := 0
		for c, err := range s.Journal(ctx, cal.ID, q) {
			if err != nil || len(c.Before) != size || c.Version != calendar.Version(many-read) {
				t.Fatalf("change %d has %d bytes: %v", c.Version, len(c.Before), err)
			}
			read++
		}
		if read != many {
			t.Errorf("%d of %d changes were read", read, many)
		}
	})
}
