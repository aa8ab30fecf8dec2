package query

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	slots "caldav-mcp-server/calendar/slot" // the cache has slots of its own
	"caldav-mcp-server/calendar/zone"
)

// Workweek is the working hours of another person.
type Workweek struct {
	slots.Hours
	// Person is the index of the person in the call.
	Person int
	// Text and Weekdays are the hours and the days as the person set them.
	Text, Weekdays string
}

// Workweeks returns the working hours of people other than the caller. Only people whom the caller knows reveal their
// hours and their time zone; rooms have none. A person in the given zone who has set no hours is left out: the hours of
// the caller's search hold for them.
func (s *Queries) Workweeks(
	ctx context.Context, c calendar.Caller, people []calendar.User, in *zone.Zone,
) ([]Workweek, error) {
	known, err := s.People(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []Workweek
	for i, u := range people {
		knows := slices.ContainsFunc(known, func(k calendar.User) bool { return k.ID == u.ID })
		theirs, err := s.zones.Lookup(u.Timezone)
		if err != nil || !knows || u.ID == c.User.ID || u.Room.Bookable() ||
			theirs.Name() == in.Name() && u.WorkingHours == "" && u.WorkingDays == "" {
			continue
		}
		text, days := u.Workweek()
		hours, err := slots.ReadHours(theirs.Location(), text, days)
		if err != nil {
			continue // an older version stored them
		}
		all = append(all, Workweek{hours, i, text, strings.Join(days, " ")})
	}
	return all, nil
}
