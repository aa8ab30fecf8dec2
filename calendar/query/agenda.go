package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// AgendaQuery asks for the events in a time range.
type AgendaQuery struct {
	// Calendars limits the query to these; nil means all that the caller may read and has not hidden.
	Calendars []calendar.Calendar
	// From and Until bound the time range.
	From, Until time.Time
	// Timezone is the zone of dates and floating times; nil means each calendar's own.
	Timezone *zone.Zone
	// Keyword and Attendee are words that an event must contain, the latter in its attendees' names and addresses.
	// Empty matches every event. See [content.Words].
	Keyword, Attendee string
	// Wants is a further filter; nil means all events.
	Wants func(in calendar.Calendar, event *ical.Component) bool
	// Once returns only the first occurrence of a series, plus its moved instances.
	Once bool
	// After continues after the last occurrence of a previous page; nil starts at the beginning.
	After *Spot
	// Limit bounds the occurrences in the result.
	Limit int
	// Meter counts the cost of the query.
	Meter *meter.Meter
	// shape is as in [InstanceQuery].
	shape func(*ical.Document) error
}

// Spot is the position of an occurrence in an agenda. Times are Unix seconds.
type Spot struct {
	Start    int64               `json:"s"`
	Calendar calendar.CalendarID `json:"c"`
	UID      calendar.UID        `json:"u"`
	ID       int64               `json:"i"`
}

func (p Spot) compare(q Spot) int {
	return cmp.Or(cmp.Compare(p.Start, q.Start), cmp.Compare(p.Calendar, q.Calendar),
		cmp.Compare(p.UID, q.UID), cmp.Compare(p.ID, q.ID))
}

// Occurrence is one occurrence of an event.
type Occurrence struct {
	Calendar calendar.Calendar
	// Instance holds its object without the data.
	Instance
}

// Spot returns the position of the occurrence in an agenda.
func (o Occurrence) Spot() Spot {
	return Spot{o.Start.Time.Unix(), o.Calendar.ID, o.Object.UID, o.RecurrenceID.Time.Unix()}
}

// Distinct leaves out the copies of the caller's events in other users' calendars. An attendee who also sees the
// organizer's calendar finds an event there again, but can only answer their own copy.
func Distinct(all []Occurrence) []Occurrence {
	type occurrence struct {
		uid       calendar.UID
		start, id int64
	}
	key := func(o Occurrence) occurrence {
		return occurrence{o.Object.UID, o.Start.Time.Unix(), o.RecurrenceID.Time.Unix()}
	}
	foreign := func(o Occurrence) bool { return o.Calendar.Access != calendar.OwnerAccess }
	if !slices.ContainsFunc(all, foreign) {
		return all
	}
	own := map[occurrence]bool{}
	for _, o := range all {
		if !foreign(o) {
			own[key(o)] = true
		}
	}
	return slices.DeleteFunc(all, func(o Occurrence) bool { return foreign(o) && own[key(o)] })
}

// Agenda is the result of an [AgendaQuery].
type Agenda struct {
	// Occurrences are sorted by start.
	Occurrences []Occurrence
	// More counts the occurrences after them.
	More int
	// Unread counts the events that could not be expanded, or not completely.
	Unread int
}

// agendaMost bounds the instances that one query visits.
const agendaMost = 100_000

// Agenda returns the events in a time range, with series expanded, from any number of calendars.
func (s *Queries) Agenda(ctx context.Context, c calendar.Caller, q AgendaQuery) (Agenda, error) {
	if q.From.IsZero() || !q.From.Before(q.Until) {
		return Agenda{}, calendar.Errorf(calendar.Invalid, "", "the end of the time range must be after its start")
	}
	calendars, err := s.asked(ctx, c, c.MayLook, q.Calendars)
	if err != nil {
		return Agenda{}, err
	}
	g := gathering{
		query: q, briefs: Briefs{Meter: q.Meter}, keyword: content.Words(q.Keyword),
		attendee: content.Words(q.Attendee),
	}
	during := InstanceQuery{
		Kind: calendar.Event, During: filter.TimeRange{Start: q.From, End: q.Until}, Timezone: q.Timezone,
		Meter: q.Meter, shape: q.shape,
	}
	for _, cal := range calendars {
		for i, err := range s.Instances(ctx, c, cal, during) {
			if err == nil {
				err = g.add(cal, i)
			}
			if err != nil {
				return Agenda{}, err
			}
		}
	}
	return g.agenda(), nil
}

// asked returns the calendars that a query covers: the named ones, if the caller may query them, or all. "All" leaves
// out calendars that are shared only for free/busy, because an owner can share them without the sharee's consent.
func (s *Queries) asked(
	ctx context.Context, c calendar.Caller, may func(calendar.Calendar) error, asked []calendar.Calendar,
) ([]calendar.Calendar, error) {
	for _, cal := range asked {
		if err := may(cal); err != nil {
			return nil, err
		}
	}
	if asked != nil {
		return asked, nil
	}
	all, err := s.Calendars(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return cal.Hidden || c.May(calendar.ReadObjects, cal) != nil
	}), nil
}

// gathering collects an agenda. It holds little more than the result.
type gathering struct {
	query             AgendaQuery
	keyword, attendee []string
	found             []Occurrence
	// judged is the component whose words were checked last, fits is the result. The instances of a series come one
	// after another, so this saves repeated checks.
	judged *ical.Component
	fits   bool
	// series and in identify the series of the last instance, met reports whether it was seen before.
	series       calendar.UID
	in           calendar.CalendarID
	met          bool
	briefs       Briefs
	walked, more int
	unread       int
	// held is the memory that the meter counts for found.
	held int64
}

func (g *gathering) add(cal calendar.Calendar, i Instance) error {
	if i.Unclear {
		g.unread++
		return nil
	}
	if g.walked++; g.walked > agendaMost {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches,
			"more than %d events take place in that time", agendaMost).
			Advising("ask for a shorter time, or for one calendar")
	}
	if g.query.Once && g.told(i) {
		return nil
	}
	if i.Component != g.judged {
		g.judged, g.fits = i.Component, g.wanted(cal, i.Component)
	}
	if o := (Occurrence{cal, i}); g.fits && (g.query.After == nil || o.Spot().compare(*g.query.After) > 0) {
		return g.take(o)
	}
	return nil
}

// wanted reports whether a component matches the query.
func (g *gathering) wanted(in calendar.Calendar, c *ical.Component) bool {
	return (len(g.keyword) == 0 || content.Found(g.keyword, content.WordsOf(c))) &&
		(len(g.attendee) == 0 || content.Found(g.attendee, content.PeopleWords(c))) &&
		(g.query.Wants == nil || g.query.Wants(in, c))
}

// told reports whether an instance repeats a series that was already found. Overridden instances are always reported.
func (g *gathering) told(i Instance) bool {
	if i.Object.UID != g.series || i.Object.Calendar != g.in {
		g.series, g.in, g.met = i.Object.UID, i.Object.Calendar, false
	}
	if i.Component.Property("RECURRENCE-ID") != nil {
		return false
	}
	before := g.met
	g.met = true
	return before
}

func (g *gathering) take(o Occurrence) (err error) {
	before := g.query.Meter.Held()
	if o.Instance, err = g.briefs.Of(o.Instance); err != nil {
		return err
	}
	g.held += g.query.Meter.Held() - before
	if g.found = append(g.found, o); len(g.found) >= 2*g.query.Limit+64 {
		g.shrink()
	}
	return nil
}

// shrink drops all but the first occurrences.
func (g *gathering) shrink() {
	slices.SortFunc(g.found, func(a, b Occurrence) int { return a.Spot().compare(b.Spot()) })
	if extra := len(g.found) - g.query.Limit; extra > 0 {
		g.more += extra
		clear(g.found[g.query.Limit:])
		g.found = g.found[:g.query.Limit]
		g.letGo()
	}
}

// letGo returns the memory of dropped occurrences to the meter.
func (g *gathering) letGo() {
	kept := int64(0)
	seen := map[*ical.Component]bool{}
	for _, o := range g.found {
		if kept += instanceBytes; !seen[o.Component] {
			seen[o.Component] = true
			kept += briefWeight(o.Object, o.Component)
		}
	}
	if extra := g.held - kept; extra > 0 {
		g.query.Meter.Free(extra)
		g.held = kept
	}
}

func (g *gathering) agenda() Agenda {
	g.shrink()
	return Agenda{g.found, g.more, g.unread}
}
