package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// maskProperty holds the UID of an event that the asker is moving. Apple Calendar sends it, so that this event does not
// make attendees appear busy.
const maskProperty = "X-CALENDARSERVER-MASK-UID"

const (
	// mostMasked bounds the masks of a request; Apple Calendar sends one.
	mostMasked = 20
	// longestMasked bounds each UID, in bytes.
	longestMasked = 1000
)

// mask lists events that do not count as busy. It applies to the asker's own time, and to events of others that name
// the asker as organizer or attendee. So a comparison of responses with and without a mask reveals only the times of
// events that the asker takes part in. Having an event of the same UID is not enough: anyone can store one.
type mask struct {
	uids  []calendar.UID
	asker calendar.User
	mails []string
}

// masked reads the masks of a request.
func (q busyQuestion) masked() (uids []calendar.UID, err error) {
	for _, p := range q.All(maskProperty) {
		uids = append(uids, calendar.UID(p.Text()))
	}
	tooLong := func(uid calendar.UID) bool { return len(uid) > longestMasked }
	if len(uids) > mostMasked || slices.ContainsFunc(uids, tooLong) {
		return nil, calendar.Errorf(calendar.TooLarge, calendar.RuleValidMessage,
			"%s takes at most %d events, each with a UID of at most %d bytes", maskProperty, mostMasked, longestMasked)
	}
	return uids, nil
}

// maskOf returns the mask of a caller for some events.
func (s *Queries) maskOf(ctx context.Context, c calendar.Caller, uids []calendar.UID) (mask, error) {
	m := mask{uids: uids, asker: c.User}
	if len(m.uids) == 0 {
		return m, nil
	}
	var err error
	m.mails, err = s.store.Mails(ctx, c.User.ID)
	return m, err
}

// hides reports whether a mask applies to an event in a user's time.
func (s *Queries) hides(m mask, of calendar.UserID, o *content.Object) bool {
	if !slices.Contains(m.uids, calendar.UID(o.UID)) {
		return false
	}
	// The main component decides: an attendee of single days of a series must not learn of its other days.
	main := o.Main()
	return of == m.asker.ID ||
		slices.ContainsFunc(append(main.All("ORGANIZER"), main.All("ATTENDEE")...), func(p *ical.Property) bool {
			a := schedule.AddressOf(p.Value())
			return slices.Contains(m.mails, a.Mail()) || s.Principal(a) == m.asker.Name
		})
}
