package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
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
		description: "Lists events in a time range, in all calendars; each instance of a series with its recurrence_id. Without a time: the next 7 days. To find words at any time: search_events.",
		begin:       doing(b.listEvents), gives: listView{},
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
	q := query.AgendaQuery{Keyword: in.keyword, Attendee: in.attendee, Limit: cmp.Or(in.limit, usualListed), Meter: c.meter}
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
	rows := rows{zone: w.zone, who: c.caller, full: in.detail == full}
	listed, left := rows.list(c, &found.Occurrences)
	found.More += left
	v := listView{Events: listed, Calendars: legend(c.caller, found.Occurrences), windowView: w.view(), Truncated: found.More > 0, More: found.More, Unread: found.Unread}
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
func (v listView) prose(r rows, found []query.Occurrence, w window) prose {
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
