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

// alongOver is selectAlong, by where the user is found, for an object that is to be written: each row has beside one that lies at the name
// $3 there, or has the UID $4. What is large is left out: nobody knows yet whether whoever asks may see it.
var alongOver = map[string]string{ofName: selectAlongOver(ofName), ofHolder: selectAlongOver(ofHolder)}

func selectAlongOver(from string) string {
	return `SELECT u.credentials, u.id, c.own, o.object, o.data FROM (SELECT u.*` + from + `) u
		LEFT JOIN LATERAL (SELECT calendars.id, ` + packedOwn.selected + ` FROM calendars
			WHERE owner_id = u.id AND segment = $2 AND trashed IS NULL) c (id, own) ON TRUE
		LEFT JOIN LATERAL (SELECT ` + lightColumns + ` FROM objects WHERE calendar_id = c.id AND name = $3
			UNION ALL SELECT ` + lightColumns + ` FROM objects
				WHERE calendar_id = c.id AND uid = $4 AND NOT deleted AND name <> $3) o (object, data) ON TRUE`
}

// CredentialGeneration implements [auth.Store]. It answers for the calendar of [auth.Along], too.
func (s *Store) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	from, key := foundBy(of)
	along := auth.AlongOf(ctx)
	if along == nil {
		return rowOrNone(ctx, s.brief, scanNumber, selectGeneration+from, key)
	}
	if along.Object != "" && s.engine.early {
		return s.generationOver(ctx, along, from, key)
	}
	read := s.options.Now()
	found, err := rowOrNone(ctx, s.brief, scanAlong, selectAlong+from, key, string(along.At))
	if found.own != nil && err == nil {
		var cal calendar.Calendar
		if cal, err = unpackOwn(*found.own); err == nil {
			along.Answer(found.user, cal, read)
		}
	}
	return found.generation, err
}

// foundBy is where a user is found, and by what.
func foundBy(of auth.Subject) (from, key string) {
	if of.Token != "" {
		return ofHolder, string(of.Token)
	}
	return ofName, of.Name
}

// generationOver answers for the object that is to be written, as well.
func (s *Store) generationOver(ctx context.Context, along *auth.Along, from, key string) (int64, error) {
	there, read := auth.Stored{Mark: s.marks.Load()}, s.options.Now()
	rows, err := rowsOf(ctx, s.brief, scanOver, alongOver[from], key, string(along.At), string(along.Object), string(suggestedUID(along.Object)))
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	first := rows[0]
	if first.own == nil {
		return first.generation, nil
	}
	if there.Calendar, err = unpackOwn(*first.own); err != nil {
		return 0, err
	}
	along.Answer(first.user, there.Calendar, read)
	for _, row := range rows {
		if row.object == nil {
			continue // nothing is there
		}
		if row.data == nil {
			return first.generation, nil // it is large
		}
		if err := addStored(&there, packedRow{*row.object, row.data}); err != nil {
			return 0, err
		}
	}
	along.AnswerOver(there)
	return first.generation, nil
}

// overRow is a row of selectAlongOver.
type overRow struct {
	alongRow
	object *string
	data   []byte
}

var scanOver = scanInto(func(r *overRow) []any { return []any{&r.generation, &r.user, &r.own, &r.object, &r.data} })

// alongRow is a row of selectAlong.
type alongRow struct {
	generation int64
	user       calendar.UserID
	own        *string
}

var scanAlong = scanInto(func(r *alongRow) []any { return []any{&r.generation, &r.user, &r.own} })

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
	t.hint.Everything = true
	return t.run(ctx, text, append([]any{t.store.options.Now().UnixMicro()}, args...)...)
}
