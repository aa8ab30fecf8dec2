package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

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
