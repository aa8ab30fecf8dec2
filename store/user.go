package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// userStore holds users, their mail addresses and groups, in the tables users, addresses and group_members.
type userStore struct{ *database }

// userTx reads and changes users in a transaction.
type userTx struct{ *transaction }

// Users implements [auth.Store].
func (s userStore) Users(ctx context.Context) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectUsers+`WHERE NOT u.is_group ORDER BY u.name`)
}

// UserNames implements [auth.Store].
func (s userStore) UserNames(ctx context.Context) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(u *calendar.User) []any {
		return []any{&u.ID, &u.Name, &u.DisplayName, &u.Email}
	}), `SELECT id, name, display_name, email FROM users WHERE NOT is_group ORDER BY name`)
}

// UserByName implements [calendar.Store] and [auth.Store].
func (s userStore) UserByName(ctx context.Context, name string) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, selectUsers+`WHERE u.name = $1 AND NOT u.is_group`, name)
}

// UserByID implements [calendar.Directory] and [auth.Store].
func (s userStore) UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, selectUsers+`WHERE u.id = $1`, id)
}

// UserByID implements [calendar.Tx].
func (t userTx) UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error) {
	return db.RowOf(ctx, t, userColumns.scan, selectUsers+`WHERE u.id = $1`, id)
}

// InsertUser implements [auth.Store].
func (s userStore) InsertUser(ctx context.Context, u calendar.User, h auth.Hash) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `INSERT INTO users (id, name, display_name, email, timezone, created, admin, disabled,
			week_start, working_days, working_hours, quota_calendars, quota_objects, quota_bytes, is_group, place,
			capacity, bookers, by_hand)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
			u.ID, u.Name, u.DisplayName, u.Email, u.Timezone, u.Created.Unix(), u.Admin, u.Disabled, u.WeekStart,
			u.WorkingDays, u.WorkingHours,
			u.Quota.Calendars, u.Quota.Objects, u.Quota.Bytes, u.Group, u.Room.Kind, u.Room.Capacity,
			u.Room.Bookers, u.Room.ByHand)
		if err == nil && (u.Language != "" || u.BrowserLanguage != "" || u.View != (calendar.ViewSettings{})) {
			err = t.Run(ctx, `UPDATE users SET language = $2, browser_language = $3, second_zone = $4, clock = $5,
				week_numbers_off = $6, working_hours_off = $7, shortcuts_off = $8 WHERE id = $1`,
				u.ID, u.Language, u.BrowserLanguage, u.View.SecondZone, u.View.Clock, u.View.WeekNumbersOff,
				u.View.WorkingHoursOff, u.View.ShortcutsOff)
		}
		if err != nil {
			return err
		}
		return t.setPassword(ctx, u.ID, h)
	})
}

// ChangeUser implements [auth.Store]. Remembered credentials hold their user, so they are dropped. Enabling a user ends
// DeleteLater.
func (s userStore) ChangeUser(ctx context.Context, id calendar.UserID, e auth.UserEdit) error {
	return s.transact(ctx, func(t *transaction) error {
		disables := e.Disabled != nil && *e.Disabled
		if disables || e.Admin != nil && !*e.Admin {
			if err := t.keepAdministrator(ctx, id); err != nil {
				return err
			}
		}
		err := db.ExpectRow(t.Exec(ctx, `UPDATE users
			SET display_name = COALESCE($2, display_name), email = COALESCE($3, email),
			timezone = COALESCE($4, timezone), week_start = COALESCE($5, week_start),
			working_days = COALESCE($6, working_days),
			working_hours = COALESCE($7, working_hours), admin = COALESCE($8, admin), disabled = COALESCE($9, disabled),
			quota_calendars = COALESCE($10, quota_calendars), quota_objects = COALESCE($11, quota_objects),
			quota_bytes = COALESCE($12, quota_bytes),
			capacity = COALESCE($13, capacity), bookers = COALESCE($14, bookers), by_hand = COALESCE($15, by_hand),
			language = COALESCE($16, language), browser_language = COALESCE($17, browser_language)
			WHERE id = $1`,
			id, e.DisplayName, e.Email, e.Timezone, e.WeekStart, e.WorkingDays, e.WorkingHours, e.Admin, e.Disabled,
			e.QuotaCalendars, e.QuotaObjects, e.QuotaBytes, e.Capacity, e.Bookers, e.ByHand,
			e.Language, e.BrowserLanguage))
		if err == nil && e.View != nil {
			err = t.Run(ctx, `UPDATE users SET second_zone = $2, clock = $3, week_numbers_off = $4,
				working_hours_off = $5, shortcuts_off = $6 WHERE id = $1`, id, e.View.SecondZone, e.View.Clock,
				e.View.WeekNumbersOff, e.View.WorkingHoursOff, e.View.ShortcutsOff)
		}
		if err == nil && disables {
			err = t.Run(ctx, dropCodes, id)
		}
		if err == nil && e.Disabled != nil && !disables {
			err = t.Run(ctx, `DELETE FROM server_settings WHERE name = $1`, DeletionOf+string(id))
		}
		if err != nil {
			return err
		}
		return t.credentialsChanged(ctx, id)
	})
}

// DeletionOf is the prefix of the settings that name users whom the server deletes once their mails are sent. Their id
// follows; the value is the name of the successor.
const DeletionOf = "delete "

// DeleteLater plans the deletion of a user who is disabled.
func (s userStore) DeleteLater(ctx context.Context, id calendar.UserID, successor string) error {
	return s.run(ctx, `INSERT INTO server_settings (name, value, changed)
		SELECT $1, $2, $3 FROM users WHERE id = $4 AND disabled`+s.db.Engine.LockRows+`
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, DeletionOf+string(id), successor, s.now(), id)
}

// keepAdministrator refuses to remove the last administrator who can sign in. It locks all their rows, so that two
// removals at once are
// counted one after the other.
func (t *transaction) keepAdministrator(ctx context.Context, id calendar.UserID) error {
	const administrators = `SELECT id FROM users u WHERE admin AND NOT disabled AND place = ''`
	all, err := db.RowsOf(ctx, t, db.ScanOnly[calendar.UserID], administrators+` ORDER BY id`+t.Of().LockRows)
	if err != nil {
		return err
	}
	// Who was invited and has chosen no password yet may never come.
	able, err := db.RowsOf(ctx, t, db.ScanOnly[calendar.UserID], administrators+`
		AND (EXISTS (SELECT 1 FROM credentials c WHERE c.user_id = u.id AND c.hash <> '')
		OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)
		OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`)
	alone := func(list []calendar.UserID) bool { return len(list) == 1 && list[0] == id }
	switch {
	case err != nil:
		return err
	case alone(all):
		return calendar.Errorf(calendar.Invalid, "",
			"this is the only administrator: make another user an administrator first")
	case alone(able):
		return calendar.Errorf(calendar.Invalid, "",
			"this is the only administrator who can sign in: another one has to choose a password first")
	}
	return nil
}

// KeepsAdministrator implements [auth.Store].
func (s userStore) KeepsAdministrator(ctx context.Context, id calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error { return t.keepAdministrator(ctx, id) })
}

// DeleteUser implements [auth.Store]. The user's rows go by foreign keys. Notifications about calendars that they
// shared with others
// name them, and are deleted as well.
func (s userStore) DeleteUser(ctx context.Context, id calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, holdGroup, id); err != nil {
			return err
		}
		shares, err := db.RowsOf(ctx, t, scanParties, selectParties, id)
		if err != nil {
			return err
		}
		shared, err := t.advanceShared(ctx, id)
		if err != nil {
			return err
		}
		if err := t.moveGeneration(ctx, moveGeneration+boundTo+`c.owner_id = $2)`, id); err != nil {
			return err
		}
		if err := t.keepAdministrator(ctx, id); err != nil {
			return err
		}
		if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM users WHERE id = $1`, id)); err != nil {
			return err
		}
		// The deleted user may have been a group that gave its members access.
		for _, cal := range shared {
			if err := t.recomputeShares(ctx, sharesOfCalendar(cal)); err != nil {
				return err
			}
		}
		return t.untell(ctx, id, shares)
	})
}

// advanceShared locks the user's calendars and those offered to the user, in lock order, see calendar.Tx. It
// advances and returns the offered ones, so that their owners' clients learn that a sharee is gone.
func (t *transaction) advanceShared(
	ctx context.Context, user calendar.UserID,
) (shared []calendar.CalendarID, err error) {
	type one struct {
		id    calendar.CalendarID
		owner calendar.UserID
	}
	all, err := db.RowsOf(ctx, t, db.ScanInto(func(c *one) []any {
		return []any{&c.id, &c.owner}
	}), `SELECT id, owner_id FROM calendars WHERE owner_id = $1
		UNION SELECT c.id, c.owner_id FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1
		ORDER BY id`, user)
	for _, c := range all {
		if err != nil {
			return nil, err
		}
		if c.owner == user {
			err = t.Later(ctx, db.Ignore, holdCalendar, c.id)
			continue
		}
		shared = append(shared, c.id)
		// No client sees the sharees of a calendar in the trash.
		if _, err = (calendarTx{t}).Advance(ctx, c.id); calendar.ReasonOf(err) == calendar.NotFound {
			err = nil
		}
	}
	return shared, err
}

// holdCalendar locks a calendar until the commit, even one in the trash.
const holdCalendar = `UPDATE calendars SET objects = objects WHERE id = $1`

// parties are the two users of a share.
type parties struct {
	share calendar.Share
	owner calendar.UserID
}

// selectParties sorts by the user other than $1, see calendar.NoticeKeeper.
const selectParties = `SELECT i.calendar_id, i.user_id, c.owner_id
	FROM invitations i JOIN calendars c ON c.id = i.calendar_id WHERE i.user_id = $1 OR c.owner_id = $1
	ORDER BY CASE WHEN i.user_id = $1 THEN c.owner_id ELSE i.user_id END`

var scanParties = db.ScanInto(func(p *parties) []any { return []any{&p.share.Calendar, &p.share.User.ID, &p.owner} })

// untell deletes the notifications of other users about shares with a deleted user.
func (t *transaction) untell(ctx context.Context, gone calendar.UserID, shares []parties) error {
	for _, p := range shares {
		sharees, owners := p.share.Notices()
		other, name := p.share.User.ID, sharees
		if other == gone {
			other, name = p.owner, owners
		}
		if err := (shareTx{t}).DropNotice(ctx, other, name); err != nil {
			return err
		}
	}
	return nil
}

// Addresses implements [auth.Store].
func (s userStore) Addresses(ctx context.Context, user calendar.UserID) ([]auth.Address, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(a *auth.Address) []any {
		return []any{&a.Text, db.Seconds(&a.Created), db.Seconds(&a.Verified)}
	}), `SELECT address, created, verified FROM addresses WHERE user_id = $1 ORDER BY address`, user)
}

// InsertAddress implements [auth.Store].
func (s userStore) InsertAddress(ctx context.Context, user calendar.UserID, a auth.Address) error {
	return s.run(ctx, `INSERT INTO addresses (user_id, address, created, verified) VALUES ($1, $2, $3, $4)`,
		user, a.Text, a.Created.Unix(), unlessZero(a.Verified))
}

// VerifyAddress implements [auth.Store]. The table's unique index lets only one user verify an address.
func (s userStore) VerifyAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		others, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM users
			WHERE lower(email) = $1 AND id <> $2`, address, user)
		if err != nil {
			return err
		}
		if others > 0 {
			return calendar.Errorf(calendar.Exists, "", "the address is another user's")
		}
		return db.ExpectRow(t.Exec(ctx, `UPDATE addresses SET verified = COALESCE(verified, $3)
			WHERE user_id = $1 AND address = $2`,
			user, address, at.Unix()))
	})
}

// DropAddress implements [auth.Store].
func (s userStore) DropAddress(ctx context.Context, user calendar.UserID, address string) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM addresses WHERE user_id = $1 AND address = $2`, user, address))
}

// SwapAddress implements [auth.Store]. Remembered credentials hold the main address, so they are dropped.
func (s userStore) SwapAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `DELETE FROM addresses
			WHERE user_id = $1 AND address = $2 AND verified IS NOT NULL`, user, address))
		if err != nil {
			return err
		}
		err = t.Run(ctx, `INSERT INTO addresses (user_id, address, created, verified)
			SELECT id, lower(email), $2, $2 FROM users WHERE id = $1 AND email <> ''
			ON CONFLICT (user_id, address) DO UPDATE SET verified = excluded.verified`, user, at.Unix())
		if err != nil {
			return err
		}
		if err := t.Run(ctx, `UPDATE users SET email = $2 WHERE id = $1`, user, address); err != nil {
			return err
		}
		return t.credentialsChanged(ctx, user)
	})
}

// AddressHolder implements [auth.Store].
func (s userStore) AddressHolder(ctx context.Context, address string, but calendar.UserID) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, selectAddressHolder, address, but)
}

var selectAddressHolder = selectUsers + `WHERE u.id <> $2 AND u.id IN (
	SELECT id FROM users WHERE lower(email) = $1
	UNION SELECT user_id FROM addresses WHERE address = $1) ORDER BY u.name LIMIT 1`

// selectAcquaintances has a SELECT for each direction, so that an index answers each.
var selectAcquaintances = `SELECT c.id, ` + userColumns.list() + `
	FROM calendars c JOIN invitations i ON i.calendar_id = c.id JOIN users u ON u.id = i.user_id
	WHERE c.owner_id = $1 AND c.trashed IS NULL AND i.status IN ('pending', 'accepted')
	UNION ALL SELECT c.id, ` + userColumns.list() + `
	FROM invitations i JOIN calendars c ON c.id = i.calendar_id JOIN users u ON u.id = c.owner_id
	WHERE i.user_id = $1 AND c.trashed IS NULL AND i.status IN ('pending', 'accepted')
	UNION ALL SELECT c.id, ` + userColumns.list() + `
	FROM shares s JOIN calendars c ON c.id = s.calendar_id JOIN users u ON u.id = c.owner_id
	WHERE s.user_id = $1 AND c.trashed IS NULL AND s.direct = ''
	UNION ALL SELECT '', ` + userColumns.list() + `
	FROM delegates d JOIN users u ON u.id = d.delegate_id WHERE d.owner_id = $1
	UNION ALL SELECT '', ` + userColumns.list() + `
	FROM delegates d JOIN users u ON u.id = d.owner_id WHERE d.delegate_id = $1
	ORDER BY 3, 1`

// Acquaintances implements [calendar.Store].
func (s userStore) Acquaintances(ctx context.Context, user calendar.UserID) ([]calendar.Acquaintance, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(a *calendar.Acquaintance) []any {
		return append([]any{&a.Calendar}, userColumns.fields(&a.User)...)
	}), selectAcquaintances, user)
}

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
