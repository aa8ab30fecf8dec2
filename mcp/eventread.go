package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// fullView is an event as get_event returns it, as text.
type fullView struct {
	readView
	rawView
}

// rawView is what is stored, or a part of it.
type rawView struct {
	Data string `json:"ical_data"`
	Next int    `json:"ical_next_offset,omitempty"`
}

// structuredRead is the same as an object.
type structuredRead struct {
	readView
	detailsView
	rawView
}

func (b toolbox) getEvent(ctx context.Context, c *call) (answer, error) {
	s, err := b.subject(ctx, c, anEvent, c.named(anEvent))
	if err != nil {
		return answer{}, err
	}
	raw, err := part(rawText(s.found.Object.Data), c.args.number("ical_offset"))
	view := readViewOf(s.found)
	return answer{fullView{view, raw}, structuredRead{view, s.zone.details(s.found), raw}}, err
}

// longestRaw is how much of what is stored one answer has, in characters. Text and structure both
// have it.
const longestRaw = 20_000

// part cuts a long text off behind a line, and says where it goes on.
func part(text string, from int) (rawView, error) {
	runes := []rune(text)
	if from > len(runes) {
		return rawView{}, errArgument(`"ical_offset" is %d, but the text has %d characters`, from, len(runes))
	}
	runes = runes[from:]
	if len(runes) <= longestRaw {
		return rawView{Data: string(runes)}, nil
	}
	n := longestRaw
	for n > longestRaw/2 && runes[n-1] != '\n' {
		n--
	}
	if runes[n-1] != '\n' {
		n = longestRaw // one line is longer than that
	}
	return rawView{
		Data: string(runes[:n]) + fmt.Sprintf("… [%d more characters: get_event with ical_offset %d]", len(runes)-n, from+n), Next: from + n,
	}, nil
}

// rawText is iCalendar as it is stored, but for characters that act unseen.
func rawText(data []byte) string {
	lines := strings.Split(string(data), "\r\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return strings.Join(lines, "\r\n")
}

// queryTool is query_events.
func (b toolbox) queryTool() tool {
	return tool{
		name: "query_events", title: "Query events",
		description: "Lists the events of one calendar that overlap a time, in order. Series are expanded: each instance is listed with its recurrence_id. Without start and end, all events are listed and each series once.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes: join([]field{
			calendarID,
			{name: "start", kind: text, doc: "Events that end after it: " + timeForms + ".", optional: true},
			{name: "end", kind: text, doc: "Events that start before it; a date such as 2026-03-01 counts whole.", optional: true},
		}, takesPage, []field{takesZone}),
		gives: queryView{},
		run:   b.queryEvents,
	}
}

// queriedEvent is an event in a list, as an object.
type queriedEvent struct {
	rowView
	timesView
	Recurring bool `json:"recurring"`
	// Unclear tells that it cannot be followed, and is at about that time.
	Unclear bool `json:"unclear,omitempty"`
}

// queryView is what query_events returns, as an object.
type queryView struct {
	Events []queriedEvent `json:"events"`
	Window string         `json:"window"`
	pageView
	zoneView
}

func (b toolbox) queryEvents(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return answer{}, err
	}
	during, err := z.readWindow(c.args)
	if err != nil {
		return answer{}, err
	}
	p, err := readPage(c)
	if err != nil {
		return answer{}, err
	}
	list, err := b.instances(ctx, c, cal, query.InstanceQuery{Kind: calendar.Event, During: during, Timezone: z.Zone, Most: p.end()})
	if err != nil {
		return answer{}, err
	}
	view := queryView{Events: []queriedEvent{}, Window: windowText(during), zoneView: z.view()}
	list, view.pageView = cutPage(c, list, p, c.askedRoom(), sizeOf)
	rows := []rowView{}
	for _, i := range list {
		row := readViewOf(i).row()
		rows = append(rows, row)
		view.Events = append(view.Events, queriedEvent{row, z.timesOf(i), isSeries(i), i.Unclear})
	}
	return answer{noted{rows, view.note()}, view}, nil
}

// instances lists those of a calendar in order: of every object where no time is asked for,
// else of every instance.
func (b toolbox) instances(ctx context.Context, c *call, cal calendar.Calendar, q query.InstanceQuery) ([]query.Instance, error) {
	var list []query.Instance
	briefs := query.Briefs{Meter: c.meter}
	q.Meter = c.meter
	open := q.During == filter.TimeRange{}
	if open {
		q.Most = 1
	}
	for i, err := range b.service.Instances(ctx, c.caller, cal, q) {
		if err != nil {
			return nil, err
		}
		if open && !i.Unclear {
			whole, err := b.service.InstanceOf(ctx, nil, cal, i.Object, ical.Time{})
			if err == nil {
				i = whole
			}
		}
		if i, err = briefs.Of(i); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, byStart)
	return list, nil
}

// byStart orders instances by time, and what is at the same time always alike.
func byStart(a, b query.Instance) int {
	return cmp.Or(a.Start.Time.Compare(b.Start.Time), cmp.Compare(a.Object.UID, b.Object.UID))
}

// timesOf is times for what may be unclear.
func (z zoned) timesOf(i query.Instance) timesView {
	if i.Unclear {
		return timesView{}
	}
	return z.times(i)
}

// readWindow reads the time that a question is about; a side that is missing is open.
func (z zoned) readWindow(a arguments) (r filter.TimeRange, err error) {
	if r.Start, err = z.readInstant("start", a.text("start")); err != nil {
		return r, err
	}
	if strings.TrimSpace(a.text("end")) != "" {
		if r.End, err = z.readEnd("end", a.text("end"), r.Start); err != nil {
			return r, err
		}
	}
	if !r.End.IsZero() && !r.End.After(r.Start) {
		return r, errArgument(`"end" (%s) must be after "start" (%s)`, quote(a.text("end")), quote(a.text("start")))
	}
	return r, nil
}

// readInstant reads a time that may be missing. A date is its midnight in the zone.
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

// midnight is when the day begins that a call gave.
func (z zoned) midnight(m moment) time.Time {
	at, _ := z.Resolve(ical.Instant(m.at).Civil)
	return at
}

// windowText writes the time that was asked for as ISO 8601 does, with .. for an open side.
func windowText(r filter.TimeRange) string {
	sides := [2]string{"..", ".."}
	if !r.Start.IsZero() {
		sides[0] = ical.Instant(r.Start).String()
	}
	if !r.End.IsZero() {
		sides[1] = ical.Instant(r.End).String()
	}
	return strings.Join(sides[:], "/")
}
