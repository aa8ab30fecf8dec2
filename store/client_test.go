package store

import (
	"cmp"
	"context"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestCrowdKeepsWhoIsLetInMeanwhile: the oldest idle client gets a grant while Crowd looks for a client to
// delete, and is kept.
func TestCrowdKeepsWhoIsLetInMeanwhile(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s, ctx, now := openMigrated(t, url), t.Context(), time.Unix(1_800_000_000, 0)
		client := func(id auth.ClientID, age time.Duration) error {
			return s.PutClient(ctx, oauth.Client{
				ID: id, Kind: oauth.Registered, Name: "Claude",
				Method: oauth.NoSecret, Created: now.Add(-age),
			})
		}
		if err := cmp.Or(s.InsertUser(ctx, calendar.User{ID: "alice", Name: "alice"}, "hash"),
			client("old", 3*time.Hour), client("other", 2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		grant := auth.Token{ID: "grant", User: "alice", Name: "Claude", Client: "old", Created: now}
		overlap(t, s, func(tx *Tx) error {
			return cmp.Or(tx.insertToken(ctx, grant, "", ""), tx.noteClient(ctx, "old", now))
		}, func(ctx context.Context) error {
			return s.Crowd(ctx, oauth.Registered,
				oauth.Bounds{Now: now, Unused: 24 * time.Hour, Idle: 24 * time.Hour, Most: 1, Soon: time.Hour})
		})
		left, err := s.Clients(ctx)
		if err != nil || len(left) != 1 || left[0].ID != "old" {
			t.Errorf("there are %v, %v", left, err)
		}
	})
}
