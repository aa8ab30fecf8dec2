package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// tokenColumns are the columns of tokens t with their users u. Ids hold no space: the program creates them.
var tokenColumns = columns[auth.Token]{
	{"t.id", func(t *auth.Token) any { return &t.ID }},
	{"t.user_id", func(t *auth.Token) any { return &t.User }},
	{"u.name", func(t *auth.Token) any { return &t.UserName }},
	{"t.name", func(t *auth.Token) any { return &t.Name }},
	{"t.scopes", func(t *auth.Token) any { return &t.Scopes }},
	{"t.created", func(t *auth.Token) any { return db.Seconds(&t.Created) }},
	{"t.expires", func(t *auth.Token) any { return db.Seconds(&t.Expires) }},
	{"t.used", func(t *auth.Token) any { return db.Seconds(&t.LastUsed) }},
	{"t.revoked", func(t *auth.Token) any { return db.Seconds(&t.Revoked) }},
	{"t.for_others", func(t *auth.Token) any { return &t.ForOthers }},
	{"t.rights", func(t *auth.Token) any { return rightsColumn{&t.Rights} }},
	{"t.tools", func(t *auth.Token) any { return db.Words(&t.Tools) }},
	{"t.client", func(t *auth.Token) any { return &t.Client }},
	{"t.resource", func(t *auth.Token) any { return &t.Resource }},
	// Not NULL for a bound token, even if all of its calendars are gone: it must not become valid for all
	// calendars.
	{
		`CASE WHEN t.bound THEN COALESCE((SELECT string_agg(b.calendar_id, ' ') FROM token_calendars b
			WHERE b.token_id = t.id), '') END`,
		func(t *auth.Token) any { return calendarIDs{&t.Calendars} },
	},
}

// rightsColumn is a column of rights by calendar.
type rightsColumn struct{ into *calendar.Rights }

// Scan implements [database/sql.Scanner].
func (r rightsColumn) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%T is no list of rights", value)
	}
	*r.into = calendar.ParseRights(text)
	return nil
}

// toolsText renders the names as stored.
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

var scanTokenCredential = db.ScanInto(func(c *auth.Credential) []any {
	return slices.Concat([]any{&c.Hash, &c.Seal}, userColumns.fields(&c.User), tokenColumns.fields(&c.Token))
})

// TokenByID implements [auth.Store].
func (s credentialStore) TokenByID(ctx context.Context, id calendar.TokenID) (auth.Credential, error) {
	return db.RowOf(ctx, s.db.Reads, scanTokenCredential,
		`SELECT t.hash, t.digest, `+userColumns.list()+`, `+tokenColumns.list()+`
		FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1`, id)
}

// Tokens implements [auth.Store].
func (s credentialStore) Tokens(ctx context.Context, user calendar.UserID) ([]auth.Token, error) {
	return db.RowsOf(ctx, s.db.Reads, tokenColumns.scan, `SELECT `+tokenColumns.list()+`
		FROM tokens t JOIN users u ON u.id = t.user_id
		WHERE t.user_id = $1 OR $1 = ''
		ORDER BY u.name, t.created, t.id`, user)
}

// InsertToken implements [auth.Store].
func (s credentialStore) InsertToken(ctx context.Context, token auth.Token, h auth.Hash, seal auth.Seal) error {
	return s.transact(ctx, func(t *transaction) error { return t.insertToken(ctx, token, h, seal) })
}

func (t *transaction) insertToken(ctx context.Context, token auth.Token, h auth.Hash, seal auth.Seal) error {
	err := t.Run(ctx, `INSERT INTO tokens (id, user_id, name, hash, scopes, bound, created, expires, used, revoked,
		tools, client, resource, digest, for_others, rights)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		token.ID, token.User, token.Name, h, token.Scopes, token.Calendars != nil, token.Created.Unix(),
		unlessZero(token.Expires), unlessZero(token.LastUsed), unlessZero(token.Revoked), toolsText(token.Tools),
		token.Client, token.Resource, seal, token.ForOthers, token.Rights.String())
	if err != nil {
		return err
	}
	for _, id := range token.Calendars {
		if err := t.bind(ctx, token.ID, id); err != nil {
			return err
		}
	}
	return t.credentialsChanged(ctx, token.User)
}

// bind grants a token access to a calendar that is not in the trash.
func (t *transaction) bind(ctx context.Context, token calendar.TokenID, id calendar.CalendarID) error {
	return db.ExpectRow(t.Exec(ctx, `INSERT INTO token_calendars (token_id, calendar_id)
		SELECT $1, id FROM calendars WHERE id = $2 AND trashed IS NULL`, token, id))
}

// RevokeToken implements [auth.Store].
func (s credentialStore) RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		of, err := db.RowOf(ctx, t, db.ScanText, `UPDATE tokens SET revoked = COALESCE(revoked, $2) WHERE id = $1
			RETURNING user_id`, id, at.Unix())
		if err != nil {
			return err
		}
		return t.credentialsChanged(ctx, calendar.UserID(of))
	})
}

// NarrowToken implements [auth.Store].
func (s credentialStore) NarrowToken(
	ctx context.Context, id calendar.TokenID, scopes calendar.Scope, calendars []calendar.CalendarID,
	rights calendar.Rights,
) error {
	return s.transact(ctx, func(t *transaction) error {
		var now calendar.Rights
		scan := db.ScanInto(func(of *calendar.UserID) []any { return []any{of, rightsColumn{&now}} })
		of, err := db.RowOf(ctx, t, scan, `UPDATE tokens SET scopes = scopes & $2 WHERE id = $1
			RETURNING user_id, rights`, id, scopes)
		if err != nil {
			return err
		}
		err = t.Run(ctx, `UPDATE tokens SET rights = $2 WHERE id = $1`, id, now.Least(rights).String())
		if err != nil {
			return err
		}
		if calendars != nil {
			if err := t.unbind(ctx, id, calendars); err != nil {
				return err
			}
		}
		return t.credentialsChanged(ctx, of)
	})
}

// unbind reduces a token's calendars to the given ones.
func (t *transaction) unbind(ctx context.Context, id calendar.TokenID, calendars []calendar.CalendarID) error {
	now, err := db.RowOf(ctx, t, tokenColumns.scan, `SELECT `+tokenColumns.list()+` FROM tokens t
		JOIN users u ON u.id = t.user_id WHERE t.id = $1`, id)
	if err != nil {
		return err
	}
	if now.Calendars == nil {
		if err := t.Run(ctx, `UPDATE tokens SET bound = TRUE WHERE id = $1`, id); err != nil {
			return err
		}
		for _, one := range calendars {
			if err := t.bind(ctx, id, one); err != nil {
				return err
			}
		}
		return nil
	}
	for _, one := range now.Calendars {
		if slices.Contains(calendars, one) {
			continue
		}
		if err := t.Run(ctx, `DELETE FROM token_calendars WHERE token_id = $1 AND calendar_id = $2`, id,
			one); err != nil {
			return err
		}
	}
	return nil
}

// RevokeAll implements [auth.Store].
func (s credentialStore) RevokeAll(ctx context.Context, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, text := range [...]string{
			`UPDATE tokens SET revoked = $1 WHERE revoked IS NULL`,
			`UPDATE links SET revoked = $1 WHERE revoked IS NULL`,
			// These rows keep no history. The condition holds for all of them; it is there because each
			// statement takes $1.
			`DELETE FROM sessions WHERE created <= $1`,
			`DELETE FROM vouchers WHERE created <= $1`,
			`UPDATE app_logins SET allowed = FALSE WHERE until > $1`,
		} {
			if err := t.Run(ctx, text, at.Unix()); err != nil {
				return err
			}
		}
		return t.allCredentialsChanged(ctx)
	})
}

// EndAccess implements [auth.Store].
func (s credentialStore) EndAccess(ctx context.Context, id calendar.UserID, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `UPDATE tokens SET revoked = $2 WHERE user_id = $1 AND revoked IS NULL`, id,
			at.Unix()); err != nil {
			return err
		}
		if err := t.Run(ctx, `DELETE FROM sessions WHERE user_id = $1`, id); err != nil {
			return err
		}
		if err := t.Run(ctx, dropCodes, id); err != nil {
			return err
		}
		if err := t.Run(ctx, `UPDATE app_logins SET allowed = FALSE WHERE user_id = $1`, id); err != nil {
			return err
		}
		if err := t.dropVouchers(ctx, id); err != nil {
			return err
		}
		return t.credentialsChanged(ctx, id)
	})
}

// TouchToken implements [auth.Store].
func (s credentialStore) TouchToken(ctx context.Context, id calendar.TokenID, at time.Time) error {
	return s.run(ctx, `UPDATE tokens SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`, id, at.Unix())
}

// SealToken implements [auth.Store].
func (s credentialStore) SealToken(ctx context.Context, id calendar.TokenID, seal auth.Seal) error {
	return s.run(ctx, `UPDATE tokens SET digest = $2 WHERE id = $1 AND digest = ''`, id, seal)
}

// selectAlong also selects the user's own calendar at $2, packed, or NULL.
var selectAlong = selectGeneration + `, u.id, (SELECT ` + packedOwn.selected + ` FROM calendars
	WHERE owner_id = u.id AND segment = $2 AND trashed IS NULL)`

// CredentialGeneration implements [auth.Store]. It also prefetches the calendar of [auth.Along].
func (s credentialStore) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	key := alongKey{of: of}
	along := auth.AlongOf(ctx)
	if along != nil {
		key.at = string(along.At)
	}
	read := s.db.Options.Now()
	found, err := s.alongs.Of(s.db, key, func() (alongRow, error) { return s.along(ctx, key) })
	if found.own != nil && err == nil {
		var cal calendar.Calendar
		if cal, err = unpackOwn(*found.own); err == nil {
			along.Answer(found.user, cal, read)
		}
	}
	return found.generation, err
}

// along reads a row of selectAlong.
func (s credentialStore) along(ctx context.Context, key alongKey) (alongRow, error) {
	from, subject := ofName, key.of.Name
	if key.of.Token != "" {
		from, subject = ofHolder, string(key.of.Token)
	}
	if key.at == "" {
		generation, err := db.RowOrNone(ctx, s.db.Brief, db.ScanNumber, selectGeneration+from, subject)
		return alongRow{generation: generation}, err
	}
	return db.RowOrNone(ctx, s.db.Brief, scanAlong, selectAlong+from, subject, key.at)
}

// alongKey is the question of a request: whose credentials, and which calendar, "" for none.
type alongKey struct {
	of auth.Subject
	at string
}

// alongRow is a row of selectAlong. Own is the packed row of the calendar, nil if the user has none there.
type alongRow struct {
	generation int64
	user       calendar.UserID
	own        *string
}

var scanAlong = db.ScanInto(func(r *alongRow) []any { return []any{&r.generation, &r.user, &r.own} })

// boundTo selects the users with a token bound to a calendar: they lose access when it is deleted.
const boundTo = ` WHERE id IN (SELECT t.user_id FROM tokens t JOIN token_calendars b ON b.token_id = t.id
	JOIN calendars c ON c.id = b.calendar_id WHERE `
