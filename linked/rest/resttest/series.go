package resttest

import (
	"context"
	"strings"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Series are the original starts of a recurring event.
type Series struct {
	set    *recur.Set
	allDay bool
}

// NewSeries reads lines such as RRULE:FREQ=DAILY. The zone of the first start is the zone of the series.
func NewSeries(start time.Time, allDay bool, lines []string) (*Series, error) {
	first := "DTSTART;TZID=" + start.Location().String() + ":" + start.Format("20060102T150405")
	switch {
	case allDay:
		first = "DTSTART;VALUE=DATE:" + start.Format("20060102")
	case start.Location() == time.UTC:
		first = "DTSTART:" + start.Format("20060102T150405Z")
	}
	lines = append([]string{"BEGIN:VCALENDAR", "BEGIN:VEVENT", first}, lines...)
	lines = append(lines, "END:VEVENT", "END:VCALENDAR", "")
	document, err := ical.Parse([]byte(strings.Join(lines, "\r\n")), ical.DefaultLimits())
	if err != nil {
		return nil, err
	}
	calendar, err := document.Calendar()
	if err != nil {
		return nil, err
	}
	s := &Series{allDay: allDay}
	for event := range calendar.Components() {
		s.set, err = recur.FromComponents(event, nil, zone.FromDocument(calendar), nil)
	}
	return s, err
}

// Has reports whether an instance starts at a time.
func (s *Series) Has(at time.Time) bool {
	id := ical.Instant(at)
	if s.allDay {
		id = ical.Date(ical.Instant(at).Civil)
	}
	_, found, err := s.set.Find(context.Background(), id, recur.DefaultBudget())
	return found && err == nil
}

// Starts returns at most limit starts from one time until another, which is excluded. A zero time is no bound.
func (s *Series) Starts(from, until time.Time, limit int) (all []time.Time) {
	for one, err := range s.set.Named(context.Background(), from, until, recur.DefaultBudget()) {
		if err != nil || len(all) == limit {
			break
		}
		if at := one.RecurrenceID.Time; until.IsZero() || at.Before(until) {
			all = append(all, at.UTC())
		}
	}
	return all
}
