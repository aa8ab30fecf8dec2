package filter

import (
	"time"

	"caldav-mcp-server/calendar/content"
)

// window is a TimeRange in seconds since 1970: start is in it, end is not. An open end
// lies at infinity.
type window struct{ start, end int64 }

const (
	beginning = content.Beginning
	forever   = content.Forever
)

func (r *TimeRange) window() window {
	w := window{beginning, forever}
	if !r.Start.IsZero() {
		w.start = r.Start.Unix()
	}
	if !r.End.IsZero() {
		// Nothing in iCalendar is finer than a second: what begins within the last one counts.
		w.end = r.End.Add(time.Second - 1).Unix()
	}
	return w
}

// holds tells whether a moment is in the window.
func (w window) holds(at int64) bool { return w.start <= at && at < w.end }

// overlaps tells whether some of the time from start to end is in the window. What takes
// no time is a moment (RFC 4791 §9.9, the row of DURATION:PT0S): so is an event that ends
// when it begins, which the table does not foresee, but clients write.
func (w window) overlaps(start, end int64) bool {
	if end <= start {
		return w.holds(start)
	}
	return w.start < end && start < w.end
}

// wider is the window with a second more at either end: the tables compare some ends with
// "or equal", and decide themselves.
func (w window) wider() window { return window{shift(w.start, -1), shift(w.end, 1)} }

// shift moves a time, but not beyond infinity.
func shift(at, seconds int64) int64 {
	switch {
	case at == beginning || at == forever:
		return at
	case seconds > 0 && at > forever-seconds:
		return forever
	case seconds < 0 && at < beginning-seconds:
		return beginning
	}
	return at + seconds
}

// timeRange is the inverse of [TimeRange.window].
func (w window) timeRange() *TimeRange {
	return &TimeRange{Start: instant(w.start), End: instant(w.end)}
}

// instant is a time as package time has it; the zero Time is at infinity.
func instant(at int64) time.Time {
	if at == beginning || at == forever {
		return time.Time{}
	}
	return time.Unix(at, 0)
}
