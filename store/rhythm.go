package store

import (
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

// rhythmColumn shows the rhythm of an object in one word: few have one, and five numbers of each row would cost the others.
const rhythmColumn = `CASE WHEN dates = 0 THEN '-' ELSE concat_ws(',', known, week_1, week_2, week_3, dates) END`

// rhythmOf is the rhythm as columns have it: all zero where there is none, as no series is without a date.
func rhythmOf(d calendar.Derived) calendar.Rhythm {
	if d.Rhythm == nil {
		return calendar.Rhythm{}
	}
	return *d.Rhythm
}

// read reads a rhythmColumn.
func (w word) read() (*calendar.Rhythm, error) {
	if w == "-" {
		return nil, nil
	}
	r := new(calendar.Rhythm)
	rest := string(w)
	for _, number := range []*int64{&r.Known, &r.Hours[0], &r.Hours[1], &r.Hours[2], &r.Dates} {
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

// nearArgs are $12 to $20 of a listing by span: from when on what overlaps the window may begin, of each size class, and what
// series have in common with it. Where it has no end on one side, every series does.
func nearArgs(q calendar.ObjectQuery) []any {
	args := make([]any, 0, 9)
	for _, reach := range reaches {
		args = append(args, before(valueOr(q.From, beginning), reach))
	}
	window, bounded := q.Window()
	if !bounded {
		const all = 1<<56 - 1
		return append(args, int64(beginning), int64(all), int64(all), int64(all), int64(calendar.DaysOfMonth), int64(calendar.MonthsOfYear))
	}
	return append(args, window.Known, window.Hours[0], window.Hours[1], window.Hours[2],
		window.Dates&calendar.DaysOfMonth, window.Dates&calendar.MonthsOfYear)
}
