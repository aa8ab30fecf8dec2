// Package zone finds time zones by the many names that clients use and by the VTIMEZONE in an object. It also writes
// VTIMEZONEs.
package zone

import (
	"math"
	"time"

	"caldav-mcp-server/ical"
)

// Fit describes how a wall-clock time maps to instants in a zone.
type Fit uint8

const (
	// Exact is a time that the clocks show once.
	Exact Fit = iota
	// Gap is a time that the clocks skip.
	Gap
	// Overlap is a time that the clocks show twice.
	Overlap
)

// Zone is a time zone. It is immutable and may be shared.
type Zone struct {
	name string
	loc  *time.Location
	bare bool
}

// In returns the zone of a standard library location.
func In(loc *time.Location) *Zone { return &Zone{name: loc.String(), loc: loc} }

// UTC is the zone without offsets.
func UTC() *Zone { return In(time.UTC) }

// Name returns the IANA name, or the TZID if the zone comes from a VTIMEZONE.
func (z *Zone) Name() string { return z.name }

// Bare reports whether the zone is only an offset, such as +09:00. An offset is enough to read a time, but do not
// schedule anything in it: it has no summer time.
func (z *Zone) Bare() bool { return z.bare }

// Location returns the zone as a standard library location.
func (z *Zone) Location() *time.Location { return z.loc }

// Civil returns the wall-clock time in the zone at an instant.
func (z *Zone) Civil(t time.Time) ical.Civil {
	return ical.CivilFromSeconds(z.Wall(t.Unix()))
}

// Wall is Civil in seconds: it maps seconds since 1970 to seconds on the wall clock.
func (z *Zone) Wall(unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(z.loc).Zone()
	return unix + int64(offset)
}

// Resolve returns the instant when the clocks of the zone show c. RFC 5545 §3.3.5: a time that is shown twice means the
// first one; a skipped time is read with the offset before the gap.
func (z *Zone) Resolve(c ical.Civil) (time.Time, Fit) {
	unix, fit := z.Unix(c.Seconds())
	return time.Unix(unix, 0).In(z.loc), fit
}

// Segment is a period with a constant offset, in seconds since 1970. It includes From and excludes To. The next segment
// may have the same offset.
type Segment struct {
	From, To int64
	Offset   int64
	Name     string
	Daylight bool
}

// Segment returns the segment that contains an instant.
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
		// The standard library ends its rules for the future after 365 days of each year, and on December 31st of a
		// leap year in the past.
		const day = 24 * 3600
		s.To = (unix/day + 1) * day
	}
	return s
}

// reach exceeds any offset, so a wall clock is never further from UTC than this.
const reach = 26 * 3600

// Settled reports whether all wall-clock seconds between from and to occur exactly once, with the segment's offset.
func (s Segment) Settled(from, to int64) bool {
	return (s.From == math.MinInt64 || from-reach >= s.From) && (s.To == math.MaxInt64 || to+reach < s.To)
}

// Unix is Resolve in seconds.
func (z *Zone) Unix(wall int64) (int64, Fit) {
	segment := z.Segment(wall - reach)
	if segment.Settled(wall, wall) {
		return wall - segment.Offset, Exact
	}
	// Find the first segment that ends after the clocks show wall. Either it shows wall, or wall was skipped when it
	// began.
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
