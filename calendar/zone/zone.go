// Package zone knows time zones: by the many names that clients give them, by
// the VTIMEZONE that stands in an object, and as the VTIMEZONE that we write.
package zone

import (
	"math"
	"time"

	"caldav-mcp-server/ical"
)

// Fit tells how a wall-clock time lies in a zone.
type Fit uint8

const (
	// Exact is a time that the clocks show once.
	Exact Fit = iota
	// Gap is a time that they skip.
	Gap
	// Overlap is a time that they show twice.
	Overlap
)

// Zone is a time zone. It is immutable and may be shared.
type Zone struct {
	name string
	loc  *time.Location
	bare bool
}

// In makes a zone of what the standard library takes for one.
func In(loc *time.Location) *Zone { return &Zone{name: loc.String(), loc: loc} }

// UTC is the zone without offsets.
func UTC() *Zone { return In(time.UTC) }

// Name is the IANA name, or the TZID when the zone is what a VTIMEZONE says.
func (z *Zone) Name() string { return z.name }

// Bare tells that the zone is nothing but an offset, such as +09:00. It is good for reading a time,
// but no clock on a wall keeps it, and nothing should be put on it: it does not know of summer.
func (z *Zone) Bare() bool { return z.bare }

// Location is the zone as the standard library wants it.
func (z *Zone) Location() *time.Location { return z.loc }

// Civil is what the clocks of the zone show at an instant.
func (z *Zone) Civil(t time.Time) ical.Civil {
	return ical.CivilFromSeconds(z.Wall(t.Unix()))
}

// Wall is Civil in seconds: of the wall clock, from seconds since 1970.
func (z *Zone) Wall(unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(z.loc).Zone()
	return unix + int64(offset)
}

// Resolve finds the instant at which the clocks of the zone show c. RFC 5545
// §3.3.5: a time that is shown twice means the first one; a time that is
// skipped is read with the offset before the gap.
func (z *Zone) Resolve(c ical.Civil) (time.Time, Fit) {
	unix, fit := z.Unix(c.Seconds())
	return time.Unix(unix, 0).In(z.loc), fit
}

// Segment is a time in which the offset of a zone does not change, in seconds
// since 1970: From is in it, To is not. The next one may have the same offset.
type Segment struct {
	From, To int64
	Offset   int64
	Name     string
	Daylight bool
}

// Segment finds the one that holds an instant.
func (z *Zone) Segment(unix int64) Segment {
	t := time.Unix(unix, 0).In(z.loc)
	from, to := t.ZoneBounds()
	name, offset := t.Zone()
	s := Segment{From: math.MinInt64, To: math.MaxInt64, Offset: int64(offset), Name: name, Daylight: t.IsDST()}
	if !from.IsZero() {
		s.From = from.Unix()
	}
	if !to.IsZero() {
		s.To = to.Unix()
	}
	if s.To <= unix {
		// The standard library ends its rules for the future after 365 days of
		// each year, and on December 31st of a leap year in the past.
		const day = 24 * 3600
		s.To = (unix/day + 1) * day
	}
	return s
}

// reach is more than any offset, so that what a clock shows is never further
// from UTC.
const reach = 26 * 3600

// Settled tells whether all wall-clock times from one second to another are
// shown exactly once, with the segment's offset.
func (s Segment) Settled(from, to int64) bool {
	return (s.From == math.MinInt64 || from-reach >= s.From) && (s.To == math.MaxInt64 || to+reach < s.To)
}

// Unix is Resolve in seconds.
func (z *Zone) Unix(wall int64) (int64, Fit) {
	segment := z.Segment(wall - reach)
	if segment.Settled(wall, wall) {
		return wall - segment.Offset, Exact
	}
	// The first segment that ends after showing wall shows it, or has begun when
	// it was already over.
	before := Segment{To: math.MinInt64}
	for wall-segment.Offset >= segment.To {
		before, segment = segment, z.Segment(segment.To)
	}
	at := wall - segment.Offset
	if at < before.To {
		return wall - before.Offset, Gap
	}
	if segment.To < math.MaxInt64 && wall-z.Segment(segment.To).Offset >= segment.To {
		return at, Overlap
	}
	return at, Exact
}
