package zone_test

import (
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/zone"
)

// TestChoose: users type zones in many ways. What is not clear is refused with a suggestion.
func TestChoose(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "utc": "UTC", " Asia/Tokyo ": "Asia/Tokyo",
		"Pacific Standard Time": "America/Los_Angeles",
	} {
		if got, err := zone.Choose(typed); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", typed, got, err, want)
		}
	}
	for typed, want := range map[string]string{
		"Berlin": "did you mean Europe/Berlin?",
		"GMT+1":  "use the name of a place", "+01:00": "use the name of a place",
		"EST": "America/New_York or America/Panama", "Mars/Base": "use an IANA name such as Europe/Berlin",
		"Local": "use an IANA name", "": "use an IANA name", "../../etc/passwd": "use an IANA name",
	} {
		if got, err := zone.Choose(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %q", typed, got, err, want)
		}
	}
	places := zone.Places()
	for _, name := range places {
		if got, err := zone.Choose(name); err != nil || got != name {
			t.Errorf("%q is offered and is %q, %v", name, got, err)
		}
	}
	if !slices.Contains(places, "Europe/Berlin") || slices.Contains(places, "Etc/GMT+1") || len(places) < 400 {
		t.Errorf("the places are %q", places)
	}
}
