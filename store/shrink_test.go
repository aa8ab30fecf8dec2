package store

import (
	"path/filepath"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// TestShrink: a file whose objects were deleted returns its space to the disk, except for some megabytes for
// the next writes.
func TestShrink(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	if err := s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
		t.Fatal(err)
	}
	pages := func() int64 {
		n, err := db.RowOf(t.Context(), s.db.Reads, db.ScanNumber, `SELECT page_count FROM pragma_page_count`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := s.Update(t.Context(), func(tx calendar.Tx) error {
		if err := tx.InsertCalendar(t.Context(),
			calendar.Calendar{ID: "work", Owner: "alice", Segment: "work"}); err != nil {
			return err
		}
		for i := range 16 {
			name := string(rune('a' + i))
			o := calendar.Object{
				Calendar: "work", Name: calendar.ObjectName(name), Version: calendar.Version(i + 2),
				Size: 1 << 20, Data: make([]byte, 1<<20),
				Derived: calendar.Derived{UID: calendar.UID(name), Kind: calendar.Event},
			}
			if err := tx.PutObject(t.Context(), o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	large := pages()
	if _, err := s.write(t.Context(), `DELETE FROM objects`); err != nil {
		t.Fatal(err)
	}
	if err := s.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if small := pages(); large < 4000 || small > large-2500 || small < leastFree/2 {
		t.Errorf("the file had %d pages and has %d", large, small)
	}
}
