package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const answerShareDetails = `
CALENDAR is its name or its id, as list-shares --with shows them. To decline what was accepted is to give
the calendar up; what was declined can be accepted as long as its owner does not take it back.
`

func answerShareCommand() command {
	var user, word string
	var accept, decline, json bool
	return command{
		name: "answer-share", settings: storeSettings,
		summary: "accept or decline a calendar that somebody shares", details: answerShareDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "`NAME` of who was asked (needed)")
			f.StringVar(&word, "calendar", "", "`CALENDAR` that is meant (needed)")
			f.BoolVar(&accept, "accept", false, "take it")
			f.BoolVar(&decline, "decline", false, "do not take it")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if user == "" || word == "" || accept == decline {
				return wrongUsage("answer-share needs --user, --calendar and one of --accept and --decline (see %s answer-share --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				u, err := h.auth.User(ctx, user)
				if err != nil {
					return err
				}
				offer, err := h.findOffer(ctx, u, word)
				if err != nil {
					return err
				}
				_, err = h.calendars.Answer(ctx, caller(u), offer.Invitation(), calendar.Reply{Accept: accept})
				if err != nil {
					return err
				}
				done := "declined"
				if accept {
					done = "accepted"
				}
				said, _ := offer.Answered(calendar.Reply{Accept: accept})
				said.User = u
				return p.done(json, shareLine(said, offer.From), "%s %s the calendar %q of %s\n", u.Name, done, offer.From.Name, offer.From.OwnerName)
			})
		},
	}
}

// findOffer understands what a person calls a calendar that they were offered.
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
