package store

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	// ofName and ofHolder find the user whose generation is read, by name and by token.
	ofName   = ` FROM users u WHERE u.name = $1`
	ofHolder = ` FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1`

	selectGeneration = `SELECT u.credentials`
)

// selectAlong also selects the user's own calendar at $2, packed, or NULL.
var selectAlong = selectGeneration + `, u.id, (SELECT ` + packedOwn.selected + ` FROM calendars
	WHERE owner_id = u.id AND segment = $2 AND trashed IS NULL)`

// CredentialGeneration implements [auth.Store]. It also prefetches the calendar of [auth.Along].
func (s credentialStore) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	from, key := foundBy(of)
	along := auth.AlongOf(ctx)
	if along == nil {
		return db.RowOrNone(ctx, s.db.Brief, db.ScanNumber, selectGeneration+from, key)
	}
	read := s.db.Options.Now()
	found, err := db.RowOrNone(ctx, s.db.Brief, scanAlong, selectAlong+from, key, string(along.At))
	if found.own != nil && err == nil {
		var cal calendar.Calendar
		if cal, err = unpackOwn(*found.own); err == nil {
			along.Answer(found.user, cal, read)
		}
	}
	return found.generation, err
}

// foundBy returns the FROM clause that finds the user, and its argument.
func foundBy(of auth.Subject) (from, key string) {
	if of.Token != "" {
		return ofHolder, string(of.Token)
	}
	return ofName, of.Name
}

// alongRow is a row of selectAlong. Own is the packed row of the calendar, nil if the user has none there.
type alongRow struct {
	generation int64
	user       calendar.UserID
	own        *string
}

var scanAlong = db.ScanInto(func(r *alongRow) []any { return []any{&r.generation, &r.user, &r.own} })

// errProofStale reports that the caller's credentials changed after the request was authenticated.
var errProofStale = &calendar.Error{Reason: calendar.Unavailable, Message: "your credentials keep changing"}

// provenStill returns the query for the generation of the caller's credentials, and the function that checks
// its answer. The query runs after the wait for a lock.
func (t *transaction) provenStill(ctx context.Context) ([]db.Question, func() error) {
	proof := auth.ProofOf(ctx)
	if proof == nil || t.moved {
		return nil, func() error { return nil }
	}
	var now []int64
	asked := db.Question{Take: db.TakeAll(&now, db.ScanNumber), Text: `SELECT credentials FROM users WHERE id = $1`, Args: []any{string(proof.User())}}
	return []db.Question{asked}, func() error {
		if len(now) != 1 || now[0] != proof.Generation() {
			return errProofStale
		}
		return nil
	}
}

// moveGeneration follows the clock, in microseconds. So after a restore from a backup, the next change does not
// reuse an old number. If the clock goes back, the number still grows.
const moveGeneration = `UPDATE users SET credentials = CASE WHEN credentials < $1 THEN $1 ELSE credentials + 1 END`

// boundTo selects the users with a token bound to a calendar: they lose access when it is deleted.
const boundTo = ` WHERE id IN (SELECT t.user_id FROM tokens t JOIN token_calendars b ON b.token_id = t.id
	JOIN calendars c ON c.id = b.calendar_id WHERE `

// credentialsChanged advances one user's generation.
func (t *transaction) credentialsChanged(ctx context.Context, of calendar.UserID) error {
	return t.moveGeneration(ctx, moveGeneration+` WHERE id = $2`, of)
}

// allCredentialsChanged advances every user's generation.
func (t *transaction) allCredentialsChanged(ctx context.Context) error {
	return t.moveGeneration(ctx, moveGeneration)
}

func (t *transaction) moveGeneration(ctx context.Context, text string, args ...any) error {
	t.hint.Everything, t.moved = true, true
	return t.Run(ctx, text, append([]any{t.store.db.Options.Now().UnixMicro()}, args...)...)
}
