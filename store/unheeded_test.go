package store

import (
	"testing"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// TestUnheededRow: if a change ignores the error of a deferred row, it is not committed.
func TestUnheededRow(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s, o := busyWith(t, url)
		err := s.update(t.Context(), func(tx *Tx) error {
			twin := o
			twin.Name = "b.ics" // with the UID of the first
			if err := written(t.Context(), tx, twin); err != nil {
				return err
			}
			if _, err := db.RowOf(t.Context(), tx, db.ScanNumber, `SELECT COUNT(*) FROM objects`); err == nil {
				t.Error("a UID is there twice")
			}
			return nil
		})
		if err == nil {
			t.Error("a change of which a row was refused is kept")
		}
	})
}
