package main

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// TestMailIsOfferedWhenAskedFor: a client id at Google enables calendars, and mail only with GMAIL. Neither requests
// the scopes of the other.
func TestMailIsOfferedWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := &program{&console.Console{Now: time.Now}}
	for _, c := range []struct {
		linked       settings.Link
		google, mail bool
	}{
		{settings.Link{}, false, false},
		{settings.Link{Gmail: true}, false, false},
		{settings.Link{GoogleID: "id"}, true, false},
		{settings.Link{GoogleID: "id", Gmail: true}, true, true},
	} {
		all := app.ConsentsOf(p.Console, settings.Config{Linked: c.linked}, zone.NewDB())
		calendars, google := all["google"]
		mail, gmail := all["gmail"]
		if google != c.google || gmail != c.mail {
			t.Errorf("%+v offers %v", c.linked, all)
		}
		if gmail && (!mail.Offer.Mail || strings.Contains(mail.Address("https://x.example", "s", "v"), "calendar")) ||
			google && strings.Contains(calendars.Address("https://x.example", "s", "v"), "gmail") {
			t.Errorf("%+v: one asks for what is the other's", c.linked)
		}
	}
}
