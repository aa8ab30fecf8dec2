package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/daterange"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/mcp/wire"
)

const (
	usualListed = 50
	mostListed  = 200
	// mostDays is the longest time range for a list, because series must be expanded.
	mostDays = 5 * 366
)

// The values of the parameter detail.
const (
	compact = "compact"
	full    = "full"
)

// listTools returns the tool that lists events in all calendars.
func (b toolbox) listTools() []tool {
	return []tool{reading(tool{
		name: "list_events", title: "List events",
		description: "Lists events in a time range, in all calendars; each instance of a series with its " +
			"recurrence_id. Without a time: the next 7 days. To find words at any time: search_events.",
		begin: doing(b.listEvents), gives: listView{},
	})}
}

// agendaQuestion holds the arguments of list_events.
type agendaQuestion struct {
	inRange
	inCalendar
	keyword, attendee, detail string
	paged
}

func (in *agendaQuestion) takes() []field {
	return append(in.inRange.takes(),
		takesOnly(&in.calendar),
		textTo(&in.keyword, "keyword", "Words that it must have.").upTo(longestTitle),
		textTo(&in.attendee, "attendee", "Name or address.").upTo(longestTitle),
		textTo(&in.detail, "detail", "full has notes and people.").oneOf(compact, full),
		numberTo(&in.limit, "limit", "Default 50.").between(1, mostListed),
		in.takesCursor(),
	)
}

// listView is the result of list_events.
type listView struct {
	Events    []listedEvent `json:"events"`
	Calendars []legendView  `json:"calendars,omitempty"`
	windowView
	Truncated  bool   `json:"truncated"`
	More       int    `json:"more,omitempty" doc:"Number left out."`
	Unread     int    `json:"unread,omitempty" doc:"Number not listed: their recurrence can't be followed."`
	NextCursor string `json:"next_cursor,omitempty"`
}

func (b toolbox) listEvents(ctx context.Context, c *call, in *agendaQuestion) (answer, error) {
	cal, err := b.oneCalendar(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	q := query.AgendaQuery{Keyword: in.keyword, Attendee: in.attendee, Limit: cmp.Or(in.limit, usualListed),
		Meter: c.meter}
	w, err := b.listWindow(c, in, cal, &q)
	if err != nil {
		return answer{}, err
	}
	q.From, q.Until, q.Timezone = w.from, w.until, w.zone.Zone
	if cal.ID != "" {
		q.Calendars = []calendar.Calendar{cal}
	}
	found, err := b.service.Agenda(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	rows := eventRows{zone: w.zone, who: c.caller, full: in.detail == full}
	listed, left := rows.list(c, &found.Occurrences)
	found.More += left
	v := listView{Events: listed, Calendars: legend(c.caller, found.Occurrences), windowView: w.view(),
		Truncated: found.More > 0, More: found.More, Unread: found.Unread}
	if v.Truncated {
		v.NextCursor = c.next(spot{w.from.Unix(), w.until.Unix(), found.Occurrences[len(found.Occurrences)-1].Spot()})
	}
	return answer{v.prose(rows, found.Occurrences, w), v}, nil
}

// oneCalendar finds the calendar that a call names, or returns the zero calendar if it names none.
func (b toolbox) oneCalendar(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	if id == "" {
		return calendar.Calendar{}, nil
	}
	return b.calendarNamed(ctx, c, id)
}

// prose writes the result as text.
func (v listView) prose(r eventRows, found []query.Occurrence, w window) prose {
	var b strings.Builder
	heading := "Found %s (%s):\n"
	if w.continued {
		heading = "Continuing with the other %s (%s):\n"
	}
	fmt.Fprintf(&b, heading, calendar.Counted(len(v.Events)+v.More, "event"), w)
	r.write(&b, found, v.Events)
	if v.Truncated {
		fmt.Fprintf(&b, "\n%d more: call again with cursor %s\n", v.More, v.NextCursor)
	}
	if v.Unread > 0 {
		fmt.Fprintf(&b, "\nNot listed: %s whose recurrence cannot be followed.\n", calendar.Counted(v.Unread, "event"))
	}
	return prose(strings.TrimSpace(b.String()))
}

// spot is the position of the next page. It includes the time range, because "today" may be another day by then.
type spot struct {
	From  int64      `json:"f"`
	Until int64      `json:"t"`
	After query.Spot `json:"a"`
}

// listWindow is readRange for a list that may continue at a cursor.
func (b toolbox) listWindow(c *call, in *agendaQuestion, cal calendar.Calendar, q *query.AgendaQuery) (window, error) {
	var at spot
	continued, err := in.place(c, &at)
	if err != nil {
		return window{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return window{}, err
	}
	if !continued {
		return b.readRange(c, in.inRange, z, mostDays)
	}
	if at.From >= at.Until {
		return window{}, errCursor(in.cursor)
	}
	w := window{from: time.Unix(at.From, 0), until: time.Unix(at.Until, 0), zone: z, continued: true}
	q.After = &at.After
	return w, w.check(mostDays + 1)
}

// inRange holds the parameters that give a time range.
type inRange struct {
	words, start, end string
	inZone
}

func (in *inRange) takes() []field {
	return []field{
		wordTo(&in.words, "date_range", "In words: tomorrow morning, next friday (of next week), next 7 days, rest "+
			"of the month, 2026-02-20 to 2026-02-27."),
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
	Window spanView `json:"window"`
	zoneView
}

// spanView is a time range; a missing side is open.
type spanView struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
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

func (w window) view() windowView {
	return windowView{w.zone.span(w.from, w.until), w.zone.view()}
}

// String formats the window for people.
func (w window) String() string {
	return fmt.Sprintf("%s to %s, %s", w.zone.readable(w.from), w.zone.readable(w.until), w.zone.Name())
}

// readable formats a moment with its weekday.
func (z zoned) readable(t time.Time) string { return t.In(z.Location()).Format("Mon 2006-01-02 15:04") }

// usualRange is the default range.
const (
	usualRange = "next 7 days"
	usualDays  = 7
)

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
		days, err := daterange.Reader{Now: b.now(), Zone: z.Location(),
			WeekStart: c.caller.User.FirstDay()}.Parse(words)
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

func (w window) check(most int) error {
	if w.until.After(w.from.AddDate(0, 0, most)) {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches,
			"the time from %s is longer than %d days", w, most).Advising("ask for a part of it")
	}
	return nil
}

// listCursor is the position of the next page. It also holds the arguments of the query, so that a client can send the
// cursor alone. A page for other filters would be an answer to neither query.
type listCursor struct {
	Tool  string                     `json:"t"`
	Asked map[string]json.RawMessage `json:"q,omitempty"`
	At    json.RawMessage            `json:"a"`
}

// continued holds the arguments of tools that return pages.
type continued struct{ cursor string }

// cursorName is the parameter that takes a cursor.
const cursorName = "cursor"

func (in *continued) takesCursor() field {
	return textTo(&in.cursor, cursorName, "next_cursor.").upTo(32 * longestID)
}

func (in *continued) takes() []field { return []field{in.takesCursor()} }

// ofPage are the parameters that may differ from page to page.
var ofPage = []string{cursorName, "limit", "detail"}

// next returns the cursor of a page that ends at this position.
func (c *call) next(at any) string {
	place, err := json.Marshal(at)
	var data []byte
	if err == nil {
		asked := maps.Clone(c.asked)
		delete(asked, cursorName)
		data, err = json.Marshal(listCursor{c.tool, asked, place})
	}
	if err != nil {
		panic(fmt.Sprintf("encoding a cursor: %v", err)) // numbers, strings, and JSON that was parsed before
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// place reads the position of the call's cursor, and reports whether there is one.
func (in continued) place(c *call, into any) (bool, error) {
	if c.at == nil {
		return false, nil
	}
	if err := json.Unmarshal(c.at, into); err != nil {
		return false, errCursor(in.cursor)
	}
	return true, nil
}

func errCursor(text string) error {
	return errArgument(`"cursor" must be the next_cursor of the previous result, not %s`, wire.Quote(text))
}

// resume fills in the arguments that a call leaves out from its cursor, and refuses arguments that contradict the
// cursor.
func (c *call) resume(tool string, takes []field, sent map[string]json.RawMessage) error {
	c.tool, c.asked = tool, sent
	if !slices.ContainsFunc(takes, func(f field) bool { return f.name == cursorName }) {
		return nil
	}
	c.asked = maps.Clone(sent)
	maps.DeleteFunc(c.asked, func(_ string, raw json.RawMessage) bool { return !isGiven(raw) })
	var text string
	_ = json.Unmarshal(c.asked[cursorName], &text) // readArguments complains if it is not a string
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var from listCursor
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err == nil {
		err = json.Unmarshal(data, &from)
	}
	if err != nil || from.Tool != tool || from.At == nil {
		return errCursor(text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.asked)) {
		if now, then := c.asked[name], from.Asked[name]; !slices.Contains(ofPage, name) && !equal(now, then) {
			return errArgument("%q is %s, but in the query of this cursor it %s", name, now, saidOf(then)).
				Advising("give only the cursor to continue, or start again without it")
		}
	}
	for name, then := range from.Asked {
		if _, given := c.asked[name]; !given {
			c.asked[name] = then
		}
	}
	c.at = from.At
	return nil
}

// isGiven reports whether an argument has a value. Models write null or "" for an argument that they mean to omit.
func isGiven(raw json.RawMessage) bool {
	return raw != nil && string(raw) != "null" && string(raw) != `""`
}

func saidOf(then json.RawMessage) string {
	if then == nil {
		return "was left out"
	}
	return "was " + string(then)
}

func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
