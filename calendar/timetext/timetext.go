// Package timetext parses times as programs and people write them. It reports a local time that is ambiguous
// because of a clock change.
package timetext

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Forms lists the accepted forms, for messages and descriptions.
const Forms = "as iCalendar UTC (20260301T090000Z), RFC 3339 (2026-03-01T09:00:00+01:00), local time " +
	"(2026-03-01T09:00:00), or a date (2026-03-01) for whole days"

// Error reports a text that is not a time.
type Error struct {
	Text string
	// Impossible is set if the text has the form of a time that does not exist.
	Impossible bool
}

// Error names the accepted forms.
func (e *Error) Error() string {
	if e.Impossible {
		return fmt.Sprintf("there is no such date or time as %.50q", e.Text)
	}
	return fmt.Sprintf("%.50q is not a time that can be read; write it %s", e.Text, Forms)
}

// AmbiguousError reports a local time that a zone's clocks repeat or skip. It has both readings for the writer to
// choose from.
type AmbiguousError struct {
	Local ical.Civil
	Zone  string
	// Skipped is set if the clocks skip the time, otherwise they repeat it.
	Skipped bool
	// First and Second are the readings, earlier one first. For a skipped time they use the offset after and before
	// the clock change.
	First, Second time.Time
}

// Error offers both readings.
func (e *AmbiguousError) Error() string {
	why := "comes twice"
	if e.Skipped {
		why = "is skipped"
	}
	return fmt.Sprintf("%s %s in %s, where the clocks change; write %s or %s", e.Local, why, e.Zone,
		e.First.Format(time.RFC3339), e.Second.Format(time.RFC3339))
}

// Parse parses a time. RFC 3339 times and iCalendar's UTC times become UTC. A local time is in the zone, or
// floating if the zone is nil; in the zone UTC it becomes UTC. A date means a whole day. An error is an [*Error] or
// an [*AmbiguousError].
func Parse(text string, z *zone.Zone) (ical.Time, error) {
	trimmed := strings.TrimSpace(text)
	if at, ok := parseOffset(trimmed); ok {
		return instant(text, at)
	}
	written := basic(trimmed)
	t, err := ical.ParseTime(written, "")
	if err != nil {
		return ical.Time{}, &Error{Text: text, Impossible: wellFormed(written)}
	}
	if t.Form != ical.FormFloating || z == nil {
		return t, nil
	}
	return Local(t.Civil, z)
}

// parseOffset parses a time with an offset, with or without seconds.
func parseOffset(text string) (time.Time, bool) {
	for _, form := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, strings.ToUpper(text)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// Written returns the wall-clock time of a text that Parse has read as an instant: 11:00 for both 11:00Z and
// 11:00+02:00.
func Written(text string, at ical.Time) ical.Civil {
	if with, ok := parseOffset(strings.TrimSpace(text)); ok {
		_, offset := with.Zone()
		return ical.CivilFromSeconds(with.Unix() + int64(offset))
	}
	return at.Civil
}

// instant rejects times that iCalendar cannot express: RFC 3339 allows the year 0, and offsets that lead past the
// year 9999.
func instant(text string, at time.Time) (ical.Time, error) {
	t := ical.Instant(at)
	if !t.Civil.Valid() {
		return ical.Time{}, &Error{Text: text, Impossible: true}
	}
	return t, nil
}

// Local returns the time when the clocks of a zone show c. If they repeat or skip it, the error is an
// [*AmbiguousError].
func Local(c ical.Civil, z *zone.Zone) (ical.Time, error) {
	if z.Name() == zone.UTC().Name() {
		return ical.UTC(c), nil
	}
	at, fit := z.Resolve(c)
	if fit == zone.Exact {
		return ical.Zoned(c, z.Name()), nil
	}
	segment := z.Segment(at.Unix())
	if fit == zone.Overlap {
		segment = z.Segment(segment.To)
	}
	other := time.Unix(c.Seconds()-segment.Offset, 0).In(z.Location())
	e := &AmbiguousError{Local: c, Zone: z.Name(), Skipped: fit == zone.Gap, First: at, Second: other}
	if e.Second.Before(e.First) {
		e.First, e.Second = e.Second, e.First
	}
	return ical.Time{}, e
}

// basic converts the extended format of ISO 8601, with or without seconds, to iCalendar's basic format:
// 2026-03-01T09:00 becomes 20260301T090000.
func basic(text string) string {
	const date, minutes = len("2006-01-02"), len("2006-01-02T15:04")
	if len(text) < date || text[4] != '-' || text[7] != '-' {
		return text
	}
	if len(text) == minutes {
		text += ":00"
	}
	text = strings.Replace(text[:date], "-", "", 2) + strings.Replace(text[date:], ":", "", 2)
	return strings.Replace(text, " ", "T", 1)
}

// wellFormed reports whether a text has the form of a time, even of one like February 30 that does not exist.
func wellFormed(text string) bool {
	form := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
	return form == "00000000" || form == "00000000T000000" || form == "00000000T000000Z"
}
