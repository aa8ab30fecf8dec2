package query

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// EventSearch asks for events or tasks that contain words.
type EventSearch struct {
	// Text holds words, or beginnings of words, in any order.
	Text string
	// Calendars limits the search to these; nil means all that the caller may read.
	Calendars []calendar.Calendar
	// Timezone is the zone of dates and floating times; nil means each calendar's own.
	Timezone *zone.Zone
	// Past also returns events that are over.
	Past  bool
	Limit int
	// Meter counts the cost of the search.
	Meter *meter.Meter
}

// Finds is the result of an [EventSearch].
type Finds struct {
	// Occurrences has each event once: its next occurrence, or its last one. Future events come first, the next one
	// leading; then past events, the latest leading.
	Occurrences []Occurrence
	// More is set if there are more results.
	More bool
	// Meant lists the corrected words, if nothing matched the given ones.
	Meant []string
}

const (
	// Some objects from the index do not match exactly: a series may have ended early, or have its words in different
	// instances. So the search asks for a few more.
	searchSpare = 50
	searchMost  = 500
	// searchInstances bounds the instances of a series that are checked for the words.
	searchInstances = 400
	// searchBack is how far back the search for the last instance of a series goes.
	searchBack = 400 * 24 * time.Hour
)

// search is a running search.
type search struct {
	calendar.SearchQuery
	from   calendar.ObjectReader
	caller calendar.Caller
}

// SearchEvents finds events by words in their titles, texts, places and attendees.
func (s *Queries) SearchEvents(ctx context.Context, c calendar.Caller, q EventSearch) (Finds, error) {
	return s.searchKind(ctx, c, calendar.Event, q)
}

// searchKind finds objects of a kind. If no object has the words, it searches for similar words.
func (s *Queries) searchKind(ctx context.Context, c calendar.Caller, kind calendar.Kind, q EventSearch) (Finds, error) {
	words := content.Words(q.Text)
	if len(words) == 0 {
		return Finds{}, calendar.Errorf(calendar.Invalid, "", "there is no word to look for in %.80q", q.Text)
	}
	calendars, err := s.asked(ctx, c, func(cal calendar.Calendar) error {
		return c.May(calendar.ReadObjects, cal)
	}, q.Calendars)
	if err != nil {
		return Finds{}, err
	}
	byID := make(map[calendar.CalendarID]calendar.Calendar, len(calendars))
	ask := search{
		caller: c, from: s.store.At(calendars...),
		SearchQuery: calendar.SearchQuery{
			Kind: kind, Words: words, Now: s.now(), Past: q.Past, Limit: min(q.Limit+searchSpare, searchMost),
		},
	}
	for _, cal := range calendars {
		byID[cal.ID] = cal
		ask.Calendars = append(ask.Calendars, cal.ID)
	}
	found, err := s.look(ctx, q, ask, byID)
	if err != nil || len(found.Occurrences) > 0 {
		return found, err
	}
	if ask.Words, err = meant(ctx, q.Meter, ask.from, ask.SearchQuery); err != nil || ask.Words == nil {
		return found, err
	}
	meant, err := s.look(ctx, q, ask, byID)
	if err != nil || len(meant.Occurrences) == 0 {
		return found, err
	}
	meant.Meant = ask.Words
	return meant, nil
}

// look finds the objects that have all words.
func (s *Queries) look(
	ctx context.Context, q EventSearch, ask search, byID map[calendar.CalendarID]calendar.Calendar,
) (Finds, error) {
	for {
		candidates, err := ask.from.Search(ctx, ask.SearchQuery)
		if err != nil {
			return Finds{}, err
		}
		found, err := s.wanted(ctx, q.Meter, ask, q.Timezone, byID, candidates)
		more := len(candidates) == ask.Limit
		// If too many candidates do not match, a match may come after them.
		if err != nil || !more || len(found) >= q.Limit || ask.Limit == searchMost {
			return ask.finds(found, q.Limit, more), err
		}
		ask.Limit = searchMost
	}
}

// wanted returns the candidates that have the words in one instance, as occurrences.
func (s *Queries) wanted(
	ctx context.Context, m *meter.Meter, ask search, timezone *zone.Zone, of map[calendar.CalendarID]calendar.Calendar,
	candidates []calendar.Object,
) ([]Occurrence, error) {
	var found []Occurrence
	for _, o := range candidates {
		cal := of[o.Calendar]
		in := filter.Context{Zones: s.zones, Floating: s.floating(cal, timezone), Budget: answerBudget(), Meter: m}
		i, ok, err := s.nearest(ctx, m, ask, cal, o, in)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, Occurrence{cal, i})
		}
	}
	return found, nil
}

// nearest reads an object and returns its next instance with the words, or the last one. Afterwards the meter counts
// only the memory that stays.
func (s *Queries) nearest(
	ctx context.Context, m *meter.Meter, ask search, cal calendar.Calendar, o calendar.Object, in filter.Context,
) (i Instance, ok bool, err error) {
	before := m.Held()
	defer func() {
		m.Free(m.Held() - before)
		if ok && err == nil {
			i, err = (&Briefs{Meter: m}).Of(i)
		}
	}()
	c := candidate{Object: o}
	if o.Light() || o.Data == nil {
		c.Object, err = s.readObject(ctx, m, o.Calendar, o.Name)
		if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
			return Instance{}, false, nil // it was deleted in the meantime
		}
		if errors.Is(err, calendar.ErrNoText) {
			return Instance{}, false, nil // only its index entry is left, so no instance can be shown
		}
	}
	if err == nil {
		c.Object, err = s.AsSeen(ctx, m, ask.caller, cal, c.Object)
	}
	if err == nil {
		err = c.weigh(m)
	}
	if err != nil {
		return Instance{}, false, err
	}
	return ask.nearest(ctx, c.Object, in)
}

// finds sorts the nearest occurrences first.
func (q search) finds(found []Occurrence, limit int, more bool) Finds {
	slices.SortStableFunc(found, func(a, b Occurrence) int {
		return cmp.Compare(q.distance(a.Instance), q.distance(b.Instance))
	})
	if len(found) > limit {
		found, more = found[:limit], true
	}
	return Finds{Occurrences: found, More: more}
}

// distance orders occurrences: past ones come after all others.
func (q search) distance(i Instance) int64 {
	if q.Kind == calendar.Todo {
		return urgency(i)
	}
	if q.over(i) {
		return math.MaxInt64/2 + q.Now.Unix() - i.End.Time.Unix()
	}
	return i.Start.Time.Unix()
}

func (q search) over(i Instance) bool {
	return !i.End.Time.After(q.Now) && i.Start.Time.Before(q.Now)
}

// nearest returns the next instance of an object with the words, or the last one.
func (q search) nearest(ctx context.Context, o calendar.Object, in filter.Context) (Instance, bool, error) {
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return Instance{}, false, nil // an older version stored it
	}
	o.Data = nil
	wanted := slices.DeleteFunc(slices.Clone(read.Components()), func(c *ical.Component) bool {
		return !content.Found(q.Words, content.WordsOf(c))
	})
	if len(wanted) == 0 {
		return Instance{}, false, nil
	}
	if q.Kind == calendar.Todo {
		i, ok := q.task(ctx, o, read, wanted, in)
		return i, ok, ctx.Err()
	}
	ahead, back := q.ranges(o, read, wanted, in)
	i, ok := recur.Instance{}, false
	for n := 0; n < len(ahead) && !ok; n++ {
		i, ok = first(ctx, read, ahead[n], wanted, in)
	}
	for n := 0; n < len(back) && !ok && q.Past; n++ {
		i, ok = last(ctx, read, back[n], wanted, in)
	}
	return Instance{Instance: i, Object: o}, ok, ctx.Err()
}

// ranges returns the time ranges to search for instances of some components, the nearest first: future and past ones.
// Overrides are searched at their own starts, because the rule may have too many instances until then.
func (q search) ranges(
	o calendar.Object, read *content.Object, of []*ical.Component, in filter.Context,
) (ahead, back []filter.TimeRange) {
	clock, now := read.Clock(in.Zones, in.Floating), q.Now.Unix()
	var to, from []int64
	for _, c := range of {
		at, ok, err := clock.Time(c, "DTSTART")
		if err != nil || !ok || c == read.Master || spreads(c) {
			return []filter.TimeRange{{Start: q.Now}}, []filter.TimeRange{q.lately(o)}
		}
		to = append(to, max(at, now)) // a running instance is found at the present time
		if at < now {
			from = append(from, at)
		}
	}
	slices.Sort(to)
	slices.Sort(from)
	slices.Reverse(from)
	return moments(to), moments(from)
}

// spreads reports whether an override also applies to later instances (RFC 5545 §3.2.13).
func spreads(c *ical.Component) bool {
	id := c.Property("RECURRENCE-ID")
	if id == nil {
		return false
	}
	_, ok := id.Param("RANGE")
	return ok
}

// moments returns a range of one second for each start, at most searchInstances of them.
func moments(starts []int64) []filter.TimeRange {
	starts = slices.Compact(starts)
	list := make([]filter.TimeRange, min(len(starts), searchInstances))
	for i := range list {
		at := time.Unix(starts[i], 0)
		list[i] = filter.TimeRange{Start: at, End: at.Add(time.Second)}
	}
	return list
}

// lately returns the time range that most likely contains the last instance of an object.
func (q search) lately(o calendar.Object) filter.TimeRange {
	r := filter.TimeRange{End: q.Now}
	if o.Recurring {
		until := q.Now
		if end := o.Span.End; end != nil && *end < until.Unix() {
			until = time.Unix(*end, 0)
		}
		r.Start = until.Add(-searchBack)
	}
	return r
}

// first returns the first instance of one of the components, and last the last one. A component that cannot be expanded
// has none.
func first(
	ctx context.Context, o *content.Object, r filter.TimeRange, of []*ical.Component, in filter.Context,
) (recur.Instance, bool) {
	n := 0
	for i, err := range filter.Instances(ctx, o, r, in) {
		if n++; err != nil || n > searchInstances {
			break
		}
		if slices.Contains(of, i.Component) {
			return i, true
		}
	}
	return recur.Instance{}, false
}

func last(
	ctx context.Context, o *content.Object, r filter.TimeRange, of []*ical.Component, in filter.Context,
) (found recur.Instance, ok bool) {
	for i, err := range filter.Instances(ctx, o, r, in) {
		if err != nil {
			break
		}
		if slices.Contains(of, i.Component) {
			found, ok = i, true
		}
	}
	return found, ok
}
