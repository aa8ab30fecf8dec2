// Package timetext reads times as programs and people write them, and asks back where the clocks leave a doubt.
package timetext

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Forms lists what can be read, for messages and descriptions.
const Forms = "as iCalendar UTC (20260301T090000Z), RFC 3339 (2026-03-01T09:00:00+01:00), local time (2026-03-01T09:00:00), or a date (2026-03-01) for whole days"

// Error tells that a text is no time.
type Error struct {
	Text string
	// Impossible tells that the text has the form of a time, but no calendar or clock shows it.
	Impossible bool
}

// Error says what could have been written.
func (e *Error) Error() string {
	if e.Impossible {
		return fmt.Sprintf("no calendar and no clock shows %.50q", e.Text)
	}
	return fmt.Sprintf("%.50q is no time that can be read; write it %s", e.Text, Forms)
}

// AmbiguousError tells that the clocks of a zone show a local time twice, or skip it. Which
// moment was meant is for the writer to say, so it has both readings.
type AmbiguousError struct {
	Local ical.Civil
	Zone  string
	// Skipped tells a time that the clocks skip from one that they show twice.
	Skipped bool
	// First and Second are the readings, the earlier one first. Of a skipped time they are
	// what the clocks would show had they not, or had they already, been changed.
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

// Parse reads a time. RFC 3339 and iCalendar's UTC become UTC; a local time is one in the
// zone, UTC if that is what the zone is, and floating without a zone; a date is a whole day.
// An error is an [*Error] or an [*AmbiguousError].
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

// parseOffset reads a time with an offset, which people write with or without the seconds.
func parseOffset(text string) (time.Time, bool) {
	for _, form := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, strings.ToUpper(text)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// Written is what the clock shows in a text that Parse has read as a moment: 11:00 in 11:00Z and in
// 11:00+02:00 alike.
func Written(text string, at ical.Time) ical.Civil {
	if with, ok := parseOffset(strings.TrimSpace(text)); ok {
		_, offset := with.Zone()
		return ical.CivilFromSeconds(with.Unix() + int64(offset))
	}
	return at.Civil
}

// instant takes what iCalendar can write: RFC 3339 has a year 0, and offsets that lead out of
// the year 9999.
func instant(text string, at time.Time) (ical.Time, error) {
	t := ical.Instant(at)
	if !t.Civil.Valid() {
		return ical.Time{}, &Error{Text: text, Impossible: true}
	}
	return t, nil
}

// Local is the time at which the clocks of a zone show c. When they show it twice or not at
// all, the error is an [*AmbiguousError].
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

// basic writes ISO 8601's extended form, with or without seconds, in the basic form that
// iCalendar has: 2026-03-01T09:00 becomes 20260301T090000.
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

// wellFormed tells whether a text has the form of a time, though perhaps that of a 30th of
// February.
func wellFormed(text string) bool {
	form := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
	return form == "00000000" || form == "00000000T000000" || form == "00000000T000000Z"
}
