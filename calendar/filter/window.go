package filter

import (
	"time"

	"caldav-mcp-server/calendar/content"
)

// window is a TimeRange in seconds since 1970: start is inclusive, end is exclusive. A missing limit is at
// infinity.
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
		// iCalendar's resolution is one second, so round up to include times within the last second.
		w.end = r.End.Add(time.Second - 1).Unix()
	}
	return w
}

// holds reports whether an instant is in the window.
func (w window) holds(at int64) bool { return w.start <= at && at < w.end }

// overlaps reports whether part of the time from start to end is in the window. A time without duration is an
// instant (RFC 4791 §9.9, the row for DURATION:PT0S). The same applies to an event that ends when it begins: the
// table does not cover it, but clients write it.
func (w window) overlaps(start, end int64) bool {
	if end <= start {
		return w.holds(start)
	}
	return w.start < end && start < w.end
}

// wider returns the window with a second more at either end: some tables compare an end with "or equal", and decide
// themselves.
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

// instant converts a time; infinity becomes the zero Time.
func instant(at int64) time.Time {
	if at == beginning || at == forever {
		return time.Time{}
	}
	return time.Unix(at, 0)
}
