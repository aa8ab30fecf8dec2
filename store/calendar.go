package store

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// calendarStore holds calendars, also in the trash, the homes that list them, and their owners' usage.
type calendarStore struct{ *database }

// calendarTx reads and changes calendars in a transaction.
type calendarTx struct{ *transaction }

// calendarRow is a row of calendars, with one user's settings for it.
type calendarRow struct {
	calendar.Calendar
	// owner holds the owner's name, quotas and display name, one per line; the display name has no line break
	// either.
	kinds, owner, access string
	shared               bool
	own                  calendar.Arrangement
}

// The fields of calendars are written so that both a SELECT and an UPDATE … RETURNING can use them. The owner is the
// last of calendarFields: packedOwn takes it from elsewhere.
var (
	calendarFields = columns[calendarRow]{
		{"version", func(c *calendarRow) any { return (*int64)(&c.Version) }},
		{"pruned", func(c *calendarRow) any { return (*int64)(&c.Pruned) }},
		{"created", func(c *calendarRow) any { return &c.Created }},
		{"modified", func(c *calendarRow) any { return &c.Modified }},
		{"edition", func(c *calendarRow) any { return (*int64)(&c.Edition) }},
		{"position", func(c *calendarRow) any { return &c.Order }},
		{"transparent", func(c *calendarRow) any { return &c.Transparent }},
		{"hidden", func(c *calendarRow) any { return &c.Hidden }},
		{"(SELECT epoch FROM life)", func(c *calendarRow) any { return (*word)(&c.Epoch) }},
		{"id", func(c *calendarRow) any { return (*string)(&c.ID) }},
		{"owner_id", func(c *calendarRow) any { return (*string)(&c.Owner) }},
		{"segment", func(c *calendarRow) any { return (*string)(&c.Segment) }},
		{"name", func(c *calendarRow) any { return &c.Name }},
		{"kinds", func(c *calendarRow) any { return &c.kinds }},
		{"timezone", func(c *calendarRow) any { return &c.Timezone }},
		{"color", func(c *calendarRow) any { return &c.Color }},
		{"description", func(c *calendarRow) any { return &c.Description }},
		{"origin", func(c *calendarRow) any { return &c.Origin.From }},
		{"origin_writable", func(c *calendarRow) any { return &c.Origin.Writable }},
		{"origin_address", func(c *calendarRow) any { return &c.Origin.Address }},
		{"origin_own", func(c *calendarRow) any { return &c.Origin.Own }},
		{"origin_notifier", func(c *calendarRow) any { return &c.Origin.Notifier }},
		{"timezone_data", func(c *calendarRow) any { return &c.TimezoneData }},
		{"(SELECT " + ownerText + " FROM users u WHERE u.id = owner_id)", ownerField.into},
	}
	accessFields = columns[calendarRow]{
		{
			"CASE WHEN owner_id = $1 THEN 'owner' ELSE COALESCE(own_access, '') END",
			func(c *calendarRow) any { return (*word)(&c.access) },
		},
		sharedField,
	}
	sharedField = column[calendarRow]{
		"EXISTS (SELECT 1 FROM invitations h WHERE h.calendar_id = calendars.id)",
		func(c *calendarRow) any { return &c.shared },
	}
	ownerField = column[calendarRow]{ownerText, func(c *calendarRow) any { return (*remainder)(&c.owner) }}

	packedCalendar = calendarFields.packed()
	packedSeen     = slices.Concat(accessFields, arrangementFields, calendarFields).packed()
	// packedOwn is the owner's view, for a query that already has the owner as u.
	packedOwn = slices.Concat(calendarFields[:len(calendarFields)-1],
		columns[calendarRow]{sharedField, ownerField}).packed()
)

// selectCalendars returns calendars as user $1 sees them. The condition for the owner follows in a separate
// SELECT, which an index answers; one OR over owner and share would read all calendars.
var selectCalendars = `SELECT ` + packedSeen.selected + ` FROM calendars LEFT JOIN (
		SELECT calendar_id, access AS own_access, own_name, own_description, own_color, own_position, own_opaque,
		own_hidden, own_version
		FROM shares WHERE user_id = $1
	) s ON s.calendar_id = calendars.id
	WHERE trashed IS NULL AND `

func (c calendarRow) result() calendar.Calendar {
	c.Kinds = kindsOf(c.kinds)
	name, rest, found := strings.Cut(c.owner, "\n")
	if found {
		for _, bound := range [...]*int64{&c.OwnerQuota.Calendars, &c.OwnerQuota.Objects, &c.OwnerQuota.Bytes} {
			var number string
			number, rest, _ = strings.Cut(rest, "\n")
			// The database rendered the number, so it parses.
			*bound, _ = strconv.ParseInt(number, 10, 64)
		}
		u := calendar.User{Name: name, DisplayName: rest}
		c.OwnerName, c.OwnerTitle = u.Name, u.Title()
	}
	return c.Calendar
}

// kindsOf parses the column of kinds.
func kindsOf(text string) calendar.Kinds {
	if text == "" {
		return nil
	}
	kinds := make(calendar.Kinds, 0, strings.Count(text, ",")+1)
	for kind := range strings.SplitSeq(text, ",") {
		kinds = append(kinds, calendar.Kind(kind))
	}
	return kinds
}

// ownerText selects the owner's name, quotas and display name, one per line.
const ownerText = "u.name || '\n' || u.quota_calendars || '\n' || u.quota_objects || '\n' || u.quota_bytes || '\n' " +
	"|| u.display_name"

// unpackCalendar parses a packedCalendar.
func unpackCalendar(row string) (calendar.Calendar, error) {
	c, err := packedCalendar.reader()(row)
	return c.result(), err
}

// unpackOwn parses a packedOwn.
func unpackOwn(row string) (calendar.Calendar, error) {
	var seen calendarRow
	err := packedOwn.read(row, &seen)
	seen.Access, seen.OwnerFree, seen.Shared = calendar.OwnerAccess, seen.Transparent, seen.shared
	return seen.result(), err
}

// scanCalendar scans a row of selectCalendars.
func scanCalendar(row db.Scanner) (calendar.Calendar, error) {
	seen, err := packedSeen.scan(row)
	c := seen.result()
	c.Access, c.OwnerFree = calendar.ParseAccess(seen.access), c.Transparent
	if c.Access > calendar.NoAccess && c.Access < calendar.OwnerAccess {
		c.Properties = seen.own.Under(c.Access).Over(c.ForSharees())
	}
	// Only the owner knows the other sharees.
	c.Shared = seen.shared && c.Access == calendar.OwnerAccess
	return c, err
}

var (
	// selectCalendarsOf lists the calendars in the user's home, each half by an index. Go sorts them: for so
	// few rows, an ORDER BY takes longer to prepare than the read.
	selectCalendarsOf = selectCalendars + `owner_id = $1 UNION ALL ` +
		selectCalendars + `owner_id <> $1 AND id IN (SELECT calendar_id FROM shares WHERE user_id = $1)`

	selectCalendarByID = selectCalendars + `id = $2`
	selectCalendarAt   = selectCalendars + `id = COALESCE(
		(SELECT id FROM calendars WHERE owner_id = $1 AND segment = $2 AND trashed IS NULL),
		(SELECT calendar_id FROM shares WHERE user_id = $1 AND calendar_id = $2))`
)

// Calendars implements [calendar.Store].
func (s calendarStore) Calendars(ctx context.Context, user calendar.UserID) ([]calendar.Calendar, error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.allCalendars(), nil
	}
	return calendarsOf(ctx, s.db.Lists, user)
}

func calendarsOf(ctx context.Context, q db.Querier, user calendar.UserID) ([]calendar.Calendar, error) {
	all, err := db.RowsOf(ctx, q, scanCalendar, selectCalendarsOf, user)
	sortHome(all)
	return all, err
}

// sortHome sorts calendars in the order of a home.
func sortHome(all []calendar.Calendar) {
	slices.SortFunc(all, func(a, b calendar.Calendar) int {
		return cmp.Or(
			-cmp.Compare(a.Access/calendar.OwnerAccess, b.Access/calendar.OwnerAccess),
			cmp.Compare(valueOr(a.Order, math.MaxInt64), valueOr(b.Order, math.MaxInt64)),
			strings.Compare(a.Name, b.Name), strings.Compare(string(a.ID), string(b.ID)))
	})
}

// Calendar implements [calendar.Store].
func (s calendarStore) Calendar(
	ctx context.Context, user calendar.UserID, id calendar.CalendarID,
) (calendar.Calendar, error) {
	return db.RowOf(ctx, s.db.Brief, scanCalendar, selectCalendarByID, string(user), string(id))
}

// CalendarAt implements [calendar.Store]. If a user named an own calendar after the id of a calendar shared
// with them, their own wins.
func (s calendarStore) CalendarAt(
	ctx context.Context, user calendar.UserID, address calendar.Segment,
) (calendar.Calendar, error) {
	if cal, just := auth.AlongOf(ctx).Take(user, address, s.db.Options.Now()); just {
		return cal, nil
	}
	return db.RowOf(ctx, s.db.Brief, scanCalendar, selectCalendarAt, string(user), string(address))
}

// AddressTaken implements [calendar.Tx].
func (t calendarTx) AddressTaken(ctx context.Context, owner calendar.UserID, at calendar.Segment) (bool, error) {
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM calendars
		WHERE owner_id = $1 AND segment = $2 AND trashed IS NULL`, owner, at)
	return n > 0, err
}

var advanceCalendar = `UPDATE calendars SET version = version + 1, modified = $2
	WHERE id = $1 AND trashed IS NULL RETURNING ` + packedCalendar.selected

// Advance implements [calendar.Tx].
func (t calendarTx) Advance(ctx context.Context, id calendar.CalendarID) (calendar.Calendar, error) {
	return t.advance(ctx, id)
}

// AdvanceTo implements [calendar.Tx].
func (t calendarTx) AdvanceTo(
	ctx context.Context, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (cal calendar.Calendar, atName, withUID *calendar.Object, err error) {
	var found []calendar.Object
	cal, err = t.advance(ctx, id, db.Question{
		Take: db.TakeAll(&found, scanObject), Text: selectDuplicates,
		Args: []any{id, name, uid},
	})
	atName, withUID = duplicates(found, name, uid)
	return cal, atName, withUID, err
}

// advance locks the calendar and asks further questions once the lock is held. The UPDATE takes the row lock
// until the commit.
func (t *transaction) advance(
	ctx context.Context, id calendar.CalendarID, then ...db.Question,
) (cal calendar.Calendar, err error) {
	t.hint.Calendars = append(t.hint.Calendars, id)
	if err := t.Approach(ctx, string(id)); err != nil {
		return cal, err
	}
	var locked []calendar.Calendar
	first := db.Question{Take: db.TakeAll(&locked, scanAdvanced), Text: advanceCalendar, Args: []any{id, t.store.now()}}
	proof, proven := t.provenStill(ctx)
	if err := t.Ask(ctx, slices.Concat([]db.Question{first}, then, proof)); err != nil {
		return cal, err
	}
	if err := proven(); err != nil {
		return cal, err
	}
	if len(locked) == 0 {
		return cal, t.Of().Translate(ctx, sql.ErrNoRows)
	}
	return locked[0], nil
}

// AdvanceAll implements [calendar.Tx]. It locks the rows in the order of the inner query.
func (t calendarTx) AdvanceAll(ctx context.Context, ids []calendar.CalendarID) ([]calendar.Calendar, error) {
	t.hint.Calendars = append(t.hint.Calendars, ids...)
	if len(ids) > 0 {
		if err := t.Approach(ctx, string(slices.Min(ids))); err != nil {
			return nil, err
		}
	}
	return t.advanceAll(ctx, ids, t.Of().LockRows, calendar.Usage{})
}

// AdvanceFree implements [calendar.Tx].
func (t calendarTx) AdvanceFree(
	ctx context.Context, ids []calendar.CalendarID, grown calendar.Usage,
) ([]calendar.Calendar, error) {
	t.hint.Calendars = append(t.hint.Calendars, ids...)
	return t.advanceAll(ctx, ids, t.Of().LockFree, grown)
}

func (t *transaction) advanceAll(
	ctx context.Context, ids []calendar.CalendarID, lock string, grown calendar.Usage,
) ([]calendar.Calendar, error) {
	all, err := rowsOfList(ctx, t, ids, scanAdvanced, withList(4, `UPDATE calendars
		SET version = version + 1, modified = $1, objects = objects + $2, bytes = bytes + $3
		WHERE id IN (SELECT id FROM calendars WHERE trashed IS NULL AND id§ORDER BY id`+lock+`)
		RETURNING `+packedCalendar.selected), t.store.now(), grown.Objects, grown.Bytes)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b calendar.Calendar) int { return cmp.Compare(a.ID, b.ID) })
	if proof, proven := t.provenStill(ctx); proof != nil {
		return all, cmp.Or(t.Ask(ctx, proof), proven())
	}
	return all, nil
}

func scanAdvanced(row db.Scanner) (calendar.Calendar, error) {
	c, err := packedCalendar.scan(row)
	return c.result(), err
}

// InsertCalendar implements [calendar.Tx].
func (t calendarTx) InsertCalendar(ctx context.Context, c calendar.Calendar) error {
	t.hint.Everything = true
	err := t.Run(ctx, `INSERT INTO calendars (id, owner_id, segment, version, pruned, created, modified, name, color,
			position, kinds, transparent, timezone, description, timezone_data, hidden)
		VALUES ($1, $2, $3, 0, 0, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		c.ID, c.Owner, c.Segment, c.Created.Unix(), c.Modified.Unix(), c.Name, c.Color,
		c.Order, c.Kinds.String(), c.Transparent, c.Timezone, c.Description, c.TimezoneData, c.Hidden)
	return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
}

// UpdateCalendar implements [calendar.Tx].
func (t calendarTx) UpdateCalendar(ctx context.Context, id calendar.CalendarID, p calendar.Properties) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE calendars
			SET name = $2, color = $3, position = $4, kinds = $5, transparent = $6,
			timezone = $7, description = $8, timezone_data = $9, hidden = $10 WHERE id = $1`,
		id, p.Name, p.Color, p.Order, p.Kinds.String(), p.Transparent, p.Timezone, p.Description,
		p.TimezoneData, p.Hidden))
}

// MoveCalendar implements [calendar.Tx].
func (t calendarTx) MoveCalendar(ctx context.Context, id calendar.CalendarID, to calendar.Segment) error {
	err := db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET segment = $2 WHERE id = $1 AND trashed IS NULL`, id, to))
	return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
}

// GiveCalendar implements [calendar.Tx]. The generation of the new owner advances, because their remembered tokens hold
// the calendars they may use.
func (t calendarTx) GiveCalendar(ctx context.Context, id calendar.CalendarID, to calendar.UserID) error {
	for _, table := range [...]string{"invitations", "shares", "group_leavers"} {
		if err := t.Run(ctx, `DELETE FROM `+table+` WHERE calendar_id = $1 AND user_id = $2`, id, to); err != nil {
			return err
		}
	}
	err := db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET owner_id = $2, segment = id, edition = edition + 1
		WHERE id = $1 AND trashed IS NULL`, id, to))
	if err != nil {
		return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
	}
	if err := t.recomputeShares(ctx, sharesOfCalendar(id)); err != nil {
		return err
	}
	return t.credentialsChanged(ctx, to)
}

// TrashCalendar implements [calendar.Tx].
func (t calendarTx) TrashCalendar(ctx context.Context, id calendar.CalendarID) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET trashed = $2 WHERE id = $1 AND trashed IS NULL`,
		id, t.store.now()))
}

// arrangementFields are the sharee's own columns of shares, all NULL if there is no share.
var arrangementFields = columns[calendarRow]{
	{"COALESCE(own_version, 0)", func(c *calendarRow) any { return (*int64)(&c.Own) }},
	{"own_position", func(c *calendarRow) any { return &c.own.Order }},
	{"own_opaque", func(c *calendarRow) any { return &c.own.Opaque }},
	{"own_hidden", func(c *calendarRow) any { return &c.own.Hidden }},
	{"own_name", func(c *calendarRow) any { return &c.own.Name }},
	{"own_description", func(c *calendarRow) any { return &c.own.Description }},
	{"own_color", func(c *calendarRow) any { return &c.own.Color }},
}
