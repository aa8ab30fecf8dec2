package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// suggestionStore holds the changes that assistants propose.
type suggestionStore struct{ *database }

// suggestedParts is a column of parts as JSON.
type suggestedParts struct{ into *[]calendar.SuggestedPart }

// Scan implements [database/sql.Scanner].
func (p suggestedParts) Scan(value any) error {
	data, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("%T is not a list of suggested changes", value)
	}
	return json.Unmarshal(data, p.into)
}

var suggestionColumns = columns[calendar.Suggestion]{
	{"s.id", func(s *calendar.Suggestion) any { return &s.ID }},
	{"s.user_id", func(s *calendar.Suggestion) any { return &s.User }},
	{"s.token_id", func(s *calendar.Suggestion) any { return &s.Maker.Token }},
	{"s.agent", func(s *calendar.Suggestion) any { return &s.Maker.Agent }},
	{"s.state", func(s *calendar.Suggestion) any { return &s.State }},
	{"s.created", func(s *calendar.Suggestion) any { return db.Seconds(&s.Created) }},
	{"s.expires", func(s *calendar.Suggestion) any { return db.Seconds(&s.Expires) }},
	{"s.told", func(s *calendar.Suggestion) any { return &s.Told }},
	{"s.parts", func(s *calendar.Suggestion) any { return suggestedParts{&s.Parts} }},
}

// selectSuggestions selects the suggestions of user $1 that have not expired at $2.
var selectSuggestions = `SELECT ` + suggestionColumns.list() + ` FROM suggestions s
	JOIN tokens t ON t.id = s.token_id AND t.revoked IS NULL WHERE s.user_id = $1 AND s.expires > $2`

// InsertSuggestion implements [calendar.Suggestions]. It also deletes expired ones.
func (s suggestionStore) InsertSuggestion(
	ctx context.Context, one calendar.Suggestion, most calendar.SuggestionLimits,
) error {
	parts, err := json.Marshal(one.Parts)
	if err != nil {
		return err
	}
	return s.transact(ctx, func(t *transaction) error {
		// Two calls must not both find the last place free.
		_, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM users WHERE id = $1`+t.Of().LockRows, one.User)
		if err != nil {
			return err
		}
		_, err = db.RowOf(ctx, t, db.ScanText,
			`SELECT id FROM tokens WHERE id = $1 AND revoked IS NULL`, one.Maker.Token)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, `DELETE FROM suggestions WHERE expires <= $1`, one.Created.Unix()); err != nil {
			return err
		}
		var number, bytes int64
		_, err = db.RowOf(ctx, t, db.ScanInto(func(*struct{}) []any { return []any{&number, &bytes} }),
			`SELECT COALESCE(SUM(CASE WHEN token_id = $2 THEN 1 ELSE 0 END), 0), COALESCE(CAST(SUM(size) AS BIGINT), 0)
				FROM suggestions WHERE user_id = $1 AND state = 'open'`, one.User, one.Maker.Token)
		if err != nil {
			return err
		}
		if number >= most.Number || bytes+int64(len(parts)) > most.Bytes {
			return calendar.Errorf(calendar.TooLarge, "", "too many proposals are open, or they are too large").
				Advising("withdraw some, or wait until the user has decided about them")
		}
		return t.Run(ctx, `INSERT INTO suggestions (id, user_id, token_id, agent, state, created, expires, size,
			parts, told) VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8, FALSE)`, one.ID, one.User, one.Maker.Token,
			one.Maker.Agent, one.Created.Unix(), one.Expires.Unix(), len(parts), parts)
	})
}

// Suggestions implements [calendar.Suggestions].
func (s suggestionStore) Suggestions(
	ctx context.Context, user calendar.UserID, now time.Time,
) ([]calendar.Suggestion, error) {
	return db.RowsOf(ctx, s.db.Reads, suggestionColumns.scan, selectSuggestions+` ORDER BY s.created, s.id`, user,
		now.Unix())
}

// Suggestion implements [calendar.Suggestions].
func (s suggestionStore) Suggestion(
	ctx context.Context, user calendar.UserID, id calendar.SuggestionID, now time.Time,
) (calendar.Suggestion, error) {
	return db.RowOf(ctx, s.db.Reads, suggestionColumns.scan, selectSuggestions+`
		AND s.state = 'open' AND s.id = $3`, user, now.Unix(), id)
}

const decideSuggestion = `UPDATE suggestions SET state = $3, size = 0, parts = $4
	WHERE user_id = $1 AND id = $2 AND state = 'open'`

// noParts are the parts of a suggestion that is decided.
var noParts = []byte("[]")

// DeclineSuggestion implements [calendar.Suggestions].
func (s suggestionStore) DeclineSuggestion(
	ctx context.Context, user calendar.UserID, id calendar.SuggestionID,
) error {
	return db.ExpectRow(s.write(ctx, decideSuggestion, user, id, calendar.SuggestionDeclined, noParts))
}

// DeleteSuggestion implements [calendar.Suggestions].
func (s suggestionStore) DeleteSuggestion(
	ctx context.Context, user calendar.UserID, id calendar.SuggestionID,
) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM suggestions WHERE user_id = $1 AND id = $2 AND state = 'open'`, user,
		id))
}

// AcceptSuggestion implements [calendar.SuggestionKeeper].
func (t *transaction) AcceptSuggestion(ctx context.Context, user calendar.UserID, id calendar.SuggestionID) error {
	return db.ExpectRow(t.Exec(ctx, decideSuggestion, user, id, calendar.SuggestionAccepted, noParts))
}
