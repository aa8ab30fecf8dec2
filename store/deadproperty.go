package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// deadTable holds the statements of one of the tables of dead properties.
type deadTable struct{ list, put, remove, size string }

// keptIn builds the statements of a table. All of them have the same columns.
func keptIn(table string) deadTable {
	return deadTable{
		list: `SELECT space, name, value FROM ` + table + ` WHERE owner = $1 AND item = $2 ORDER BY space, name`,
		put: `INSERT INTO ` + table + ` (owner, item, space, name, value) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (owner, item, space, name) DO UPDATE SET value = excluded.value`,
		remove: `DELETE FROM ` + table + ` WHERE owner = $1 AND item = $2 AND space = $3 AND name = $4`,
		size:   `SELECT COUNT(*), ` + deadBytes + ` FROM ` + table + ` WHERE owner = $1 AND item = $2`,
	}
}

// deadBytes is the size of properties that counts against the quota.
const deadBytes = `COALESCE(SUM(octet_length(space) + octet_length(name) + octet_length(value)), 0)`

// keptOf returns the table of a holder's properties, and the owner and item of its rows.
func keptOf(h calendar.Holder) (table deadTable, owner, item string) {
	switch h.Place {
	case calendar.AtPrincipal:
		return keptIn("user_kept"), string(h.User), "principal"
	case calendar.AtHome:
		return keptIn("user_kept"), string(h.User), "home"
	case calendar.AtShare:
		return keptIn("share_kept"), string(h.Calendar.ID), string(h.User)
	case calendar.AtCalendar, calendar.AtObject:
	}
	return keptIn("calendar_kept"), string(h.Calendar.ID), string(h.Object)
}

var scanDeadProperty = db.ScanInto(func(k *calendar.DeadProperty) []any {
	return []any{&k.Name.Space, &k.Name.Local, &k.Value}
})

// DeadProperties implements [calendar.Store].
func (s calendarStore) DeadProperties(ctx context.Context, h calendar.Holder) ([]calendar.DeadProperty, error) {
	if read := prefetchedHomeOf(ctx, h.User); read != nil && h.Place == calendar.AtHome {
		return slices.Clone(read.kept), nil
	}
	table, owner, item := keptOf(h)
	return db.RowsOf(ctx, s.db.Lists, scanDeadProperty, table.list, owner, item)
}

// DeadProperties implements [calendar.Tx].
func (t objectTx) DeadProperties(ctx context.Context, h calendar.Holder) ([]calendar.DeadProperty, error) {
	table, owner, item := keptOf(h)
	return db.RowsOf(ctx, t, scanDeadProperty, table.list, owner, item)
}

// DeadPropertiesInHome implements [calendar.Store].
func (s calendarStore) DeadPropertiesInHome(
	ctx context.Context, user calendar.UserID,
) (map[calendar.CalendarID][]calendar.DeadProperty, error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.keptOfCalendars(), nil
	}
	kept := map[calendar.CalendarID][]calendar.DeadProperty{}
	err := db.Each(ctx, s.db.Lists, takeKept(kept), selectDeadInHome, user)
	sortKept(kept)
	return kept, err
}

func takeKept(kept map[calendar.CalendarID][]calendar.DeadProperty) db.Taker {
	return func(row db.Scanner) (bool, error) {
		var id calendar.CalendarID
		var k calendar.DeadProperty
		err := row.Scan(&id, &k.Name.Space, &k.Name.Local, &k.Value)
		kept[id] = append(kept[id], k)
		return true, err
	}
}

// sortKept sorts the properties of each calendar by name.
func sortKept(kept map[calendar.CalendarID][]calendar.DeadProperty) {
	for _, list := range kept {
		slices.SortFunc(list, func(a, b calendar.DeadProperty) int {
			return cmp.Or(strings.Compare(a.Name.Space, b.Name.Space), strings.Compare(a.Name.Local, b.Name.Local))
		})
	}
}

// selectDeadInHome starts from the user's own calendars, so that it does not scan other users' calendars.
const selectDeadInHome = `SELECT k.owner, k.space, k.name, k.value
		FROM calendars c JOIN calendar_kept k ON k.owner = c.id AND k.item = ''
		WHERE c.owner_id = $1 AND c.trashed IS NULL
	UNION ALL SELECT k.owner, k.space, k.name, k.value FROM share_kept k
		WHERE k.item = $1 AND EXISTS (SELECT 1 FROM calendars c WHERE c.id = k.owner AND c.trashed IS NULL)`

// DeadPropertyHolders implements [calendar.Store].
func (s calendarStore) DeadPropertyHolders(
	ctx context.Context, cal calendar.CalendarID,
) ([]calendar.ObjectName, error) {
	return db.RowsOf(ctx, s.db.Lists, db.ScanOnly[calendar.ObjectName], `SELECT DISTINCT item FROM calendar_kept
		WHERE owner = $1 AND item <> ''`, cal)
}

// SetDeadProperties implements [calendar.Tx]. The caller holds the calendar's lock and makes sure that the
// object exists.
func (t objectTx) SetDeadProperties(
	ctx context.Context, h calendar.Holder, edits []calendar.DeadProperty,
) (all calendar.Usage, grown int64, err error) {
	table, owner, item := keptOf(h)
	before, err := db.RowOf(ctx, t, scanKept, table.size, owner, item)
	if err != nil {
		return all, 0, err
	}
	for _, e := range edits {
		if e.Value == "" {
			err = t.Run(ctx, table.remove, owner, item, e.Name.Space, e.Name.Local)
		} else {
			err = t.Run(ctx, table.put, owner, item, e.Name.Space, e.Name.Local, e.Value)
		}
		if err != nil {
			return all, 0, fmt.Errorf("property %s: %w", e.Name.Local, err)
		}
	}
	all, err = db.RowOf(ctx, t, scanKept, table.size, owner, item)
	return all, all.Bytes - before.Bytes, err
}

// scanKept scans the number and size of properties.
var scanKept = db.ScanInto(func(u *calendar.Usage) []any { return []any{&u.Objects, &u.Bytes} })

const (
	ofItem = ` FROM calendar_kept WHERE owner = $1 AND item = $2`

	// countKept adds the size of an object's properties to the calendar's usage; uncountKept subtracts it.
	countKept = `UPDATE calendars SET bytes = bytes + (SELECT ` + deadBytes + ofItem + `) WHERE id = $1
		AND EXISTS (SELECT 1` + ofItem + `)`
	uncountKept = `UPDATE calendars SET bytes = bytes - (SELECT ` + deadBytes + ofItem + `) WHERE id = $1
		AND EXISTS (SELECT 1` + ofItem + `)`
)

// forgetDeadProperties runs when an object is deleted or replaced by another one.
func (t *transaction) forgetDeadProperties(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName,
) error {
	if err := t.Later(ctx, db.Ignore, uncountKept, cal, name); err != nil {
		return err
	}
	return t.Later(ctx, db.Ignore, `DELETE`+ofItem, cal, name)
}

// CopyDeadProperties implements [calendar.Tx].
func (t objectTx) CopyDeadProperties(ctx context.Context, from, to calendar.Holder) error {
	if err := t.forgetDeadProperties(ctx, to.Calendar.ID, to.Object); err != nil {
		return err
	}
	err := t.Later(ctx, db.Ignore, `INSERT INTO calendar_kept (owner, item, space, name, value)
		SELECT $3, $4, space, name, value FROM calendar_kept WHERE owner = $1 AND item = $2`,
		from.Calendar.ID, from.Object, to.Calendar.ID, to.Object)
	if err != nil {
		return err
	}
	return t.Later(ctx, db.Ignore, countKept, to.Calendar.ID, to.Object)
}
