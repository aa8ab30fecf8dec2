package store

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// TestProposalsOfBefore: proposals stored before inboxes had the column for the method are found.
func TestProposalsOfBefore(t *testing.T) {
	t.Parallel()
	older := fstest.MapFS{}
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < "0022_inbox_method" {
			older[name] = &fstest.MapFile{Data: text}
		}
	}
	testdb.EachBlank(t, func(t *testing.T, url string) {
		s := bare(t, url, older)
		migrate(t, s)
		user := calendar.User{ID: "ann", Name: "ann"}
		if err := s.InsertUser(t.Context(), user, ""); err != nil {
			t.Fatal(err)
		}
		err := s.update(t.Context(), func(tx *Tx) error {
			for name, text := range map[string]string{
				"one": "BEGIN:VCALENDAR\r\nMETHOD:COUNTER\r\n",
				"two": "BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nCOMMENT:METHOD:COUNTER\r\n",
			} {
				if _, err := tx.Exec(t.Context(), `INSERT INTO inbox_items (user_id, name, version, created, data)
					VALUES ($1, $2, 1, 1, $3)`, user.ID, name, []byte(text)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s = bare(t, url, migrations.Files)
		migrate(t, s)
		all, err := s.Proposals(t.Context(), user.ID, 9)
		if err != nil || len(all) != 1 || all[0].Name != "one" {
			t.Errorf("found %+v: %v", all, err)
		}
	})
}
