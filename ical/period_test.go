package ical_test

import (
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestPropertyPeriods(t *testing.T) {
	t.Parallel()
	noon := civil(2026, 3, 4, 12, 0, 0)
	for line, want := range map[string][]ical.Period{
		"FREEBUSY:20260304T120000Z/20260304T130000Z": {{Start: ical.UTC(noon), End: ical.UTC(noon.AddSeconds(3600))}},
		"FREEBUSY;FBTYPE=BUSY:20260304T120000Z/PT1H,20260305T120000Z/P1D": {
			{Start: ical.UTC(noon), Duration: ical.Duration{Seconds: 3600}},
			{Start: ical.UTC(noon.AddDays(1)), Duration: ical.Duration{Days: 1}},
		},
		"RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20260304T120000/20260304T120000": {
			{Start: ical.Zoned(noon, "Europe/Berlin"), End: ical.Zoned(noon, "Europe/Berlin")},
		},
		"FREEBUSY:": nil,
	} {
		p := property(t, line)
		got, err := p.Periods()
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
		p.SetPeriods(got...)
		if diff := cmp.Diff(line, p.String()); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
	}
}

func TestPropertyPeriodsRefuses(t *testing.T) {
	t.Parallel()
	for value, problem := range map[string]string{
		"20260304T120000Z": `"20260304T120000Z" is no period; write it as start/end or start/duration`,
		"20260304T120000Z/": `"" is no time; write a date as 20261231, a time as 20261231T235959 or, ` +
			`in UTC, 20261231T235959Z`,
		"x/PT1H": `"x" is no time; write a date as 20261231, a time as 20261231T235959 ` +
			`or, in UTC, 20261231T235959Z`,
		"20260304T120000Z/PT":    `"PT" is no duration; write it like PT1H30M, P1D or P2W`,
		"20260304T120000Z/-PT1H": `"20260304T120000Z/-PT1H" is a period of negative duration`,
		"20260304T120000Z/20260304T115959Z": `"20260304T120000Z/20260304T115959Z" is a period that ends before it ` +
			`starts`,
		"20260304/20260305": `"20260304/20260305" is no period of times; dates have no place in it`,
	} {
		_, err := property(t, "FREEBUSY:"+value).Periods()
		want := ical.SyntaxError{Line: 3, Property: "FREEBUSY", Kind: ical.KindValue, Msg: problem}
		if diff := cmp.Diff(want, *syntaxError(t, err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

func TestPropertyIsPeriods(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"RDATE;VALUE=period:20260304T120000Z/PT1H": true,
		"RDATE:20260304T120000Z/PT1H":              true,
		"RDATE;TZID=Europe/Berlin:20260304T120000": false,
		"RDATE;VALUE=DATE:20260304":                false,
	} {
		if got := property(t, line).IsPeriods(); got != want {
			t.Errorf("%s: %t, want %t", line, got, want)
		}
	}
}
