package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const userColumns = `u.id, u.name, u.display_name, u.email, u.timezone, u.created`

// userFields are where the userColumns go.
func userFields(u *calendar.User, created *int64) []any {
	return []any{&u.ID, &u.Name, &u.DisplayName, &u.Email, &u.Timezone, created}
}

func scanUser(row scanner) (calendar.User, error) {
	var u calendar.User
	var created int64
	err := row.Scan(userFields(&u, &created)...)
	u.Created = moment(created)
	return u, err
}

// moment is a time as the program has it.
func moment(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// Users implements [auth.Store].
func (s *Store) Users(ctx context.Context) ([]calendar.User, error) {
	return rowsOf(ctx, s.reads, scanUser, `SELECT `+userColumns+` FROM users u ORDER BY u.name`)
}

// UserByName implements [calendar.Store] and [auth.Store].
func (s *Store) UserByName(ctx context.Context, name string) (calendar.User, error) {
	return rowOf(ctx, s.reads, scanUser, `SELECT `+userColumns+` FROM users u WHERE u.name = $1`, name)
}

// InsertUser implements [auth.Store].
func (s *Store) InsertUser(ctx context.Context, u calendar.User, h auth.Hash) error {
	return s.transact(ctx, func(t *Tx) error {
		_, err := t.exec(ctx, `INSERT INTO users (id, name, display_name, email, timezone, created)
			VALUES ($1, $2, $3, $4, $5, $6)`,
			u.ID, u.Name, u.DisplayName, u.Email, u.Timezone, u.Created.Unix())
		if err != nil {
			return err
		}
		return t.setPassword(ctx, u.ID, h)
	})
}

// ChangeUser implements [auth.Store]. What is remembered of credentials says whose they are, so that it goes.
func (s *Store) ChangeUser(ctx context.Context, id calendar.UserID, e auth.UserEdit) error {
	return s.transact(ctx, func(t *Tx) error {
		err := expectRow(t.exec(ctx, `UPDATE users SET display_name = COALESCE($2, display_name), email = COALESCE($3, email),
			timezone = COALESCE($4, timezone) WHERE id = $1`, id, e.DisplayName, e.Email, e.Timezone))
		if err != nil {
			return err
		}
		return t.credentialsChanged(ctx)
	})
}

// DeleteUser implements [auth.Store]. What is theirs goes by the foreign keys; what others were
// told of calendars that they shared with each other has their name in it, and goes as well.
func (s *Store) DeleteUser(ctx context.Context, id calendar.UserID) error {
	return s.transact(ctx, func(t *Tx) error {
		shares, err := rowsOf(ctx, t, scanParties, selectParties, id)
		if err != nil {
			return err
		}
		if err := t.advanceShared(ctx, id); err != nil {
			return err
		}
		if err := expectRow(t.exec(ctx, `DELETE FROM users WHERE id = $1`, id)); err != nil {
			return err
		}
		if err := t.untell(ctx, id, shares); err != nil {
			return err
		}
		return t.credentialsChanged(ctx)
	})
}

// advanceShared moves the calendars on of which a user was offered something, so that their owners'
// programs hear that there is one person less. The order is that of their locks, see calendar.Tx.
func (t *Tx) advanceShared(ctx context.Context, user calendar.UserID) error {
	shared, err := rowsOf(ctx, t, func(row scanner) (id calendar.CalendarID, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT calendar_id FROM invitations WHERE user_id = $1 ORDER BY calendar_id`, user)
	if err != nil {
		return err
	}
	for _, id := range shared {
		// Of one in the trash nobody sees whom it was shared with.
		if _, err := t.Advance(ctx, id); err != nil && calendar.ReasonOf(err) != calendar.NotFound {
			return err
		}
	}
	return nil
}

// parties are the two between whom there is a share.
type parties struct {
	share calendar.Share
	owner calendar.UserID
}

// selectParties is in the order of whoever is not $1: see calendar.NoticeKeeper.
const selectParties = `SELECT i.calendar_id, i.user_id, c.owner_id
	FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1 OR c.owner_id = $1
	ORDER BY CASE WHEN i.user_id = $1 THEN c.owner_id ELSE i.user_id END`

func scanParties(row scanner) (parties, error) {
	var p parties
	err := row.Scan(&p.share.Calendar, &p.share.User.ID, &p.owner)
	return p, err
}

// untell takes back what the others were told of shares of a user who is gone.
func (t *Tx) untell(ctx context.Context, gone calendar.UserID, shares []parties) error {
	for _, p := range shares {
		sharees, owners := p.share.Notices()
		other, name := p.share.User.ID, sharees
		if other == gone {
			other, name = p.owner, owners
		}
		if err := t.DropNotice(ctx, other, name); err != nil {
			return err
		}
	}
	return nil
}

// PasswordByName implements [auth.Store].
func (s *Store) PasswordByName(ctx context.Context, name string) (auth.Credential, error) {
	return rowOf(ctx, s.reads, scanPassword, `SELECT COALESCE(c.hash, ''), `+userColumns+`
		FROM users u LEFT JOIN credentials c ON c.user_id = u.id WHERE u.name = $1`, name)
}

func scanPassword(row scanner) (auth.Credential, error) {
	var c auth.Credential
	var created int64
	err := row.Scan(append([]any{&c.Hash}, userFields(&c.User, &created)...)...)
	c.User.Created = moment(created)
	return c, err
}

// SetPassword implements [auth.Store].
func (s *Store) SetPassword(ctx context.Context, id calendar.UserID, h auth.Hash) error {
	return s.transact(ctx, func(t *Tx) error { return t.setPassword(ctx, id, h) })
}

// setPassword writes a hash; an empty one takes the password away.
func (t *Tx) setPassword(ctx context.Context, id calendar.UserID, h auth.Hash) error {
	_, err := t.exec(ctx, `INSERT INTO credentials (user_id, hash, changed) VALUES ($1, $2, $3)
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed = excluded.changed`,
		id, h, t.store.now())
	if err != nil {
		return err
	}
	return t.credentialsChanged(ctx)
}

// Rehash implements [auth.Store].
func (s *Store) Rehash(ctx context.Context, id calendar.UserID, old, next auth.Hash) error {
	_, err := s.write(ctx, `UPDATE credentials SET hash = $3 WHERE user_id = $1 AND hash = $2`, id, old, next)
	return err
}
