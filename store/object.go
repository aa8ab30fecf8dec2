package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// objectStore holds the objects of calendars, their users' own parts, and the journal of their changes. Its objectReader
// uses the database's reads.
type objectStore struct {
	*database
	objectReader
}

// objectTx reads and changes objects in a transaction.
type objectTx struct{ *transaction }

const oneObject = ` FROM objects WHERE calendar_id = $1 `

var (
	selectObject = `SELECT ` + lightColumns + oneObject
	selectWhole  = `SELECT ` + wholeColumns + oneObject

	selectByName = selectObject + `AND name = $2 AND NOT deleted`
	selectByUID  = selectObject + `AND uid = $2 AND NOT deleted`
	// selectDuplicates combines two SELECTs, each with its own index.
	selectDuplicates = selectWhole + `AND name = $2
		UNION ALL ` + selectWhole + `AND uid = $3 AND NOT deleted AND name <> $2`
)

// Object implements [calendar.Store].
func (s objectStore) Object(ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName) (calendar.Object, error) {
	return db.RowOf(ctx, s.db.Brief, scanRead, selectByName, string(cal), string(name))
}

// ObjectByUID implements [calendar.Store].
func (s objectStore) ObjectByUID(ctx context.Context, cal calendar.CalendarID, uid calendar.UID) (calendar.Object, error) {
	return db.RowOf(ctx, s.db.Brief, scanRead, selectByUID, string(cal), string(uid))
}

// Duplicates implements [calendar.Tx]. If one object matches both, it is returned as both. Pass the UID "" to
// look for none: no object has it.
func (t objectTx) Duplicates(ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, uid calendar.UID) (atName, withUID *calendar.Object, err error) {
	found, err := db.RowsOf(ctx, t, scanObject, selectDuplicates, cal, name, uid)
	atName, withUID = duplicates(found, name, uid)
	return atName, withUID, err
}

func duplicates(found []calendar.Object, name calendar.ObjectName, uid calendar.UID) (atName, withUID *calendar.Object) {
	for i := range found {
		o := &found[i]
		if o.Name == name {
			atName = o
		}
		if !o.Deleted && o.UID == uid {
			withUID = o
		}
	}
	return atName, withUID
}

// objectFields are the columns that PutObject writes; reach is computed from others.
var objectFields = []db.Field{
	db.TextField("calendar_id"),
	db.TextField("name"),
	db.NumberField("version"),
	db.BoolField("deleted"),
	db.TextField("etag"),
	db.NumberField("size"),
	db.NumberField("created"),
	db.NumberField("modified"),
	db.TextField("uid"),
	db.TextField("kind"),
	db.NumberField("span_start"),
	db.NumberField("span_end"),
	db.BoolField("recurring"),
	db.BoolField("transparent"),
	db.TextField("status"),
	db.TextField("summary"),
	db.TextField("search"),
	db.BlobField("data"),
	db.TextField("schedule_tag"),
	db.NumberField("known"),
	db.NumberField("week_1"),
	db.NumberField("week_2"),
	db.NumberField("week_3"),
	db.NumberField("dates"),
	db.NumberField("beat"),
	db.NumberField("reach"),
}

var insertObject = db.InsertInto("objects", 2, 3, uidTaken, db.Excluded("calendar_id, name", objectFields[2:]...), objectFields...)

// PutObject implements [calendar.Tx].
func (t objectTx) PutObject(ctx context.Context, o calendar.Object) error {
	if err := o.CheckText(); err != nil {
		return err
	}
	t.put++
	at, r := spanOf(o.Span), recurrenceOf(o.Derived)
	return t.Row(ctx, insertObject,
		o.Calendar, o.Name, o.Version, false, o.ETag, o.Size,
		o.Created.Unix(), o.Modified.Unix(), o.UID, o.Kind, at.start, at.end,
		o.Recurring, o.Transparent, o.Status, o.Summary, o.Search, bytesOf(o.Data),
		o.ScheduleTag, r.Known, r.Hours[0], r.Hours[1], r.Hours[2], r.Dates, beat(o.Derived),
		class(o.Derived))
}

// uidTaken is the settler of an object's insertion: only the UID can violate a unique index.
func uidTaken(_ int64, err error) error {
	return taken(err, calendar.RuleUIDConflict, "another object of this calendar has the UID")
}

// bytesOf turns nil into empty, which a driver would store as NULL.
func bytesOf(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// TouchObject implements [calendar.Tx].
func (t objectTx) TouchObject(ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, v calendar.Version) error {
	return t.Later(ctx, db.ExpectRow, `UPDATE objects SET version = $3 WHERE calendar_id = $1 AND name = $2 AND NOT deleted`, cal, name, v)
}

const bury = `UPDATE objects SET deleted = TRUE, version = $3 WHERE calendar_id = $1 AND name = $2 AND NOT deleted`

// BuryObject implements [calendar.Tx].
func (t objectTx) BuryObject(ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, v calendar.Version) error {
	err := t.Later(ctx, db.ExpectRow, bury, cal, name, v)
	if err != nil {
		return err
	}
	return t.forgetDeadProperties(ctx, cal, name)
}
