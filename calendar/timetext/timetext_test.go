package timetext_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

func berlin(t *testing.T) *zone.Zone {
	t.Helper()
	z, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestParse(t *testing.T) {
	t.Parallel()
	nine := ical.Civil{Year: 2026, Month: time.March, Day: 1, Hour: 9}
	eight := ical.Civil{Year: 2026, Month: time.March, Day: 1, Hour: 8}
	for text, want := range map[string]ical.Time{
		"20260301T090000Z":             ical.UTC(nine),
		" 20260301t090000z ":           ical.UTC(nine),
		"2026-03-01T09:00:00Z":         ical.UTC(nine),
		"2026-03-01T09:00:00.75+01:00": ical.UTC(eight),
		"2026-03-01t09:00:00+01:00":    ical.UTC(eight),
		"2026-03-01T09:00+01:00":       ical.UTC(eight),
		"2026-03-01T08:00Z":            ical.UTC(eight),
		"2026-03-01T09:00:00":          ical.Zoned(nine, "Europe/Berlin"),
		"2026-03-01T09:00":             ical.Zoned(nine, "Europe/Berlin"),
		"2026-03-01 09:00":             ical.Zoned(nine, "Europe/Berlin"),
		"20260301T090000":              ical.Zoned(nine, "Europe/Berlin"),
		"2026-03-01":                   ical.Date(nine),
		"20260301":                     ical.Date(nine),
		"2026-10-25T02:30:00+02:00":    ical.UTC(ical.Civil{Year: 2026, Month: time.October, Day: 25, Minute: 30}),
		"2026-03-29T03:00:00": ical.Zoned(ical.Civil{Year: 2026, Month: time.March, Day: 29, Hour: 3},
			"Europe/Berlin"),
		"2026-10-25T03:00:00": ical.Zoned(ical.Civil{Year: 2026, Month: time.October, Day: 25, Hour: 3},
			"Europe/Berlin"),
	} {
		got, err := timetext.Parse(text, berlin(t))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseWithoutAZoneAndInUTC(t *testing.T) {
	t.Parallel()
	nine := ical.Civil{Year: 2026, Month: time.March, Day: 29, Hour: 2, Minute: 30}
	if got, err := timetext.Parse("2026-03-29T02:30", nil); err != nil || got != ical.Floating(nine) {
		t.Errorf("without a zone: %v, %v", got, err)
	}
	if got, err := timetext.Parse("2026-03-29T02:30", zone.UTC()); err != nil || got != ical.UTC(nine) {
		t.Errorf("in UTC: %v, %v", got, err)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for text, impossible := range map[string]bool{
		"":                          false,
		"tomorrow":                  false,
		"2026-03":                   false,
		"09:00":                     false,
		"2026-3-1":                  false,
		"2026-02-30":                true,
		"20260301T250000":           true,
		"2026-13-01T09:00":          true,
		"0000-01-01T00:00:00Z":      true,
		"9999-12-31T23:00:00-05:00": true,
	} {
		_, err := timetext.Parse(text, berlin(t))
		var unreadable *timetext.Error
		if !errors.As(err, &unreadable) || unreadable.Impossible != impossible || unreadable.Text != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestDoubt: each reading that an error offers is a time that can be read, and the first is
// the earlier.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, text, says, first, second string }{
		{
			"Europe/Berlin", "2026-10-25T02:30",
			"2026-10-25T02:30:00 comes twice in Europe/Berlin, where the clocks change; write " +
				"2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00",
			"20261025T003000Z", "20261025T013000Z",
		},
		{
			"Europe/Berlin", "2026-03-29T02:30",
			"2026-03-29T02:30:00 is skipped in Europe/Berlin, where the clocks change; write " +
				"2026-03-29T01:30:00+01:00 or 2026-03-29T03:30:00+02:00",
			"20260329T003000Z", "20260329T013000Z",
		},
		{
			"Australia/Lord_Howe", "2026-10-04T02:15",
			"2026-10-04T02:15:00 is skipped in Australia/Lord_Howe, where the clocks change; write " +
				"2026-10-04T01:45:00+10:30 or 2026-10-04T02:45:00+11:00",
			"20261003T151500Z", "20261003T154500Z",
		},
		{
			"Pacific/Apia", "2011-12-30T12:00",
			"2011-12-30T12:00:00 is skipped in Pacific/Apia, where the clocks change; write " +
				"2011-12-29T12:00:00-10:00 or 2011-12-31T12:00:00+14:00",
			"20111229T220000Z", "20111230T220000Z",
		},
	} {
		z, err := zone.Lookup(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		_, err = timetext.Parse(tt.text, z)
		var doubt *timetext.AmbiguousError
		if !errors.As(err, &doubt) {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.says, err.Error()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, reading := range []struct {
			at   time.Time
			want string
		}{{doubt.First, tt.first}, {doubt.Second, tt.second}} {
			got, err := timetext.Parse(reading.at.Format(time.RFC3339), z)
			if err != nil || got.String() != reading.want {
				t.Errorf("%s: reading %v is %v, %v, want %s", tt.text, reading.at, got, err, reading.want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"20260301T090000Z", "2026-03-01T09:00+01:00", "2026-03-29T02:30", "2026-03-01", "9999-12-31", "-", "    -  -",
	} {
		f.Add(seed)
	}
	z, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := timetext.Parse(text, z)
		if err != nil {
			if got != (ical.Time{}) || err.Error() == "" {
				t.Errorf("%q: %v beside %v", text, got, err)
			}
			return
		}
		again, err := timetext.Parse(got.String(), z)
		if err != nil || again != got {
			t.Errorf("%q is %v, which reads as %v, %v", text, got, again, err)
		}
	})
}
