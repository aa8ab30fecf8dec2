package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Wish is another time that a guest would rather have.
type Wish struct {
	// Instance is the one of a series that it is about; zero for all of it.
	Instance ical.Time
	Times    edit.Times
	Comment  string
	When     calendar.Precondition
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Propose tells the organizer of an event in a calendar that its owner would rather have another time (COUNTER, RFC 5546
// §3.2.7). The event stays as it is, and the invitation unanswered, until the organizer has decided.
func (s *Ledger) Propose(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, w Wish) (told []calendar.Told, err error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	if err := c.HasScope(calendar.TellOthers); err != nil {
		return nil, err
	}
	now, err := s.SeenByUID(ctx, w.Meter, c, cal, uid)
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
	err = s.change(ctx, c, func(work *work) error {
		m, err := work.meet(ctx, cal, stored)
		if err != nil {
			return err
		}
		self := m.parties.Are(cal.Owner)
		if schedule.RoleIn(stored, self) != schedule.Attendee {
			return calendar.Errorf(calendar.Invalid, "", "the owner of %q is no guest of this event: to change its time, move it", cal.Name)
		}
		msg, err := m.rules.Propose(ctx, stored, moved, self, w.Instance, strings.TrimSpace(w.Comment))
		if err != nil {
			return notProposed(err)
		}
		m.sign([]schedule.Message{msg})
		if err := m.putForward(ctx, msg); err != nil {
			return err
		}
		told = m.told
		return nil
	})
	return told, err
}

// wished is an event as it is, and as a guest would rather have it.
func (s *Ledger) wished(ctx context.Context, cal calendar.Calendar, now calendar.Object, w Wish) (stored, moved *content.Object, err error) {
	if stored, err = content.Read(now.Data, unlimited); err != nil {
		return nil, nil, calendar.Errorf(calendar.Unsupported, "", "the object cannot be read: %v", err)
	}
	if stored.Kind != content.Event {
		return nil, nil, calendar.Errorf(calendar.Invalid, "", "another time can be proposed for an event alone")
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

// notProposed says why nothing can be proposed.
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

// meet is what is known of the people of an event in a calendar.
func (w *work) meet(ctx context.Context, cal calendar.Calendar, stored *content.Object) (*meeting, error) {
	m := &meeting{work: w, in: cal, next: stored, rules: schedule.Rules{Zones: w.zones, Now: w.now()}}
	m.rules.Person, m.rules.Meter = m.person, w.telling(ctx)
	var err error
	if m.parties, err = w.partiesOf(ctx, stored); err != nil {
		return nil, err
	}
	return m, m.lookUp(ctx)
}

// putForward brings a guest's proposal to the organizer.
func (m *meeting) putForward(ctx context.Context, msg schedule.Message) error {
	organizer, here := m.parties[msg.To]
	if !here {
		return m.mail(msg)
	}
	_, stored, err := m.organizedBy(ctx, organizer, aboutMessage)
	if err != nil && calendar.ReasonOf(err) == calendar.Internal {
		return err
	}
	if err == nil {
		err = m.propose(ctx, delivering{string(m.in.Owner), organizer.ID}, stored, msg)
	}
	switch {
	case err == nil:
		m.came(msg, statusDelivered)
		return nil
	case calendar.ReasonOf(err) == calendar.TooLarge:
		m.came(msg, statusRefused)
	default:
		m.came(msg, statusForbidden)
	}
	return ctx.Err() // nil: that the organizer has no such event, or has been sent too much, is the outcome
}

// mail posts a message, and remembers what came of it.
func (m *meeting) mail(msg schedule.Message) error {
	status, err := m.post(msg)
	if err == nil {
		m.came(msg, status)
	}
	return err
}

// came remembers whom a message was for, and what came of it.
func (m *meeting) came(msg schedule.Message, status string) {
	m.told = append(m.told, calendar.Told{To: msg.To.Name(), Method: calendar.Method(msg.Method), Status: status})
}

// aboutMessage begins what is told of a message that is refused.
const aboutMessage = "the message is about"

// organizedBy is what a user organizes of the event under way.
func (m *meeting) organizedBy(ctx context.Context, user calendar.User, about string) (*calendar.Appointment, *content.Object, error) {
	a, stored, err := m.hadBy(ctx, user, about)
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

// hadBy is what a user has of the event.
func (m *meeting) hadBy(ctx context.Context, user calendar.User, about string) (*calendar.Appointment, *content.Object, error) {
	a, err := m.whole(ctx, user.ID)
	if err == nil && a == nil {
		err = calendar.Errorf(calendar.NotFound, "", "%s an event that the user does not have", about)
	}
	if err != nil {
		return nil, nil, err
	}
	stored, err := content.Read(a.Data, unlimited)
	return a, stored, err
}

// propose puts a proposal into its organizer's inbox, in the place of the last one of the same guest for the same. What
// nobody could decide is not kept, nor what is more than its sender may bring.
func (m *meeting) propose(ctx context.Context, of delivering, stored *content.Object, msg schedule.Message) error {
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
	item.Name = hashedName(calendar.UID(strings.Join([]string{string(msg.Method), string(m.uid()), subject, string(msg.From)}, "\n")))
	if !m.mayBring(of, burden{proposals: 1, bytes: int64(len(item.Data))}) {
		return errBrought()
	}
	m.drop(of.to, item)
	return nil
}

// proposed holds a proposal from outside for the organizer to decide.
func (m *meeting) proposed(ctx context.Context, user calendar.User, msg schedule.Message) error {
	_, stored, err := m.organizedBy(ctx, user, aboutMessage)
	if err != nil {
		return err
	}
	switch err := m.propose(ctx, delivering{string(msg.From), user.ID}, stored, msg); {
	case err == nil || calendar.ReasonOf(err) == calendar.TooLarge:
		return err
	case errors.Is(err, schedule.ErrUninvited):
		return calendar.Errorf(calendar.Forbidden, "", "the event does not invite %s", msg.From)
	case errors.Is(err, schedule.ErrNoInstance):
		return calendar.Errorf(calendar.NotFound, "", "the series has no such instance")
	default:
		return notApplied(err)
	}
}

// stays tells a guest that an organizer elsewhere does not take up what they proposed.
func (m *meeting) stays(ctx context.Context, user calendar.User, msg schedule.Message) error {
	_, stored, err := m.hadBy(ctx, user, aboutMessage)
	if err != nil {
		return err
	}
	if schedule.OrganizerOf(stored) != msg.From {
		return calendar.Errorf(calendar.Forbidden, "", "the message is not of the event's organizer")
	}
	m.drop(user.ID, m.itemOf(msg))
	return nil
}

// Decision is an organizer's word on what a guest proposed.
type Decision struct {
	// Message is the proposal in the organizer's inbox, Proposal the part of it that is meant.
	Message  calendar.ObjectName
	Proposal schedule.Proposal
	Accept   bool
	Comment  string
	When     calendar.Precondition
	Meter    *meter.Meter
}

// Decide takes up what a guest proposed for an event in a calendar of the caller's, and tells all guests as of any such
// change; or tells that guest that the event stays as it is (DECLINECOUNTER). The proposal leaves the inbox.
func (s *Ledger) Decide(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, d Decision) (Edited, error) {
	if err := c.HasScope(calendar.TellOthers); err != nil {
		return Edited{}, err
	}
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return Edited{}, err
	}
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	item, err := s.Proposal(ctx, c, d.Message)
	if err != nil {
		return Edited{}, err
	}
	message, err := content.Read(item.Data, unlimited)
	if err != nil {
		return Edited{}, err
	}
	seen := counter{d, message, item.Version}
	if d.Accept {
		return s.takeUp(ctx, c, cal, uid, seen)
	}
	now, err := s.SeenByUID(ctx, d.Meter, c, cal, uid)
	if err != nil {
		return Edited{}, err
	}
	done := Edited{Saved: calendar.Saved{Object: now}, Instance: d.Proposal.Which}
	done.Told, err = s.turnDown(ctx, c, cal, now, seen)
	return done, err
}

// counter is a proposal that is decided, as it was read.
type counter struct {
	Decision
	message *content.Object
	version calendar.Version
}

// takeUp changes the event to what was proposed.
func (s *Ledger) takeUp(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, d counter) (Edited, error) {
	change := s.changing(cal, d.Proposal.Change())
	r := revision{s, d.Meter, c, cal, calendar.TellAll, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		if err := s.open(ctx, o, d.message, d.Proposal); err != nil {
			return edit.Result{}, err
		}
		return change(ctx, o)
	}, func(ctx context.Context, w *work) error { return w.settle(ctx, d) }}
	return r.run(ctx, uid, d.When)
}

// open sees that a proposal is in a message, and for the event as it is.
func (s *Ledger) open(ctx context.Context, stored, message *content.Object, which schedule.Proposal) error {
	all, err := schedule.Rules{Zones: s.zones, Now: s.now()}.Proposals(ctx, stored, message)
	if err != nil {
		return err
	}
	if slices.Contains(all, which) {
		return nil
	}
	return calendar.Errorf(calendar.Stale, "", "this is not proposed any more: the event, or the proposal, has changed")
}

// turnDown tells the guest, and takes the proposal out of the inbox.
func (s *Ledger) turnDown(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, now calendar.Object, d counter,
) (told []calendar.Told, err error) {
	if err := d.When.Check(now.ETag); err != nil {
		return nil, err
	}
	stored, err := content.Read(now.Data, unlimited)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, stored, d.message, d.Proposal); err != nil {
		return nil, err
	}
	err = s.change(ctx, c, func(w *work) error {
		m, err := w.meet(ctx, cal, stored)
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
			m.drop(user.ID, m.itemOf(msg))
			m.came(msg, statusDelivered)
		} else if err := m.mail(msg); err != nil {
			return err
		}
		told = m.told
		return m.settle(ctx, d)
	})
	return told, err
}

// settle takes one proposal out of a message in the caller's inbox, and the message with the last one. What has taken the
// message's place since it was read stays, and undoes the decision: nobody has seen it.
func (w *work) settle(ctx context.Context, d counter) error {
	rest, err := schedule.Besides(d.message, d.Proposal)
	if err != nil {
		return err
	}
	err = w.DropInboxItem(ctx, w.caller.User.ID, d.Message, d.version)
	if calendar.ReasonOf(err) == calendar.Stale {
		return calendar.Errorf(calendar.Exists, "", "%s has proposed something else meanwhile, or this was decided already: nothing was changed by this decision", d.Proposal.From.Name()).
			Advising("see what is proposed now, and decide about that")
	}
	if err != nil || rest == nil {
		return err
	}
	item := w.itemOf(schedule.Message{Method: schedule.Counter, Document: rest})
	item.Name = d.Message
	w.drop(w.caller.User.ID, item)
	return nil
}
