package slot

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Weekdays are the words for the days of a week, by [time.Weekday].
var Weekdays = [...]string{
	time.Sunday: "sun", time.Monday: "mon", time.Tuesday: "tue", time.Wednesday: "wed", time.Thursday: "thu",
	time.Friday: "fri", time.Saturday: "sat",
}

// errHours is the error for hours that cannot be read.
var errHours = errors.New("must be like 09:00-17:00 or 09:00-12:00, 13:00-17:00, the earlier times first")

// ReadHours reads working hours, such as 08:30-18:00 or 09:00-12:00, 13:00-17:00, on the given weekdays.
func ReadHours(in *time.Location, text string, days []string) (Hours, error) {
	h := Hours{Zone: in, Days: map[time.Weekday]bool{}}
	for i, part := range strings.FieldsFunc(strings.ReplaceAll(text, "–", "-"), func(r rune) bool {
		return r == ',' || r == ';'
	}) {
		from, until, ok := strings.Cut(part, "-")
		opens, openErr := readClock(from)
		closes, closeErr := readClock(until)
		if !ok || openErr != nil || closeErr != nil || opens >= closes || i > 0 && opens < h.Closes {
			return h, errHours
		}
		switch {
		case i == 0:
			h.Opens = opens
		case opens > h.Closes:
			h.Breaks = append(h.Breaks, Break{From: h.Closes, Until: opens})
		}
		h.Closes = closes
	}
	if h.Closes == 0 {
		return h, errHours
	}
	for day, word := range Weekdays {
		h.Days[time.Weekday(day)] = slices.Contains(days, word)
	}
	return h, nil
}

// readClock reads a time of day; 24:00 is the end of the day.
func readClock(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	at, err := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err
}

// Open returns the working times that overlap a time range, in order.
func (h Hours) Open(from, until time.Time) []Slot {
	var list []Slot
	year, month, day := from.In(h.Zone).Date()
	for ; ; day++ {
		noon := time.Date(year, month, day-1, 12, 0, 0, 0, h.Zone)
		if !h.at(noon, 0).Before(until) {
			return list
		}
		if !h.Days[noon.Weekday()] {
			continue
		}
		for _, open := range h.parts(noon) {
			if open.Start.Before(until) && from.Before(open.End) {
				list = append(list, open)
			}
		}
	}
}
