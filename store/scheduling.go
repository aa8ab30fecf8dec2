package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// schedulingStore holds invitations and their answers: inboxes, mails that wait or were sent, answers to verify,
// bookings of rooms, and daily summaries.
type schedulingStore struct{ *database }

// schedulingTx reads and changes them in a transaction.
type schedulingTx struct{ *transaction }

var (
	usersWithMail = withList(1, `SELECT m.address, `+userColumns.list()+` FROM (
		SELECT lower(email) AS address, id FROM users WHERE lower(email)§
		UNION SELECT address, user_id FROM addresses WHERE verified IS NOT NULL AND address§) m
		JOIN users u ON u.id = m.id`)
	usersNamed = withList(1, `SELECT u.name, `+userColumns.list()+` FROM users u WHERE NOT u.is_group AND u.name§`)
	// Each user's copy is found by its UID, which is unique in a calendar. Mirrored calendars are left out: the
	// remote server informs their attendees.
	appointmentsOf = withList(2, selectLightOf+`FROM objects WHERE uid = $1 AND NOT deleted AND calendar_id IN (
		SELECT id FROM calendars WHERE trashed IS NULL AND origin = '' AND owner_id§)`)
	calendarsOwned = withList(1, `SELECT c.owner_id, c.id, c.segment, c.kinds, c.created, CASE
		WHEN s.calendar_id = c.id THEN 1 ELSE 0 END
		FROM calendars c LEFT JOIN scheduling s ON s.user_id = c.owner_id
		WHERE c.trashed IS NULL AND c.origin = '' AND c.owner_id§`)
	ownersOf = withList(1, `SELECT id, owner_id FROM calendars WHERE id§`)
)

var selectLightOf = `SELECT ` + lightColumns + ` `

var scanUserAt = db.ScanInto(func(a *calendar.UserAt) []any {
	return append([]any{&a.Text}, userColumns.fields(&a.User)...)
})

// UsersAt implements [calendar.Store].
func (s schedulingStore) UsersAt(ctx context.Context, mails, names []string) ([]calendar.UserAt, error) {
	return usersAt(ctx, s.db.Reads, mails, names)
}

// UsersAt implements [calendar.Tx].
func (t schedulingTx) UsersAt(ctx context.Context, mails, names []string) ([]calendar.UserAt, error) {
	return usersAt(ctx, t, mails, names)
}

func usersAt(ctx context.Context, q db.Querier, mails, names []string) ([]calendar.UserAt, error) {
	found, err := rowsOfList(ctx, q, names, scanUserAt, usersNamed)
	if err != nil {
		return nil, err
	}
	all, err := rowsOfList(ctx, q, mails, scanUserAt, usersWithMail)
	count := map[string]int{}
	for _, a := range all {
		count[a.Text]++
	}
	for _, a := range all {
		if count[a.Text] == 1 {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b calendar.UserAt) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Text, b.Text))
	})
	return found, err
}

// Mails implements [calendar.Store].
func (s schedulingStore) Mails(ctx context.Context, user calendar.UserID) ([]string, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanText, `SELECT address FROM (
			SELECT lower(email) AS address, 0 AS place FROM users WHERE id = $1 AND email <> ''
			UNION ALL SELECT address, 1 FROM addresses WHERE user_id = $1 AND verified IS NOT NULL
				AND address <> (SELECT lower(email) FROM users WHERE id = $1)) a
		ORDER BY place, address`, user)
}

// Appointments implements [calendar.Tx].
func (t schedulingTx) Appointments(
	ctx context.Context, users []calendar.UserID, uid calendar.UID,
) ([]calendar.Appointment, error) {
	objects, err := rowsOfList(ctx, t, users, scanObject, appointmentsOf, uid)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	places := make([]calendar.CalendarID, len(objects))
	for i, o := range objects {
		places[i] = o.Calendar
	}
	type ownership struct {
		id    calendar.CalendarID
		owner calendar.UserID
	}
	owned, err := rowsOfList(ctx, t, places, db.ScanInto(func(o *ownership) []any {
		return []any{&o.id, &o.owner}
	}), ownersOf)
	owners := make(map[calendar.CalendarID]calendar.UserID, len(owned))
	for _, o := range owned {
		owners[o.id] = o.owner
	}
	all := make([]calendar.Appointment, len(objects))
	for i, o := range objects {
		all[i] = calendar.Appointment{Owner: owners[o.Calendar], Object: o}
	}
	slices.SortFunc(all, func(a, b calendar.Appointment) int { return cmp.Compare(a.Calendar, b.Calendar) })
	return all, err
}

// reception is a calendar that could receive its owner's invitations.
type reception struct {
	owner   calendar.UserID
	id      calendar.CalendarID
	segment calendar.Segment
	kinds   string
	created int64
	chosen  int64
}

// Receptions implements [calendar.Tx].
func (t schedulingTx) Receptions(
	ctx context.Context, users []calendar.UserID, kind calendar.Kind,
) (map[calendar.UserID]calendar.CalendarID, error) {
	all, err := rowsOfList(ctx, t, users, db.ScanInto(func(r *reception) []any {
		return []any{&r.owner, &r.id, &r.segment, &r.kinds, &r.created, &r.chosen}
	}), calendarsOwned)
	slices.SortFunc(all, func(a, b reception) int {
		return cmp.Or(-cmp.Compare(a.chosen, b.chosen), cmp.Compare(a.created, b.created),
			cmp.Compare(a.segment, b.segment))
	})
	places := map[calendar.UserID]calendar.CalendarID{}
	for _, r := range all {
		if _, known := places[r.owner]; !known && slices.Contains(strings.Split(r.kinds, ","), string(kind)) {
			places[r.owner] = r.id
		}
	}
	return places, err
}

// Scheduling implements [calendar.Store].
func (s schedulingStore) Scheduling(ctx context.Context, user calendar.UserID) (calendar.Scheduling, error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.scheduling, nil
	}
	return db.RowOrNone(ctx, s.db.Brief, scanScheduling, selectScheduling, user)
}

const selectScheduling = `SELECT calendar_id, availability FROM scheduling WHERE user_id = $1`

var scanScheduling = db.ScanInto(func(f *calendar.Scheduling) []any { return []any{&f.Default, &f.Availability} })

// SetScheduling implements [calendar.Tx].
func (t schedulingTx) SetScheduling(ctx context.Context, user calendar.UserID, s calendar.Scheduling) error {
	return t.Run(ctx, `INSERT INTO scheduling (user_id, calendar_id, availability) VALUES ($1, $2, $3)
		ON CONFLICT (user_id) DO UPDATE SET calendar_id = excluded.calendar_id, availability = excluded.availability`,
		user, s.Default, s.Availability)
}

const selectTags = `SELECT name, schedule_tag FROM objects WHERE calendar_id = $1 AND schedule_tag <> ''`

// ScheduleTags implements [calendar.Store].
func (s schedulingStore) ScheduleTags(
	ctx context.Context, cal calendar.CalendarID,
) (map[calendar.ObjectName]calendar.ScheduleTag, error) {
	tags := map[calendar.ObjectName]calendar.ScheduleTag{}
	err := db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		var name calendar.ObjectName
		var tag calendar.ScheduleTag
		err := row.Scan(&name, &tag)
		tags[name] = tag
		return true, err
	}, selectTags, cal)
	return tags, err
}

var scanToldEvent = db.ScanInto(func(data *[]byte) []any { return []any{data} })

// ToldEvent implements [calendar.Tx].
func (t schedulingTx) ToldEvent(ctx context.Context, user calendar.UserID, uid calendar.UID) ([]byte, error) {
	return db.RowOrNone(ctx, t, scanToldEvent, `SELECT data FROM told_events
		WHERE user_id = $1 AND uid = $2`, user, uid)
}

// PutToldEvent implements [calendar.Tx].
func (t schedulingTx) PutToldEvent(ctx context.Context, user calendar.UserID, uid calendar.UID, data []byte) error {
	return t.Run(ctx, `INSERT INTO told_events (user_id, uid, data) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, uid) DO UPDATE SET data = excluded.data`, user, uid, bytesOf(data))
}

// pruneToldEvents deletes events without an object and without a tombstone of the user.
func (s schedulingStore) pruneToldEvents(ctx context.Context) error {
	const orphaned = `NOT EXISTS (SELECT 1 FROM objects o JOIN calendars c ON c.id = o.calendar_id
		WHERE c.owner_id = told_events.user_id AND o.uid = told_events.uid)`
	users, err := db.RowsOf(ctx, s.db.Reads, db.ScanText, `SELECT DISTINCT user_id FROM told_events WHERE `+orphaned)
	if err != nil {
		return err
	}
	for _, user := range users {
		if err := s.run(ctx, `DELETE FROM told_events WHERE user_id = $1 AND `+orphaned, user); err != nil {
			return err
		}
	}
	return nil
}

// Rooms implements [calendar.Store].
func (s schedulingStore) Rooms(ctx context.Context) ([]calendar.User, error) {
	return db.RowsOf(ctx, s.db.Reads, userColumns.scan, selectUsers+`WHERE u.place <> '' ORDER BY u.name`)
}

// Bookings implements [calendar.Store].
func (s schedulingStore) Bookings(ctx context.Context, before time.Time, most int) ([]calendar.Booking, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(b *calendar.Booking) []any {
		return []any{&b.Room, &b.Calendar, &b.UID, db.Seconds(&b.Posted)}
	}), `SELECT c.owner_id, b.calendar_id, b.uid, b.posted FROM bookings b JOIN calendars c ON c.id = b.calendar_id
		WHERE b.posted <= $1 ORDER BY b.posted, b.calendar_id, b.uid LIMIT $2 + 0`, before.Unix(), most)
}

// PutBooking implements [calendar.Tx].
func (t schedulingTx) PutBooking(ctx context.Context, b calendar.Booking) error {
	return t.Later(ctx, db.Ignore, `INSERT INTO bookings (calendar_id, uid, posted) VALUES ($1, $2, $3)
		ON CONFLICT (calendar_id, uid) DO UPDATE SET posted = excluded.posted`, b.Calendar, b.UID, b.Posted.Unix())
}

// DropBooking implements [calendar.Tx].
func (t schedulingTx) DropBooking(ctx context.Context, cal calendar.CalendarID, uid calendar.UID) error {
	return t.Later(ctx, db.Ignore, `DELETE FROM bookings WHERE calendar_id = $1 AND uid = $2`, cal, uid)
}
