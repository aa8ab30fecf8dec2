package store

import (
	"context"
	"math/rand/v2"

	"caldav-mcp-server/calendar"
)

// SharingAtRandom has every other change on SQLite commit alone, and the others share a commit with those that wait.
func SharingAtRandom(o Options) Options {
	o.shares = func() bool { return rand.IntN(2) == 0 }
	return o
}

// ChangeWhileLocked locks a calendar, does something meanwhile, and then changes what its user's rights rest on.
func ChangeWhileLocked(ctx context.Context, s *Store, id calendar.CalendarID, of calendar.UserID, meanwhile func(), change string) error {
	return s.transact(ctx, func(tx *Tx) error {
		if _, err := tx.Advance(ctx, id); err != nil {
			return err
		}
		meanwhile()
		if change != "" {
			if err := tx.run(ctx, change); err != nil {
				return err
			}
		}
		return tx.credentialsChanged(ctx, of)
	})
}
