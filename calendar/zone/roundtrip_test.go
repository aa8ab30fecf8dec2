package zone_test

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar/zone"
)

// TestWrittenZonesReadBack writes the VTIMEZONE of every zone that we know, reads
// it with the interpreter and compares all changes of offset.
func TestWrittenZonesReadBack(t *testing.T) {
	t.Parallel()
	spans := []struct {
		name     string
		from, to time.Time
	}{
		{"1970 to 2037", day(1970, 1, 1), day(2037, 12, 31)},
		{"one day of 2026", day(2026, 7, 1), day(2026, 7, 2)},
		{"2026 without end", day(2026, 7, 1), time.Time{}},
	}
	db := zone.NewDB()
	for _, name := range zone.Names() {
		for _, span := range spans {
			z, err := db.Lookup(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			written := zone.Component(z, span.from, span.to)
			read, err := zone.FromComponent(written)
			if err != nil {
				t.Errorf("%s, %s: %v", name, span.name, err)
				continue
			}
			to := span.to
			if to.IsZero() {
				to = day(2037, 12, 31)
			}
			for at := span.from.Unix(); at <= to.Unix(); {
				want := z.Segment(at)
				for _, check := range []int64{at, min(want.To, to.Unix()) - 1} {
					if got := read.Wall(check); got != z.Wall(check) {
						t.Errorf("%s, %s: at %v the clock shows %ds more than it should\n%s", name, span.name,
							time.Unix(check, 0).UTC(), got-z.Wall(check), zone.Text(written))
						break
					}
				}
				if want.To > to.Unix() {
					break
				}
				at = want.To
			}
		}
	}
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}
