package zone_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/zone"
)

// TestAbbreviationsAreNeverGuessedBySpelling: what is one letter away from an abbreviation may be hours away
// on the clock (time N9).
func TestAbbreviationsAreNeverGuessedBySpelling(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	for name, want := range map[string]string{
		"PST": "America/Los_Angeles", "pdt": "America/Los_Angeles", "CEST": "Europe/Berlin", "BST": "Europe/London",
		"IST": "Asia/Kolkata", "CST": "America/Chicago", "XST": "", "WESTX": "",
	} {
		_, err := db.Lookup(name)
		var unknown *zone.UnknownError
		if !errors.As(err, &unknown) || unknown.Suggestion != "" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want == "" != (len(unknown.Meanings) == 0) ||
			want != "" && (unknown.Meanings[0] != want || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s may mean %v (%v), want %s first", name, unknown.Meanings, err, want)
		}
	}
	if got := db.Suggest("Tokio"); got != "Asia/Tokyo" {
		t.Errorf("Tokio is %q", got)
	}
}

// TestAbbreviationsOfOneClock: where only one clock can be meant, and it shows the same offset all year, it is
// that one.
func TestAbbreviationsOfOneClock(t *testing.T) {
	t.Parallel()
	db := zone.NewDB()
	for name, want := range map[string]string{
		"JST": "Asia/Tokyo", "msk": "Europe/Moscow", "SGT": "Asia/Singapore", "CET": "CET", "EST": "EST", "HST": "HST",
		"GMT": "GMT",
	} {
		if z, err := db.Lookup(name); err != nil || z.Name() != want {
			t.Errorf("%s: %v, %v", name, z, err)
		}
	}
	for name, want := range map[string]string{"EST": "America/New_York", "MST": "America/Denver"} {
		_, err := db.Ask(name)
		var unknown *zone.UnknownError
		if !errors.As(err, &unknown) || !slices.Contains(unknown.Meanings, want) {
			t.Errorf("%s, asked for now, should be asked back about: %v", name, err)
		}
	}
	if z, err := db.Ask("CET"); err != nil || z.Name() != "CET" {
		t.Errorf("CET: %v, %v", z, err)
	}
}

// TestBareOffsets: an offset is told from a zone.
func TestBareOffsets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"+09:00": true, "UTC+2": true, "GMT-0500": true, "UTC": false, "+00:00": true, "Etc/GMT+5": false,
		"Asia/Tokyo": false,
	} {
		if z, err := zone.Lookup(name); err != nil || z.Bare() != want {
			t.Errorf("%s is bare: %v, %v", name, z, err)
		}
	}
}
