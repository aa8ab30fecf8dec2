package web

import (
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
)

// clock formats times for people: in their zone and language, and relative to today if near.
type clock struct {
	now  time.Time
	zone *zone.Zone
	lang *locale.Language
	// cycle is the user's choice of 12 or 24 hours.
	cycle string
}

// clock returns the signed-in user's clock.
func (p *pageRequest) clock() clock {
	z, err := zone.Lookup(p.user().Timezone)
	if err != nil {
		z = zone.UTC()
	}
	return clock{p.Now(), z, p.lang, p.user().View.Clock}
}

// timezone returns the zone that a form names, as IANA writes it; "" if it names none.
func (p *pageRequest) timezone() (string, error) {
	text := p.field("timezone")
	if text == "" {
		return "", nil
	}
	name, err := zone.Choose(text)
	if err != nil {
		return text, calendar.Errorf(calendar.Invalid, "", "%v", err)
	}
	return name, nil
}

func (c clock) in(t time.Time) time.Time { return t.In(c.zone.Location()) }

// midnight returns the start of today, which is later than 00:00 where the clocks skip it.
func (c clock) midnight() time.Time {
	return grid.Midnight(c.in(c.now), 0)
}

// day names a day: today, tomorrow, or the date.
func (c clock) day(t time.Time) string {
	switch daysBetween(c.in(c.now), c.in(t)) {
	case -1:
		return c.lang.Text("time.yesterday")
	case 0:
		return c.lang.Text("time.today")
	case 1:
		return c.lang.Text("time.tomorrow")
	}
	return c.date(t)
}

// date formats a date, with the year unless it is the present one.
func (c clock) date(t time.Time) string {
	if t = c.in(t); t.Year() == c.in(c.now).Year() {
		return c.lang.ShortDate(t)
	}
	return c.lang.ShortDateYear(t)
}

// time formats the time of day.
func (c clock) time(t time.Time) string { return c.lang.Time(c.in(t), c.cycle) }

// Moment formats day and time: "tomorrow 09:30".
func (c clock) Moment(t time.Time) string {
	if t.IsZero() {
		return c.lang.Text("time.never")
	}
	return c.day(t) + " " + c.time(t)
}

// unlessNever is Moment, but "" for never.
func (c clock) unlessNever(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return c.Moment(t)
}

// Ago formats an age, or the date if that is more useful.
func (c clock) Ago(t time.Time) string {
	if t.IsZero() {
		return c.lang.Text("time.never")
	}
	switch past := c.now.Sub(t); {
	case past < time.Minute:
		return c.lang.Text("time.just-now")
	case past < time.Hour:
		return c.lang.Text("time.minutes-ago", "count", int(past/time.Minute))
	case past < 12*time.Hour:
		return c.lang.Text("time.hours-ago", "count", int(past/time.Hour))
	}
	return c.Moment(t)
}

// span formats an event's times for a page under the day of its start.
func (c clock) span(start, end recur.Moment) string {
	last := c.lastDay(start, end)
	days := daysBetween(c.in(start.Time), last)
	switch {
	case start.AllDay && days < 1:
		return c.lang.Text("time.all-day")
	case start.AllDay:
		return c.lang.Text("time.until-day", "end", c.day(last))
	case !end.Time.After(start.Time):
		return c.time(start.Time)
	case days < 1:
		return c.time(start.Time) + "–" + c.time(end.Time)
	}
	return c.lang.Text("time.from-until", "start", c.time(start.Time), "end", c.Moment(end.Time))
}

// spanOn formats an event's times for a page under one of its days, given by its midnight.
func (c clock) spanOn(midnight time.Time, start, end recur.Moment) string {
	last := c.lastDay(start, end)
	switch {
	case daysBetween(c.in(start.Time), midnight) <= 0:
		return c.span(start, end)
	case daysBetween(midnight, last) > 0:
		return c.lang.Text("time.all-day-until", "end", c.day(last))
	case start.AllDay:
		return c.lang.Text("time.last-day")
	}
	return c.lang.Text("time.until", "end", c.time(end.Time))
}

// lastDay returns a time on the last day of an event. An end at midnight belongs to the day before.
func (c clock) lastDay(start, end recur.Moment) time.Time {
	if end.Time.After(start.Time) {
		return c.in(end.Time.Add(-time.Second))
	}
	return c.in(start.Time)
}

// daysBetween counts the midnights between two times in one zone.
func daysBetween(a, b time.Time) int {
	return int(dayOf(b).Sub(dayOf(a)) / (24 * time.Hour))
}

// dayOf returns a time's date at midnight UTC, where no clock changes.
func dayOf(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
