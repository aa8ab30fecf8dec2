package lookup

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// mostProposed limits the events in the calendar "Proposed".
const mostProposed = 500

// ProposedPart is a suggested change that the calendar "Proposed" shows.
type ProposedPart struct {
	calendar.Suggestion
	calendar.SuggestedPart
	// N is the part's number in the suggestion, from 0.
	N int
	// In is the calendar of the change.
	In calendar.Calendar
}

// Proposed returns the caller's calendar "Proposed" and the changes that it shows.
func (s *Reader) Proposed(
	ctx context.Context, c calendar.Caller, now time.Time,
) (cal calendar.Calendar, parts []ProposedPart, err error) {
	missing := calendar.ErrNoCalendar(string(calendar.ProposedSegment))
	home, err := s.store.Home(ctx, c.User.ID)
	if err != nil || !home.Suggests {
		return cal, nil, orMissing(err, missing)
	}
	calendars, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return cal, nil, err
	}
	all, parts, err := s.ProposedIn(ctx, c, home, calendars, now)
	if err != nil || len(all) == 0 || !c.Sees(all[0]) {
		return cal, nil, orMissing(err, missing)
	}
	return all[0], parts, nil
}

func orMissing(err error, missing *calendar.Error) error {
	if err != nil {
		return err
	}
	return missing
}

// ProposedIn returns the calendar "Proposed" of a home, or none if the user has no use for it.
//
// Its version is a number made of the shown changes, which never change themselves, and of the language of its texts.
// So a client that has another version gets everything again, as with busy times. See
// docs/decisions/0129-proposed-calendar.md.
func (s *Reader) ProposedIn(
	ctx context.Context, c calendar.Caller, home calendar.Home, calendars []calendar.Calendar, now time.Time,
) (all []calendar.Calendar, parts []ProposedPart, err error) {
	if !home.Suggests {
		return nil, nil, nil
	}
	found, err := s.store.Suggestions(ctx, c.User.ID, now)
	if err != nil {
		return nil, nil, err
	}
	l := locale.Match(c.User.Languages()...)
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %s", c.User.ID, l.Tag())
	for _, one := range found {
		for n, part := range one.Parts {
			i := slices.IndexFunc(calendars, func(cal calendar.Calendar) bool { return cal.ID == part.Calendar })
			if len(parts) == mostProposed || i < 0 || calendars[i].Access < calendar.ReadAccess {
				continue
			}
			parts = append(parts, ProposedPart{one, part, n, calendars[i]})
			_, _ = fmt.Fprintf(sum, " %q %d", one.ID, n)
		}
	}
	color := "#9E9E9E"
	cal := calendar.Calendar{
		ID: calendar.ProposedID, Segment: calendar.ProposedSegment, Owner: c.User.ID, OwnerName: c.User.Name,
		OwnerTitle: c.User.Title(), Access: calendar.OwnerAccess, Epoch: home.Epoch,
		Version: calendar.Version(binary.BigEndian.Uint64(sum.Sum(nil)) >> 1),
		Properties: calendar.Properties{
			Name: l.Text("suggestion.app-calendar"), Color: &color, Timezone: "UTC",
			Kinds: calendar.Kinds{calendar.Event}, Transparent: true,
		},
	}
	return []calendar.Calendar{cal}, parts, nil
}
