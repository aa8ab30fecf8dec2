package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	{
		"CASE WHEN i.status = 'pending' THEN COALESCE(h.direct, '') ELSE '' END",
		func(s *calendar.Share) any { return level{&s.Meanwhile} },
	},
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
		FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1`, user, by,
		calendar.SharePending)
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
		return calendar.Errorf(calendar.Invalid, "",
			"a share grants access below ownership: read-write, read or freebusy")
	}
	t.hint.Everything = true
	err := t.Run(ctx, `INSERT INTO invitations (calendar_id, user_id, access, status, summary, common_name, created,
		maker_token, maker)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = excluded.access, status = excluded.status,
			summary = excluded.summary, common_name = excluded.common_name, maker_token = excluded.maker_token,
			maker = excluded.maker`,
		s.Calendar, s.User.ID, s.Access.Word(), s.Status, s.Title, s.CommonName, s.Created.Unix(),
		s.Maker.Token, s.Maker.Agent)
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
	return t.recomputeShares(ctx, which)
}

// close removes the access that a share grants by name.
func (t *transaction) close(
	ctx context.Context, id calendar.CalendarID, user calendar.UserID, which shareFilter,
) error {
	if err := t.Run(ctx, `UPDATE shares SET direct = '' WHERE calendar_id = $1 AND user_id = $2`, id,
		user); err != nil {
		return err
	}
	return t.recomputeShares(ctx, which)
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

var packedArrangement = arrangementFields.packed()

// Arrangement implements [calendar.Tx].
func (t shareTx) Arrangement(
	ctx context.Context, id calendar.CalendarID, user calendar.UserID,
) (calendar.Arrangement, error) {
	c, err := db.RowOf(ctx, t, packedArrangement.scan, `SELECT `+packedArrangement.selected+` FROM shares
		WHERE calendar_id = $1 AND user_id = $2`, id, user)
	return c.own, err
}

// Arrange implements [calendar.Tx].
func (t shareTx) Arrange(
	ctx context.Context, id calendar.CalendarID, user calendar.UserID, a calendar.Arrangement,
) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE shares
			SET own_name = $3, own_description = $4, own_color = $5, own_position = $6,
			own_opaque = $7, own_hidden = $8 WHERE calendar_id = $1 AND user_id = $2`,
		id, user, a.Name, a.Description, a.Color, a.Order, a.Opaque, a.Hidden))
}

// SharedAccess implements [calendar.Tx].
func (t shareTx) SharedAccess(
	ctx context.Context, id calendar.CalendarID, user calendar.UserID,
) (calendar.Access, error) {
	word, err := db.RowOf(ctx, t, db.ScanText,
		`SELECT COALESCE((SELECT access FROM shares WHERE calendar_id = $1 AND user_id = $2), '')`, id, user)
	return calendar.ParseAccess(word), err
}

// LeaveGroups implements [calendar.Tx].
func (t shareTx) LeaveGroups(ctx context.Context, id calendar.CalendarID, user calendar.UserID) error {
	err := t.Run(ctx, `INSERT INTO group_leavers (calendar_id, user_id) VALUES ($1, $2)
		ON CONFLICT DO NOTHING`, id, user)
	if err != nil {
		return err
	}
	return t.recomputeShares(ctx, shareOf(id, user))
}

// shareFilter is a set of shares: a condition on calendar and user, and its arguments.
type shareFilter struct {
	where string
	args  []any
}

func sharesOfUser(user calendar.UserID) shareFilter { return shareFilter{"%[2]s = $1", []any{user}} }

func sharesOfCalendar(id calendar.CalendarID) shareFilter {
	return shareFilter{"%[1]s = $1", []any{id}}
}

func shareOf(id calendar.CalendarID, user calendar.UserID) shareFilter {
	return shareFilter{"%[1]s = $1 AND %[2]s = $2", []any{id, user}}
}

// of renders the condition for the given columns.
func (s shareFilter) of(cal, user string) string {
	return strings.NewReplacer("%[1]s", cal, "%[2]s", user).Replace(s.where)
}

// rank makes access levels, which are stored as words, comparable.
func rank(column string) string {
	return fmt.Sprintf(`CASE %s WHEN 'read-write' THEN 3 WHEN 'read' THEN 2 WHEN 'freebusy' THEN 1 ELSE 0 END`, column)
}

// fromGroups joins the shares i with groups and their members m, who get access.
const fromGroups = `FROM invitations i JOIN group_members m ON m.group_id = i.user_id
	JOIN calendars c ON c.id = i.calendar_id JOIN users g ON g.id = i.user_id
	WHERE i.status = 'accepted' AND m.user_id <> c.owner_id
		AND NOT EXISTS (SELECT 1 FROM group_leavers l WHERE l.calendar_id = i.calendar_id AND l.user_id = m.user_id)
		AND NOT EXISTS (SELECT 1 FROM share_blocks b WHERE b.user_id = m.user_id AND b.blocked_id = c.owner_id)`

// GroupShares implements [calendar.Store].
func (s shareStore) GroupShares(ctx context.Context, id calendar.CalendarID) ([]calendar.GroupShare, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(g *calendar.GroupShare) []any {
		return []any{&g.User, level{&g.Access}, &g.Group}
	}), `SELECT m.user_id, i.access, CASE WHEN g.display_name = '' THEN g.name ELSE g.display_name END `+fromGroups+`
		AND i.calendar_id = $1 AND m.user_id IN (SELECT user_id FROM invitations WHERE calendar_id = $1)
		ORDER BY g.name, m.user_id`, id)
}

// recomputeShares recomputes the access of some shares: the highest that the user has by name or through a group. A
// calendar shared in several ways has one row, so readers of shares need no knowledge of groups.
func (t *transaction) recomputeShares(ctx context.Context, which shareFilter) error {
	t.hint.Everything = true
	at := fmt.Sprintf("$%d", len(which.args)+1)
	for _, step := range [...]struct {
		text string
		args []any
	}{
		{`UPDATE shares SET access = direct WHERE ` + which.of("calendar_id", "user_id"), which.args},
		{`INSERT INTO shares (calendar_id, user_id, access, created, direct)
			SELECT i.calendar_id, m.user_id, CASE MAX(` + rank("i.access") + `) WHEN 3 THEN 'read-write' WHEN 2
				THEN 'read' ELSE 'freebusy' END, CAST(` + at + ` AS BIGINT), ''
			` + fromGroups + ` AND ` + which.of("i.calendar_id", "m.user_id") + `
			GROUP BY i.calendar_id, m.user_id
			ON CONFLICT (calendar_id, user_id) DO UPDATE
			SET access = CASE WHEN ` + rank("shares.access") + ` < ` + rank("excluded.access") + `
				THEN excluded.access ELSE shares.access END`, append(slices.Clip(which.args), t.store.now())},
		{`DELETE FROM shares WHERE access = '' AND ` + which.of("calendar_id", "user_id"), which.args},
	} {
		if err := t.Run(ctx, step.text, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// lockGroup serializes changes of a group's members with changes of its shares.
func (t *transaction) lockGroup(ctx context.Context, group calendar.UserID) error {
	return db.ExpectRow(t.Exec(ctx, holdGroup, group))
}

// holdGroup locks the group's row until the commit.
const holdGroup = `UPDATE users SET created = created WHERE id = $1 AND is_group`

// Blocked implements [calendar.Store].
func (s shareStore) Blocked(ctx context.Context, user calendar.UserID) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan,
		selectUsers+`WHERE u.id IN (SELECT blocked_id FROM share_blocks WHERE user_id = $1) ORDER BY u.name`, user)
}

// HoldSharer implements [calendar.Tx].
func (t shareTx) HoldSharer(ctx context.Context, owner calendar.UserID) error {
	return t.Run(ctx, `UPDATE users SET created = created WHERE id = $1`, owner)
}

// NoteShare implements [calendar.Tx].
func (t shareTx) NoteShare(ctx context.Context, s calendar.Share, owner calendar.UserID, since time.Time) (int, error) {
	err := t.Run(ctx, `DELETE FROM new_shares WHERE user_id = $1 AND owner_id = $2 AND created <= $3`, s.User.ID,
		owner, since.Unix())
	if err != nil {
		return 0, err
	}
	err = t.Run(ctx, `INSERT INTO new_shares (user_id, owner_id, number, calendar_id, created)
		SELECT $1, $2, COALESCE(MAX(number), 0) + 1, CAST($3 AS TEXT), CAST($4 AS BIGINT) FROM new_shares
		WHERE user_id = $1 AND owner_id = $2`,
		s.User.ID, owner, s.Calendar, t.store.now())
	if err != nil {
		return 0, err
	}
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM new_shares
		WHERE user_id = $1 AND owner_id = $2`, s.User.ID, owner)
	return int(n), err
}

// Blocks implements [calendar.Tx].
func (t shareTx) Blocks(ctx context.Context, user, whom calendar.UserID) (bool, error) {
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM share_blocks
		WHERE user_id = $1 AND blocked_id = $2`, user, whom)
	return n > 0, err
}

// PutBlock implements [calendar.Tx].
func (t shareTx) PutBlock(ctx context.Context, user, whom calendar.UserID) error {
	err := t.Run(ctx, `INSERT INTO share_blocks (user_id, blocked_id, created) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`, user, whom, t.store.now())
	if err != nil {
		return err
	}
	const inTrash = ` WHERE user_id = $1 AND calendar_id IN (SELECT id FROM calendars
		WHERE owner_id = $2 AND trashed IS NOT NULL)`
	if err := t.Run(ctx, `UPDATE invitations SET status = 'declined'`+inTrash, user, whom); err != nil {
		return err
	}
	if err := t.Run(ctx, `UPDATE shares SET direct = ''`+inTrash, user, whom); err != nil {
		return err
	}
	return t.recomputeShares(ctx, sharesOfUser(user))
}

// DropBlock implements [calendar.Tx].
func (t shareTx) DropBlock(ctx context.Context, user, whom calendar.UserID) error {
	if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM share_blocks WHERE user_id = $1 AND blocked_id = $2`, user,
		whom)); err != nil {
		return err
	}
	return t.recomputeShares(ctx, sharesOfUser(user))
}

// UnmailedOffers implements [calendar.OfferMails].
func (s shareStore) UnmailedOffers(ctx context.Context, since time.Time, most int) ([]calendar.Share, error) {
	return db.RowsOf(ctx, s.db.Reads, scanShare, showInvitations+`
		FROM new_shares n JOIN calendars c ON c.id = n.calendar_id AND c.owner_id = n.owner_id AND c.trashed IS NULL
		JOIN invitations i ON i.calendar_id = n.calendar_id AND i.user_id = n.user_id
		JOIN users u ON u.id = i.user_id`+joinInForce+`
		WHERE NOT n.mailed AND n.created > $1 AND i.status = $2 ORDER BY n.created, i.calendar_id, i.user_id LIMIT $3`,
		since.Unix(), calendar.SharePending, most)
}

// MailOffer implements [calendar.OfferMails].
func (s shareStore) MailOffer(
	ctx context.Context, share calendar.Share, l *calendar.Letter, most calendar.OutboxLimits,
) error {
	return s.transact(ctx, func(t *transaction) error {
		moved, err := t.Exec(ctx, `UPDATE new_shares SET mailed = TRUE
			WHERE user_id = $1 AND calendar_id = $2 AND NOT mailed`, share.User.ID, share.Calendar)
		if err != nil || moved == 0 || l == nil {
			return err
		}
		return schedulingTx{t}.Post(ctx, share.User.ID, []calendar.Letter{*l}, most)
	})
}
