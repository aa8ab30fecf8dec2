package delivery

import (
	"context"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

const (
	// unverifiedUsers bounds the users who see one mail: real mails are for one or two, and a stranger may name
	// hundreds.
	unverifiedUsers = 5
	// unverifiedText bounds each text from a stranger, in characters.
	unverifiedText = 200
)

// Refused implements [calendar.Correspondence].
func (s *Scheduler) Refused(ctx context.Context, in calendar.Inbound, why calendar.Distrust, proven bool) error {
	text, err := s.arrival(in)
	if err != nil {
		return err
	}
	return s.refused(ctx, in, text, why, proven)
}

// refused records a message for its addressees.
func (s *Scheduler) refused(
	ctx context.Context, in calendar.Inbound, text *content.Object, why calendar.Distrust, proven bool,
) error {
	users, err := s.addressees(ctx, in, text)
	if err != nil {
		return err
	}
	for _, user := range users[:min(len(users), unverifiedUsers)] {
		if err := s.refusedFor(ctx, user, in, text, why, proven); err != nil {
			return err
		}
	}
	return nil
}

// addressees returns the users that a message was sent to. A mail server may have delivered it to a subaddress
// (user+detail@, RFC 5233). That is enough to show the message, but not to apply it.
func (s *Scheduler) addressees(
	ctx context.Context, in calendar.Inbound, text *content.Object,
) ([]calendar.User, error) {
	var parts []calendar.MailAddress
	for _, to := range in.To {
		name, domain, _ := strings.Cut(string(to), "@")
		name, _, _ = strings.Cut(name, "+")
		parts = append(parts, calendar.MailAddress(name+"@"+domain))
	}
	for _, named := range [...][]schedule.Address{
		addresses(in.To), addresses(parts), addresses(in.Header), schedule.Attendees(text),
	} {
		found, err := s.reader.FindParties(ctx, s.store, named)
		if err != nil || len(found) > 0 {
			return found.Users(), err
		}
	}
	return nil, nil
}

// addresses converts mail addresses to calendar user addresses.
func addresses(all []calendar.MailAddress) (named []schedule.Address) {
	for _, a := range all {
		named = append(named, schedule.AddressOf("mailto:"+string(a)))
	}
	return named
}

// refusedFor records a message for a user. For an event that the user does not have, only invitations are recorded.
func (s *Scheduler) refusedFor(
	ctx context.Context, user calendar.User, in calendar.Inbound, text *content.Object, why calendar.Distrust,
	proven bool,
) error {
	organizes := in.Method == calendar.MethodRequest || in.Method == calendar.MethodCancel ||
		in.Method == calendar.MethodAdd
	if !organizes || user.Room.Bookable() {
		return nil
	}
	c := calendar.Caller{User: user, Scopes: calendar.ScopeAll, Agent: "mail"}
	return s.change(ctx, c, func(w *Work) error {
		copies, err := w.Appointments(ctx, []calendar.UserID{user.ID}, calendar.UID(text.UID))
		if err != nil || len(copies) == 0 && in.Method != calendar.MethodRequest {
			return err
		}
		return w.PutUnverified(ctx, user.ID, calendar.Unverified{
			Name: change.HashedName(calendar.UID(text.UID)), Created: w.Now(), Method: in.Method, From: in.From,
			Proven:    proven,
			Organizer: within(schedule.OrganizerOf(text).Name()), Title: within(text.Summary()), Start: s.startOf(text),
			Why: why, Known: len(copies) > 0,
		})
	})
}

// within cuts a text to the stored length.
func within(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), unverifiedText)])
}

// startOf returns the start of an event, or zero if it is unreadable.
func (s *Scheduler) startOf(text *content.Object) ical.Time {
	p := text.Main().Property("DTSTART")
	if p == nil {
		return ical.Time{}
	}
	t, err := p.Time()
	if err != nil || t.Form != ical.FormZoned {
		return t
	}
	z, err := s.zones.FromDocument(text.Calendar).Zone(t.TZID)
	if err != nil {
		return ical.Floating(t.Civil)
	}
	unix, _ := z.Unix(t.Civil.Seconds())
	return ical.UTC(ical.CivilFromSeconds(unix))
}

// DismissUnverified deletes the record of an unverified invitation.
func (s *Scheduler) DismissUnverified(ctx context.Context, c calendar.Caller, name calendar.ObjectName) error {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *Work) error { return w.DropUnverified(ctx, c.User.ID, name) })
}

// dropUnverified deletes the record of an earlier unverified message after a verified one from the event's organizer.
func (m *incoming) dropUnverified(ctx context.Context) error {
	return m.DropUnverified(ctx, m.user.ID, change.HashedName(m.uid()))
}
