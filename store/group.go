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

var (
	selectGroups = selectUsers + `WHERE u.is_group`

	selectGroupsOf = selectGroups + ` AND u.id IN (SELECT group_id FROM group_members WHERE user_id = $1) ORDER BY u.name`

	selectMembers = selectUsers + `WHERE u.id IN (SELECT user_id FROM group_members WHERE group_id = $1) ORDER BY u.name`
)

// Groups implements [auth.GroupStore].
func (s userStore) Groups(ctx context.Context) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectGroups+` ORDER BY u.name`)
}

// GroupByName implements [auth.GroupStore] and [calendar.Directory].
func (s userStore) GroupByName(ctx context.Context, name string) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, selectGroups+` AND u.name = $1`, name)
}

// GroupsOf implements [calendar.Directory].
func (s userStore) GroupsOf(ctx context.Context, user calendar.UserID) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectGroupsOf, user)
}

// Members implements [auth.GroupStore] and [calendar.Directory].
func (s userStore) Members(ctx context.Context, group calendar.UserID) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectMembers, group)
}

// InGroup implements [calendar.Tx].
func (t userTx) InGroup(ctx context.Context, group, user calendar.UserID) (bool, error) {
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM group_members WHERE group_id = $1 AND user_id = $2`, group, user)
	return n > 0, err
}

// PutMember implements [auth.GroupStore].
func (s userStore) PutMember(ctx context.Context, group, user calendar.UserID, at time.Time) (added bool, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		if err := t.lockGroup(ctx, group); err != nil {
			return err
		}
		n, err := t.Exec(ctx, `INSERT INTO group_members (group_id, user_id, created) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, group, user, at.Unix())
		if added = n > 0; err != nil || !added {
			return err
		}
		// A member who rejoins gets back the calendars that they had left.
		if err := t.Run(ctx, `DELETE FROM group_leavers WHERE user_id = $2 AND calendar_id IN (SELECT calendar_id FROM invitations WHERE user_id = $1)`, group, user); err != nil {
			return err
		}
		return t.spread(ctx, sharesOfUser(user))
	})
	return added, err
}

// DropMember implements [auth.GroupStore].
func (s userStore) DropMember(ctx context.Context, group, user calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.lockGroup(ctx, group); err != nil {
			return err
		}
		if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM group_members WHERE group_id = $1 AND user_id = $2`, group, user)); err != nil {
			return err
		}
		return t.spread(ctx, sharesOfUser(user))
	})
}

// lockGroup serializes changes of a group's members with changes of its shares.
func (t *transaction) lockGroup(ctx context.Context, group calendar.UserID) error {
	return db.ExpectRow(t.Exec(ctx, holdGroup, group))
}

// holdGroup locks the group's row until the commit.
const holdGroup = `UPDATE users SET created = created WHERE id = $1 AND is_group`

// SharedAccess implements [calendar.Tx].
func (t shareTx) SharedAccess(ctx context.Context, id calendar.CalendarID, user calendar.UserID) (calendar.Access, error) {
	word, err := db.RowOf(ctx, t, db.ScanText, `SELECT COALESCE((SELECT access FROM shares WHERE calendar_id = $1 AND user_id = $2), '')`, id, user)
	return calendar.ParseAccess(word), err
}

// LeaveGroups implements [calendar.Tx].
func (t shareTx) LeaveGroups(ctx context.Context, id calendar.CalendarID, user calendar.UserID) error {
	err := t.Run(ctx, `INSERT INTO group_leavers (calendar_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, user)
	if err != nil {
		return err
	}
	return t.spread(ctx, shareOf(id, user))
}

// some is a set of shares: a condition on calendar and user, and its arguments.
type some struct {
	where string
	args  []any
}

func sharesOfUser(user calendar.UserID) some { return some{"%[2]s = $1", []any{user}} }

func sharesOfCalendar(id calendar.CalendarID) some { return some{"%[1]s = $1", []any{id}} }

func shareOf(id calendar.CalendarID, user calendar.UserID) some {
	return some{"%[1]s = $1 AND %[2]s = $2", []any{id, user}}
}

// of renders the condition for the given columns.
func (s some) of(cal, user string) string {
	return strings.NewReplacer("%[1]s", cal, "%[2]s", user).Replace(s.where)
}

// rank makes access levels, which are stored as words, comparable.
func rank(column string) string {
	return fmt.Sprintf(`CASE %s WHEN 'read-write' THEN 3 WHEN 'read' THEN 2 WHEN 'freebusy' THEN 1 ELSE 0 END`, column)
}

// spread recomputes the access of some shares: the highest that the user has by name or through a group. A
// calendar shared in several ways has one row, so readers of shares need no knowledge of groups.
func (t *transaction) spread(ctx context.Context, which some) error {
	t.hint.Everything = true
	at := fmt.Sprintf("$%d", len(which.args)+1)
	for _, step := range [...]struct {
		text string
		args []any
	}{
		{`UPDATE shares SET access = direct WHERE ` + which.of("calendar_id", "user_id"), which.args},
		{`INSERT INTO shares (calendar_id, user_id, access, created, direct)
			SELECT i.calendar_id, m.user_id, CASE MAX(` + rank("i.access") + `) WHEN 3 THEN 'read-write' WHEN 2 THEN 'read' ELSE 'freebusy' END, CAST(` + at + ` AS BIGINT), ''
			FROM invitations i JOIN group_members m ON m.group_id = i.user_id JOIN calendars c ON c.id = i.calendar_id
			WHERE i.status = 'accepted' AND m.user_id <> c.owner_id
				AND NOT EXISTS (SELECT 1 FROM group_leavers l WHERE l.calendar_id = i.calendar_id AND l.user_id = m.user_id)
				AND NOT EXISTS (SELECT 1 FROM share_blocks b WHERE b.user_id = m.user_id AND b.blocked_id = c.owner_id)
				AND ` + which.of("i.calendar_id", "m.user_id") + `
			GROUP BY i.calendar_id, m.user_id
			ON CONFLICT (calendar_id, user_id) DO UPDATE SET access = CASE WHEN ` + rank("shares.access") + ` < ` + rank("excluded.access") + `
				THEN excluded.access ELSE shares.access END`, append(slices.Clip(which.args), t.store.now())},
		{`DELETE FROM shares WHERE access = '' AND ` + which.of("calendar_id", "user_id"), which.args},
	} {
		if err := t.Run(ctx, step.text, step.args...); err != nil {
			return err
		}
	}
	return nil
}
