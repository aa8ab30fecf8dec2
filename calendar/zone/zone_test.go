package zone_test

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		zone, wall string
		want       string
		fit        zone.Fit
	}{
		{"America/New_York", "20260308T013000", "2026-03-08 01:30 EST", zone.Exact},
		{"America/New_York", "20260308T023000", "2026-03-08 03:30 EDT", zone.Gap},
		{"America/New_York", "20260308T030000", "2026-03-08 03:00 EDT", zone.Exact},
		{"America/New_York", "20261101T005959", "2026-11-01 00:59 EDT", zone.Exact},
		{"America/New_York", "20261101T010000", "2026-11-01 01:00 EDT", zone.Overlap},
		{"America/New_York", "20261101T015959", "2026-11-01 01:59 EDT", zone.Overlap},
		{"America/New_York", "20261101T020000", "2026-11-01 02:00 EST", zone.Exact},
		{"Europe/London", "20260329T010000", "2026-03-29 02:00 BST", zone.Gap},
		{"Europe/London", "20261025T013000", "2026-10-25 01:30 BST", zone.Overlap},
		{"Australia/Lord_Howe", "20260405T014500", "2026-04-05 01:45 +11", zone.Overlap},
		{"Australia/Lord_Howe", "20261004T021500", "2026-10-04 02:45 +11", zone.Gap},
		{"Pacific/Apia", "20111230T120000", "2011-12-31 12:00 +14", zone.Gap},
		{"Pacific/Apia", "20111229T235959", "2011-12-29 23:59 -10", zone.Exact},
		{"Africa/Casablanca", "20260215T023000", "2026-02-15 02:30 +01", zone.Overlap},
		{"Africa/Casablanca", "20260322T023000", "2026-03-22 03:30 +01", zone.Gap},
		{"Europe/Berlin", "20401231T120000", "2040-12-31 12:00 CET", zone.Exact},
		{"Europe/Berlin", "00010101T000000", "0001-01-01 00:00 LMT", zone.Exact},
		{"Europe/Berlin", "99991231T235959", "9999-12-31 23:59 CET", zone.Exact},
		{"UTC", "20260308T023000", "2026-03-08 02:30 UTC", zone.Exact},
	}
	for _, test := range tests {
		t.Run(test.zone+" "+test.wall, func(t *testing.T) {
			t.Parallel()
			z, err := zone.Lookup(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			wall, err := ical.ParseTime(test.wall, "")
			if err != nil {
				t.Fatal(err)
			}
			got, fit := z.Resolve(wall.Civil)
			if shown := got.Format("2006-01-02 15:04 MST"); shown != test.want || fit != test.fit {
				t.Errorf("got %s, %d; want %s, %d", shown, fit, test.want, test.fit)
			}
			if back := z.Civil(got); fit != zone.Gap && back != wall.Civil {
				t.Errorf("the clock shows %v then", back)
			}
		})
	}
}

// TestResolveEverywhere compares with what the standard library says of every
// half hour around each change of every zone's clocks.
func TestResolveEverywhere(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	for _, name := range zone.Names() {
		z, err := db.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		at := z.Segment(day(2005, time.January, 1).Unix()).To
		for at < day(2041, time.March, 1).Unix() {
			for _, shift := range []int64{-90, -60, -30, -1, 0, 1, 30, 60, 90} {
				unix := at + shift*60
				wall := z.Wall(unix)
				got, fit := z.Unix(wall)
				if fit == zone.Gap || got > unix || z.Wall(got) != wall || fit == zone.Exact && got != unix {
					t.Fatalf("%s shows %v at %v: found %v, %d", name, ical.CivilFromSeconds(wall),
						time.Unix(unix, 0).UTC(), time.Unix(got, 0).UTC(), fit)
				}
			}
			next := z.Segment(at).To
			if next <= at {
				t.Fatalf("%s: the time from %v has no end", name, time.Unix(at, 0).UTC())
			}
			at = next
		}
	}
}
