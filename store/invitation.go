package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// shareStore holds the shares of calendars with users and groups, their notifications, and links for the public.
type shareStore struct{ *database }

// shareTx reads and changes shares in a transaction.
type shareTx struct{ *transaction }

// joinInForce joins the share that an invitation currently grants.
const joinInForce = ` LEFT JOIN shares h ON h.calendar_id = i.calendar_id AND h.user_id = i.user_id`

// invitationColumns are the columns of invitations i.
var invitationColumns = columns[calendar.Share]{
	{"i.calendar_id", func(s *calendar.Share) any { return &s.Calendar }},
	{"i.access", func(s *calendar.Share) any { return level{&s.Access} }},
	{"i.status", func(s *calendar.Share) any { return &s.Status }},
	{"i.summary", func(s *calendar.Share) any { return &s.Title }},
	{"i.common_name", func(s *calendar.Share) any { return &s.CommonName }},
	{"i.created", func(s *calendar.Share) any { return db.Seconds(&s.Created) }},
	{"i.maker_token", func(s *calendar.Share) any { return &s.Maker.Token }},
	{"i.maker", func(s *calendar.Share) any { return &s.Maker.Agent }},
	{"CASE WHEN i.status = 'pending' THEN COALESCE(h.direct, '') ELSE '' END", func(s *calendar.Share) any { return level{&s.Meanwhile} }},
}

var (
	showInvitations = `SELECT ` + invitationColumns.list() + `, ` + userColumns.list()

	selectInvitations = showInvitations + `
		FROM invitations i JOIN users u ON u.id = i.user_id` + joinInForce + ` WHERE i.calendar_id = $1 ORDER BY u.name`

	selectOffers = showInvitations + `, c.packed
		FROM invitations i JOIN users u ON u.id = i.user_id JOIN (
			SELECT id, ` + packedCalendar.selected + ` FROM calendars
			WHERE trashed IS NULL AND id IN (SELECT calendar_id FROM invitations WHERE user_id = $1)
		) c ON c.id = i.calendar_id` + joinInForce + `
		WHERE i.user_id = $1 ORDER BY c.id`
)

func shareFields(s *calendar.Share) []any {
	return append(invitationColumns.fields(s), userColumns.fields(&s.User)...)
}

var scanShare = db.ScanInto(shareFields)

// Shares implements [calendar.Store].
func (s shareStore) Shares(ctx context.Context, id calendar.CalendarID) ([]calendar.Share, error) {
	return db.RowsOf(ctx, s.db.Reads, scanShare, selectInvitations, id)
}

// Shares implements [calendar.Tx].
func (t shareTx) Shares(ctx context.Context, id calendar.CalendarID) ([]calendar.Share, error) {
	return db.RowsOf(ctx, t, scanShare, selectInvitations, id)
}

// Offered implements [calendar.Tx].
func (t shareTx) Offered(ctx context.Context, user, by calendar.UserID) (calendar.Offered, error) {
	return db.RowOf(ctx, t, db.ScanInto(func(n *calendar.Offered) []any {
		return []any{&n.Shared, &n.Waiting, &n.WaitingOfAll}
	}), `SELECT COALESCE(SUM(CASE WHEN c.owner_id = $2 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN c.owner_id = $2 AND i.status = $3 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN i.status = $3 THEN 1 ELSE 0 END), 0)
		FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1`, user, by, calendar.SharePending)
}

// Offers implements [calendar.Store].
func (s shareStore) Offers(ctx context.Context, user calendar.UserID) ([]calendar.Offer, error) {
	return db.RowsOf(ctx, s.db.Reads, func(row db.Scanner) (calendar.Offer, error) {
		var packed string
		share, err := db.Beside(scanShare, &packed)(row)
		if err != nil {
			return calendar.Offer{}, err
		}
		from, err := unpackCalendar(packed)
		return calendar.Offer{Share: share, From: from}, err
	}, selectOffers, user)
}

// PutShare implements [calendar.Tx].
func (t shareTx) PutShare(ctx context.Context, s calendar.Share) error {
	if s.Access <= calendar.NoAccess || s.Access >= calendar.OwnerAccess {
		return calendar.Errorf(calendar.Invalid, "", "a share grants access below ownership: read-write, read or freebusy")
	}
	t.hint.Everything = true
	err := t.Run(ctx, `INSERT INTO invitations (calendar_id, user_id, access, status, summary, common_name, created, maker_token, maker)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = excluded.access, status = excluded.status,
			summary = excluded.summary, common_name = excluded.common_name, maker_token = excluded.maker_token, maker = excluded.maker`,
		s.Calendar, s.User.ID, s.Access.Word(), s.Status, s.Title, s.CommonName, s.Created.Unix(), s.Maker.Token, s.Maker.Agent)
	if err != nil {
		return err
	}
	which := shareOf(s.Calendar, s.User.ID)
	if s.User.Group {
		if err := t.lockGroup(ctx, s.User.ID); err != nil {
			return err
		}
		which = sharesOfCalendar(s.Calendar)
	}
	gives := s.InForce()
	if gives == calendar.NoAccess {
		return t.close(ctx, s.Calendar, s.User.ID, which)
	}
	err = t.Run(ctx, `INSERT INTO shares (calendar_id, user_id, access, created, direct) VALUES ($1, $2, $3, $4, $3)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET direct = excluded.direct`,
		s.Calendar, s.User.ID, gives.Word(), t.store.now())
	if err != nil {
		return err
	}
	return t.spread(ctx, which)
}

// close removes the access that a share grants by name.
func (t *transaction) close(ctx context.Context, id calendar.CalendarID, user calendar.UserID, which some) error {
	if err := t.Run(ctx, `UPDATE shares SET direct = '' WHERE calendar_id = $1 AND user_id = $2`, id, user); err != nil {
		return err
	}
	return t.spread(ctx, which)
}

// DropShare implements [calendar.Tx].
func (t shareTx) DropShare(ctx context.Context, id calendar.CalendarID, user calendar.UserID) error {
	// Without this lock, a member who joins the group now would keep access that the group just lost.
	if err := t.Run(ctx, holdGroup, user); err != nil {
		return err
	}
	if err := t.Run(ctx, `DELETE FROM invitations WHERE calendar_id = $1 AND user_id = $2`, id, user); err != nil {
		return err
	}
	return t.close(ctx, id, user, sharesOfCalendar(id))
}
