package mcp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/daterange"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// zoneSource is the source of a call's time zone.
type zoneSource string

// The sources; the first that names a zone wins.
const (
	zoneOfArgument zoneSource = "argument"
	zoneOfUser     zoneSource = "user"
	zoneOfCalendar zoneSource = "calendar"
	zoneOfNobody   zoneSource = "default"
)

// zoned is the time zone of a call, for its local times and its results.
type zoned struct {
	*zone.Zone
	source zoneSource
	// seen are the current times of the call's event or task, by parameter: see agrees.
	seen map[string]time.Time
	// floating is set if the call writes floating times.
	floating bool
	// series is set if the times apply to more than one instance: see agrees.
	series bool
}

// repeating returns the zone for times of a series, if series is set.
func (z zoned) repeating(series bool) zoned {
	z.series = z.series || series
	return z
}

// inZone holds the parameter of tools that take or return local times. The instructions explain its default.
type inZone struct{ timezone string }

func (in *inZone) takesZone() field {
	return wordTo(&in.timezone, "timezone", "IANA name.")
}

// takesZoneKept is for tools that change objects which already have a time zone.
func (in *inZone) takesZoneKept() field {
	return wordTo(&in.timezone, "timezone", "IANA name, or floating.")
}

// floating is the parameter's value for floating times.
const floating = "floating"

// zoneToWrite is zoneFor for a call that gives an event times, which may be floating.
func (b toolbox) zoneToWrite(c *call, in inZone, cal calendar.Calendar) (zoned, error) {
	if !strings.EqualFold(in.timezone, floating) {
		return b.zoneFor(c, in, cal)
	}
	z := b.usualZone(c, cal)
	z.floating = true
	return z, nil
}

// zoneFor returns the time zone of a call, which may be about one calendar. Only an unknown zone in an argument is an
// error; an unknown zone in a setting is skipped.
func (b toolbox) zoneFor(c *call, in inZone, cal calendar.Calendar) (zoned, error) {
	if in.timezone == "" {
		return b.usualZone(c, cal), nil
	}
	z, err := b.zones.Ask(in.timezone)
	if err != nil {
		return zoned{}, errArgument(`"timezone": %s`, err)
	}
	return zoned{Zone: z, source: zoneOfArgument}, nil
}

// usualZone is the time zone of a call that names none.
func (b toolbox) usualZone(c *call, cal calendar.Calendar) zoned {
	for _, stored := range [...]struct {
		name   string
		source zoneSource
	}{{c.caller.User.Timezone, zoneOfUser}, {cal.Timezone, zoneOfCalendar}} {
		if z, err := b.zones.Lookup(stored.name); err == nil {
			return zoned{Zone: z, source: stored.source}
		}
	}
	return zoned{Zone: zone.UTC(), source: zoneOfNobody}
}

// moment is a time in an argument.
type moment struct {
	at time.Time
	// date marks an all-day date: at is midnight UTC at its start.
	date bool
	// basic marks a date in iCalendar's format, where an end is the day after the last.
	basic bool
	// local is set if the call gave a local time; at is that time in the zone of the call.
	local bool
}

// behind is the exclusive end. People, and our lists, give the last day as 2026-03-02; iCalendar gives the day after
// it, as 20260303 (RFC 5545 §3.6.1).
func (m moment) behind() moment {
	if m.date && !m.basic {
		return m.next()
	}
	return m
}

// next is the day after a date.
func (m moment) next() moment {
	m.at, m.basic = m.at.AddDate(0, 0, 1), true
	return m
}

// readSpan parses the start and the end of an event.
func (z zoned) readSpan(from, to string) (start, end moment, err error) {
	if start, err = z.read("start", from); err != nil {
		return start, end, err
	}
	if end, err = z.read("end", to); err != nil {
		return start, end, err
	}
	if start.date != end.date {
		return start, end, errArgument(`"start" is %s and "end" is %s: give two dates for an all-day event,`+
			` or two times`, wire.Quote(from), wire.Quote(to))
	}
	// The same day as start and end means that day, in either format.
	if start.date && start.at.Equal(end.at) {
		return start, end.next(), nil
	}
	end = end.behind()
	if start.date && !end.at.After(start.at) {
		return start, end, errArgument(`"end" (%s) must not be before "start" (%s)`, wire.Quote(to), wire.Quote(from))
	}
	return start, end, nil
}

// read parses the time in a parameter, in any of the formats. A local time during a clock change may not exist or may
// occur twice. Then read returns an error, and the caller must choose an instant.
func (z zoned) read(parameter, value string) (moment, error) {
	value = strings.TrimSpace(value)
	t, err := timetext.Parse(value, z.Zone)
	if unreadable, ok := errors.AsType[*timetext.Error](err); ok && !unreadable.Impossible {
		return moment{}, errArgument(`%q cannot be read: %s; write it %s`, parameter, wire.Quote(value), timeForms)
	} else if ok {
		return moment{}, errArgument(`%q: there is no such date or time as %s`, parameter, wire.Quote(value))
	}
	if err != nil {
		return moment{}, errArgument(`%q: %s`, parameter, err)
	}
	m := moment{
		at: time.Unix(t.Civil.Seconds(), 0).UTC(), date: t.IsDate(), basic: !strings.Contains(value, "-"),
		local: t.Form == ical.FormZoned,
	}
	if m.local {
		m.at, _ = z.Resolve(t.Civil)
	}
	if t.Form == ical.FormUTC && z.floating {
		return m, errArgument("%q (%s) has an offset, and \"timezone\" says that it is floating: write it without one",
			parameter, wire.Quote(value))
	}
	if t.Form == ical.FormUTC {
		err = z.agrees(parameter, value, m.at, timetext.Written(value, t))
	}
	return m, err
}

// agrees refuses a time of a series whose offset, or Z, differs from the time zone in the same call. A single event is
// at the given instant. A series keeps its local time: a model that appends Z to a local time would make the whole
// series start an hour or two late for all attendees. The event's current time is always accepted.
func (z zoned) agrees(parameter, value string, at time.Time, written ical.Civil) error {
	local, _ := z.Resolve(written)
	if !z.series || z.source != zoneOfArgument || local.Equal(at) || z.Civil(at) == written {
		return nil
	}
	if now, ok := z.seen[strings.TrimPrefix(parameter, "new_")]; ok && now.Equal(at) {
		return nil
	}
	e := errArgument("%q (%s) and \"timezone\" (%s) contradict each other, and a series keeps the time of day",
		parameter, wire.Quote(value), z.Name())
	e.Hint = fmt.Sprintf("write %s if clocks there should show %s, or %s for exactly that moment; or leave out "+
		"\"timezone\"",
		local.Format(time.RFC3339), local.Format(clockForm), at.In(z.Location()).Format(time.RFC3339))
	return e
}

// clockForm is the format of a time of day.
const clockForm = "15:04"

// timeForms tells a model how to write a time; timeForm is the short version.
const (
	timeForms = "as 2026-03-01T09:00:00 (local, in timezone), 2026-03-01T09:00:00+01:00, 20260301T090000Z, or " +
		"2026-03-01 for whole days"
	timeForm = "2026-03-01T09:00 or a date."
)

// serves refuses a series whose time zone is only an offset.
func (z zoned) serves(t edit.Times, series bool) error {
	start, given := t.Start.Value()
	if !series || !z.Bare() || !given || start.Form != ical.FormUTC {
		return nil
	}
	return errArgument("a series needs a named time zone, and \"timezone\" %s is only an offset, without daylight "+
		"saving time", wire.Quote(z.Name())).
		Advising("name the zone, such as Asia/Tokyo; or UTC, if the series stays in UTC")
}

// usualRange is the default range.
const (
	usualRange = "next 7 days"
	usualDays  = 7
)

// inRange holds the parameters that give a time range.
type inRange struct {
	words, start, end string
	inZone
}

func (in *inRange) takes() []field {
	return []field{
		wordTo(&in.words, "date_range", "In words: tomorrow morning, next friday (of next week), "+
			"2026-02-20 to 2026-02-27."),
		wordTo(&in.start, "start", timeForm),
		wordTo(&in.end, "end", "A date counts whole."),
		in.takesZone(),
	}
}

// window is the time range of a call.
type window struct {
	from, until time.Time
	zone        zoned
	// continued is set if the call continues at a cursor.
	continued bool
}

// windowView is a window in a result.
type windowView struct {
	Window spanView `json:"window" once:"true"`
	zoneView
}

// spanView is a time range; a missing side is open.
type spanView struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

func (w window) view() windowView {
	return windowView{w.zone.span(w.from, w.until), w.zone.view()}
}

// String formats the window for people.
func (w window) String() string {
	return fmt.Sprintf("%s to %s, %s", w.zone.readable(w.from), w.zone.readable(w.until), w.zone.Name())
}

func (w window) check(most int) error {
	if w.until.After(w.from.AddDate(0, 0, most)) {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches,
			"the time from %s is longer than %d days", w, most).Advising("ask for a part of it")
	}
	return nil
}

func (z zoned) span(from, until time.Time) spanView {
	return spanView{z.momentOf(from), z.momentOf(until)}
}

// momentOf formats a moment in the zone; the zero moment gives "".
func (z zoned) momentOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(z.Location()).Format(time.RFC3339)
}

// readable formats a moment with its weekday.
func (z zoned) readable(t time.Time) string { return t.In(z.Location()).Format("Mon 2006-01-02 15:04") }

// readRange returns the time range of a call; most is its longest length in days.
func (b toolbox) readRange(c *call, in inRange, z zoned, most int) (window, error) {
	var err error
	words, from, until := in.words, in.start, in.end
	w := window{zone: z}
	switch {
	case words != "" && from+until != "":
		return window{}, errArgument(`give "date_range", or "start" and "end", not both`)
	case words != "" || from+until == "":
		if words == "" {
			words = usualRange
		}
		days, err := b.reader(c, z).Parse(words)
		if err != nil {
			return window{}, errArgument(`"date_range": %s`, err)
		}
		w.from, w.until = days.From, days.Until
	default:
		if w, err = z.between("start", from, "end", until, b.now()); err != nil {
			return window{}, err
		}
	}
	return w, w.check(most)
}

// reader parses dates in words, as the caller means them.
func (b toolbox) reader(c *call, z zoned) daterange.Reader {
	return daterange.Reader{Now: b.now(), Zone: z.Location(), WeekStart: c.caller.User.FirstDay()}
}

// readBefore parses a deadline, also in words.
func (b toolbox) readBefore(c *call, z zoned, name, value string) (time.Time, error) {
	at, err := z.readInstant(name, value)
	if err == nil {
		return at, nil
	}
	said, unread := b.reader(c, z).Before(value)
	if unread != nil {
		return at, errUnread(err, unread, `; or in words, such as tomorrow, monday, noon, in 2 hours or next week`)
	}
	return said, nil
}

// errUnread adds the accepted words to the refusal of a time, or the reason why its words were not accepted.
func errUnread(err, unread error, words string) error {
	e, ok := errors.AsType[*calendar.Error](err)
	if !ok {
		return err
	}
	with := *e
	if said, ok := errors.AsType[*daterange.Error](unread); ok && said.Why != "" {
		words = "; " + said.Why
	}
	with.Message += words
	return &with
}

// between parses a range given by its ends. The default start is now, the default end a week after the start.
func (z zoned) between(startName, from, endName, until string, now time.Time) (window, error) {
	w := window{from: now.Truncate(time.Second), zone: z}
	var err error
	if from != "" {
		if w.from, err = z.readInstant(startName, from); err != nil {
			return w, err
		}
	}
	if w.until = w.from.AddDate(0, 0, usualDays); until != "" {
		w.until, err = z.readEnd(endName, until, w.from)
	}
	if err == nil && !w.from.Before(w.until) {
		err = errArgument("%q (%s) must be after %q (%s)", endName, z.readable(w.until), startName, z.readable(w.from))
	}
	return w, err
}

// readEnd parses the end of a range that starts at from. An end that is a date includes the whole day.
func (z zoned) readEnd(name, value string, from time.Time) (time.Time, error) {
	m, err := z.read(name, value)
	if err != nil || !m.date {
		return m.at, err
	}
	if end := z.midnight(m.behind()); !end.Equal(from) {
		return end, nil
	}
	return z.midnight(m.next()), nil // the same day as start and end means that day
}

// readWindow parses a time range. A missing side is open.
func (z zoned) readWindow(start, end string) (r filter.TimeRange, err error) {
	if r.Start, err = z.readInstant("start", start); err != nil {
		return r, err
	}
	if end != "" {
		if r.End, err = z.readEnd("end", end, r.Start); err != nil {
			return r, err
		}
	}
	if !r.End.IsZero() && !r.End.After(r.Start) {
		return r, errArgument(`"end" (%s) must be after "start" (%s)`, wire.Quote(end), wire.Quote(start))
	}
	return r, nil
}

// readInstant parses an optional time. A date means midnight in the zone.
func (z zoned) readInstant(name, value string) (time.Time, error) {
	if strings.TrimSpace(value) == "" {
		return time.Time{}, nil
	}
	m, err := z.read(name, value)
	if err != nil || !m.date {
		return m.at, err
	}
	return z.midnight(m), nil
}

// midnight returns the start of a day in the zone.
func (z zoned) midnight(m moment) time.Time {
	at, _ := z.Resolve(ical.Instant(m.at).Civil)
	return at
}
