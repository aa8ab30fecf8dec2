package delivery

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// scheduleAtSource makes the source of a linked calendar notify the attendees of a change, and lists the recipients.
// An event that the calendar's owner organizes gets the account's address as its organizer: the source sends no mail in
// the name of another person.
func (w *Work) scheduleAtSource(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, d calendar.Draft,
) error {
	if d.Telling == calendar.Unscheduled {
		return nil
	}
	m, err := w.meetingAtSource(ctx, cal, old, next, d.Telling)
	if err != nil {
		return err
	}
	if err := m.organizeByAccount(next); err != nil || d.Telling == calendar.TellNobody {
		return err
	}
	for _, o := range []*calendar.Object{old, next} {
		if o != nil {
			w.NotifyAtSource(cal.ID, o.UID)
		}
	}
	if err := m.noteRecipients(ctx); err != nil {
		return err
	}
	m.edited = d.Edited
	return m.noteToldBySource(ctx)
}

// meetingAtSource reads both versions of an event. It leaves versions without an organizer or attendees out.
func (w *Work) meetingAtSource(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling,
) (*meeting, error) {
	if old != nil && !guested.Match(old.Data) && !organized.Match(old.Data) {
		old = nil
	}
	if next != nil && !guested.Match(next.Data) && !organized.Match(next.Data) {
		next = nil
	}
	return w.readMeeting(ctx, cal, old, next, tell)
}

// organizeByAccount makes the account the organizer of an event that another address of the owner organizes. An event
// that was stored with that other address keeps it: the source has it as another organizer's.
func (m *meeting) organizeByAccount(next *calendar.Object) error {
	by := schedule.AddressOf("mailto:" + m.in.Origin.Address)
	if m.next == nil || m.in.Origin.Address == "" ||
		schedule.OrganizerOf(m.before) == schedule.OrganizerOf(m.next) ||
		!schedule.Rehost(m.next, m.parties.Are(m.in.Owner), by) {
		return nil
	}
	return m.setData(next, m.next)
}

// noteRecipients records the attendees whom a change adds: the source invites them. Attendees with an account here are
// left out, and so is the linked account itself.
func (m *meeting) noteRecipients(ctx context.Context) error {
	before := schedule.Attendees(m.before)
	added := slices.DeleteFunc(schedule.Attendees(m.next), func(a schedule.Address) bool {
		return slices.Contains(before, a) || a.Mail() == "" || m.in.Origin.Has(a.Mail())
	})
	if len(added) == 0 {
		return nil
	}
	users, err := m.reader.FindParties(ctx, m.Tx, added)
	for _, a := range added {
		if _, here := users[a]; !here {
			m.AddRecipient(calendar.Recipient{User: m.in.Owner, To: calendar.MailAddress(a.Mail())})
		}
	}
	return err
}

// noteToldBySource lists the people whom the source notifies. They are the recipients by the rules of this server. The
// list is empty if it is unknown whether the source notifies.
func (m *meeting) noteToldBySource(ctx context.Context) error {
	if m.in.Origin.Notifier == "" {
		return nil
	}
	account := func(a schedule.Address) bool { return m.in.Origin.Has(a.Mail()) }
	var out schedule.Outcome
	var err error
	known := m.before
	if known == nil {
		known = m.next
	}
	switch schedule.RoleIn(known, account) {
	case schedule.Organizer:
		out, err = m.rules.Organize(ctx, m.before, m.next, account)
	case schedule.Attendee:
		if m.before == nil || m.next == nil {
			return nil // a new copy, or a deleted one, answers nothing at the source
		}
		out, err = m.rules.Attend(ctx, m.before, m.next, schedule.Guest{Self: account, Away: true, Exact: m.edited})
	case schedule.Bystander:
	}
	if _, refused := errors.AsType[*schedule.RefusalError](err); refused {
		return nil // the source decides
	}
	if err != nil {
		return err
	}
	for _, msg := range notifying(out.Messages) {
		m.Told = append(m.Told, calendar.Told{
			To: msg.To.Name(), Method: calendar.Method(msg.Method), By: m.in.Origin.Notifier,
		})
	}
	return nil
}
