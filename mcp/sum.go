package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/mcp/wire"
)

const (
	// mostSummedDays is the longest time range for sums, mostSummed the highest number of events in one.
	mostSummedDays = 366
	mostSummed     = 10_000
	// mostSumWords is the highest number of words in a call: each one is a search of its own.
	mostSumWords = 10
)

// sumRows returns the tool that adds up hours.
func (b toolbox) sumRows() []tool {
	return []tool{reading(tool{
		name: "sum_hours", title: "Add up hours",
		description: "Sums hours of events by calendar and word, without free, declined and all-day ones.",
		begin:       doing(b.sumHours), gives: sumView{},
	})}
}

// sumQuestion holds the arguments of sum_hours.
type sumQuestion struct {
	inRange
	inCalendar
	words []string
}

func (in *sumQuestion) takes() []field {
	return append([]field{wordTo(&in.inRange.words, "date_range", "As in list_events.")},
		takesOnly(&in.calendar),
		listTo(&in.words, "words", "A sum for each.").items(mostSumWords).
			upTo(longestTitle),
		in.takesZone(),
	)
}

// sumOf is the time that some events take within the range. Overlaps count once.
type sumOf struct {
	Minutes int    `json:"minutes"`
	Time    string `json:"time"`
	Events  int    `json:"events"`
}

// calendarSum is the time of the events in one calendar.
type calendarSum struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Name     shown               `json:"name"`
	sumOf
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// wordSum is the time of the events that have some words.
type wordSum struct {
	Words shown `json:"words"`
	sumOf
}

// sumView is the result of sum_hours.
type sumView struct {
	Total     sumOf         `json:"total" doc:"Overlapping times count once."`
	Calendars []calendarSum `json:"calendars"`
	Words     []wordSum     `json:"words,omitempty"`
	AllDay    int           `json:"all_day,omitempty"`
	Free      int           `json:"free,omitempty"`
	Unread    int           `json:"unread,omitempty"`
	windowView
}

func (b toolbox) sumHours(ctx context.Context, c *call, in *sumQuestion) (answer, error) {
	cal, err := b.oneCalendar(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	w, err := b.readRange(c, in.inRange, z, mostSummedDays)
	if err != nil {
		return answer{}, err
	}
	q := query.AgendaQuery{From: w.from, Until: w.until, Timezone: z.Zone, Limit: mostSummed, Meter: c.meter}
	if cal.ID != "" {
		q.Calendars = []calendar.Calendar{cal}
	}
	timed, v, err := b.summed(ctx, c, q)
	if err != nil {
		return answer{}, err
	}
	v.windowView, v.Total, v.Calendars = w.view(), w.sum(timed), w.calendarSums(c.caller, timed)
	for _, words := range in.words {
		q.Keyword = words
		having, _, err := b.summed(ctx, c, q)
		if err != nil {
			return answer{}, err
		}
		v.Words = append(v.Words, wordSum{shown(words), w.sum(having)})
	}
	return answer{v.prose(w), v}, nil
}

// summed returns the events of a query that count hours, and counts the others.
func (b toolbox) summed(
	ctx context.Context, c *call, q query.AgendaQuery,
) (timed []query.Occurrence, v sumView, err error) {
	found, err := b.service.Agenda(ctx, c.caller, q)
	if err == nil && found.More > 0 {
		err = calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches,
			"there are more than %d events in that time", mostSummed).Advising("ask for a part of it")
	}
	v.Unread = found.Unread
	for _, o := range found.Occurrences {
		switch {
		case o.Unclear:
			v.Unread++
		case standing(c.caller, o.Calendar, o.Component).Free:
			v.Free++
		case o.Start.AllDay:
			v.AllDay++
		default:
			timed = append(timed, o)
		}
	}
	return timed, v, err
}

// sum adds up the time of events within the window.
func (w window) sum(events []query.Occurrence) sumOf {
	slices.SortStableFunc(events, func(a, b query.Occurrence) int { return a.Start.Time.Compare(b.Start.Time) })
	var all time.Duration
	done := w.from
	for _, o := range events {
		from, until := o.Start.Time, o.End.Time
		if from.Before(done) {
			from = done
		}
		if until.After(w.until) {
			until = w.until
		}
		if from.Before(until) {
			all, done = all+until.Sub(from), until
		}
	}
	minutes := int(all / time.Minute)
	return sumOf{minutes, fmt.Sprintf("%d h %02d min", minutes/60, minutes%60), len(events)}
}

// calendarSums are the sums by calendar, the most hours first.
func (w window) calendarSums(who calendar.Caller, events []query.Occurrence) []calendarSum {
	sums := []calendarSum{}
	for _, o := range events {
		if slices.ContainsFunc(sums, func(s calendarSum) bool { return s.Calendar == o.Calendar.ID }) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(events), func(other query.Occurrence) bool {
			return other.Calendar.ID != o.Calendar.ID
		})
		sums = append(sums, calendarSum{
			o.Calendar.ID, shown(short(ownName(o.Calendar), longestListedTitle)), w.sum(own), authorOf(who, o.Calendar),
		})
	}
	slices.SortStableFunc(sums, func(a, b calendarSum) int { return cmp.Compare(b.Minutes, a.Minutes) })
	return sums
}

// String writes the sum as text.
func (s sumOf) String() string {
	return s.Time + " in " + calendar.Counted(s.Events, "event")
}

// prose writes the result as text.
func (v sumView) prose(w window) prose {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s; overlapping times count once)\n", v.Total, w)
	for _, s := range v.Calendars {
		fmt.Fprintf(&b, "- %s, calendar_id %s: %s%s\n", wire.Quoted(defused(string(s.Name))), s.Calendar, s.sumOf,
			s.Untrusted.mark())
	}
	for _, s := range v.Words {
		fmt.Fprintf(&b, "- with %s: %s\n", wire.Quote(string(s.Words)), s.sumOf)
	}
	if v.AllDay > 0 {
		fmt.Fprintf(&b, "Not counted: %s.\n", calendar.Counted(v.AllDay, "all-day event"))
	}
	if v.Free > 0 {
		fmt.Fprintf(&b, "Not counted: %s that are free, declined or cancelled.\n", calendar.Counted(v.Free, "event"))
	}
	if v.Unread > 0 {
		fmt.Fprintf(&b, "Not counted: %s whose recurrence cannot be followed.\n", calendar.Counted(v.Unread, "event"))
	}
	return prose(strings.TrimSpace(b.String()))
}
