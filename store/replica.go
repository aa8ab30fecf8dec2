package store

import (
	"context"
	"encoding/json"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// ReplicaOutcome is the outcome of a read that the replica could have answered.
type ReplicaOutcome = db.ReplicaOutcome

// The possible outcomes.
const (
	ReplicaAnswered = db.ReplicaAnswered
	ReplicaBehind   = db.ReplicaBehind
	ReplicaConflict = db.ReplicaConflict
	ReplicaSlow     = db.ReplicaSlow
	ReplicaAway     = db.ReplicaAway
	ReplicaPrimary  = db.ReplicaPrimary
	ReplicaOther    = db.ReplicaOther
	ReplicaFailed   = db.ReplicaFailed
	ReplicaPaused   = db.ReplicaPaused
)

// ReplicaOutcomes returns all outcomes.
func ReplicaOutcomes() []ReplicaOutcome { return db.ReplicaOutcomes() }

// selectState reports how a standby's calendars compare to $1, in epoch $2. If it is in recovery after the
// snapshot was taken, the snapshot holds only replayed changes. The query compares the stored epoch, which
// a promoted primary renews at once: the view "life" calls functions that fail on a standby.
const selectState = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'leads' WHEN epoch <> $2 THEN 'other'
	WHEN EXISTS (SELECT 1 FROM jsonb_to_recordset($1::jsonb) a (id text, version bigint, edition bigint)
		WHERE NOT EXISTS (
		SELECT 1 FROM calendars c WHERE c.id = a.id AND c.version = a.version AND c.edition = a.edition)) THEN 'behind'
	ELSE 'answered' END FROM meta WHERE id = 1`

// At implements [calendar.Store].
func (s objectStore) At(calendars ...calendar.Calendar) calendar.ObjectReader {
	if s.db.Replica == nil {
		return s.objectReader
	}
	left := false
	return objectReader{s.search, func(ctx context.Context, read func(db.Querier) error) error {
		if !left && s.db.Replica.Ask(ctx, hasState(calendars), read) {
			return nil
		}
		// Later reads by this reader must not go back in time from the primary's state.
		left = true
		return read(s.db.Reads)
	}}
}

// ReplicaLag returns how many bytes of changes the replica has not replayed yet. It fails if the replica does
// not follow the primary.
func (s *Store) ReplicaLag(ctx context.Context) (int64, error) {
	return s.db.ReplicaLag(ctx, func(ctx context.Context) (string, error) {
		epoch, err := s.Epoch(ctx)
		return string(epoch), err
	})
}

// ReplicaReads counts the outcomes of the reads that a replica could have answered; nil without a replica.
func (s *Store) ReplicaReads() map[ReplicaOutcome]int64 { return s.db.ReplicaOutcomes() }

// hasState asks how the replica's calendars compare to the given ones. It cannot have calendars of two epochs.
func hasState(of []calendar.Calendar) db.StateCheck {
	return func(ctx context.Context, at db.Querier) (ReplicaOutcome, error) { return compareState(ctx, at, of) }
}

func compareState(ctx context.Context, at db.Querier, of []calendar.Calendar) (ReplicaOutcome, error) {
	type state struct {
		ID      calendar.CalendarID `json:"id"`
		Version calendar.Version    `json:"version"`
		Edition calendar.Edition    `json:"edition"`
	}
	states := make([]state, len(of))
	for i, cal := range of {
		if states[i] = (state{cal.ID, cal.Version, cal.Edition}); cal.Epoch != of[0].Epoch {
			return db.ReplicaBehind, nil
		}
	}
	wanted, err := json.Marshal(states)
	if err != nil || len(of) == 0 {
		return db.ReplicaBehind, err
	}
	how, err := db.RowOf(ctx, at, db.ScanText, selectState, string(wanted), of[0].Epoch)
	return db.ReplicaOutcome(how), err
}

// Ability is a feature of Postgres that the store can do without.
type Ability = db.Ability

// Abilities tries the features that some databases lack; none on SQLite.
func (s *Store) Abilities(ctx context.Context) ([]Ability, error) { return s.db.Abilities(ctx) }
