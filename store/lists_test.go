package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// TestListsTakeNoLane: a query whose size a user determines does not delay the queries of others.
func TestListsTakeNoLane(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), testdb.Postgres(t), db.Options{MaxConns: 3}) // with one lane
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var held sync.WaitGroup
	taken, release := make(chan struct{}), make(chan struct{})
	held.Go(func() {
		err := db.Each(t.Context(), s.db.Brief, func(db.Scanner) (bool, error) {
			close(taken)
			<-release
			return false, nil
		}, `SELECT 1`)
		if err != nil {
			t.Error(err)
		}
	})
	<-taken
	for name, list := range map[string]func() error{
		"Calendars": func() error { _, err := s.Calendars(ctx, "ann"); return err },
		"Home":      func() error { _, err := s.Home(ctx, "ann"); return err },
		"OwnParts":  func() error { _, err := s.OwnParts(ctx, "work", "ann", 0, true); return err },
		"DeadProperties": func() error {
			_, err := s.DeadProperties(ctx, calendar.Holder{User: "ann"})
			return err
		},
		"DeadPropertiesInHome": func() error { _, err := s.DeadPropertiesInHome(ctx, "ann"); return err },
		"DeadPropertyHolders":  func() error { _, err := s.DeadPropertyHolders(ctx, "work"); return err },
	} {
		if err := list(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(release)
	held.Wait()
}
