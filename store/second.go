package store

import (
	"context"
	"encoding/json"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// SecondOutcome is the outcome of a read that the replica could have answered.
type SecondOutcome = db.SecondOutcome

// The possible outcomes.
const (
	SecondAnswered = db.SecondAnswered
	SecondBehind   = db.SecondBehind
	SecondConflict = db.SecondConflict
	SecondSlow     = db.SecondSlow
	SecondAway     = db.SecondAway
	SecondLeads    = db.SecondLeads
	SecondOther    = db.SecondOther
	SecondFailed   = db.SecondFailed
	SecondResting  = db.SecondResting
)

// SecondOutcomes returns all outcomes.
func SecondOutcomes() []SecondOutcome { return db.SecondOutcomes() }

// standing reports how a standby's calendars compare to $1, in epoch $2. If it is in recovery after the
// snapshot was taken, the snapshot holds only replayed changes. The query compares the stored epoch, which
// a promoted primary renews at once: the view "life" calls functions that fail on a standby.
const standing = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'leads' WHEN epoch <> $2 THEN 'other'
	WHEN EXISTS (SELECT 1 FROM jsonb_to_recordset($1::jsonb) a (id text, version bigint, edition bigint) WHERE NOT EXISTS (
		SELECT 1 FROM calendars c WHERE c.id = a.id AND c.version = a.version AND c.edition = a.edition)) THEN 'behind'
	ELSE 'answered' END FROM meta WHERE id = 1`

// At implements [calendar.Store].
func (s objectStore) At(calendars ...calendar.Calendar) calendar.ObjectReader {
	if s.db.Second == nil {
		return s.objectReader
	}
	left := false
	return objectReader{s.search, func(ctx context.Context, read func(db.Querier) error) error {
		if !left && s.db.Second.Ask(ctx, standsAt(calendars), read) {
			return nil
		}
		// Later reads by this reader must not go back in time from the primary's state.
		left = true
		return read(s.db.Reads)
	}}
}

// SecondBehind returns how many bytes of changes the replica has not replayed yet. It fails if the replica does
// not follow the primary.
func (s *Store) SecondBehind(ctx context.Context) (int64, error) {
	return s.db.SecondBehind(ctx, func(ctx context.Context) (string, error) {
		epoch, err := s.Epoch(ctx)
		return string(epoch), err
	})
}

// Second counts the outcomes of the reads that a replica could have answered; nil without a replica.
func (s *Store) Second() map[SecondOutcome]int64 { return s.db.Tally() }

// standsAt asks how the replica's calendars compare to the given ones. It cannot have calendars of two epochs.
func standsAt(of []calendar.Calendar) db.Stander {
	return func(ctx context.Context, at db.Querier) (SecondOutcome, error) { return stands(ctx, at, of) }
}

func stands(ctx context.Context, at db.Querier, of []calendar.Calendar) (SecondOutcome, error) {
	type state struct {
		ID      calendar.CalendarID `json:"id"`
		Version calendar.Version    `json:"version"`
		Edition calendar.Edition    `json:"edition"`
	}
	states := make([]state, len(of))
	for i, cal := range of {
		if states[i] = (state{cal.ID, cal.Version, cal.Edition}); cal.Epoch != of[0].Epoch {
			return db.SecondBehind, nil
		}
	}
	wanted, err := json.Marshal(states)
	if err != nil || len(of) == 0 {
		return db.SecondBehind, err
	}
	how, err := db.RowOf(ctx, at, db.ScanText, standing, string(wanted), of[0].Epoch)
	return db.SecondOutcome(how), err
}
