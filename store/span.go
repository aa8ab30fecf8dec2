package store

import (
	"math"

	"caldav-mcp-server/calendar"
)

const (
	beginning = math.MinInt64 // for objects without a time
	endless   = math.MaxInt64
	day       = 24 * 60 * 60
)

// reaches are the longest spans of all size classes but the last, which has no limit. An object that overlaps a
// window starts at most one reach earlier. So the index on (reach, span_start) finds a week among years of
// events; only objects longer than 400 days are checked one by one.
var reaches = [...]int64{day, 32 * day, 400 * day}

// span is a calendar.Span as stored: plain numbers, so that an index orders them.
type span struct{ start, end int64 }

func spanOf(s calendar.Span) span {
	return span{valueOr(s.Start, beginning), valueOr(s.End, endless)}
}

func (s span) result() calendar.Span {
	return calendar.Span{Start: unless(s.start, beginning), End: unless(s.end, endless)}
}

// followed is added to the size class of a series with a recurrence index. A series within one day keeps class
// 0.
const followed = int64(len(reaches))

// class returns the size class of an object.
func class(d calendar.Derived) int64 {
	reach := spanOf(d.Span).reach()
	if d.Recurrence == nil || reach == 0 {
		return reach
	}
	return reach + followed
}

// reach returns the size class without followed.
func (s span) reach() int64 {
	for class, longest := range reaches {
		if before(s.end, longest) <= s.start {
			return int64(class)
		}
	}
	return int64(len(reaches))
}

// before goes back from a time, but not beyond the beginning.
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
