package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const answerShareDetails = `
CALENDAR is its name or its id, as list-shares --with shows them. A user can decline a calendar that they accepted
before. A declined calendar can be accepted until its owner ends the share.
`

// AnswerShareCommand is the command answer-share.
func AnswerShareCommand() command.Command {
	var word string
	var accept, decline bool
	return command.Command{
		Name: "answer-share", User: "`NAME` of the user", Settings: settings.StoreGroup, JSON: true,
		Summary: "accept or decline a calendar that another user shares", Details: answerShareDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&word, "calendar", "", "the shared `CALENDAR` (needed)")
			f.BoolVar(&accept, "accept", false, "accept it")
			f.BoolVar(&decline, "decline", false, "decline it")
		},
		Check: func(*command.Context, []string) error {
			if accept == decline {
				return errors.New("it needs one of --accept and --decline")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			offer, err := findOffer(ctx, d.App, d.Who, word)
			if err != nil {
				return err
			}
			if _, err = d.Calendars.Answer(ctx, d.Caller(), offer.Invitation(), calendar.Reply{Accept: accept}); err !=
				nil {
				return err
			}
			done := "declined"
			if accept {
				done = "accepted"
			}
			said, _ := offer.Answered(calendar.Reply{Accept: accept})
			said.User = d.Who
			return d.Done(shareLine(said, offer.From), "%s %s the calendar %q of %s\n", d.Who.Name, done,
				offer.From.Name, offer.From.OwnerName)
		},
	}
}

// findOffer finds the offered calendar that the user names.
func findOffer(ctx context.Context, h *app.App, u calendar.User, word string) (calendar.Offer, error) {
	offers, err := h.Calendars.Offers(ctx, app.Caller(u))
	if err != nil {
		return calendar.Offer{}, err
	}
	found := map[calendar.CalendarID]calendar.Offer{}
	all := make([]calendar.Calendar, len(offers))
	for i, o := range offers {
		found[o.Calendar], all[i] = o, o.From
	}
	if len(all) == 0 {
		return calendar.Offer{}, fmt.Errorf("no calendar is offered to %s", u.Name)
	}
	cal, err := app.Pick(u, all, word)
	return found[cal.ID], err
}
