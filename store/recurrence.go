package store

import (
	"fmt"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

// recurrenceColumn selects an object's recurrence index as one word. Few objects have one, and for all others six
// numbers per row would be wasted.
const recurrenceColumn = `CASE WHEN dates = 0 THEN '-' ELSE concat_ws(',', known, week_1, week_2, week_3, dates, beat % 256) END`

// recurrenceOf returns the recurrence index as stored: all zero if there is none, since every series has a date.
func recurrenceOf(d calendar.Derived) calendar.RecurrenceIndex {
	if d.Recurrence == nil {
		return calendar.RecurrenceIndex{}
	}
	return *d.Recurrence
}

// read parses a recurrenceColumn.
func (w word) read() (*calendar.RecurrenceIndex, error) {
	if w == "-" {
		return nil, nil
	}
	r := new(calendar.RecurrenceIndex)
	rest := string(w)
	for _, number := range []*int64{&r.Known, &r.Hours[0], &r.Hours[1], &r.Hours[2], &r.Dates, &r.FirstHour} {
		var digits string
		digits, rest, _ = strings.Cut(rest, ",")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, errPacked
		}
		*number = n
	}
	return r, nil
}

// fewestNear is the number of arguments of a listing by span from $12 on; one by first hours has as many more as
// there are slots.
const fewestNear = 9

// nearHours is near for a window of some hours. It finds series with regular hours by the first hours that the window
// touches, and does not look at the other series of the year. Series whose recurrence index ends before the window are
// found by a condition of their own.
var nearHours = near + nearBeats() + `
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND known > 0 AND known < 9223372036854775807 AND known < $15
			AND span_start < $8 AND span_end >= $9) `

// nearBeats finds the series of each size class with the first hours from $21 on.
func nearBeats() string {
	arms := make([]string, 0, followed)
	for class, since := range [...]string{"AND span_start >= $13 ", "AND span_start >= $14 ", ""} {
		places := make([]string, slots)
		for i := range places {
			places[i] = fmt.Sprintf("$%d + %d", 12+fewestNear+i, beatStep*(class+1))
		}
		arms = append(arms, `
		SELECT name FROM objects WHERE calendar_id = $1 AND beat > 0 AND beat IN (`+strings.Join(places, ", ")+`) `+
			since+`AND span_start < $8 AND span_end >= $9 `+common)
	}
	return strings.Join(arms, `
		UNION ALL`)
}

// beatStep separates the first hours of the size classes.
const beatStep = 256

// beat returns the value of the column beat: the first hour of the index and the size class.
func beat(d calendar.Derived) int64 {
	if d.Recurrence == nil {
		return 0
	}
	return max(class(d)-followed, 0)*beatStep + d.Recurrence.FirstHour
}

// nearArgs returns the arguments of a listing by span from $12 on. First, for each size class, the earliest
// start of objects that can overlap the window. Then the recurrence index that series must share with the
// window, and for a short window its first hours. A window open on one side matches every series.
func nearArgs(q calendar.ObjectQuery) []any {
	args := make([]any, 0, fewestNear+slots)
	for _, reach := range reaches {
		args = append(args, before(valueOr(q.From, beginning), reach))
	}
	window, bounded := q.Window()
	if !bounded {
		const all = 1<<56 - 1
		return append(args, int64(beginning), int64(all), int64(all), int64(all), int64(calendar.DaysOfMonth), int64(calendar.MonthsOfYear))
	}
	args = append(args, window.Known, window.Hours[0], window.Hours[1], window.Hours[2],
		window.Dates&calendar.DaysOfMonth, window.Dates&calendar.MonthsOfYear)
	if hours := window.FirstHours(slots); hours != nil {
		for i := range slots {
			args = append(args, hours[min(i, len(hours)-1)])
		}
	}
	return args
}
