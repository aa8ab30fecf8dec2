package zone_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// parse reads the lines of a VCALENDAR.
func parse(t testing.TB, lines string) *ical.Component {
	t.Helper()
	document, err := ical.Parse([]byte("BEGIN:VCALENDAR\n"+strings.TrimSpace(lines)+"\nEND:VCALENDAR\n"),
		ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	calendar, err := document.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	return calendar
}

func vtimezone(tzid string, lines ...string) string {
	return "BEGIN:VTIMEZONE\nTZID:" + tzid + "\n" + strings.Join(lines, "\n") + "\nEND:VTIMEZONE\n"
}

func observance(name string, lines ...string) string {
	return "BEGIN:" + name + "\n" + strings.Join(lines, "\n") + "\nEND:" + name
}

// outlook is how Outlook writes a zone: from 1601 on, without names.
func outlook(daylight, standard string) []string {
	return []string{
		observance("STANDARD", "DTSTART:16010101T030000", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:"+standard),
		observance("DAYLIGHT", "DTSTART:16010101T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "RRULE:"+daylight),
	}
}

// TestInterpret compares VTIMEZONEs in several manners with the zone that they
// describe.
func TestInterpret(t *testing.T) {
	t.Parallel()
	const lastSunday = "FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH="
	tests := []struct {
		name, like string
		from, to   time.Time
		lines      []string
	}{
		{"Outlook's", "Europe/Berlin", day(1997, 1, 1), day(2300, 1, 1), outlook(lastSunday+"3", lastSunday+"10")},
		{
			"BYSETPOS", "Europe/Berlin", day(1997, 1, 1), day(2300, 1, 1),
			outlook("FREQ=YEARLY;BYDAY=SU;BYSETPOS=-1;BYMONTH=3",
				"FREQ=YEARLY;BYDAY=SU;BYMONTH=10;BYMONTHDAY=25,26,27,28,29,30,31"),
		},
		{
			"what POSIX cannot say", "Europe/Berlin", day(1997, 1, 1), day(2190, 1, 1),
			outlook("FREQ=YEARLY;BYDAY=SU;BYHOUR=2;BYMONTH=3;BYMONTHDAY=25,26,27,28,29,30,31", lastSunday+"10"),
		},
		{
			"with a history", "America/New_York", day(1987, 6, 1), day(2100, 1, 1), []string{
				observance("DAYLIGHT", "DTSTART:19870405T020000", "TZOFFSETFROM:-0500", "TZOFFSETTO:-0400",
					"RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z"),
				observance("STANDARD", "DTSTART:19871025T020000", "TZOFFSETFROM:-0400", "TZOFFSETTO:-0500",
					"RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z"),
				observance("DAYLIGHT", "DTSTART:20070311T020000", "TZOFFSETFROM:-0500", "TZOFFSETTO:-0400",
					"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU"),
				observance("STANDARD", "DTSTART:20071104T020000", "TZOFFSETFROM:-0400", "TZOFFSETTO:-0500",
					"RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU"),
			},
		},
		{
			"RDATE and UNTIL in local time", "Pacific/Apia", day(2010, 10, 1), day(2100, 1, 1), []string{
				observance("STANDARD", "DTSTART:20000101T000000", "TZOFFSETFROM:-1100", "TZOFFSETTO:-1100"),
				observance("DAYLIGHT", "DTSTART:20100926T000000", "TZOFFSETFROM:-1100", "TZOFFSETTO:-1000",
					"RDATE:20110924T030000"),
				observance("STANDARD", "DTSTART:20110402T040000", "TZOFFSETFROM:-1000", "TZOFFSETTO:-1100"),
				observance("DAYLIGHT", "DTSTART:20111230T000000", "TZOFFSETFROM:-1000", "TZOFFSETTO:+1400"),
				observance("STANDARD", "DTSTART:20120401T040000", "TZOFFSETFROM:+1400", "TZOFFSETTO:+1300",
					"RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20210404T040000"),
				observance("DAYLIGHT", "DTSTART:20120930T030000", "TZOFFSETFROM:+1300", "TZOFFSETTO:+1400",
					"RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=-1SU;COUNT=9"),
			},
		},
		{
			"without a change", "Asia/Kolkata", day(1970, 1, 1), day(2100, 1, 1),
			[]string{observance("STANDARD", "DTSTART:16010101T000000", "TZOFFSETFROM:+0530", "TZOFFSETTO:+0530")},
		},
		{
			"without TZOFFSETFROM", "Asia/Kolkata", day(1970, 1, 1), day(2100, 1, 1),
			[]string{observance("STANDARD", "DTSTART:19700101T000000", "TZOFFSETTO:+0530")},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calendar := parse(t, vtimezone("Customized Time Zone", test.lines...))
			got, err := zone.FromDocument(calendar).Zone("Customized Time Zone")
			if err != nil {
				t.Fatal(err)
			}
			want, err := zone.Lookup(test.like)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name() != "Customized Time Zone" {
				t.Errorf("it is called %s", got.Name())
			}
			for at := test.from; at.Before(test.to); at = at.Add(17 * time.Hour) {
				if g, w := got.Civil(at), want.Civil(at); g != w {
					t.Fatalf("at %v the clock shows %v, want %v", at, g, w)
				}
			}
		})
	}
}

// TestPrecedence looks at which of a name and a VTIMEZONE is believed.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	fixed := observance("STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0100")
	tests := []struct {
		name, tzid string
		lines      []string
		want       string // the zone's name
		offset     time.Duration
	}{
		{"IANA's name wins over a short VTIMEZONE", "Europe/Berlin", []string{fixed}, "Europe/Berlin", 2 * time.Hour},
		{"so does that of Windows", "W. Europe Standard Time", []string{fixed}, "Europe/Berlin", 2 * time.Hour},
		{
			"X-LIC-LOCATION wins over the rules", "My zone",
			[]string{"X-LIC-LOCATION:Europe/Berlin", fixed},
			"Europe/Berlin", 2 * time.Hour,
		},
		{
			"an unknown X-LIC-LOCATION does not", "My zone",
			[]string{"X-LIC-LOCATION:Atlantis", fixed},
			"My zone",
			time.Hour,
		},
		{
			"rules win over a guess", "(UTC+01:00) Berlin and elsewhere",
			[]string{fixed},
			"(UTC+01:00) Berlin and elsewhere", time.Hour,
		},
		{"a guess wins over no rules", "(UTC+01:00) Berlin; elsewhere", nil, "Europe/Berlin", 2 * time.Hour},
		{"never the server's zone", "Local", []string{fixed}, "Local", time.Hour},
		{"a quoted name", "\"My zone\"", []string{fixed}, "My zone", time.Hour},
	}
	summer := day(2026, time.July, 1)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			resolver := zone.FromDocument(parse(t, vtimezone(test.tzid, test.lines...)))
			for range 2 { // the second time from memory
				z, err := resolver.Zone(strings.Trim(test.tzid, `"`) + " ")
				if err != nil {
					t.Fatal(err)
				}
				offset := time.Duration(z.Wall(summer.Unix())-summer.Unix()) * time.Second
				if z.Name() != test.want || offset != test.offset {
					t.Errorf("got %s, %v", z.Name(), offset)
				}
			}
		})
	}
}

func TestBrokenZones(t *testing.T) {
	t.Parallel()
	const offsets = "TZOFFSETFROM:+0100\nTZOFFSETTO:+0200"
	seconds := observance("STANDARD", "DTSTART:19700101T000000", offsets, "RRULE:FREQ=SECONDLY")
	tests := []struct{ name, lines, says string }{
		{"no rules", "", "neither STANDARD nor DAYLIGHT"},
		{"no offset", observance("STANDARD", "DTSTART:19700101T000000"), "TZOFFSETTO"},
		{"a wrong offset", observance("STANDARD", "DTSTART:19700101T000000", "TZOFFSETTO:1"), "offset"},
		{"no start", observance("STANDARD", offsets), "DTSTART"},
		{
			"a rule that nobody can read",
			observance("STANDARD", "DTSTART:19700101T000000", offsets, "RRULE:FREQ=NEVER"), "FREQ",
		},
		{"each second", seconds, "more than"},
		{
			"each second until 2030", strings.Replace(seconds, "SECONDLY", "SECONDLY;UNTIL=20300101T000000Z", 1),
			"more than",
		},
		{
			"many rules",
			observance("STANDARD", "DTSTART:19700101T000000", offsets,
				strings.Repeat("RRULE:FREQ=YEARLY\n", 100)+"X-A:b"),
			"more than",
		},
		{
			"many observances",
			strings.Repeat(observance("STANDARD", "DTSTART:19700101T000000", offsets)+"\n", 100) + "X-A:b", "more than",
		},
		{
			"many dates",
			observance("STANDARD", "DTSTART:19700101T000000", offsets,
				"RDATE:"+strings.Repeat("20200101T000000,", 5000)),
			"more than",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := zone.FromDocument(parse(t, vtimezone("Mine", test.lines))).Zone("Mine")
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want something about %q", err, test.says)
			}
		})
	}
	_, err := zone.FromDocument(nil).Zone("Customized Time Zone")
	if _, ok := errors.AsType[*zone.UnknownError](err); !ok {
		t.Errorf("without a VTIMEZONE: %v", err)
	}
}

// FuzzInterpret reads whatever stands in a VTIMEZONE: no panic, and what it
// takes for a zone has clocks.
func FuzzInterpret(f *testing.F) {
	f.Add(strings.Join(outlook("FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3", "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10"), "\n"))
	f.Add(observance("DAYLIGHT", "DTSTART:20111230T000000", "TZOFFSETFROM:-1000", "TZOFFSETTO:+1400", "TZNAME:X",
		"RDATE;VALUE=PERIOD:20200101T000000Z/PT1H"))
	f.Add(observance("STANDARD", "DTSTART:99991231T000000", "TZOFFSETFROM:-235959", "TZOFFSETTO:+235959",
		"RRULE:FREQ=YEARLY;BYMONTHDAY=29;BYMONTH=2"))
	f.Fuzz(func(t *testing.T, lines string) {
		text := "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:x\n" + lines + "\nEND:VTIMEZONE\nEND:VCALENDAR\n"
		document, err := ical.Parse([]byte(text), ical.DefaultLimits())
		if err != nil {
			return
		}
		calendar, err := document.Calendar()
		if err != nil {
			return
		}
		z, err := zone.FromDocument(calendar).Zone("x")
		if err != nil {
			return
		}
		for _, at := range []int64{-62135596800, -1e9, 0, 1e9, 2e9, 253402300799} {
			if got, _ := z.Unix(z.Wall(at)); z.Wall(got) != z.Wall(at) {
				t.Errorf("at %d the clock shows %d, which it shows at %d", at, z.Wall(at), got)
			}
		}
	})
}
