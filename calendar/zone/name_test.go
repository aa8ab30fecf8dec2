package zone_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/zone"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	for name, want := range map[string]string{
		"Europe/Berlin":                  "Europe/Berlin",
		"europe/berlin":                  "Europe/Berlin",
		" \"Europe/Berlin\" ":            "Europe/Berlin",
		"US/Eastern":                     "US/Eastern",
		"UTC":                            "UTC",
		"utc":                            "UTC",
		"Z":                              "UTC",
		"Etc/GMT+5":                      "Etc/GMT+5",
		"W. Europe Standard Time":        "Europe/Berlin",
		"w. europe standard time":        "Europe/Berlin",
		"W. Europe Daylight Time":        "Europe/Berlin",
		"Eastern Standard Time":          "America/New_York",
		"Central Standard Time (Mexico)": "America/Mexico_City",
		"UTC-11":                         "Etc/GMT+11",
		"/freeassociation.sourceforge.net/Tzfile/Europe/Berlin":               "Europe/Berlin",
		"/softwarestudio.org/Olson_20011030_5/America/Argentina/Buenos_Aires": "America/Argentina/Buenos_Aires",
		"/mozilla.org/20050126_1/Europe/Berlin":                               "Europe/Berlin",
		"/citadel.org/20190914_1/America/New_York":                            "America/New_York",
		"tzone://Microsoft/Utc":                                               "UTC",
		"Microsoft/Europe/Berlin":                                             "Europe/Berlin",
		"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":        "Europe/Berlin",
		"(GMT+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":        "Europe/Berlin",
		"Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":                    "Europe/Berlin",
		"(UTC-05:00) Eastern Time (US & Canada)":                              "America/New_York",
		"(UTC) Coordinated Universal Time":                                    "Etc/UTC",
		"(UTC+01:00) Amsterdam, Berlin":                                       "Europe/Amsterdam",
		"(GMT+01.00) Amsterdam / Berlin / Bern / Rome / Stockholm / Vienna":   "Europe/Amsterdam",
		"(UTC+09:00) Tokyo":                                                   "Asia/Tokyo",
		"GMT-0500":                                                            "GMT-0500",
		"UTC+2":                                                               "UTC+2",
		"+05:30":                                                              "+05:30",
	} {
		z, err := db.Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if z.Name() != want {
			t.Errorf("%s is %s, want %s", name, z.Name(), want)
		}
	}
}

func TestFixedOffsets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int64{
		"GMT-0500": -5 * 3600, "UTC+2": 2 * 3600, "UTC+02": 2 * 3600, "utc+05:45": 5*3600 + 45*60,
		"GMT+1.30": 5400, "-0330": -12600, "UTC": 0, "Etc/GMT+5": -5 * 3600,
	} {
		z, err := zone.Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := z.Wall(0); got != want {
			t.Errorf("%s is %d seconds from UTC, want %d", name, got, want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	for name, suggestion := range map[string]string{
		"":                           "",
		"Local":                      "",
		"local":                      "",
		"localtime":                  "",
		"posixrules":                 "",
		"../../etc/localtime":        "",
		"Customized Time Zone":       "",
		"Europe/Berln":               "Europe/Berlin",
		"Berlin":                     "Europe/Berlin",
		"New York":                   "America/New_York",
		"(UTC+05:00) Berlin":         "",
		"GMT+99":                     "",
		"UTC+1x":                     "",
		strings.Repeat("x/", 100000): "",
	} {
		z, err := db.Lookup(name)
		var unknown *zone.UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%.40q is %v, %v", name, z, err)
			continue
		}
		if unknown.Suggestion != suggestion {
			t.Errorf("%.40q: suggested %q, want %q", name, unknown.Suggestion, suggestion)
		}
		if len(err.Error()) > 200 {
			t.Errorf("the error repeats %d bytes", len(err.Error()))
		}
	}
}

// TestTables looks at the data: everything in it must exist.
func TestTables(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	if n := len(zone.Names()); n < 590 {
		t.Errorf("only %d names of IANA", n)
	}
	for _, name := range zone.Names() {
		if z, err := db.Lookup(name); err != nil || z.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(zone.WindowsNames()); n < 140 {
		t.Errorf("only %d names of Windows", n)
	}
	for name, want := range zone.WindowsNames() {
		if z, err := db.Lookup(name); err != nil || z.Name() != want && name != "utc" {
			t.Errorf("%s should be %s: %v", name, want, err)
		}
	}
}
