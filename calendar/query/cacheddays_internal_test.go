package query

import (
	"math"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestDaysOfAQuestion: the days hold all of the time that is asked for, and a time that has no end or a very long one
// has none.
func TestDaysOfAQuestion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from, until int64
		want        days
	}{
		"within a day":        {day + 1, day + 2, days{day, 2 * day}},
		"a whole day":         {day, 2 * day, days{day, 2 * day}},
		"over midnight":       {day - 1, day + 1, days{0, 2 * day}},
		"before 1970":         {-day - 1, -1, days{-2 * day, 0}},
		"whole before 1970":   {-2 * day, -day, days{-2 * day, -day}},
		"nothing":             {day, day, days{}},
		"backwards":           {day, 0, days{}},
		"a year":              {0, 366 * day, days{}},
		"all that can be":     {math.MinInt64, math.MaxInt64, days{}},
		"from the beginning":  {math.MinInt64, math.MinInt64 + 1, days{}},
		"until the very last": {math.MaxInt64 - 1, math.MaxInt64, days{}},
	} {
		got, some := daysOf(calendar.ObjectQuery{From: &test.from, Until: &test.until})
		if got != test.want || some != (test.want != days{}) {
			t.Errorf("%s: %v, %t, want %v", name, got, some, test.want)
		}
	}
	if _, some := daysOf(calendar.ObjectQuery{From: new(int64(0))}); some {
		t.Error("a question without an end has days")
	}
}
