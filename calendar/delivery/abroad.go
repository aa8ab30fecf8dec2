package delivery

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// notifyBySource makes the source of a linked calendar notify the attendees of a change, unless the caller wants no
// notification.
func (w *Work) notifyBySource(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling,
) error {
	if tell == calendar.TellNobody || tell == calendar.Unscheduled {
		return nil
	}
	for _, o := range []*calendar.Object{old, next} {
		if o != nil {
			w.NotifyAtSource(cal.ID, o.UID)
		}
	}
	return w.noteSourceGuests(ctx, cal, old, next)
}

// noteSourceGuests records the attendees whom a change adds to an event in a linked calendar: its source invites them.
// Attendees with an account here are left out, and so is the linked account itself.
func (w *Work) noteSourceGuests(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object) error {
	before := attendeesOf(old)
	added := slices.DeleteFunc(attendeesOf(next), func(a schedule.Address) bool {
		return slices.Contains(before, a) || a.Mail() == "" || strings.EqualFold(a.Mail(), cal.Origin.From)
	})
	if len(added) == 0 {
		return nil
	}
	users, err := w.reader.FindParties(ctx, w.Tx, added)
	for _, a := range added {
		if _, here := users[a]; !here {
			w.AddRecipient(calendar.Recipient{User: cal.Owner, To: calendar.MailAddress(a.Mail())})
		}
	}
	return err
}

// attendeesOf returns the addresses of an object's attendees. It returns none if the object is nil or unreadable.
func attendeesOf(o *calendar.Object) []schedule.Address {
	if o == nil || !guested.Match(o.Data) {
		return nil
	}
	read, err := content.Read(o.Data, unlimited)
	if err != nil {
		return nil
	}
	return schedule.Attendees(read)
}
