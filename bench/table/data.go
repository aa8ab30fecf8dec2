package main

import (
	"fmt"
	"strings"
	"time"
)

// event is a generated event. It lasts for an hour, once or weekly for some weeks.
type event struct {
	n     int
	uid   string
	start time.Time
	weeks int
	text  string
}

var (
	// firstDay is a Monday; all events lie within the following years.
	firstDay = time.Date(2022, time.January, 3, 0, 0, 0, 0, time.UTC)
	// A week in the middle of the events.
	weekFrom  = firstDay.AddDate(0, 0, 130*7)
	weekUntil = weekFrom.AddDate(0, 0, 7)
)

const (
	days = 5 * 365
	// beyond is the first number of the events in the second calendar.
	beyond      = 1_000_000
	seriesWeeks = 20
	stamp       = "20060102T150405Z"
	week        = 7 * 24 * time.Hour
)

// eventOf returns the event of a number, always the same one. A tenth of the events are series.
func eventOf(calendar string, n int) event {
	e := event{n: n, uid: fmt.Sprintf("%s-%06d-9c31-4f0e-8a39-5b1c7f3c2b1a", calendar, n), weeks: 1}
	e.start = firstDay.AddDate(0, 0, spread(n, 1, days)).Add(time.Duration(14+spread(n, 2, 22)) * 30 * time.Minute)
	rule := ""
	if n%10 == 0 {
		e.weeks, rule = seriesWeeks, fmt.Sprintf("RRULE:FREQ=WEEKLY;COUNT=%d\r\n", seriesWeeks)
	}
	e.text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\nUID:" + e.uid +
		"\r\nDTSTAMP:20260101T000000Z\r\n" +
		"DTSTART:" + e.start.Format(stamp) + "\r\nDTEND:" + e.start.Add(time.Hour).Format(stamp) + "\r\n" + rule +
		fmt.Sprintf("SUMMARY:Meeting about project %d\r\nLOCATION:Room %d\r\nDESCRIPTION:", n%100, n%7) +
		strings.Repeat("Agenda and notes of what there is to talk about.", 16) +
		"\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Soon\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT\r\n" +
		"END:VCALENDAR\r\n"
	return e
}

// inviting returns the event with so many users of the server as attendees.
func (e event) inviting(crowd int, organizer string) event {
	var people strings.Builder
	fmt.Fprintf(&people, "ORGANIZER:mailto:%s@example.com\r\n", organizer)
	for n := range crowd {
		fmt.Fprintf(&people, "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=Guest %d:mailto:user%02d@example.com\r\n",
			n+1, n+1)
	}
	e.text = strings.Replace(e.text, "BEGIN:VALARM", people.String()+"BEGIN:VALARM", 1)
	return e
}

// spread derives a pseudo-random number below most, always the same for the same input.
func spread(n, salt, most int) int {
	mixed := uint64(n*2+salt) * 0x9E3779B97F4A7C15
	mixed ^= mixed >> 29
	mixed *= 0xBF58476D1CE4E5B9
	return int(mixed>>33) % most
}

// during counts the instances that overlap a period.
func (e event) during(from, until time.Time) (n int) {
	for i := range e.weeks {
		at := e.start.Add(time.Duration(i) * week)
		if at.Before(until) && at.Add(time.Hour).After(from) {
			n++
		}
	}
	return n
}
