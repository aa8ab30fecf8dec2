package store

import (
	"context"
	"math/rand/v2"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// SharingAtRandom makes changes on SQLite commit alone or in a batch, at random.
func SharingAtRandom(o db.Options) db.Options {
	o.Shares = func() bool { return rand.IntN(2) == 0 }
	return o
}

// ChangeWhileLocked locks a calendar, runs a function meanwhile, and then makes a change that depends on its
// user's rights.
func ChangeWhileLocked(
	ctx context.Context, s *Store, id calendar.CalendarID, of calendar.UserID, meanwhile func(), change string,
) error {
	return s.update(ctx, func(tx *Tx) error {
		if _, err := tx.Advance(ctx, id); err != nil {
			return err
		}
		meanwhile()
		if change != "" {
			if err := tx.Run(ctx, change); err != nil {
				return err
			}
		}
		return tx.credentialsChanged(ctx, of)
	})
}
