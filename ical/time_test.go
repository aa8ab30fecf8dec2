package ical_test

import (
	"testing"
	"time"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func civil(year int, month time.Month, day, hour, minute, second int) ical.Civil {
	return ical.Civil{Year: year, Month: month, Day: day, Hour: hour, Minute: minute, Second: second}
}

func TestPropertyTime(t *testing.T) {
	t.Parallel()
	noon := civil(2026, 3, 4, 12, 0, 0)
	for _, tt := range []struct {
		line string
		want ical.Time
		back string // the content line that SetTime writes; "" for line itself
	}{
		{line: "DTSTART;VALUE=DATE:20260304", want: ical.Date(noon)},
		{line: "DTSTART:20260304T120000Z", want: ical.UTC(noon)},
		{line: "DTSTART:20260304T120000", want: ical.Floating(noon)},
		{line: "DTSTART;TZID=Europe/Berlin:20260304T120000", want: ical.Zoned(noon, "Europe/Berlin")},
		{line: "DTSTART;TZID=\"(UTC+01:00) Berlin, Rome\":20260304T120000", want: ical.Zoned(noon,
			"(UTC+01:00) Berlin, Rome")},
		{line: "DTSTART;VALUE=DATE-TIME:20260304T120000Z", want: ical.UTC(noon)},
		{line: "DTSTART:00010101T000000Z", want: ical.UTC(civil(1, 1, 1, 0, 0, 0))},
		{line: "DTSTART:99991231T235959Z", want: ical.UTC(civil(9999, 12, 31, 23, 59, 59))},
		// What clients send in violation of the letter.
		{line: "DTSTART:20260304", want: ical.Date(noon), back: "DTSTART;VALUE=DATE:20260304"},
		{line: "DTSTART;VALUE=date:20260304", want: ical.Date(noon), back: "DTSTART;VALUE=DATE:20260304"},
		{
			line: "DTSTART;VALUE=DATE;TZID=Europe/Berlin:20260304", want: ical.Date(noon),
			back: "DTSTART;VALUE=DATE:20260304",
		},
		{line: "DTSTART;TZID=Europe/Berlin:20260304T120000Z", want: ical.UTC(noon), back: "DTSTART:20260304T120000Z"},
		{line: "DTSTART;VALUE=DATE:20260304T120000Z", want: ical.UTC(noon), back: "DTSTART:20260304T120000Z"},
		{line: "DTSTART:20260304t120000z", want: ical.UTC(noon), back: "DTSTART:20260304T120000Z"},
		{line: "DTSTART: 20260304T120000Z ", want: ical.UTC(noon), back: "DTSTART:20260304T120000Z"},
		{line: "DTSTART;TZID=:20260304T120000", want: ical.Floating(noon), back: "DTSTART:20260304T120000"},
		{
			line: "DTSTART:20160630T235960Z", want: ical.UTC(civil(2016, 6, 30, 23, 59, 59)),
			back: "DTSTART:20160630T235959Z",
		},
		{line: "DTSTART;TZID=W. Europe Standard Time :20260304T120000", want: ical.Zoned(noon,
			"W. Europe Standard Time ")},
	} {
		p := property(t, tt.line)
		got, err := p.Time()
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
		want := tt.line
		if tt.back != "" {
			want = tt.back
		}
		p.SetTime(got)
		if diff := cmp.Diff(want, p.String()); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
	}
}

// TestPropertyTimeRefuses: mcp D1.
func TestPropertyTimeRefuses(t *testing.T) {
	t.Parallel()
	const form = "is no time; write a date as 20261231, a time as 20261231T235959 or, in UTC, 20261231T235959Z"
	const day = "is a time that no calendar or clock shows"
	for value, problem := range map[string]string{
		"":                      form,
		"tomorrow":              form,
		"2026-03-04":            form,
		"2026030":               form,
		"20260304T":             form,
		"20260304T1200":         form,
		"20260304 120000":       form,
		"20260304T120000+0100":  form,
		"20260304Z":             form,
		"20260304T12000Z":       form,
		"20260304T120000ZZ":     form,
		"+2026030":              form,
		"２０２６０３０４":              form,
		"20260304T120000,20260": form,
		"00000101":              day,
		"20260229":              day,
		"20261301T000000Z":      day,
		"20260100":              day,
		"20260304T240000":       day,
		"20260304T126000":       day,
		"20260304T120061":       day,
	} {
		_, err := property(t, "DTSTART:"+value).Time()
		got := syntaxError(t, err)
		want := ical.SyntaxError{Line: 3, Property: "DTSTART", Kind: ical.KindValue, Msg: `"` + value + `" ` + problem}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

func TestPropertyTimes(t *testing.T) {
	t.Parallel()
	day, noon := ical.CivilDate(2026, 3, 4), civil(2026, 3, 4, 12, 0, 0)
	for line, want := range map[string][]ical.Time{
		"EXDATE;TZID=Europe/Berlin:20260304T120000,20260305T120000": {
			ical.Zoned(noon, "Europe/Berlin"), ical.Zoned(noon.AddDays(1), "Europe/Berlin"),
		},
		"EXDATE;VALUE=DATE:20260304,20260305": {ical.Date(day), ical.Date(day.AddDays(1))},
		"EXDATE:20260304T120000Z":             {ical.UTC(noon)},
		"EXDATE:20260304T120000Z, ":           {ical.UTC(noon)},
		"EXDATE:":                             nil,
	} {
		p := property(t, line)
		got, err := p.Times()
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
		p.SetTimes(got...)
		again, err := p.Times()
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s written as %s: %v\n%s", line, p, err, diff)
		}
	}
	_, err := property(t, "EXDATE:20260304,x").Times()
	if got := syntaxError(t, err); got.Property != "EXDATE" || got.Line != 3 {
		t.Errorf("%v", got)
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	at := time.Date(1969, 12, 31, 20, 30, 15, 999, time.FixedZone("", -5*3600))
	if got := ical.Instant(at).String(); got != "19700101T013015Z" {
		t.Errorf("%v is written as %s", at, got)
	}
}
