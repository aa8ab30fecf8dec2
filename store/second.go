package store

import (
	"context"
	"encoding/json"

	"caldav-mcp-server/calendar"
)

// standing reports how a standby's calendars compare to $1, in epoch $2. If it is in recovery after the
// snapshot was taken, the snapshot holds only replayed changes. The query compares the stored epoch, which
// a promoted primary renews at once: the view "life" calls functions that fail on a standby.
const standing = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'leads' WHEN epoch <> $2 THEN 'other'
	WHEN EXISTS (SELECT 1 FROM jsonb_to_recordset($1::jsonb) a (id text, version bigint, edition bigint) WHERE NOT EXISTS (
		SELECT 1 FROM calendars c WHERE c.id = a.id AND c.version = a.version AND c.edition = a.edition)) THEN 'behind'
	ELSE 'answered' END FROM meta WHERE id = 1`

// At implements [calendar.Store].
func (s *Store) At(calendars ...calendar.Calendar) calendar.ObjectReader {
	if s.db.second == nil {
		return s.objectReader
	}
	left := false
	return objectReader{s.search, func(ctx context.Context, read func(querier) error) error {
		if !left && s.db.second.ask(ctx, standsAt(calendars), read) {
			return nil
		}
		// Later reads by this reader must not go back in time from the primary's state.
		left = true
		return read(s.db.reads)
	}}
}

// SecondBehind returns how many bytes of changes the replica has not replayed yet. It fails if the replica does
// not follow the primary.
func (s *Store) SecondBehind(ctx context.Context) (int64, error) {
	return s.db.secondBehind(ctx, func(ctx context.Context) (string, error) {
		epoch, err := s.Epoch(ctx)
		return string(epoch), err
	})
}

// Second counts the outcomes of the reads that a replica could have answered; nil without a replica.
func (s *Store) Second() map[SecondOutcome]int64 { return s.db.tally() }

// standsAt asks how the replica's calendars compare to the given ones. It cannot have calendars of two epochs.
func standsAt(of []calendar.Calendar) stander {
	return func(ctx context.Context, at querier) (SecondOutcome, error) { return stands(ctx, at, of) }
}

func stands(ctx context.Context, at querier, of []calendar.Calendar) (SecondOutcome, error) {
	type state struct {
		ID      calendar.CalendarID `json:"id"`
		Version calendar.Version    `json:"version"`
		Edition calendar.Edition    `json:"edition"`
	}
	states := make([]state, len(of))
	for i, cal := range of {
		if states[i] = (state{cal.ID, cal.Version, cal.Edition}); cal.Epoch != of[0].Epoch {
			return SecondBehind, nil
		}
	}
	wanted, err := json.Marshal(states)
	if err != nil || len(of) == 0 {
		return SecondBehind, err
	}
	how, err := rowOf(ctx, at, scanText, standing, string(wanted), of[0].Epoch)
	return SecondOutcome(how), err
}
