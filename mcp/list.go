package mcp

import (
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
	// mostDays is the longest time that events are listed of: it costs the expansion of series.
	mostDays = 5 * 366
)

// The words of the parameter detail.
const (
	compact = "compact"
	full    = "full"
)

// listTools list events over all calendars.
func (b toolbox) listTools() []tool {
	return []tool{{
		name: "list_events", title: "List events",
		description: "Lists what takes place in a time, in order, over all calendars that the user may read, or in one of them. Series are expanded: each instance is an event with its recurrence_id. Without a time: the next 7 days.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes: join(takesRange, []field{
			{name: "calendar_id", kind: text, doc: "The only calendar to look in. If missing: all.", optional: true},
			{name: "keyword", kind: text, doc: "Words that title, description, place or people must have; beginnings of words are enough.", optional: true, longest: longestTitle},
			{name: "attendee", kind: text, doc: "Name or address of somebody who must take part.", optional: true, longest: longestTitle},
			{name: "detail", kind: text, doc: "compact (if missing) or full, with descriptions, people and ids for fetch.", optional: true, words: []string{compact, full}},
			{name: "limit", kind: number, doc: "How many, 50 if missing, 200 at most.", optional: true, least: 1, most: mostListed},
			takesCursor,
		}),
		gives: listView{},
		run:   b.listEvents,
	}}
}

// listView is what list_events returns.
type listView struct {
	Events []listedEvent `json:"events"`
	windowView
	Truncated bool `json:"truncated"`
	More      int  `json:"more"`
	// Unread is how many events are left out because their recurrence can't be followed.
	Unread     int    `json:"unread,omitempty"`
	NextCursor string `json:"next_cursor,omitempty"`
}

func (b toolbox) listEvents(ctx context.Context, c *call) (answer, error) {
	cal, err := b.oneCalendar(ctx, c)
	if err != nil {
		return answer{}, err
	}
	q := query.AgendaQuery{Keyword: c.args.text("keyword"), Attendee: c.args.text("attendee"), Limit: c.limit(usualListed), Meter: c.meter}
	w, err := b.listWindow(c, cal, &q)
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
	rows := rows{zone: w.zone, full: c.args.text("detail") == full}
	listed := rows.list(found.Occurrences)
	if n := fit(listed, c.room(), listedEvent.size); n < len(listed) {
		found.More += len(listed) - n
		found.Occurrences, listed = found.Occurrences[:n], listed[:n]
	}
	v := listView{Events: listed, windowView: w.view(), Truncated: found.More > 0, More: found.More, Unread: found.Unread}
	if v.Truncated {
		v.NextCursor = c.next(spot{w.from.Unix(), w.until.Unix(), found.Occurrences[len(found.Occurrences)-1].Spot()})
	}
	return answer{v.prose(rows, found.Occurrences, w), v}, nil
}

// oneCalendar finds the calendar that a call may name; the zero one if it names none.
func (b toolbox) oneCalendar(ctx context.Context, c *call) (calendar.Calendar, error) {
	if given(c, "calendar_id") == "" {
		return calendar.Calendar{}, nil
	}
	return b.calendarOf(ctx, c)
}

// prose says it for reading.
func (v listView) prose(r rows, found []query.Occurrence, w window) prose {
	var b strings.Builder
	heading := "Found %s (%s):\n"
	if w.continued {
		heading = "Going on with the other %s (%s):\n"
	}
	fmt.Fprintf(&b, heading, events(len(v.Events)+v.More), w)
	r.write(&b, found)
	if v.Truncated {
		fmt.Fprintf(&b, "\n%d more: call again with cursor %s\n", v.More, v.NextCursor)
	}
	if v.Unread > 0 {
		fmt.Fprintf(&b, "\nNot listed: %s whose recurrence cannot be followed.\n", events(v.Unread))
	}
	return prose(strings.TrimSpace(b.String()))
}

func events(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

// spot is where a listing goes on. It holds the window too: "today" may be another day when the rest
// is asked for.
type spot struct {
	From  int64      `json:"f"`
	Until int64      `json:"t"`
	After query.Spot `json:"a"`
}

// listWindow is readRange for a listing that may go on.
func (b toolbox) listWindow(c *call, cal calendar.Calendar, q *query.AgendaQuery) (window, error) {
	var at spot
	continued, err := c.place(&at)
	if err != nil {
		return window{}, err
	}
	if !continued {
		return b.readRange(c, cal, mostDays)
	}
	if at.From >= at.Until {
		return window{}, errCursor(c.args.text("cursor"))
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return window{}, err
	}
	w := window{from: time.Unix(at.From, 0), until: time.Unix(at.Until, 0), zone: z, continued: true}
	q.After = &at.After
	return w, w.check(mostDays + 1)
}
