package delivery

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

var _ calendar.Correspondence = (*Scheduler)(nil)

// Receive implements [calendar.Correspondence].
func (s *Scheduler) Receive(ctx context.Context, in calendar.Inbound) error {
	text, err := s.arrival(in)
	if err != nil {
		return err
	}
	from := schedule.AddressOf("mailto:" + string(in.From))
	method := schedule.Method(in.Method)
	sender := schedule.Sender(text, method)
	if sender == "" && toOrganizer(method) {
		sender = from // some clients name all attendees in a proposal
	}
	if from != sender {
		return calendar.Errorf(calendar.Forbidden, "", "the message is from %s, who is not the %s that it names", from,
			sender)
	}
	deputy := schedule.Address("")
	if in.By != "" {
		deputy = schedule.AddressOf("mailto:" + string(in.By))
	}
	recipients, err := s.recipients(ctx, in, text, method)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return errors.Join(err, s.refused(ctx, in, text, calendar.NotInvited, true))
	}
	if err != nil {
		return err
	}
	var last error
	did := false
	for _, user := range recipients {
		c := calendar.Caller{User: user, Scopes: calendar.ScopeAll, Agent: mailAgent + string(in.From)}
		err := s.change(ctx, c, func(w *Work) error {
			return w.receive(ctx, arrival{user, sender, deputy, method, text})
		})
		if why := doubtOf(err); why != "" {
			by := in
			by.From = cmp.Or(in.By, in.From)
			err = errors.Join(err, s.refusedFor(ctx, user, by, text, why, true))
		}
		if err != nil && calendar.ReasonOf(err) == calendar.Internal {
			return err
		}
		did, last = did || err == nil, err
	}
	if did {
		return nil
	}
	return last
}

// arrival reads an external message, within the limits for stored objects.
func (s *Scheduler) arrival(in calendar.Inbound) (*content.Object, error) {
	if err := s.validator.CheckSize(in.Data); err != nil {
		return nil, err
	}
	lim := ical.DefaultLimits()
	lim.Bytes = int(s.limits.ObjectBytes)
	text, err := content.Read(ical.WithoutControls(in.Data), lim)
	if err != nil {
		return nil, calendar.Errorf(calendar.Invalid, calendar.RuleValidData, "the message cannot be read: %v", err)
	}
	if said := content.WordOf(text.Calendar, "METHOD"); said != string(in.Method) {
		return nil, calendar.Errorf(calendar.Invalid, calendar.RuleValidData, "the message says %q and came as %q",
			said, in.Method)
	}
	if len(schedule.Parties(text)) == 0 || len(schedule.Attendees(text)) > s.limits.Attendees ||
		len(text.Components()) > s.limits.Instances {
		return nil, calendar.Errorf(calendar.Invalid, calendar.RuleValidObject,
			"the message names no people, or too many")
	}
	// Google's mails contain only the names of IANA zones.
	return text, content.DefineZones(text.Calendar, s.zones, nil)
}

// recipients returns the users that a message is for: those it names. If the envelope recipients are known, only those
// of them. An answer goes to the event's organizer, whom it need not name.
func (s *Scheduler) recipients(
	ctx context.Context, in calendar.Inbound, text *content.Object, method schedule.Method,
) ([]calendar.User, error) {
	named := addresses(in.To)
	if len(named) == 0 {
		if named = schedule.Attendees(text); toOrganizer(method) {
			named = []schedule.Address{schedule.OrganizerOf(text)}
		}
	}
	found, err := s.reader.FindParties(ctx, s.store, named)
	if err == nil && len(found) == 0 && len(in.To) > 0 {
		// The envelope recipient is a mailbox without a user.
		in.To = nil
		return s.recipients(ctx, in, text, method)
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, calendar.Errorf(calendar.NotFound, "", "the message is for no user of this server")
	}
	return found.Users(), nil
}

// toOrganizer reports whether attendees send messages with this method to organizers.
func toOrganizer(m schedule.Method) bool {
	return m == schedule.Reply || m == schedule.Counter || m == schedule.Method(calendar.MethodRefresh)
}

// arrival is a message for a user. deputy is the actual sender if they acted for from; "" otherwise.
type arrival struct {
	user   calendar.User
	from   schedule.Address
	deputy schedule.Address
	method schedule.Method
	text   *content.Object
}

// Refusals that the user sees.
var (
	errNotInvited = calendar.Errorf(calendar.Forbidden, "", "the message does not invite the user")
	errDeputy     = calendar.Errorf(calendar.Forbidden, "",
		"the known version of the event does not say that the sender acts for its organizer")
)

// doubtOf returns the reason that the user sees for a refusal; "" if they see none.
func doubtOf(err error) calendar.Distrust {
	switch {
	case errors.Is(err, errNotInvited):
		return calendar.NotInvited
	case errors.Is(err, errDeputy):
		return calendar.NotOrganizer
	}
	return ""
}

// incoming is a message for a user and the meeting that it is about.
type incoming struct {
	meeting
	arrival
}

// receive applies a message to a user's calendars.
func (w *Work) receive(ctx context.Context, a arrival) error {
	m := &incoming{meeting{Work: w, next: a.text, rules: schedule.Rules{Zones: w.zones, Now: w.Now()}}, a}
	m.in.Owner, m.rules.Person = a.user.ID, m.person
	m.rules.Meter = w.messageMeter(ctx)
	var err error
	if m.parties, err = w.partiesOf(ctx, a.text); err != nil {
		return err
	}
	m.trustOwnAddresses()
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	if err := m.checkDeputy(ctx); err != nil {
		return err
	}
	return m.apply(ctx)
}

// apply applies the message by its method.
func (m *incoming) apply(ctx context.Context) error {
	msg := schedule.Message{Method: m.method, From: m.from, Document: m.text.Document, First: true}
	switch m.method {
	case schedule.Request, schedule.Cancel, schedule.Method(calendar.MethodAdd):
		if err := m.fromOrganizer(ctx, msg); err != nil {
			return err
		}
		return m.dropUnverified(ctx)
	case schedule.Reply:
		return m.fromAttendee(ctx, msg)
	case schedule.Method(calendar.MethodRefresh):
		return m.resend(ctx)
	case schedule.Counter:
		return m.fileProposal(ctx, msg)
	default: // an organizer declines a proposal
		return m.fileDecline(ctx, msg)
	}
}

// checkDeputy refuses a message from a deputy, unless the user's copy of the event names that deputy. The copy is
// trustworthy: it came from the organizer or is the user's own.
func (m *incoming) checkDeputy(ctx context.Context) error {
	if m.deputy == "" {
		return nil
	}
	has, err := m.loadCopy(ctx, m.user.ID)
	if err != nil {
		return err
	}
	if has != nil {
		if stored, err := content.Read(has.Data, unlimited); err == nil &&
			schedule.ActsFor(stored, m.method, m.from, m.deputy) {
			return nil
		}
	}
	return errDeputy
}

// trustOwnAddresses keeps only the user's own addresses: other users of this server get their own messages.
func (m *incoming) trustOwnAddresses() {
	maps.DeleteFunc(m.parties, func(_ schedule.Address, u calendar.User) bool { return u.ID != m.user.ID })
}

// fromOrganizer applies an external organizer's message to the user's calendar.
func (m *incoming) fromOrganizer(ctx context.Context, msg schedule.Message) error {
	if msg.Method != schedule.Cancel && !slices.ContainsFunc(schedule.Attendees(m.text), m.parties.Are(m.user.ID)) {
		return errNotInvited
	}
	if m.parties.Are(m.user.ID)(schedule.OrganizerOf(m.text)) {
		return calendar.Errorf(calendar.Forbidden, "",
			"the user is the organizer of this event, so no other organizer can change it")
	}
	a, err := m.loadCopy(ctx, m.user.ID)
	if err != nil {
		return err
	}
	if a == nil && msg.Method != schedule.Request {
		return calendar.Errorf(calendar.NotFound, "", "the user does not have this event")
	}
	at := calendar.CalendarID("")
	if a == nil {
		places, err := m.Receptions(ctx, []calendar.UserID{m.user.ID}, m.kind())
		if err != nil {
			return err
		}
		if at = places[m.user.ID]; at == "" {
			return calendar.Errorf(calendar.NotFound, "", "the user has no calendar for this")
		}
		a = &calendar.Appointment{
			Owner: m.user.ID, Object: calendar.Object{Calendar: at, Name: calendar.ObjectName(m.newID() + ".ics")},
		}
	}
	if err := m.RequireLocks([]calendar.CalendarID{a.Calendar}); err != nil {
		return err
	}
	d := schedule.Delivery{Message: m.text, Self: m.parties.Are(m.user.ID), Outside: true, Room: m.user.Room.Bookable()}
	if a.Data != nil {
		stored, err := content.Read(a.Data, unlimited)
		if err != nil {
			return err
		}
		d.Stored = stored
		if d.Told, err = m.toldEvent(ctx, a); err != nil {
			return err
		}
	} else if d.Told, err = m.keptTold(ctx, m.user.ID, calendar.UID(m.text.UID)); err != nil {
		return err
	}
	apply := m.rules.Invite
	if msg.Method == schedule.Cancel {
		apply = m.rules.CallOff
	} else if msg.Method == schedule.Method(calendar.MethodAdd) {
		apply = m.rules.Add
	}
	done, err := apply(ctx, d)
	if errors.Is(err, schedule.ErrForeign) && msg.Method != schedule.Cancel {
		// another event has the UID there, but the invitation can still be read
		m.AddInboxItem(m.user.ID, m.itemOf(msg))
		return nil
	}
	if done.Told != nil && (err == nil || errors.Is(err, schedule.ErrSame)) {
		if err := m.keepTold(ctx, m.user.ID, done.Told); err != nil {
			return err
		}
	}
	if err != nil {
		return notApplied(err)
	}
	if _, err := m.validator.Read(ctx, done.Object.Document.Bytes()); err != nil {
		return err
	}
	made, item := m.versionAsIs(done), m.itemOf(msg)
	if !m.admits(string(msg.From), msg, m.user, a, made, item) {
		return errDailyLimit()
	}
	if err := m.storeCopy(ctx, a, made); err != nil {
		return err
	}
	m.AddInboxItem(m.user.ID, item)
	if msg.Method == schedule.Cancel {
		return nil
	}
	return m.queueBooking(ctx, m.user, a.Calendar, a.UID)
}

// fromAttendee applies an external answer to an event that the user organizes.
func (m *incoming) fromAttendee(ctx context.Context, msg schedule.Message) error {
	a, stored, err := m.organizedBy(ctx, m.user, "the answer is to")
	if err != nil {
		return err
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	if err := m.RequireLocks(append(m.refreshedIn(m.user.ID), a.Calendar)); err != nil {
		return err
	}
	made, err := m.answer(ctx, stored, m.text, msg.From, true)
	if errors.Is(err, schedule.ErrUninvited) {
		m.AddInboxItem(m.user.ID, m.itemOf(msg)) // for the organizer to decide: people cannot invite themselves
		return nil
	}
	if err != nil {
		return notApplied(err)
	}
	if err := m.inviteDelegates(ctx, m.user, stored, made); err != nil {
		return err
	}
	if err := m.validator.CheckSize(made.Document.Bytes()); err != nil {
		return err
	}
	if err := m.storeCopy(ctx, a, m.versionAsIs(schedule.Delivered{Object: made})); err != nil {
		return err
	}
	m.AddInboxItem(m.user.ID, m.itemOf(msg))
	return m.refresh(ctx, made, m.user.ID)
}

// fileProposal stores an external proposal for the organizer to decide.
func (m *incoming) fileProposal(ctx context.Context, msg schedule.Message) error {
	_, stored, err := m.organizedBy(ctx, m.user, aboutMessage)
	if err != nil {
		return err
	}
	switch err := m.propose(ctx, route{string(msg.From), m.user.ID}, stored, msg); {
	case err == nil || calendar.ReasonOf(err) == calendar.TooLarge || errors.Is(err, errFullOfProposals):
		return err
	case errors.Is(err, schedule.ErrUninvited):
		return calendar.Errorf(calendar.Forbidden, "", "the event does not invite %s", msg.From)
	case errors.Is(err, schedule.ErrNoInstance):
		return calendar.Errorf(calendar.NotFound, "", "the series has no such instance")
	default:
		return notApplied(err)
	}
}

// fileDecline informs an attendee that an external organizer declines their proposal.
func (m *incoming) fileDecline(ctx context.Context, msg schedule.Message) error {
	_, stored, err := m.copyOfUser(ctx, m.user, aboutMessage)
	if err != nil {
		return err
	}
	if schedule.OrganizerOf(stored) != msg.From {
		return calendar.Errorf(calendar.Forbidden, "", "the message is not of the event's organizer")
	}
	m.AddInboxItem(m.user.ID, m.itemOf(msg))
	return nil
}

// answer applies an answer to an event, within the limit of attendees.
func (m *meeting) answer(
	ctx context.Context, stored, text *content.Object, from schedule.Address, outside bool,
) (*content.Object, error) {
	made, err := m.rules.Answer(ctx, stored, text, from, outside)
	if err == nil && len(schedule.Attendees(made)) > max(m.limits.Attendees, len(schedule.Attendees(stored))) {
		return nil, schedule.ErrDelegates
	}
	return made, err
}

// notApplied explains why a message changes nothing. A message without news is no error.
func notApplied(err error) error {
	switch {
	case errors.Is(err, schedule.ErrSame):
		return nil
	case errors.Is(err, schedule.ErrStale):
		return calendar.Errorf(calendar.Stale, "", "%v", err)
	case errors.Is(err, schedule.ErrForeign), errors.Is(err, schedule.ErrDelegates), errors.Is(err, schedule.ErrChain):
		return calendar.Errorf(calendar.Forbidden, "", "%v", err)
	}
	return calendar.Errorf(calendar.Invalid, calendar.RuleValidObject, "the message cannot be understood: %v", err)
}

// noteStatus records the delivery status of an iTIP mail in its sender's event.
func noteStatus(o *content.Object, l calendar.Letter) bool {
	to := schedule.AddressOf("mailto:" + string(l.To))
	return schedule.Rules{}.Note(o, map[schedule.Person]string{schedule.Person(to): l.Status})
}

// Delivered implements [calendar.Correspondence]. The schedule tag stays, because the user's clients need not notice
// that mail was sent.
func (s *Scheduler) Delivered(ctx context.Context, l calendar.Letter) error {
	user := calendar.User{ID: l.User}
	err := s.change(ctx, calendar.Caller{User: user, Scopes: calendar.ScopeAll, Agent: "mail"}, func(w *Work) error {
		copies, err := w.Appointments(ctx, []calendar.UserID{l.User}, l.UID)
		if err != nil || len(copies) == 0 {
			return err
		}
		a := &copies[0]
		if err := w.loadData(ctx, a); err != nil {
			return err
		}
		if err := w.RequireLocks([]calendar.CalendarID{a.Calendar}); err != nil {
			return err
		}
		stored, err := content.Read(a.Data, unlimited)
		if err != nil || !noteStatus(stored, l) {
			return change.ErrSame
		}
		return w.storeCopy(ctx, a, w.versionAsIs(schedule.Delivered{Object: stored}))
	})
	return change.UnlessSame(err)
}
