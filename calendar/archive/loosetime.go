package archive

import (
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// loose is a time in a format that RFC 5545 does not define. offset is its offset from UTC in seconds, if it has one
// other than Z.
type loose struct {
	ical.Time
	offset int64
}

// layouts are other formats that programs write: without seconds, and the extended format of ISO 8601. Go accepts
// fractional seconds after each.
var layouts = [...]struct {
	layout string
	form   ical.Form
}{
	{"20060102T150405", ical.FormFloating},
	{"20060102T150405Z", ical.FormUTC},
	{"20060102T1504", ical.FormFloating},
	{"20060102T1504Z", ical.FormUTC},
	{"2006-01-02", ical.FormDate},
	{"2006-01-02T15:04", ical.FormFloating},
	{"2006-01-02T15:04Z07:00", ical.FormUTC},
	{"2006-01-02T15:04:05", ical.FormFloating},
	{"2006-01-02T15:04:05Z07:00", ical.FormUTC},
}

// longestTime is longer than any valid time.
const longestTime = 40

// looseTime parses a time in one of the other formats; false if it is ambiguous.
func looseTime(value string) (loose, bool) {
	value = strings.TrimSpace(value)
	if len(value) > longestTime {
		return loose{}, false
	}
	for _, l := range layouts {
		t, err := time.Parse(l.layout, value)
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		civil := ical.CivilFromSeconds(t.Unix())
		if civil.Year < 1 {
			return loose{}, false
		}
		if l.form == ical.FormDate {
			return loose{Time: ical.Date(civil)}, true
		}
		return loose{ical.Time{Civil: civil, Form: l.form}, int64(offset)}, true
	}
	return loose{}, false
}

// timed are the properties with a time or a list of times. instant marks properties that need no zone.
var timed = map[string]struct{ instant bool }{
	"DTSTART": {}, "DTEND": {}, "DUE": {}, "RECURRENCE-ID": {}, "EXDATE": {}, "RDATE": {},
	"DTSTAMP": {true}, "CREATED": {true}, "LAST-MODIFIED": {true}, "COMPLETED": {true}, "ACKNOWLEDGED": {true},
}

// readTimes reads a list of times if at least one has another layout; false if none has, or one is unclear. An
// offset is not enough for a recurring event, because it does not identify the zone.
func readTimes(p *ical.Property, recurs bool) ([]ical.Time, bool) {
	var all []ical.Time
	other := false
	tzid, _ := p.Param("TZID")
	for part := range strings.SplitSeq(p.Value(), ",") {
		if t, err := ical.ParseTime(part, tzid); err == nil {
			all = append(all, t)
			continue
		}
		t, clear := looseTime(part)
		if !clear || t.offset != 0 && recurs && !timed[p.Name()].instant {
			return nil, false
		}
		if t.Form == ical.FormFloating {
			t.Time = ical.Zoned(t.Civil, tzid)
		}
		all, other = append(all, t.Time), true
	}
	return all, other
}
