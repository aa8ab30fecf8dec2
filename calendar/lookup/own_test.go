package lookup_test

import (
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// An address in an event is the user's in any case, and no look-alike is: ſ is a long s, which some rules fold to s.
func TestIsUser(t *testing.T) {
	t.Parallel()
	sam := calendar.Caller{User: calendar.User{Name: "sam", Email: "Sam@Example.org"}}
	for address, want := range map[string]bool{
		"mailto:sam@example.org": true, "MAILTO:SAM@EXAMPLE.ORG": true, "mailto:\u017Fam@example.org": false,
		"mailto:s\u0430m@example.org": false, "mailto:sam@example.com": false,
	} {
		if got := lookup.IsUser(sam, address); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}
