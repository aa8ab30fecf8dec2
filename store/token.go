package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// tokenColumns need tokens t and users u. Ids hold no space: the program makes them.
//
//nolint:gosec // G101: columns are no credentials
const tokenColumns = `t.id, t.user_id, u.name, t.name, t.scopes, t.bound, t.created, t.expires, t.used, t.revoked, t.tools,
	COALESCE((SELECT string_agg(b.calendar_id, ' ') FROM token_calendars b WHERE b.token_id = t.id), '')`

// tokenRow is a token as the columns have it.
type tokenRow struct {
	token                  auth.Token
	bound                  bool
	created                int64
	expires, used, revoked *int64
	calendars              string
	tools                  *string
}

func (r *tokenRow) fields() []any {
	t := &r.token
	return []any{
		&t.ID, &t.User, &t.UserName, &t.Name, &t.Scopes, &r.bound,
		&r.created, &r.expires, &r.used, &r.revoked, &r.tools, &r.calendars,
	}
}

func (r *tokenRow) result() auth.Token {
	t := r.token
	t.Created, t.Expires, t.LastUsed, t.Revoked = moment(r.created), maybe(r.expires), maybe(r.used), maybe(r.revoked)
	if r.bound {
		// Not nil, also when all of them are gone: the token must not become one for everything.
		t.Calendars = []calendar.CalendarID{}
	}
	for id := range strings.FieldsSeq(r.calendars) {
		t.Calendars = append(t.Calendars, calendar.CalendarID(id))
	}
	slices.Sort(t.Calendars)
	if r.tools != nil {
		t.Tools = []calendar.ToolName{}
		for name := range strings.FieldsSeq(*r.tools) {
			t.Tools = append(t.Tools, calendar.ToolName(name))
		}
	}
	return t
}

// toolsText writes the names as the column has them.
func toolsText(names []calendar.ToolName) *string {
	if names == nil {
		return nil
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(string(name) + " ")
	}
	text := strings.TrimSpace(b.String())
	return &text
}

// maybe is a time that may be never.
func maybe(seconds *int64) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return moment(*seconds)
}

// unlessZero is its inverse.
func unlessZero(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	seconds := t.Unix()
	return &seconds
}

func scanToken(row scanner) (auth.Token, error) {
	var r tokenRow
	err := row.Scan(r.fields()...)
	return r.result(), err
}

func scanTokenCredential(row scanner) (auth.Credential, error) {
	var c auth.Credential
	var created int64
	var r tokenRow
	err := row.Scan(slices.Concat([]any{&c.Hash}, userFields(&c.User, &created), r.fields())...)
	c.User.Created, c.Token = moment(created), r.result()
	return c, err
}

// TokenByID implements [auth.Store].
func (s *Store) TokenByID(ctx context.Context, id calendar.TokenID) (auth.Credential, error) {
	return rowOf(ctx, s.reads, scanTokenCredential, `SELECT t.hash, `+userColumns+`, `+tokenColumns+`
		FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1`, id)
}

// Tokens implements [auth.Store].
func (s *Store) Tokens(ctx context.Context, user calendar.UserID) ([]auth.Token, error) {
	return rowsOf(ctx, s.reads, scanToken, `SELECT `+tokenColumns+`
		FROM tokens t JOIN users u ON u.id = t.user_id
		WHERE t.user_id = $1 OR $1 = ''
		ORDER BY u.name, t.created, t.id`, user)
}

// InsertToken implements [auth.Store].
func (s *Store) InsertToken(ctx context.Context, token auth.Token, h auth.Hash) error {
	return s.transact(ctx, func(t *Tx) error {
		_, err := t.exec(ctx, `INSERT INTO tokens (id, user_id, name, hash, scopes, bound, created, expires, used, revoked, tools)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			token.ID, token.User, token.Name, h, token.Scopes, token.Calendars != nil, token.Created.Unix(),
			unlessZero(token.Expires), unlessZero(token.LastUsed), unlessZero(token.Revoked), toolsText(token.Tools))
		if err != nil {
			return err
		}
		for _, id := range token.Calendars {
			if err := t.bind(ctx, token.ID, id); err != nil {
				return err
			}
		}
		return t.credentialsChanged(ctx)
	})
}

// bind lets a token reach a live calendar.
func (t *Tx) bind(ctx context.Context, token calendar.TokenID, id calendar.CalendarID) error {
	return expectRow(t.exec(ctx, `INSERT INTO token_calendars (token_id, calendar_id)
		SELECT $1, id FROM calendars WHERE id = $2 AND trashed IS NULL`, token, id))
}

// RevokeToken implements [auth.Store].
func (s *Store) RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error {
	return s.transact(ctx, func(t *Tx) error {
		err := expectRow(t.exec(ctx, `UPDATE tokens SET revoked = COALESCE(revoked, $2) WHERE id = $1`, id, at.Unix()))
		if err != nil {
			return err
		}
		return t.credentialsChanged(ctx)
	})
}

// RevokeAll implements [auth.Store].
func (s *Store) RevokeAll(ctx context.Context, at time.Time) error {
	return s.transact(ctx, func(t *Tx) error {
		for _, text := range [...]string{
			`UPDATE tokens SET revoked = $1 WHERE revoked IS NULL`,
			`UPDATE links SET revoked = $1 WHERE revoked IS NULL`,
		} {
			if _, err := t.exec(ctx, text, at.Unix()); err != nil {
				return err
			}
		}
		return t.credentialsChanged(ctx)
	})
}

// TouchToken implements [auth.Store].
func (s *Store) TouchToken(ctx context.Context, id calendar.TokenID, at time.Time) error {
	_, err := s.write(ctx, `UPDATE tokens SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`, id, at.Unix())
	return err
}
