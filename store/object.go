package store

import (
	"context"
	"fmt"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// objectStore holds the objects of calendars, their users' own parts, and the journal of their changes. Its
// objectReader
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
func (s objectStore) Object(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName,
) (calendar.Object, error) {
	return db.RowOf(ctx, s.db.Brief, scanRead, selectByName, string(cal), string(name))
}

// ObjectByUID implements [calendar.Store].
func (s objectStore) ObjectByUID(
	ctx context.Context, cal calendar.CalendarID, uid calendar.UID,
) (calendar.Object, error) {
	return db.RowOf(ctx, s.db.Brief, scanRead, selectByUID, string(cal), string(uid))
}

// Duplicates implements [calendar.Tx]. If one object matches both, it is returned as both. Pass the UID "" to
// look for none: no object has it.
func (t objectTx) Duplicates(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (atName, withUID *calendar.Object, err error) {
	found, err := db.RowsOf(ctx, t, scanObject, selectDuplicates, cal, name, uid)
	atName, withUID = duplicates(found, name, uid)
	return atName, withUID, err
}

func duplicates(
	found []calendar.Object, name calendar.ObjectName, uid calendar.UID,
) (atName, withUID *calendar.Object) {
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

var insertObject = db.InsertInto("objects", 2, 3, uidTaken, db.Excluded("calendar_id, name", objectFields[2:]...),
	objectFields...)

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

// TouchObject implements [calendar.Tx].
func (t objectTx) TouchObject(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, v calendar.Version,
) error {
	return t.Later(ctx, db.ExpectRow, `UPDATE objects SET version = $3
		WHERE calendar_id = $1 AND name = $2 AND NOT deleted`, cal, name, v)
}

const bury = `UPDATE objects SET deleted = TRUE, version = $3 WHERE calendar_id = $1 AND name = $2 AND NOT deleted`

// BuryObject implements [calendar.Tx].
func (t objectTx) BuryObject(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, v calendar.Version,
) error {
	err := t.Later(ctx, db.ExpectRow, bury, cal, name, v)
	if err != nil {
		return err
	}
	return t.forgetDeadProperties(ctx, cal, name)
}

// ObjectsWithin implements [calendar.Tx].
func (t objectTx) ObjectsWithin(
	ctx context.Context, cal calendar.CalendarID, q calendar.ObjectQuery,
) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		l := newListing(readFrom(t), cal, q)
		drain(func() ([]packedRow, bool, error) { return l.next(ctx) }, unpacked(l.unpack, yield))
	}
}

const (
	ownPart = `SELECT uid, version, etag, data FROM own_parts
		WHERE calendar_id = $1 AND user_id = $2 AND uid = $3`
	ownParts = ` FROM own_parts WHERE calendar_id = $1 AND user_id = $2 AND version > $3
		AND ($3 > 0 OR etag <> '') ORDER BY version`
	ownPartsWhole  = `SELECT uid, version, etag, data` + ownParts
	ownPartsHeads  = `SELECT uid, version, etag, NULL` + ownParts
	ownPartsOfGone = `DELETE FROM own_parts WHERE calendar_id = $1
		AND uid IN (SELECT uid FROM objects WHERE calendar_id = $1 AND deleted AND version <= $2)
		AND uid NOT IN (SELECT uid FROM objects
			WHERE calendar_id = $1 AND NOT deleted AND uid IN (SELECT o.uid FROM own_parts o WHERE o.calendar_id = $1))`
)

var scanOwnPart = db.ScanInto(func(p *calendar.OwnPart) []any { return []any{&p.UID, &p.Version, &p.ETag, &p.Data} })

func ownPartOf(
	ctx context.Context, q db.Querier, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID,
) (calendar.OwnPart, error) {
	return db.RowOrNone(ctx, q, scanOwnPart, ownPart, cal, user, uid)
}

// OwnPart implements [calendar.Store].
func (s objectStore) OwnPart(
	ctx context.Context, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID,
) (calendar.OwnPart, error) {
	return ownPartOf(ctx, s.db.Brief, cal, user, uid)
}

// OwnParts implements [calendar.Store].
func (s objectStore) OwnParts(
	ctx context.Context, cal calendar.CalendarID, user calendar.UserID, after calendar.Version, withData bool,
) ([]calendar.OwnPart, error) {
	text := ownPartsHeads
	if withData {
		text = ownPartsWhole
	}
	return db.RowsOf(ctx, s.db.Lists, scanOwnPart, text, cal, user, after)
}

// OwnPart implements [calendar.Tx].
func (t objectTx) OwnPart(
	ctx context.Context, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID,
) (calendar.OwnPart, error) {
	return ownPartOf(ctx, t, cal, user, uid)
}

// PutOwnPart implements [calendar.Tx].
func (t objectTx) PutOwnPart(
	ctx context.Context, cal calendar.CalendarID, user calendar.UserID, p calendar.OwnPart,
) (int64, error) {
	t.hint.Calendars = append(t.hint.Calendars, cal)
	version, err := db.RowOf(ctx, t, db.ScanNumber, `UPDATE shares SET own_version = own_version + 1
		WHERE calendar_id = $1 AND user_id = $2 RETURNING own_version`, cal, user)
	if err != nil {
		return 0, err
	}
	err = t.Run(ctx, `INSERT INTO own_parts (calendar_id, user_id, uid, version, etag, data)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (calendar_id, user_id, uid) DO UPDATE
		SET version = excluded.version, etag = excluded.etag, data = excluded.data`,
		cal, user, p.UID, version, p.ETag, bytesOf(p.Data))
	if err != nil {
		return 0, err
	}
	return db.RowOf(ctx, t, db.ScanNumber, `SELECT COALESCE(SUM(octet_length(data)), 0) FROM own_parts
		WHERE calendar_id = $1 AND user_id = $2`, cal, user)
}

// CopyOwnParts implements [calendar.Tx].
func (t objectTx) CopyOwnParts(
	ctx context.Context, cal calendar.CalendarID, from, to calendar.UID, but calendar.UserID,
) error {
	const who = `SELECT user_id FROM own_parts WHERE calendar_id = $1 AND uid = $2 AND etag <> '' AND user_id <> $3`
	moved, err := t.Exec(ctx, `UPDATE shares SET own_version = own_version + 1
		WHERE calendar_id = $1 AND user_id IN (`+who+`)`, cal, from, but)
	if err != nil || moved == 0 {
		return err
	}
	return t.Run(ctx, `INSERT INTO own_parts (calendar_id, user_id, uid, version, etag, data)
		SELECT p.calendar_id, p.user_id, $4, s.own_version, p.etag, p.data
		FROM own_parts p JOIN shares s ON s.calendar_id = p.calendar_id AND s.user_id = p.user_id
		WHERE p.calendar_id = $1 AND p.uid = $2 AND p.etag <> '' AND p.user_id <> $3
		ON CONFLICT (calendar_id, user_id, uid) DO UPDATE
		SET version = excluded.version, etag = excluded.etag, data = excluded.data`,
		cal, from, but, to)
}

// Rederive implements [calendar.Store]. It walks all objects page by page, in transactions so short that
// requests do not wait for them. It skips an object that is written meanwhile: its writer derived it.
func (s objectStore) Rederive(
	ctx context.Context, walk calendar.Walk, derive func(calendar.Object) calendar.Derived,
) (int, error) {
	last := walk.After
	for total := 0; ; {
		objects, err := s.pageOfAll(ctx, last)
		if err != nil || len(objects) == 0 {
			return total, err
		}
		if err := s.rederive(ctx, objects, derive); err != nil {
			return total, err
		}
		total += len(objects)
		end := objects[len(objects)-1]
		last = calendar.ObjectAddress{Calendar: end.Calendar, Name: end.Name}
		if walk.Reached == nil {
			continue
		}
		if err := walk.Reached(ctx, last, total); err != nil {
			return total, err
		}
	}
}

// pageOfAll reads the next objects after an address, including tombstones and calendars in the trash.
func (s objectStore) pageOfAll(ctx context.Context, last calendar.ObjectAddress) ([]calendar.Object, error) {
	var objects []calendar.Object
	room := pageBytes
	err := db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		o, err := scanObject(row)
		objects = append(objects, o)
		room -= len(o.Data)
		return room > 0, err
	}, `SELECT `+wholeColumns+` FROM objects WHERE (calendar_id, name) > ($1, $2)
		ORDER BY calendar_id, name LIMIT $3 + 0`, last.Calendar, last.Name, firstDataRows)
	return objects, err
}

// rederive updates the derived columns that changed.
func (s objectStore) rederive(
	ctx context.Context, objects []calendar.Object, derive func(calendar.Object) calendar.Derived,
) error {
	var changed []calendar.Object
	for _, o := range objects {
		next := o
		next.Derived = derive(o)
		if !sameDerived(o.Derived, next.Derived) {
			changed = append(changed, next)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.transact(ctx, func(t *transaction) error {
		last := calendar.CalendarID("")
		for _, o := range changed {
			if o.Calendar != last {
				last = o.Calendar
				if err := t.Run(ctx, newEdition, last); err != nil {
					return err
				}
			}
			if err := t.updateDerived(ctx, o); err != nil {
				return fmt.Errorf("object %s of calendar %s: %w", o.Name, o.Calendar, err)
			}
		}
		return nil
	})
}

// newEdition tells processes that cache a calendar's objects that these changed. It locks the calendar first
// and its objects second, like every other change.
const newEdition = `UPDATE calendars SET edition = edition + 1 WHERE id = $1`

func (t *transaction) updateDerived(ctx context.Context, o calendar.Object) error {
	at, r := spanOf(o.Span), recurrenceOf(o.Derived)
	return uidTaken(t.Exec(ctx, `UPDATE objects SET uid = $4, kind = $5, span_start = $6, span_end = $7, recurring = $8,
			transparent = $9, status = $10, summary = $11, search = $12, reach = $13,
			known = $14, week_1 = $15, week_2 = $16, week_3 = $17, dates = $18, beat = $19
		WHERE calendar_id = $1 AND name = $2 AND version = $3`,
		o.Calendar, o.Name, o.Version, o.UID, o.Kind, at.start, at.end, o.Recurring,
		o.Transparent, o.Status, o.Summary, o.Search, class(o.Derived),
		r.Known, r.Hours[0], r.Hours[1], r.Hours[2], r.Dates, beat(o.Derived)))
}

func sameDerived(a, b calendar.Derived) bool {
	if spanOf(a.Span) != spanOf(b.Span) || !a.Recurrence.Equal(b.Recurrence) {
		return false
	}
	a.Span, b.Span = calendar.Span{}, calendar.Span{}
	a.Recurrence, b.Recurrence = nil, nil
	return a == b
}
