package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

const (
	invitationColumns = `i.calendar_id, i.access, i.status, i.summary, i.common_name, i.created, COALESCE(h.access, '')`

	// joinInForce finds what is in force of an invitation.
	joinInForce = ` LEFT JOIN shares h ON h.calendar_id = i.calendar_id AND h.user_id = i.user_id`

	selectInvitations = `SELECT ` + invitationColumns + `, ` + userColumns + `
		FROM invitations i JOIN users u ON u.id = i.user_id` + joinInForce + ` WHERE i.calendar_id = $1 ORDER BY u.name`

	selectOffers = `SELECT ` + invitationColumns + `, ` + userColumns + `, c.packed
		FROM invitations i JOIN users u ON u.id = i.user_id JOIN (
			SELECT id, ` + calendarColumns + ` AS packed FROM calendars
			WHERE trashed IS NULL AND id IN (SELECT calendar_id FROM invitations WHERE user_id = $1)
		) c ON c.id = i.calendar_id` + joinInForce + `
		WHERE i.user_id = $1 ORDER BY c.id`
)

// invitationRow is an invitation as the columns have it.
type invitationRow struct {
	share         calendar.Share
	access, has   string
	given, joined int64
}

func (r *invitationRow) fields() []any {
	s := &r.share
	return append([]any{&s.Calendar, &r.access, &s.Status, &s.Title, &s.CommonName, &r.given, &r.has}, userFields(&s.User, &r.joined)...)
}

func (r *invitationRow) result() calendar.Share {
	s := r.share
	s.Access, s.Created, s.User.Created = accessOf(r.access), moment(r.given), moment(r.joined)
	if s.Status == calendar.SharePending {
		s.Meanwhile = accessOf(r.has)
	}
	return s
}

func scanShare(row scanner) (calendar.Share, error) {
	var r invitationRow
	err := row.Scan(r.fields()...)
	return r.result(), err
}

// Shares implements [calendar.Store].
func (s *Store) Shares(ctx context.Context, id calendar.CalendarID) ([]calendar.Share, error) {
	return rowsOf(ctx, s.reads, scanShare, selectInvitations, id)
}

// Shares implements [calendar.Tx].
func (t *Tx) Shares(ctx context.Context, id calendar.CalendarID) ([]calendar.Share, error) {
	return rowsOf(ctx, t, scanShare, selectInvitations, id)
}

// Offered implements [calendar.Tx].
func (t *Tx) Offered(ctx context.Context, user, by calendar.UserID) (calendar.Offered, error) {
	return rowOf(ctx, t, func(row scanner) (calendar.Offered, error) {
		var n calendar.Offered
		err := row.Scan(&n.Shared, &n.Waiting, &n.WaitingOfAll)
		return n, err
	}, `SELECT COALESCE(SUM(CASE WHEN c.owner_id = $2 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN c.owner_id = $2 AND i.status = $3 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN i.status = $3 THEN 1 ELSE 0 END), 0)
		FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1`, user, by, calendar.SharePending)
}

// Offers implements [calendar.Store].
func (s *Store) Offers(ctx context.Context, user calendar.UserID) ([]calendar.Offer, error) {
	return rowsOf(ctx, s.reads, func(row scanner) (calendar.Offer, error) {
		var r invitationRow
		var packed string
		if err := row.Scan(append(r.fields(), &packed)...); err != nil {
			return calendar.Offer{}, err
		}
		from, err := unpackCalendar(packed)
		return calendar.Offer{Share: r.result(), From: from}, err
	}, selectOffers, user)
}

// PutShare implements [calendar.Tx].
func (t *Tx) PutShare(ctx context.Context, s calendar.Share) error {
	if s.Access <= calendar.NoAccess || int(s.Access) >= len(accessWords) {
		return calendar.Errorf(calendar.Invalid, "", "a share gives something, and cannot make somebody the owner")
	}
	t.hint.Everything = true
	_, err := t.exec(ctx, `INSERT INTO invitations (calendar_id, user_id, access, status, summary, common_name, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = excluded.access, status = excluded.status,
			summary = excluded.summary, common_name = excluded.common_name`,
		s.Calendar, s.User.ID, accessWord(s.Access), s.Status, s.Title, s.CommonName, s.Created.Unix())
	if err != nil {
		return err
	}
	gives := s.InForce()
	if gives == calendar.NoAccess {
		return t.close(ctx, s.Calendar, s.User.ID)
	}
	_, err = t.exec(ctx, `INSERT INTO shares (calendar_id, user_id, access, created) VALUES ($1, $2, $3, $4)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = excluded.access`,
		s.Calendar, s.User.ID, accessWord(gives), t.store.now())
	return err
}

// close takes away what a share gives.
func (t *Tx) close(ctx context.Context, id calendar.CalendarID, user calendar.UserID) error {
	t.hint.Everything = true
	_, err := t.exec(ctx, `DELETE FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
	return err
}

// DropShare implements [calendar.Tx].
func (t *Tx) DropShare(ctx context.Context, id calendar.CalendarID, user calendar.UserID) error {
	if _, err := t.exec(ctx, `DELETE FROM invitations WHERE calendar_id = $1 AND user_id = $2`, id, user); err != nil {
		return err
	}
	return t.close(ctx, id, user)
}
