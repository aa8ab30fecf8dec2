package store

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// upTo are the program's migrations before one.
func upTo(t *testing.T, end string) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*")
	if err != nil {
		t.Fatal(err)
	}
	old := fstest.MapFS{}
	for _, n := range names {
		data, err := fs.ReadFile(migrations.Files, n)
		if err != nil {
			t.Fatal(err)
		}
		if n < end {
			old[n] = &fstest.MapFile{Data: data}
		}
	}
	return old
}

// Shares from before there were invitations are accepted ones: nobody loses what they have, and
// owners see whom they share with.
func TestMigrateShares(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := bare(t, url, upTo(t, "0014"))
		migrate(t, s)
		err := s.transact(t.Context(), func(tx *Tx) error {
			return tx.script(t.Context(), `
				INSERT INTO users (id, name, display_name, email, timezone, created) VALUES ('a', 'ann', '', '', '', 0), ('b', 'bob', '', '', '', 0);
				INSERT INTO calendars (id, owner_id, segment, version, pruned, created, modified, name, kinds, transparent, timezone)
					VALUES ('c', 'a', 'work', 3, 0, 0, 0, 'Work', 'VEVENT', FALSE, 'UTC');
				INSERT INTO shares (calendar_id, user_id, access, created, own_name) VALUES ('c', 'b', 'read-write', 60, 'Hers');
				INSERT INTO journal (calendar_id, version, object, uid, change, at, user_id, token_id, agent)
					VALUES ('c', 1, '', '', 'created', 0, 'a', '', '');`)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.files = migrations.Files
		migrate(t, s)
		shares, err := s.Shares(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		want := []calendar.Share{{
			Calendar: "c", User: calendar.User{ID: "b", Name: "bob", Created: moment(0)}, Access: calendar.WriteAccess,
			Status: calendar.ShareAccepted, Created: moment(60),
		}}
		if diff := cmp.Diff(want, shares); diff != "" {
			t.Errorf("shares (-want +got):\n%s", diff)
		}
		his, err := s.Calendar(t.Context(), "b", "c")
		if err != nil || his.Access != calendar.WriteAccess || his.Name != "Hers" || !his.Transparent || his.Hidden {
			t.Errorf("his: %+v, %v", his, err)
		}
		hers, err := s.Calendar(t.Context(), "a", "c")
		if err != nil || !hers.Shared || hers.Transparent {
			t.Errorf("hers: %+v, %v", hers, err)
		}
		for line, err := range s.Lines(t.Context(), "c", calendar.EntryQuery{}) {
			if err != nil || line.Whom != "" || line.Given != calendar.NoAccess {
				t.Errorf("the journal: %+v, %v", line, err)
			}
		}
	})
}
