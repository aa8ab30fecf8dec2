package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const answerShareDetails = `
CALENDAR is its name or its id, as list-shares --with shows them. To decline what was accepted is to give
the calendar up; what was declined can be accepted as long as its owner does not take it back.
`

func answerShareCommand() command {
	var word string
	var accept, decline bool
	return command{
		name: "answer-share", user: "`NAME` of who was asked", settings: storeSettings, json: true,
		summary: "accept or decline a calendar that somebody shares", details: answerShareDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&word, "calendar", "", "`CALENDAR` that is meant (needed)")
			f.BoolVar(&accept, "accept", false, "take it")
			f.BoolVar(&decline, "decline", false, "do not take it")
		},
		check: func(*desk, []string) error {
			if accept == decline {
				return errors.New("it needs one of --accept and --decline")
			}
			return nil
		},
		run: func(ctx context.Context, d *desk, _ []string) error {
			offer, err := d.findOffer(ctx, d.who, word)
			if err != nil {
				return err
			}
			if _, err = d.calendars.Answer(ctx, d.caller(), offer.Invitation(), calendar.Reply{Accept: accept}); err != nil {
				return err
			}
			done := "declined"
			if accept {
				done = "accepted"
			}
			said, _ := offer.Answered(calendar.Reply{Accept: accept})
			said.User = d.who
			return d.done(shareLine(said, offer.From), "%s %s the calendar %q of %s\n", d.who.Name, done, offer.From.Name, offer.From.OwnerName)
		},
	}
}

// findOffer finds the offered calendar that the user names.
func (h *house) findOffer(ctx context.Context, u calendar.User, word string) (calendar.Offer, error) {
	offers, err := h.calendars.Offers(ctx, caller(u))
	if err != nil {
		return calendar.Offer{}, err
	}
	found := map[calendar.CalendarID]calendar.Offer{}
	all := make([]calendar.Calendar, len(offers))
	for i, o := range offers {
		found[o.Calendar], all[i] = o, o.From
	}
	if len(all) == 0 {
		return calendar.Offer{}, fmt.Errorf("nobody has offered %s a calendar", u.Name)
	}
	cal, err := pick(u, all, word)
	return found[cal.ID], err
}
