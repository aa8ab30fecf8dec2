package ical_test

import (
	"testing"
	"time"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value string
		want  ical.Duration
		back  string // as it is written; "" for value itself
	}{
		{value: "PT1H30M", want: ical.Duration{Seconds: 5400}},
		{value: "P1D", want: ical.Duration{Days: 1}},
		{value: "P2W", want: ical.Duration{Weeks: 2}},
		{value: "P15DT5H0M20S", want: ical.Duration{Days: 15, Seconds: 18020}},
		{value: "-PT15M", want: ical.Duration{Negative: true, Seconds: 900}},
		{value: "PT0S", want: ical.Duration{}},
		{value: "PT24H", want: ical.Duration{Seconds: 86400}},
		{value: "PT5S", want: ical.Duration{Seconds: 5}},
		{value: "P3659634D", want: ical.Duration{Days: 3659634}},
		// Written another way, and meant the same.
		{value: "+P1D", want: ical.Duration{Days: 1}, back: "P1D"},
		{value: "PT90M", want: ical.Duration{Seconds: 5400}, back: "PT1H30M"},
		{value: "-P0DT0H10M0S", want: ical.Duration{Negative: true, Seconds: 600}, back: "-PT10M"},
		{value: "P0D", want: ical.Duration{}, back: "PT0S"},
		{value: "-PT0S", want: ical.Duration{}, back: "PT0S"},
		{value: "PT0000000000000000000000001S", want: ical.Duration{Seconds: 1}, back: "PT1S"},
		// What clients send in violation of the letter.
		{value: " -pt15m ", want: ical.Duration{Negative: true, Seconds: 900}, back: "-PT15M"},
		{value: "P1W2D", want: ical.Duration{Weeks: 1, Days: 2}, back: "P9D"},
		{value: "P1WT1H", want: ical.Duration{Weeks: 1, Seconds: 3600}, back: "P7DT1H"},
		{value: "P1DT", want: ical.Duration{Days: 1}, back: "P1D"},
		{value: "PT1H20S", want: ical.Duration{Seconds: 3620}, back: "PT1H0M20S"},
	} {
		got, err := ical.ParseDuration(tt.value)
		if err != nil {
			t.Errorf("%q: %v", tt.value, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.value, diff)
		}
		want := tt.value
		if tt.back != "" {
			want = tt.back
		}
		if got.String() != want {
			t.Errorf("%q is written as %q, want %q", tt.value, got, want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()
	const form = " is no duration; write it like PT1H30M, P1D or P2W"
	const size = " is a duration of more than ten thousand years"
	for value, problem := range map[string]string{
		"": form, "P": form, "PT": form, "-P": form, "1H": form, "T1H": form, "PD": form, "P1": form,
		"PT1": form, "PT1HT": form, "P1DTT": form, "P1H": form, "PT1D": form, "P1M": form, "P1Y": form, "PT1M1H": form,
		"PT1H1H": form, "P1DT1H,": form, "P-1D": form, "--P1D": form, "PT1.5H": form, "P1TT1H": form, "P1DT1HT1M": form,
		"P9999999999W": size, "P99999999999999999999D": size, "PT9999999999999999999S": size,
		"P3659634DT1S": size, "P523000W": size,
	} {
		_, err := property(t, "DURATION:"+value).Duration()
		want := ical.SyntaxError{Line: 3, Property: "DURATION", Kind: ical.KindValue, Msg: `"` + value + `"` + problem}
		if diff := cmp.Diff(want, *syntaxError(t, err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}

func TestDurationParts(t *testing.T) {
	t.Parallel()
	d, err := property(t, "TRIGGER:-P1W2DT3H").Duration()
	if err != nil || d.NominalDays() != -9 || d.ExactSeconds() != -3*3600 {
		t.Errorf("%v (%v): %d days, %d seconds", d, err, d.NominalDays(), d.ExactSeconds())
	}
	for in, want := range map[time.Duration]string{
		90 * time.Minute: "PT1H30M", -time.Minute: "-PT1M", 36 * time.Hour: "PT36H", 999 * time.Millisecond: "PT0S",
	} {
		if got := ical.DurationOf(in).String(); got != want {
			t.Errorf("%v is written as %s, want %s", in, got, want)
		}
	}
}
