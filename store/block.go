package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Blocked implements [calendar.Store].
func (s shareStore) Blocked(ctx context.Context, user calendar.UserID) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectUsers+`WHERE u.id IN (SELECT blocked_id FROM share_blocks WHERE user_id = $1) ORDER BY u.name`, user)
}

// HoldSharer implements [calendar.Tx].
func (t shareTx) HoldSharer(ctx context.Context, owner calendar.UserID) error {
	return t.Run(ctx, `UPDATE users SET created = created WHERE id = $1`, owner)
}

// NoteShare implements [calendar.Tx].
func (t shareTx) NoteShare(ctx context.Context, s calendar.Share, owner calendar.UserID, since time.Time) (int, error) {
	err := t.Run(ctx, `DELETE FROM new_shares WHERE user_id = $1 AND owner_id = $2 AND created <= $3`, s.User.ID, owner, since.Unix())
	if err != nil {
		return 0, err
	}
	err = t.Run(ctx, `INSERT INTO new_shares (user_id, owner_id, number, calendar_id, created)
		SELECT $1, $2, COALESCE(MAX(number), 0) + 1, CAST($3 AS TEXT), CAST($4 AS BIGINT) FROM new_shares WHERE user_id = $1 AND owner_id = $2`,
		s.User.ID, owner, s.Calendar, t.store.now())
	if err != nil {
		return 0, err
	}
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM new_shares WHERE user_id = $1 AND owner_id = $2`, s.User.ID, owner)
	return int(n), err
}

// Blocks implements [calendar.Tx].
func (t shareTx) Blocks(ctx context.Context, user, whom calendar.UserID) (bool, error) {
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM share_blocks WHERE user_id = $1 AND blocked_id = $2`, user, whom)
	return n > 0, err
}

// PutBlock implements [calendar.Tx].
func (t shareTx) PutBlock(ctx context.Context, user, whom calendar.UserID) error {
	err := t.Run(ctx, `INSERT INTO share_blocks (user_id, blocked_id, created) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, user, whom, t.store.now())
	if err != nil {
		return err
	}
	const inTrash = ` WHERE user_id = $1 AND calendar_id IN (SELECT id FROM calendars WHERE owner_id = $2 AND trashed IS NOT NULL)`
	if err := t.Run(ctx, `UPDATE invitations SET status = 'declined'`+inTrash, user, whom); err != nil {
		return err
	}
	if err := t.Run(ctx, `UPDATE shares SET direct = ''`+inTrash, user, whom); err != nil {
		return err
	}
	return t.spread(ctx, sharesOfUser(user))
}

// DropBlock implements [calendar.Tx].
func (t shareTx) DropBlock(ctx context.Context, user, whom calendar.UserID) error {
	if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM share_blocks WHERE user_id = $1 AND blocked_id = $2`, user, whom)); err != nil {
		return err
	}
	return t.spread(ctx, sharesOfUser(user))
}

// UnmailedOffers implements [calendar.OfferMails].
func (s shareStore) UnmailedOffers(ctx context.Context, since time.Time, most int) ([]calendar.Share, error) {
	return db.RowsOf(ctx, s.db.Reads, scanShare, showInvitations+`
		FROM new_shares n JOIN calendars c ON c.id = n.calendar_id AND c.owner_id = n.owner_id AND c.trashed IS NULL
		JOIN invitations i ON i.calendar_id = n.calendar_id AND i.user_id = n.user_id JOIN users u ON u.id = i.user_id`+joinInForce+`
		WHERE NOT n.mailed AND n.created > $1 AND i.status = $2 ORDER BY n.created, i.calendar_id, i.user_id LIMIT $3`,
		since.Unix(), calendar.SharePending, most)
}

// MailOffer implements [calendar.OfferMails].
func (s shareStore) MailOffer(ctx context.Context, share calendar.Share, l *calendar.Letter, most calendar.OutboxLimits) error {
	return s.transact(ctx, func(t *transaction) error {
		moved, err := t.Exec(ctx, `UPDATE new_shares SET mailed = TRUE WHERE user_id = $1 AND calendar_id = $2 AND NOT mailed`, share.User.ID, share.Calendar)
		if err != nil || moved == 0 || l == nil {
			return err
		}
		return schedulingTx{t}.Post(ctx, share.User.ID, []calendar.Letter{*l}, most)
	})
}
