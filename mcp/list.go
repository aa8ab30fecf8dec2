package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/mcp/views"
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
			"recurrence_id. Without a time: the next 7 days. To find words: search_events.",
		begin: doing(b.listEvents), gives: listView{}, view: views.Week,
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
	q := query.AgendaQuery{
		Keyword: in.keyword, Attendee: in.attendee, Limit: cmp.Or(in.limit, usualListed),
		Meter: c.meter,
	}
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
	rows := eventRows{zones: b.zones, zone: w.zone, who: c.caller, full: in.detail == full}
	listed, left := rows.list(c, &found.Occurrences)
	found.More += left
	v := listView{
		Events: listed, Calendars: legend(c.caller, found.Occurrences), windowView: w.view(),
		Truncated: found.More > 0, More: found.More, Unread: found.Unread,
	}
	if v.Truncated {
		v.NextCursor = c.next(spot{w.from.Unix(), w.until.Unix(), found.Occurrences[len(found.Occurrences)-1].Spot()})
	}
	c.show(w.zone, func(m views.Maker) any {
		return m.Turning(viewEvents(m, found.Occurrences), w.from, v.Truncated || v.Unread > 0, "list_events",
			in.ofOtherWeeks(w.zone))
	})
	return answer{v.prose(rows, found.Occurrences, w), v}, nil
}

// ofOtherWeeks returns the arguments of the same call for another week, to which the view adds start and end.
func (in *agendaQuestion) ofOtherWeeks(z zoned) map[string]any {
	args := map[string]any{"limit": mostListed, "timezone": z.Name()}
	for name, text := range map[string]string{
		"calendar_id": string(in.calendar), "keyword": in.keyword, "attendee": in.attendee,
	} {
		if text != "" {
			args[name] = text
		}
	}
	return args
}

// viewEvents returns events for a view.
func viewEvents(m views.Maker, found []query.Occurrence) []views.Event {
	return each(found, func(o query.Occurrence) views.Event {
		e := views.Event{
			Item:     grid.Item{Start: o.Start.Time, End: o.End.Time, AllDay: o.Start.AllDay},
			Title:    cmp.Or(wire.Visible(titleOf(o)), m.Text("planner.untitled")),
			Place:    wire.Visible(short(content.TextOf(o.Component, "LOCATION"), longestListedTitle)),
			Calendar: wire.Visible(short(ownName(o.Calendar), longestListedTitle)),
		}
		if o.Calendar.Color != nil {
			e.Color, _ = calendar.ParseColor(*o.Calendar.Color)
		}
		switch edit.Status(content.WordOf(o.Component, "STATUS")) {
		case edit.Cancelled:
			e.Mark = m.Text("planner.mark.cancelled")
		case edit.Tentative:
			e.Mark = m.Text("planner.mark.tentative")
		default:
		}
		return e
	})
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

// listedEvent is an event in a list. Fields that most events lack are omitted.
type listedEvent struct {
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"event_uid"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Title        shown               `json:"title"`
	Start        string              `json:"start"`
	End          string              `json:"end" doc:"Its end; of an all-day event, its last day."`
	Weekday      string              `json:"weekday"`
	AllDay       bool                `json:"all_day,omitempty"`
	EndThere     string              `json:"end_there,omitempty" doc:"Its end in its own time zone, if different."`
	Location     shown               `json:"location,omitempty"`
	MeetingLink  shown               `json:"meeting_link,omitempty"`
	Status       string              `json:"status,omitempty"`
	Color        string              `json:"color,omitempty"`
	standingView

	ID          string        `json:"id,omitempty" doc:"For fetch, and for move_event as event_id."`
	ETag        calendar.ETag `json:"etag,omitempty"`
	Description shown         `json:"description,omitempty"`
	People      []shown       `json:"people,omitempty" doc:"Without the user."`
	Alarms      []shown       `json:"alarms,omitempty"`
}

// eventRows formats a list of events for one caller.
type eventRows struct {
	zones *zone.DB
	zone  zoned
	who   calendar.Caller
	// full adds ids, notes and attendees; people adds the attendees alone.
	full, people bool
}

// legendView is a calendar in the legend of a list.
type legendView struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Name     shown               `json:"name"`
	Owner    shown               `json:"owner,omitempty" doc:"The user, if missing."`

	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// legend lists the calendars of the events, in the order of the events.
func legend(who calendar.Caller, found []query.Occurrence) []legendView {
	var list []legendView
	for _, o := range found {
		list = inLegend(who, list, o.Calendar)
	}
	return list
}

// inLegend adds a calendar to a legend, unless it is there already.
func inLegend(who calendar.Caller, list []legendView, cal calendar.Calendar) []legendView {
	if slices.ContainsFunc(list, func(v legendView) bool { return v.Calendar == cal.ID }) {
		return list
	}
	v := legendView{
		Calendar: cal.ID, Name: shown(short(ownName(cal), longestListedTitle)),
		Untrusted: authorOf(who, cal),
	}
	if cal.Access != calendar.OwnerAccess {
		v.Owner = shown(cal.OwnerName)
	}
	return append(list, v)
}

// list formats the events that fit into one result. It removes the others from found, and counts them.
func (r eventRows) list(c *call, found *[]query.Occurrence) (listed []listedEvent, left int) {
	listed = each(*found, r.event)
	n := fit(listed, c.room(), listedEvent.size)
	*found = (*found)[:n]
	return listed[:n], len(listed) - n
}

func (r eventRows) event(o query.Occurrence) listedEvent {
	times := r.zone.times(o.Instance)
	v := listedEvent{
		Calendar: o.Calendar.ID, UID: shown(o.Object.UID), Title: shown(titleOf(o)), Start: times.StartLocal,
		End:     times.EndLocal,
		Weekday: times.StartWeekday, AllDay: times.AllDay,
		Location:     shown(short(content.TextOf(o.Component, "LOCATION"), longestListedTitle)),
		standingView: standing(r.who, o.Calendar, o.Component),
	}
	if isSeries(o.Instance) {
		v.RecurrenceID = stamp(o.RecurrenceID)
	}
	v.EndThere = r.endThere(o.Instance)
	v.MeetingLink = shown(short(publish.MeetingLink(o.Component), longestListedTitle))
	if status := content.WordOf(o.Component, "STATUS"); status != "CONFIRMED" {
		v.Status = wire.Visible(status)
	}
	v.Color = wire.Visible(short(content.TextOf(o.Component, "COLOR"), longestListedTitle))
	if r.full || r.people {
		v.People = r.attendeeNames(o)
	}
	if !r.full {
		return v
	}
	v.ID, v.ETag = idOf(o).String(), o.Object.ETag
	v.Description = shown(short(content.TextOf(o.Component, "DESCRIPTION"), longestListedText))
	v.Alarms = few(each(slices.Concat(edit.AlarmsOf(o.Component), edit.OtherAlarmsOf(o.Component)), r.zone.alarmText))
	return v
}

// size is the total length of the user-supplied texts.
func (e listedEvent) size() int {
	n := len(e.Title) + len(e.UID) + len(e.Location) + len(e.Description) + len(e.MeetingLink)
	for _, name := range e.People {
		n += len(name)
	}
	return n
}

func titleOf(o query.Occurrence) string {
	return short(content.TextOf(o.Component, "SUMMARY"), longestListedTitle)
}

// idOf returns the id of an occurrence, as other tools take it.
func idOf(o query.Occurrence) eventID {
	id := eventID{Calendar: o.Calendar.ID, UID: o.Object.UID}
	if isSeries(o.Instance) {
		id.RecurrenceID = stamp(o.RecurrenceID)
	}
	return id
}

// attendeeNames lists the attendees other than the user, in the form of get_event.
func (r eventRows) attendeeNames(o query.Occurrence) []shown {
	var list []shown
	all := slices.DeleteFunc(edit.AttendeesOf(o.Component), func(a edit.Attendee) bool {
		return lookup.IsOwn(r.who, o.Calendar, a.Address)
	})
	for _, a := range all {
		if len(list) == mostPeople {
			return append(list, shown(moreItems(len(all)-mostPeople)))
		}
		a.Name, a.Address = short(a.Name, longestListedTitle), short(a.Address, longestListedTitle)
		list = append(list, shown(attendeeText(a)))
	}
	return list
}

// write writes the events as a numbered list, with a legend of their calendars.
func (r eventRows) write(b *strings.Builder, found []query.Occurrence, listed []listedEvent) {
	names, legend := calendarNames{}, []string(nil)
	for i, o := range found {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, r.line(o, listed[i], names.tell(r.who, o.Calendar, &legend)))
	}
	writeLegend(b, legend)
}

func writeLegend(b *strings.Builder, legend []string) {
	if legend != nil {
		fmt.Fprintf(b, "\n%s\n", strings.Join(legend, "\n"))
	}
}

// calendarNames are the names of the calendars in one text.
type calendarNames map[calendar.CalendarID]string

// of returns a calendar's name, with its owner if that is another user. If two calendars have the same name, the second
// also gets its id: any user can share a calendar under a misleading name.
func (n calendarNames) of(cal calendar.Calendar) (name string, known bool) {
	if name, known = n[cal.ID]; known {
		return name, true
	}
	name = wire.Quoted(defused(short(ownName(cal), longestListedTitle)))
	if cal.Access != calendar.OwnerAccess {
		name += " of " + wire.Quoted(cal.OwnerName)
	}
	for _, other := range n {
		if other == name {
			name += fmt.Sprintf(" (%s)", cal.ID)
			break
		}
	}
	n[cal.ID] = name
	return name, false
}

// tell returns a calendar's name. The first time, it adds the calendar's id to the legend.
func (n calendarNames) tell(who calendar.Caller, cal calendar.Calendar, legend *[]string) string {
	name, known := n.of(cal)
	if !known {
		*legend = append(*legend, fmt.Sprintf("%s is calendar_id %s%s", name, cal.ID, authorOf(who, cal).mark()))
	}
	return name
}

// line is an event on one line: title, time, place, calendar, and ids. User-supplied text is in quotation marks, so
// that it does not look like the server's own words.
func (r eventRows) line(o query.Occurrence, e listedEvent, in string) string {
	if e.foreign() {
		e = e.defused()
	}
	text := fmt.Sprintf("%s (%s)", quotedTitle(string(e.Title)), r.zone.spell(o.Instance))
	if e.EndThere != "" {
		text += ", ends " + e.EndThere
	}
	if e.Location != "" {
		text += ", at " + wire.Quoted(string(e.Location))
	}
	if e.MeetingLink != "" && !strings.Contains(string(e.Location), string(e.MeetingLink)) {
		text += ", call " + wire.Quoted(string(e.MeetingLink))
	}
	if e.Status != "" {
		text += ", " + strings.ToLower(bareOrQuoted(e.Status))
	}
	if e.Color != "" {
		text += ", colour " + bareOrQuoted(e.Color)
	}
	text += e.standingView.line() + fmt.Sprintf(", in %s, uid %s", in, quotedUID(o.Object.UID))
	if e.RecurrenceID != "" {
		text += " recurrence_id " + e.RecurrenceID
	}
	if r.full {
		text += fmt.Sprintf("\n   etag %s, id %s", e.ETag, e.ID)
	}
	if len(e.People) > 0 {
		text += "\n   With: " + strings.Join(each(texts(e.People), wire.Quoted), ", ")
	}
	if e.Description != "" {
		text += "\n   Notes: " + wire.Quoted(string(e.Description))
	}
	if e.Alarms != nil {
		text += "\n   Reminders: " + strings.Join(texts(e.Alarms), ", ")
	}
	return text
}

// defused returns the event with its foreign texts defused.
func (e listedEvent) defused() listedEvent {
	e.Title, e.Location, e.Description = shown(defused(string(e.Title))), shown(defused(string(e.Location))),
		shown(defused(string(e.Description)))
	e.MeetingLink = shown(defused(string(e.MeetingLink)))
	e.People = each(e.People, func(name shown) shown { return shown(defused(string(name))) })
	return e
}

// spell formats the times of an instance: "Mon 2026-03-02, 09:00–09:30".
func (z zoned) spell(i query.Instance) string {
	const day = "Mon 2006-01-02"
	if i.Start.AllDay {
		first, last := i.Start.Time, i.End.Time.AddDate(0, 0, -1)
		if !last.After(first) {
			return first.Format(day) + ", all day"
		}
		return fmt.Sprintf("%s to %s, all day", first.Format(day), last.Format(day))
	}
	return z.spellTimes(i.Start.Time, i.End.Time)
}

func (z zoned) spellTimes(from, until time.Time) string {
	const day, clock = "Mon 2006-01-02", "15:04"
	start, end := from.In(z.Location()), until.In(z.Location())
	switch {
	case start.Equal(end):
		return start.Format(day + ", " + clock)
	case start.Format(day) == end.Format(day):
		return start.Format(day+", "+clock) + "–" + end.Format(clock)
	default:
		return start.Format(day+" "+clock) + " to " + end.Format(day+" "+clock)
	}
}
