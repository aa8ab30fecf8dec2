package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var (
	selectGroups = selectUsers + `WHERE u.is_group`

	selectGroupsOf = selectGroups + ` AND u.id IN (SELECT group_id FROM group_members WHERE user_id = $1)
		ORDER BY u.name`

	selectMembers = selectUsers + `WHERE u.id IN (SELECT user_id FROM group_members WHERE group_id = $1)
		ORDER BY u.name`
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
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM group_members
		WHERE group_id = $1 AND user_id = $2`, group, user)
	return n > 0, err
}

// PutMember implements [auth.GroupStore].
func (s userStore) PutMember(ctx context.Context, group, user calendar.UserID, at time.Time) (added bool, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		if err := t.lockGroup(ctx, group); err != nil {
			return err
		}
		n, err := t.Exec(ctx, `INSERT INTO group_members (group_id, user_id, created) VALUES ($1, $2, $3)
			ON CONFLICT DO NOTHING`, group, user, at.Unix())
		if added = n > 0; err != nil || !added {
			return err
		}
		// A member who rejoins gets back the calendars that they had left.
		if err := t.Run(ctx, `DELETE FROM group_leavers WHERE user_id = $2
			AND calendar_id IN (SELECT calendar_id FROM invitations WHERE user_id = $1)`, group, user); err != nil {
			return err
		}
		return t.recomputeShares(ctx, sharesOfUser(user))
	})
	return added, err
}

// DropMember implements [auth.GroupStore].
func (s userStore) DropMember(ctx context.Context, group, user calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.lockGroup(ctx, group); err != nil {
			return err
		}
		if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM group_members WHERE group_id = $1 AND user_id = $2`, group,
			user)); err != nil {
			return err
		}
		return t.recomputeShares(ctx, sharesOfUser(user))
	})
}
