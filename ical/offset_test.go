package ical_test

import (
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestPropertyUTCOffset(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value string
		want  ical.UTCOffset
		back  string
	}{
		{"+0100", 3600, "+0100"},
		{"-0530", -19800, "-0530"},
		{"+0000", 0, "+0000"},
		{"-0000", 0, "+0000"},
		{"+023000", 9000, "+0230"},
		{"-005328", -3208, "-005328"},
		{"+1400", 50400, "+1400"},
		{" +01:00 ", 3600, "+0100"},
	} {
		got, err := property(t, "TZOFFSETTO:"+tt.value).UTCOffset()
		if err != nil || got != tt.want || got.String() != tt.back {
			t.Errorf("%q is %d, written %s (%v); want %d, %s", tt.value, got, got, err, tt.want, tt.back)
		}
	}
}

func TestPropertyUTCOffsetRefuses(t *testing.T) {
	t.Parallel()
	const form = " is no offset from UTC; write it like +0100 or -0530"
	const size = " is an offset of a day or more, or has no minute or second like that"
	for value, problem := range map[string]string{
		"": form, "0100": form, "+1": form, "+01": form, "+100": form, "+01000": form, "Z": form,
		"+01x0": form, "++100": form, "+2400": size, "+0060": size, "-000060": size,
	} {
		_, err := property(t, "TZOFFSETTO:"+value).UTCOffset()
		want := ical.SyntaxError{
			Line: 3, Property: "TZOFFSETTO", Kind: ical.KindValue, Msg: `"` + value + `"` + problem,
		}
		if diff := cmp.Diff(want, *syntaxError(t, err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
}
