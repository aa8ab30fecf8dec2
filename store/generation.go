package store

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const (
	// ofName and ofHolder are where the user $1 is found whose generation is asked for.
	ofName   = ` FROM users u WHERE u.name = $1`
	ofHolder = ` FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1`

	selectGeneration = `SELECT u.credentials`
)

// selectAlong has the user's own calendar at $2 beside, packed, or NULL.
var selectAlong = selectGeneration + `, u.id, (SELECT ` + packedOwn.selected + ` FROM calendars
	WHERE owner_id = u.id AND segment = $2 AND trashed IS NULL)`

// CredentialGeneration implements [auth.Store]. It answers for the calendar of [auth.Along], too.
func (s *Store) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	along, key := auth.AlongOf(ctx), stateKey{Subject: of}
	if along != nil {
		key.at = along.At
	}
	at := s.options.Now()
	read := func() (credentialState, error) { return s.readState(ctx, key) }
	if s.memory != nil {
		ask := read
		read = func() (credentialState, error) { return s.memory.recall(ctx, key, ask) }
	}
	found, err := read()
	if found.own != nil && err == nil {
		var cal calendar.Calendar
		if cal, err = unpackOwn(*found.own); err == nil {
			along.Answer(found.user, cal, at)
		}
	}
	return found.generation, err
}

// readState reads what authentication asks for.
func (s *Store) readState(ctx context.Context, key stateKey) (credentialState, error) {
	from, by := foundBy(key.Subject)
	if key.at == "" {
		generation, err := rowOrNone(ctx, s.brief, scanNumber, selectGeneration+from, by)
		return credentialState{generation: generation}, err
	}
	return rowOrNone(ctx, s.brief, scanState, selectAlong+from, by, string(key.at))
}

// foundBy is where a user is found, and by what.
func foundBy(of auth.Subject) (from, key string) {
	if of.Token != "" {
		return ofHolder, string(of.Token)
	}
	return ofName, of.Name
}

var scanState = scanInto(func(r *credentialState) []any { return []any{&r.generation, &r.user, &r.own} })

// errProofStale says that the caller's credentials changed since the request was authenticated.
var errProofStale = &calendar.Error{Reason: calendar.Unavailable, Message: "your credentials keep changing"}

// provenStill returns the question for the generation of the caller's credentials, to be asked after a lock was waited for, and the judge
// of its answer.
func (t *Tx) provenStill(ctx context.Context) ([]question, func() error) {
	proof := auth.ProofOf(ctx)
	if proof == nil || t.moved {
		return nil, func() error { return nil }
	}
	var now []int64
	asked := question{takeAll(&now, scanNumber), `SELECT credentials FROM users WHERE id = $1`, []any{string(proof.User())}}
	return []question{asked}, func() error {
		if len(now) != 1 || now[0] != proof.Generation() {
			return errProofStale
		}
		return nil
	}
}

// moveGeneration follows the clock, in microseconds, so that after a backup was restored the next change
// does not meet a number that was used before; should the clock go back, the number still grows.
const moveGeneration = `UPDATE users SET credentials = CASE WHEN credentials < $1 THEN $1 ELSE credentials + 1 END`

// boundTo is for the users some of whose tokens are bound to a calendar, and reach one less when it goes.
const boundTo = ` WHERE id IN (SELECT t.user_id FROM tokens t JOIN token_calendars b ON b.token_id = t.id
	JOIN calendars c ON c.id = b.calendar_id WHERE `

// credentialsChanged moves the generation of one user on.
func (t *Tx) credentialsChanged(ctx context.Context, of calendar.UserID) error {
	return t.moveGeneration(ctx, moveGeneration+` WHERE id = $2`, of)
}

// allCredentialsChanged moves everybody's generation on.
func (t *Tx) allCredentialsChanged(ctx context.Context) error {
	return t.moveGeneration(ctx, moveGeneration)
}

func (t *Tx) moveGeneration(ctx context.Context, text string, args ...any) error {
	t.hint.Everything, t.moved = true, true
	return t.run(ctx, text, append([]any{t.store.options.Now().UnixMicro()}, args...)...)
}
