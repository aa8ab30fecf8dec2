package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// accessWords are the levels of access as the shares have them.
var accessWords = [...]string{
	calendar.FreeBusyAccess: "freebusy",
	calendar.ReadAccess:     "read",
	calendar.WriteAccess:    "read-write",
}

// accessOf reads a word. One that a newer program wrote means nothing here, rather than too much.
func accessOf(word string) calendar.Access {
	if word == "owner" {
		return calendar.OwnerAccess
	}
	for access, known := range accessWords {
		if known == word {
			return calendar.Access(access)
		}
	}
	return calendar.NoAccess
}

// Shares implements [calendar.Store].
func (s *Store) Shares(ctx context.Context, id calendar.CalendarID) ([]calendar.Share, error) {
	return rowsOf(ctx, s.reads, scanShare, `SELECT s.calendar_id, s.access, s.created, `+userColumns+`
		FROM shares s JOIN users u ON u.id = s.user_id WHERE s.calendar_id = $1 ORDER BY u.name`, id)
}

func scanShare(row scanner) (calendar.Share, error) {
	var s calendar.Share
	var access string
	var given, joined int64
	err := row.Scan(append([]any{&s.Calendar, &access, &given}, userFields(&s.User, &joined)...)...)
	s.Access, s.Created, s.User.Created = accessOf(access), moment(given), moment(joined)
	return s, err
}

// Share is [Tx.Share] in a transaction of its own.
func (s *Store) Share(ctx context.Context, id calendar.CalendarID, user calendar.UserID, access calendar.Access) error {
	return s.transact(ctx, func(t *Tx) error { return t.Share(ctx, id, user, access) })
}

// Share implements [calendar.Tx].
func (t *Tx) Share(ctx context.Context, id calendar.CalendarID, user calendar.UserID, access calendar.Access) error {
	t.hint.Everything = true
	if access == calendar.NoAccess {
		_, err := t.exec(ctx, `DELETE FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
		return err
	}
	if int(access) >= len(accessWords) {
		return calendar.Errorf(calendar.Invalid, "", "a share cannot make somebody the owner")
	}
	_, err := t.exec(ctx, `INSERT INTO shares (calendar_id, user_id, access, created) VALUES ($1, $2, $3, $4)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = excluded.access`, id, user, accessWords[access], t.store.now())
	return err
}

// Arrangement implements [calendar.Tx].
func (t *Tx) Arrangement(ctx context.Context, id calendar.CalendarID, user calendar.UserID) (calendar.Arrangement, error) {
	return rowOf(ctx, t, func(row scanner) (calendar.Arrangement, error) {
		var a calendar.Arrangement
		err := row.Scan(&a.Name, &a.Color, &a.Order)
		return a, err
	}, `SELECT own_name, own_color, own_position FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
}

// Arrange implements [calendar.Tx].
func (t *Tx) Arrange(ctx context.Context, id calendar.CalendarID, user calendar.UserID, a calendar.Arrangement) error {
	t.hint.Everything = true
	return expectRow(t.exec(ctx, `UPDATE shares SET own_name = $3, own_color = $4, own_position = $5
		WHERE calendar_id = $1 AND user_id = $2`, id, user, a.Name, a.Color, a.Order))
}
