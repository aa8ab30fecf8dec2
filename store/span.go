package store

import (
	"math"

	"caldav-mcp-server/calendar"
)

const (
	beginning = math.MinInt64 // of what has no time at all
	endless   = math.MaxInt64
	day       = 24 * 60 * 60
)

// reaches are the longest spans of each size class but the last, which has no bound. What overlaps
// a window begins at most one reach before it, so that the index on (reach, span_start) finds a
// week among years of events; only what runs for more than a year is looked at one by one.
var reaches = [...]int64{day, 32 * day, 400 * day}

// span is a calendar.Span as the columns have it: only numbers, so that an index orders them.
type span struct{ start, end int64 }

func spanOf(s calendar.Span) span {
	return span{valueOr(s.Start, beginning), valueOr(s.End, endless)}
}

func (s span) result() calendar.Span {
	return calendar.Span{Start: unless(s.start, beginning), End: unless(s.end, endless)}
}

// followed is the size class from which on those of series lie whose rhythm is known: such a class less than followed is the one
// that they would be in without it. None lies within a day.
const followed = int64(len(reaches))

// class returns the size class of an object.
func class(d calendar.Derived) int64 {
	reach := spanOf(d.Span).reach()
	if d.Rhythm == nil || reach == 0 {
		return reach
	}
	return reach + followed
}

// reach returns the size class.
func (s span) reach() int64 {
	for class, longest := range reaches {
		if before(s.end, longest) <= s.start {
			return int64(class)
		}
	}
	return int64(len(reaches))
}

// before goes back from a time, not beyond the beginning.
func before(t, seconds int64) int64 {
	if t < beginning+seconds {
		return beginning
	}
	return t - seconds
}

func valueOr(p *int64, otherwise int64) int64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func unless(v, none int64) *int64 {
	if v == none {
		return nil
	}
	return &v
}
