package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// ProposedTime is another time that an attendee prefers.
type ProposedTime struct {
	// Instance is the recurrence id of the instance that it is about; zero means the whole series.
	Instance ical.Time
	Times    edit.Times
	Comment  string
	When     calendar.Precondition
	// Meter counts the cost.
	Meter *meter.Meter
}

// Propose sends an attendee's counter-proposal for an event to its organizer (COUNTER, RFC 5546 §3.2.7). The event
// stays as it is, and the invitation unanswered, until the organizer has decided.
func (s *Scheduler) Propose(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, w ProposedTime,
) (told []calendar.Told, err error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	if err := c.HasScope(calendar.TellOthers); err != nil {
		return nil, err
	}
	now, err := s.reader.SeenByUID(ctx, w.Meter, c, cal, uid)
	if err != nil {
		return nil, err
	}
	if err := w.When.Check(now.ETag); err != nil {
		return nil, err
	}
	stored, moved, err := s.wished(ctx, cal, now, w)
	if err != nil {
		return nil, err
	}
	err = s.change(ctx, c, func(work *Work) error {
		m, err := work.meetingOf(ctx, cal, stored)
		if err != nil {
			return err
		}
		self := m.parties.Are(cal.Owner)
		if schedule.RoleIn(stored, self) != schedule.Attendee {
			return calendar.Errorf(calendar.Invalid, "",
				"the owner of %q is not an attendee of this event: to change its time, move it", cal.Name)
		}
		msg, err := m.rules.Propose(ctx, stored, moved, self, w.Instance, strings.TrimSpace(w.Comment))
		if err != nil {
			return notProposed(err)
		}
		m.sign([]schedule.Message{msg})
		if err := m.sendProposal(ctx, msg); err != nil {
			return err
		}
		told = m.Told
		return nil
	})
	return told, err
}

// wished returns an event as it is, and with the attendee's desired times.
func (s *Scheduler) wished(
	ctx context.Context, cal calendar.Calendar, now calendar.Object, w ProposedTime,
) (stored, moved *content.Object, err error) {
	if stored, err = content.Read(now.Data, unlimited); err != nil {
		return nil, nil, calendar.Errorf(calendar.Unsupported, "", "the object cannot be read: %v", err)
	}
	if stored.Kind != content.Event {
		return nil, nil, calendar.Errorf(calendar.Invalid, "", "another time can only be proposed for an event")
	}
	copied, err := content.Of(stored.Document.Clone())
	if err != nil {
		return nil, nil, err
	}
	target := edit.Target{Scope: edit.All}
	if !w.Instance.IsZero() {
		target = edit.Target{Instance: w.Instance, Scope: edit.This}
	}
	result, err := s.editor(cal).Change(ctx, copied, edit.Change{Target: target, Times: w.Times})
	if err != nil {
		return nil, nil, lookup.Refusal(err)
	}
	moved, err = content.Of(result.Document)
	return stored, moved, err
}

// notProposed explains why a proposal is not possible.
func notProposed(err error) error {
	switch {
	case errors.Is(err, schedule.ErrSame):
		return calendar.Errorf(calendar.Invalid, "", "that is when the event takes place: propose another time")
	case errors.Is(err, schedule.ErrNoGuest):
		return calendar.Errorf(calendar.Invalid, "", "this event does not invite the owner of the calendar")
	case errors.Is(err, schedule.ErrNoInstance):
		return calendar.Errorf(calendar.NotFound, "", "the series has no such instance")
	}
	return err
}

// meetingOf returns the people of an event in a calendar.
func (w *Work) meetingOf(ctx context.Context, cal calendar.Calendar, stored *content.Object) (*meeting, error) {
	m := &meeting{Work: w, in: cal, next: stored, rules: schedule.Rules{Zones: w.zones, Now: w.Now()}}
	m.rules.Person, m.rules.Meter = m.person, w.messageMeter(ctx)
	var err error
	if m.parties, err = w.partiesOf(ctx, stored); err != nil {
		return nil, err
	}
	return m, m.lookUp(ctx)
}

// sendProposal delivers an attendee's proposal to the organizer.
func (m *meeting) sendProposal(ctx context.Context, msg schedule.Message) error {
	organizer, here := m.parties[msg.To]
	if !here {
		return m.mail(msg)
	}
	_, stored, err := m.organizedBy(ctx, organizer, aboutMessage)
	if err != nil && calendar.ReasonOf(err) == calendar.Internal {
		return err
	}
	if err == nil {
		err = m.propose(ctx, route{string(m.in.Owner), organizer.ID}, stored, msg)
	}
	switch {
	case err == nil:
		m.noteDelivery(msg, statusDelivered)
		return nil
	case calendar.ReasonOf(err) == calendar.TooLarge || errors.Is(err, errFullOfProposals):
		m.noteDelivery(msg, statusRefused)
	default:
		m.noteDelivery(msg, statusForbidden)
	}
	return ctx.Err() // nil: if the organizer lacks the event or got too many messages, that is the delivery status
}

// mail queues a message as mail and records its delivery status.
func (m *meeting) mail(msg schedule.Message) error {
	status, err := m.post(msg)
	if err == nil {
		m.noteDelivery(msg, status)
	}
	return err
}

// noteDelivery records a recipient and the delivery status.
func (m *meeting) noteDelivery(msg schedule.Message, status string) {
	m.Told = append(m.Told, calendar.Told{To: msg.To.Name(), Method: calendar.Method(msg.Method), Status: status})
}

// aboutMessage is the beginning of an error about a refused message.
const aboutMessage = "the message is about"

// organizedBy returns the current event, if the user organizes it.
func (m *meeting) organizedBy(
	ctx context.Context, user calendar.User, about string,
) (*calendar.Appointment, *content.Object, error) {
	a, stored, err := m.copyOfUser(ctx, user, about)
	if err != nil {
		return nil, nil, err
	}
	if m.parties, err = m.partiesOf(ctx, stored); err != nil {
		return nil, nil, err
	}
	if !m.parties.Are(user.ID)(schedule.OrganizerOf(stored)) {
		return nil, nil, calendar.Errorf(calendar.Forbidden, "", "%s an event that the user does not organize", about)
	}
	return a, stored, nil
}

// copyOfUser returns a user's copy of the event.
func (m *meeting) copyOfUser(
	ctx context.Context, user calendar.User, about string,
) (*calendar.Appointment, *content.Object, error) {
	a, err := m.loadCopy(ctx, user.ID)
	if err == nil && a == nil {
		err = calendar.Errorf(calendar.NotFound, "", "%s an event that the user does not have", about)
	}
	if err != nil {
		return nil, nil, err
	}
	stored, err := content.Read(a.Data, unlimited)
	return a, stored, err
}

// propose puts a proposal into its organizer's inbox, in place of the last one of the same attendee about the same
// instance. It drops proposals that the organizer could not decide about, and those over the sender's limit.
func (m *meeting) propose(ctx context.Context, of route, stored *content.Object, msg schedule.Message) error {
	said, err := content.Of(msg.Document)
	if err != nil {
		return err
	}
	subject, err := m.rules.Subject(ctx, stored, said, msg.From)
	if err != nil {
		return err
	}
	if err := msg.Sign(); err != nil {
		return err
	}
	item := m.itemOf(msg)
	item.Name = change.HashedName(calendar.UID(strings.Join([]string{
		string(msg.Method), string(m.uid()), subject, string(msg.From),
	}, "\n")))
	size := int64(len(item.Data))
	if !m.mayDeliver(of, amount{proposals: 1, bytes: size, proposalBytes: size}) {
		return errDailyLimit()
	}
	count, bytes, err := m.CountProposals(ctx, of.to, item.Name)
	if err != nil {
		return err
	}
	if count >= proposalMost || bytes+size > proposalBytes {
		return errFullOfProposals
	}
	m.AddInboxItem(of.to, item)
	return nil
}

// Decision is an organizer's decision about a proposal.
type Decision struct {
	// Message is the name of the message in the organizer's inbox, Proposal the part of it that is decided.
	Message  calendar.ObjectName
	Proposal schedule.Proposal
	Accept   bool
	Comment  string
	When     calendar.Precondition
	Meter    *meter.Meter
}

// Counter is a proposal that its organizer decides about, as read from the inbox.
type Counter struct {
	Decision
	scheduler *Scheduler
	calendar  calendar.Calendar
	message   *content.Object
	version   calendar.Version
}

// Counter reads the proposal of a decision about an event in a calendar, if the caller may decide.
func (s *Scheduler) Counter(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d Decision,
) (Counter, error) {
	if err := c.HasScope(calendar.TellOthers); err != nil {
		return Counter{}, err
	}
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return Counter{}, err
	}
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Counter{}, err
	}
	item, err := s.reader.Proposal(ctx, c, d.Message)
	if err != nil {
		return Counter{}, err
	}
	message, err := content.Read(item.Data, unlimited)
	return Counter{d, s, cal, message, item.Version}, err
}

// editor returns an editor for a calendar, with the calendar's zone for floating times.
func (s *Scheduler) editor(cal calendar.Calendar) edit.Editor {
	return edit.Editor{Zones: s.zones, Floating: cal.Floating(s.zones), Now: s.now(), NewUID: s.newID}
}

// CheckOpen checks that a proposal is in its message, and still applies to the event.
func (d Counter) CheckOpen(ctx context.Context, stored *content.Object) error {
	s := d.scheduler
	all, err := schedule.Rules{Zones: s.zones, Now: s.now()}.Proposals(ctx, stored, d.message)
	if err != nil {
		return err
	}
	if slices.Contains(all, d.Proposal) {
		return nil
	}
	return calendar.Errorf(calendar.Stale, "", "this proposal is no longer open: the event or the proposal has changed")
}

// Decline notifies the attendee that the event stays as it is now, and removes the proposal from the inbox.
func (d Counter) Decline(
	ctx context.Context, c calendar.Caller, now calendar.Object,
) (told []calendar.Told, err error) {
	cal := d.calendar
	if err := d.When.Check(now.ETag); err != nil {
		return nil, err
	}
	stored, err := content.Read(now.Data, unlimited)
	if err != nil {
		return nil, err
	}
	if err := d.CheckOpen(ctx, stored); err != nil {
		return nil, err
	}
	err = d.scheduler.change(ctx, c, func(w *Work) error {
		m, err := w.meetingOf(ctx, cal, stored)
		if err != nil {
			return err
		}
		if schedule.RoleIn(stored, m.parties.Are(cal.Owner)) != schedule.Organizer {
			return calendar.Errorf(calendar.Forbidden, "", "the owner of %q does not organize this event", cal.Name)
		}
		msg, err := m.rules.Stay(ctx, stored, d.message, d.Proposal, strings.TrimSpace(d.Comment))
		if err != nil {
			return err
		}
		m.sign([]schedule.Message{msg})
		if user, here := m.parties[msg.To]; here {
			m.AddInboxItem(user.ID, m.itemOf(msg))
			m.noteDelivery(msg, statusDelivered)
		} else if err := m.mail(msg); err != nil {
			return err
		}
		told = m.Told
		return m.RemoveCounter(ctx, d)
	})
	return told, err
}

// RemoveCounter removes one proposal from a message in the caller's inbox, and the message if it was the last one. If
// the message was replaced after it was read, the decision fails, because the caller has not seen the new message.
func (w *Work) RemoveCounter(ctx context.Context, d Counter) error {
	rest, err := schedule.Besides(d.message, d.Proposal)
	if err != nil {
		return err
	}
	err = w.DropInboxItem(ctx, w.Caller.User.ID, d.Message, d.version)
	if calendar.ReasonOf(err) == calendar.Stale {
		return calendar.Errorf(calendar.Exists, "",
			"%s has made another proposal meanwhile, or this one was decided already: your decision changed nothing",
			d.Proposal.From.Name()).
			Advising("read the proposals again, then decide")
	}
	if err != nil || rest == nil {
		return err
	}
	item := w.itemOf(schedule.Message{Method: schedule.Counter, Document: rest})
	item.Name = d.Message
	w.AddInboxItem(w.Caller.User.ID, item)
	return nil
}
