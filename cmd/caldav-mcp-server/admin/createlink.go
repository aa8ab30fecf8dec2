package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createLinkDetails = `
The link is a secret URL that any calendar program can subscribe to without an account here. Everyone who has it can
read the calendar. Private events appear as "Busy". Attendees, reminders, attachments, and links to join a call (Zoom,
Teams, Meet, Webex, Jitsi and others) with their passwords are left out. With --freebusy the link shows only busy times.

The link is printed once. If it has leaked, revoke it and create another. CALENDAR is its name, its address or its id.
--expires takes a span (12h, 90d, 12w) or a date (2027-01-31, the end of that day in UTC).
`

// linkOptions are the flags of create-link.
type linkOptions struct {
	calendar, name, expires string
	freebusy, embed         bool
	spec                    auth.LinkSpec
}

func (o *linkOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.calendar, "calendar", "", "the `CALENDAR` to link to (needed)")
	f.BoolVar(&o.freebusy, "freebusy", false, "show only busy times")
	f.BoolVar(&o.embed, "embed", false, "let other sites show its page in a frame")
	f.StringVar(&o.name, "name", "", "name `TEXT`, such as \"Sports club\"")
	f.StringVar(&o.expires, "expires", "", "`WHEN` it ends; default never")
}

// CreateLinkCommand is the command create-link.
func CreateLinkCommand() command.Command {
	var o linkOptions
	return command.Command{
		Name: "create-link", User: calendarOwner, Settings: settings.StoreGroup | settings.AddressGroup, JSON: true,
		Summary: "create a public link to a calendar", Details: createLinkDetails,
		Flags: o.declare, Check: o.check,
		Run: func(ctx context.Context, d *command.Context, _ []string) error { return createLink(ctx, d, o) },
	}
}

// check parses the expiry.
func (o *linkOptions) check(d *command.Context, _ []string) (err error) {
	o.spec = auth.LinkSpec{Name: o.name, Access: calendar.ReadAccess, Embed: o.embed}
	if o.freebusy {
		o.spec.Access = calendar.FreeBusyAccess
	}
	if o.spec.Expires, err = console.ParseExpiry(o.expires, d.Now()); err != nil {
		return fmt.Errorf("--expires: %w", err)
	}
	return nil
}

func createLink(ctx context.Context, d *command.Context, o linkOptions) error {
	cal, err := d.FindCalendar(ctx, d.Who, o.calendar)
	if err != nil {
		return err
	}
	link, secret, err := d.Auth.CreateLink(ctx, d.Caller(), cal, o.spec)
	if err != nil {
		return err
	}
	url := d.Config.CalDAVURL() + caldav.LinkPath(link, secret)
	if d.JSON {
		return d.PrintJSON(struct {
			listedLink
			URL    string `json:"url"`
			Webcal string `json:"webcal_url"`
		}{linkJSON(link), url, webcal(url)})
	}
	if err := writeLinkHelp(d.Stdout, url, link); err != nil {
		return err
	}
	sayLocal(d)
	return nil
}

// sayLocal warns that a printed link works only on this machine.
func sayLocal(d *command.Context) {
	if d.Config.BaseURL == nil && !d.JSON {
		d.Say("BASE_URL is not set: the link contains this machine's own address, and works only here.\n")
	}
}

// webcal is the URL that opens the calendar program of a phone or computer.
func webcal(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return "webcal://" + rest
}

func writeLinkHelp(w io.Writer, url string, l auth.Link) error {
	what := "everyone who has it can read the calendar"
	if l.Access == calendar.FreeBusyAccess {
		what = "everyone who has it sees busy times"
	}
	_, err := fmt.Fprintf(w, `The link to the calendar %q of %s is shown only now: %s.

  URL       %s
  to click  %s
  id        %s   (for revoke-link)
`, console.Shown(l.CalendarName), l.Owner.Name, what, url, webcal(url), l.ID)
	if err != nil {
		return fmt.Errorf("showing the link: %w", err)
	}
	return nil
}
