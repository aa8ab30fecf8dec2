package store

import (
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
)

// TestMigrateKeepsAsking: a database with users keeps asking before shares take effect, unless its
// administrator has chosen otherwise. A new one does not ask.
func TestMigrateKeepsAsking(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		users bool
		set   map[string]string
		want  string
	}{
		"new":                    {want: ""},
		"with users":             {users: true, want: "true"},
		"asking by its own will": {users: true, set: map[string]string{"SHARES_NEED_ACCEPTANCE": "true"}, want: "true"},
		"not asking": {
			users: true, set: map[string]string{"SHARES_NEED_ACCEPTANCE": "false"},
			want: "false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.EachBlank(t, func(t *testing.T, url string) {
				s := bare(t, url, until(t, "0035"))
				migrate(t, s)
				if tt.users {
					if err := s.InsertUser(t.Context(), calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.ChangeSettings(t.Context(), tt.set, nil); err != nil {
					t.Fatal(err)
				}
				migrate(t, bare(t, url, migrations.Files))
				got, err := s.Settings(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				value := ""
				for _, one := range got {
					if one.Name == "SHARES_NEED_ACCEPTANCE" {
						value = one.Value
					}
				}
				if value != tt.want {
					t.Errorf("it says %q, want %q: %v", value, tt.want, got)
				}
			})
		})
	}
}
