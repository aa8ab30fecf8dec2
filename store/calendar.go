package store

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// calendarColumns, which are packed as those of objects are, are written so that a select from
// calendars and an update's RETURNING may both have them. What can be NULL has a number before it
// that tells so: a length of -1 for a text. The owner's names come last, so that they
// need no length; neither has a line break in it.
const (
	calendarNumbers = `version, pruned, created, modified, edition, CASE WHEN position IS NULL THEN 0 ELSE 1 END,
		COALESCE(position, 0), CASE WHEN transparent THEN 1 ELSE 0 END, CASE WHEN hidden THEN 1 ELSE 0 END,
		octet_length(id), octet_length(owner_id), octet_length(segment), octet_length(name), octet_length(kinds),
		octet_length(timezone), COALESCE(octet_length(color), -1), COALESCE(octet_length(description), -1),
		COALESCE(octet_length(timezone_data), -1), (SELECT epoch FROM meta WHERE id = 1)`
	calendarTexts = `id || owner_id || segment || name || kinds || timezone || COALESCE(color, '') ||
		COALESCE(description, '') || COALESCE(timezone_data, '') || (SELECT u.name || '
' || u.display_name FROM users u WHERE u.id = owner_id)`
	calendarColumns = `concat_ws(' ', ` + calendarNumbers + `, ` + calendarTexts + `)`
)

// selectCalendars yields calendars as the user $1 sees them. Whose they are stands in a select of
// its own behind it, which an index answers; an OR over owner and share would read all calendars.
const selectCalendars = `SELECT concat_ws(' ', CASE WHEN owner_id = $1 THEN 'owner' ELSE COALESCE(own_access, '') END,
		CASE WHEN EXISTS (SELECT 1 FROM invitations h WHERE h.calendar_id = calendars.id) THEN 1 ELSE 0 END,
		` + arrangementNumbers + `, ` + calendarNumbers + `, ` + arrangementTexts + ` || ` + calendarTexts + `)
	FROM calendars LEFT JOIN (
		SELECT calendar_id, access AS own_access, ` + arrangementColumns + ` FROM shares WHERE user_id = $1
	) s ON s.calendar_id = calendars.id
	WHERE trashed IS NULL AND `

// packedCalendar is what stands before the texts of a calendar.
type packedCalendar struct {
	id, owner, segment, name, kinds, timezone, color, description, timezoneData int64
}

func (u *unpacker) calendar(c *calendar.Calendar) (lengths packedCalendar) {
	u.numbers((*int64)(&c.Version), (*int64)(&c.Pruned))
	c.Created, c.Modified = u.time(), u.time()
	u.numbers((*int64)(&c.Edition))
	c.Order = u.maybeNumber()
	c.Transparent, c.Hidden = u.yes(), u.yes()
	u.numbers(&lengths.id, &lengths.owner, &lengths.segment, &lengths.name, &lengths.kinds, &lengths.timezone,
		&lengths.color, &lengths.description, &lengths.timezoneData)
	c.Epoch = calendar.Epoch(u.word())
	return lengths
}

func (u *unpacker) calendarTexts(c *calendar.Calendar, lengths packedCalendar) {
	c.ID, c.Owner = calendar.CalendarID(u.text(lengths.id)), calendar.UserID(u.text(lengths.owner))
	c.Segment, c.Name = calendar.Segment(u.text(lengths.segment)), u.text(lengths.name)
	for word := range strings.FieldsFuncSeq(u.text(lengths.kinds), func(c rune) bool { return c == ',' }) {
		c.Kinds = append(c.Kinds, calendar.Kind(word))
	}
	c.Timezone = u.text(lengths.timezone)
	c.Color, c.Description, c.TimezoneData = u.maybeText(lengths.color), u.maybeText(lengths.description), u.maybeText(lengths.timezoneData)
	name, display, _ := strings.Cut(u.rest, "\n")
	c.OwnerName, c.OwnerTitle = name, calendar.User{Name: name, DisplayName: display}.Title()
}

// unpackCalendar takes apart the calendarColumns.
func unpackCalendar(row string) (calendar.Calendar, error) {
	u, c := unpacker{rest: row}, calendar.Calendar{}
	u.calendarTexts(&c, u.calendar(&c))
	return c, u.err()
}

// scanCalendar scans a row of selectCalendars.
func scanCalendar(row scanner) (calendar.Calendar, error) {
	text, err := scanText(row)
	if err != nil {
		return calendar.Calendar{}, err
	}
	u, c := unpacker{rest: text}, calendar.Calendar{}
	c.Access = accessOf(u.word())
	shared := u.yes()
	own, ownLengths := u.arrangement()
	lengths := u.calendar(&c)
	u.arrangementTexts(&own, ownLengths)
	u.calendarTexts(&c, lengths)
	c.OwnerFree = c.Transparent
	if c.Access > calendar.NoAccess && c.Access < calendar.OwnerAccess {
		c.Properties = own.Under(c.Access).Over(c.ForSharees())
	}
	// Who else has it is the owner's to know.
	c.Shared = shared && c.Access == calendar.OwnerAccess
	return c, u.err()
}

// selectCalendarsOf lists those in the user's home, each half by an index. Putting them in order is
// left to us: for so few, engines take longer to prepare for it than to read them.
const selectCalendarsOf = selectCalendars + `owner_id = $1 UNION ALL ` +
	selectCalendars + `owner_id <> $1 AND id IN (SELECT calendar_id FROM shares WHERE user_id = $1)`

// Calendars implements [calendar.Store].
func (s *Store) Calendars(ctx context.Context, user calendar.UserID) ([]calendar.Calendar, error) {
	return calendarsOf(s.brief(ctx), s.reads, user)
}

func calendarsOf(ctx context.Context, q querier, user calendar.UserID) ([]calendar.Calendar, error) {
	all, err := rowsOf(ctx, q, scanCalendar, selectCalendarsOf, user)
	slices.SortFunc(all, func(a, b calendar.Calendar) int {
		return cmp.Or(
			-cmp.Compare(a.Access/calendar.OwnerAccess, b.Access/calendar.OwnerAccess),
			cmp.Compare(valueOr(a.Order, math.MaxInt64), valueOr(b.Order, math.MaxInt64)),
			strings.Compare(a.Name, b.Name), strings.Compare(string(a.ID), string(b.ID)))
	})
	return all, err
}

// Calendar implements [calendar.Store].
func (s *Store) Calendar(ctx context.Context, user calendar.UserID, id calendar.CalendarID) (calendar.Calendar, error) {
	return rowOf(s.brief(ctx), s.reads, scanCalendar, selectCalendars+`id = $2`, user, id)
}

// CalendarAt implements [calendar.Store]. Should a user have named an own calendar after the id of
// one that is shared with them, their own is meant.
func (s *Store) CalendarAt(ctx context.Context, user calendar.UserID, address calendar.Segment) (calendar.Calendar, error) {
	return rowOf(s.brief(ctx), s.reads, scanCalendar, selectCalendars+`id = COALESCE(
			(SELECT id FROM calendars WHERE owner_id = $1 AND segment = $2 AND trashed IS NULL),
			(SELECT calendar_id FROM shares WHERE user_id = $1 AND calendar_id = $2))`, user, address)
}

// Advance implements [calendar.Tx]. The update takes the row's lock, which lasts until the commit.
func (t *Tx) Advance(ctx context.Context, id calendar.CalendarID) (calendar.Calendar, error) {
	t.hint.Calendars = append(t.hint.Calendars, id)
	return rowOf(ctx, t, scanAdvanced, `UPDATE calendars SET version = version + 1, modified = $2
		WHERE id = $1 AND trashed IS NULL RETURNING `+calendarColumns, id, t.store.now())
}

func scanAdvanced(row scanner) (calendar.Calendar, error) {
	text, err := scanText(row)
	if err != nil {
		return calendar.Calendar{}, err
	}
	return unpackCalendar(text)
}

// InsertCalendar implements [calendar.Tx].
func (t *Tx) InsertCalendar(ctx context.Context, c calendar.Calendar) error {
	t.hint.Everything = true
	_, err := t.exec(ctx, `INSERT INTO calendars (id, owner_id, segment, version, pruned, created, modified, name, color,
			position, kinds, transparent, timezone, description, timezone_data, hidden)
		VALUES ($1, $2, $3, 0, 0, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		c.ID, c.Owner, c.Segment, c.Created.Unix(), c.Modified.Unix(), c.Name, c.Color,
		c.Order, c.Kinds.String(), c.Transparent, c.Timezone, c.Description, c.TimezoneData, c.Hidden)
	return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
}

// taken says what it is that exists.
func taken(err error, rule calendar.Rule, message string) error {
	if err == nil || calendar.ReasonOf(err) != calendar.Exists {
		return err
	}
	return &calendar.Error{Reason: calendar.Exists, Rule: rule, Message: message, Cause: errors.Unwrap(err)}
}

// UpdateCalendar implements [calendar.Tx].
func (t *Tx) UpdateCalendar(ctx context.Context, id calendar.CalendarID, p calendar.Properties) error {
	t.hint.Everything = true
	return expectRow(t.exec(ctx, `UPDATE calendars SET name = $2, color = $3, position = $4, kinds = $5, transparent = $6,
			timezone = $7, description = $8, timezone_data = $9, hidden = $10 WHERE id = $1`,
		id, p.Name, p.Color, p.Order, p.Kinds.String(), p.Transparent, p.Timezone, p.Description, p.TimezoneData, p.Hidden))
}

// MoveCalendar implements [calendar.Tx].
func (t *Tx) MoveCalendar(ctx context.Context, id calendar.CalendarID, to calendar.Segment) error {
	err := expectRow(t.exec(ctx, `UPDATE calendars SET segment = $2 WHERE id = $1 AND trashed IS NULL`, id, to))
	return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
}

// TrashCalendar implements [calendar.Tx].
func (t *Tx) TrashCalendar(ctx context.Context, id calendar.CalendarID) error {
	t.hint.Everything = true
	return expectRow(t.exec(ctx, `UPDATE calendars SET trashed = $2 WHERE id = $1 AND trashed IS NULL`, id, t.store.now()))
}
