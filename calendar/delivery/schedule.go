package delivery

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Organized reports whether an object may be scheduled. It avoids parsing all others.
func Organized(data []byte) bool { return organized.Match(data) }

var organized = regexp.MustCompile(`(?i)\nORGANIZER[;:]`)

// guested matches events that may have attendees whom the calendar's source would notify.
var guested = regexp.MustCompile(`(?i)\nATTENDEE[;:]`)

// unlimited are the limits for objects that are already stored.
var unlimited = ical.Limits{}

// partiesOf looks up the people that events name.
func (w *Work) partiesOf(ctx context.Context, objects ...*content.Object) (lookup.Parties, error) {
	var named []schedule.Address
	for _, o := range objects {
		if o != nil {
			named = append(named, schedule.Parties(o)...)
		}
	}
	return w.reader.FindParties(ctx, w.Tx, named)
}

// meeting is a running change of an event with attendees.
type meeting struct {
	*Work
	// in is the changed calendar, tell selects the people to notify.
	in   calendar.Calendar
	tell calendar.Telling
	// before and next are the versions of the event; next is nil if it is deleted.
	before, next *content.Object
	parties      lookup.Parties
	// was and is are the owner's role before and after the change.
	was, is schedule.Role
	// edited is set if the change was made to the stored text.
	edited bool
	rules  schedule.Rules
	// copies are the copies of the users that the event names.
	copies []calendar.Appointment
	// formers are the users' copies of the undivided series, if a new event is its second half.
	formers map[calendar.UserID]calendar.Appointment
	// renewed is the owner's restored object, brought up to date.
	renewed *content.Object
	// receptions are the calendars for users without a copy.
	receptions map[calendar.UserID]calendar.CalendarID
	// texts caches the messages as text, mails the messages split for mail, merges the results of merging them into
	// copies. asked marks the organizers that were looked up. extra counts the bytes that attendees have added to their
	// copies.
	texts  map[*ical.Document]*text
	mails  map[*ical.Document][]schedule.Message
	merges map[merging]merged
	asked  map[schedule.Address]bool
	extra  int64
}

// Schedule applies the consequences of a change of an event with attendees: it adjusts next, the object to store, and
// notifies the attendees or the organizer. old or next may be nil. The draft says where the change comes from; a new
// series may be split from another one, as stored. For an event in a linked calendar its source does that.
func (w *Work) Schedule(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, d calendar.Draft, from *calendar.Object,
) error {
	tell := d.Telling
	if cal.Origin.Mirrors() && (old != nil && guested.Match(old.Data) || next != nil && guested.Match(next.Data)) {
		if err := w.Caller.HasScope(calendar.TellOthers); err != nil {
			return err
		}
	}
	if cal.Origin.Mirrors() {
		if err := w.scheduleAtSource(ctx, cal, old, next, d); err != nil {
			return err
		}
	}
	if cal.Origin.Mirrors() || (old == nil || !organized.Match(old.Data)) &&
		(next == nil || !organized.Match(next.Data)) {
		if next != nil {
			next.ScheduleTag = ""
		}
		return nil
	}
	m, err := w.readMeeting(ctx, cal, old, next, tell)
	if err != nil {
		return err
	}
	m.edited, m.rules.Agreed, m.rules.Comment = d.Edited, schedule.Address(d.Agreed), d.Comment
	if from != nil {
		m.rules.Origin, _ = content.Read(from.Data, unlimited)
	}
	if tell == calendar.Unscheduled {
		if err := m.takeOrganizersAnswer(ctx, old, next); err != nil {
			return err
		}
		if d.Stored {
			if err := m.takeRoomsAnswers(ctx, old, next); err != nil {
				return err
			}
		}
		m.setScheduleTag(next)
		return nil
	}
	out, err := m.decide(ctx, old)
	if err != nil {
		return refusal(err)
	}
	if err := m.carryOut(ctx, &out); err != nil {
		return err
	}
	if d.Stored && out.Object != nil && m.is == schedule.Organizer {
		if _, err := m.rebook(ctx, out.Object, out.Messages); err != nil {
			return err
		}
	}
	if out.News {
		if err := w.PutToldEvent(ctx, cal.Owner, m.uid(), out.Object.Document.Bytes()); err != nil {
			return err
		}
	}
	if next == nil {
		return nil
	}
	if out.Object != nil {
		if err := m.setData(next, out.Object); err != nil {
			return err
		}
		m.is = m.role(out.Object)
	}
	m.setScheduleTag(next)
	return nil
}

// readMeeting reads both versions of an event.
func (w *Work) readMeeting(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling,
) (*meeting, error) {
	m := &meeting{Work: w, in: cal, tell: tell, rules: schedule.Rules{
		Zones: w.zones, Now: w.Now(), Known: tell == calendar.TellAgain,
	}}
	m.rules.Person, m.rules.Meter = m.person, w.messageMeter(ctx)
	return m, m.read(ctx, old, next)
}

// takeOrganizersAnswer sets the answer in an attendee's restored copy to the one that the organizer has: the deletion
// declined the event.
func (m *meeting) takeOrganizersAnswer(ctx context.Context, old, next *calendar.Object) error {
	organizer, here := m.organizerHere()
	if old != nil || next == nil || m.is != schedule.Attendee || !here {
		return nil
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	a, err := m.loadCopy(ctx, organizer.ID)
	if err != nil || a == nil {
		return err
	}
	organized, _ := content.Read(a.Data, unlimited)
	if organized == nil || schedule.OrganizerOf(organized) != schedule.OrganizerOf(m.next) {
		return nil
	}
	if changed, err := m.rules.Agree(ctx, m.next, organized, m.parties.Are(m.in.Owner)); err != nil || !changed {
		return nil //nolint:nilerr // an event that cannot be processed stays as it was
	}
	return m.setData(next, m.next)
}

// takeRoomsAnswers sets the answers of rooms in an organizer's restored event to the answers in the rooms' copies: the
// deletion cancelled their bookings.
func (m *meeting) takeRoomsAnswers(ctx context.Context, old, next *calendar.Object) error {
	if old != nil || next == nil || m.is != schedule.Organizer || len(m.rooms()) == 0 {
		return nil
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	if changed, err := m.rebook(ctx, m.next, nil); err != nil || !changed {
		return err
	}
	return m.setData(next, m.next)
}

// rooms returns the rooms among the people of the event.
func (m *meeting) rooms() []calendar.User {
	return slices.DeleteFunc(m.parties.Users(), func(u calendar.User) bool { return !u.Room.Bookable() })
}

// rebook sets the answers of rooms in an organizer's event to the ones in the rooms' copies, except for rooms that the
// messages ask. It reports whether anything changed.
func (m *meeting) rebook(ctx context.Context, o *content.Object, asking []schedule.Message) (changed bool, err error) {
	for _, room := range m.rooms() {
		self := m.parties.Are(room.ID)
		if slices.ContainsFunc(asking, func(msg schedule.Message) bool { return self(msg.To) }) {
			continue
		}
		a, err := m.loadCopy(ctx, room.ID)
		if err != nil {
			return changed, err
		}
		var copied *content.Object
		if a != nil {
			copied, _ = content.Read(a.Data, unlimited)
		}
		did, err := m.rules.Rebook(ctx, o, copied, self)
		if err != nil {
			return changed, nil //nolint:nilerr // an event that cannot be processed stays as it was
		}
		changed = changed || did
	}
	return changed, nil
}

// read reads both versions and looks up their people. An unreadable object counts as none.
func (m *meeting) read(ctx context.Context, old, next *calendar.Object) (err error) {
	if old != nil {
		m.before, _ = content.Read(old.Data, unlimited)
	}
	if next != nil {
		if m.next, err = content.Read(next.Data, unlimited); err != nil {
			return err
		}
	}
	if m.parties, err = m.partiesOf(ctx, m.before, m.next); err != nil {
		return err
	}
	m.was, m.is = m.role(m.before), m.role(m.next)
	return nil
}

// person returns the person with an address.
func (m *meeting) person(a schedule.Address) schedule.Person { return m.parties.Person(a) }

func (m *meeting) role(o *content.Object) schedule.Role {
	if o == nil {
		return schedule.Bystander
	}
	return schedule.RoleIn(o, m.parties.Are(m.in.Owner))
}

// decide applies the scheduling rules.
func (m *meeting) decide(ctx context.Context, old *calendar.Object) (schedule.Outcome, error) {
	self := m.parties.Are(m.in.Owner)
	if m.was == schedule.Bystander && m.is == schedule.Bystander {
		return schedule.Outcome{}, nil
	}
	if err := m.lookUp(ctx); err != nil {
		return schedule.Outcome{}, err
	}
	if old == nil {
		if err := m.checkUnique(); err != nil {
			return schedule.Outcome{}, err
		}
	}
	next := m.next
	if next != nil && old == nil && m.tell != calendar.TellAgain {
		schedule.Cleaned(next)
	}
	if m.tell == calendar.TellNobody && m.is == schedule.Organizer {
		var err error
		if next, err = schedule.Quiet(m.before, next, self); err != nil {
			return schedule.Outcome{}, err
		}
	}
	if m.was == schedule.Organizer {
		schedule.KeepParties(next, m.before, self)
	}
	switch {
	case m.was == schedule.Organizer && next != nil && schedule.OrganizerOf(next) == "":
		out, err := m.rules.Organize(ctx, m.before, nil, self)
		return out, err
	case m.was == schedule.Organizer:
		return m.rules.Organize(ctx, m.before, next, self)
	case m.was == schedule.Attendee && m.orphan():
		return schedule.Outcome{Object: next}, nil
	case m.was == schedule.Attendee:
		return m.rules.Attend(ctx, m.before, next, m.guest(ctx, self))
	case m.is == schedule.Organizer:
		if err := m.findCancellation(ctx); err != nil {
			return schedule.Outcome{}, err
		}
		return m.rules.Organize(ctx, nil, next, self)
	default:
		return m.rules.Attend(ctx, nil, next, m.guest(ctx, self))
	}
}

// guest describes the calendar's owner as an attendee.
func (m *meeting) guest(ctx context.Context, self schedule.Self) schedule.Guest {
	return schedule.Guest{
		Self: self, Away: m.away(), Exact: m.edited, Told: func() *content.Object { return m.toldOwner(ctx) },
	}
}

// findCancellation finds the cancellation that attendees got for a deleted event with the same UID: some clients delete
// and create an event to change it.
func (m *meeting) findCancellation(ctx context.Context) error {
	uid := calendar.UID(m.next.UID)
	for e, err := range m.Journal(ctx, m.in.ID, calendar.JournalQuery{Of: &uid, WithBefore: true}) {
		if err != nil || e.Did != calendar.Deleted {
			return err
		}
		// If the journal no longer has the event, or its entry is damaged, the new event counts as the first. Attendees
		// who know of the cancellation may then ignore it as older. To refuse it would block the UID for good.
		former, err := content.Read(e.Before, unlimited)
		if err != nil {
			return nil
		}
		parties, err := m.partiesOf(ctx, former)
		if err == nil && schedule.RoleIn(former, parties.Are(m.in.Owner)) == schedule.Organizer {
			m.rules.CalledOff = schedule.Ends(former)
		}
		return err
	}
	return nil
}

// lookUp finds the copies of the users that the event names.
func (m *meeting) lookUp(ctx context.Context) (err error) {
	o := m.next
	if o == nil {
		o = m.before
	}
	users := []calendar.UserID{m.in.Owner}
	for _, u := range m.parties {
		users = append(users, u.ID)
	}
	m.copies, err = m.Appointments(ctx, users, calendar.UID(o.UID))
	return err
}

// copyOf returns a user's copy of the event, or nil.
func (m *meeting) copyOf(user calendar.UserID) *calendar.Appointment {
	i := slices.IndexFunc(m.copies, func(a calendar.Appointment) bool { return a.Owner == user })
	if i < 0 {
		return nil
	}
	return &m.copies[i]
}

// checkUnique refuses a second copy of an event with attendees in a user's calendars (RFC 6638 §3.2.4.1), because
// answers would reach only one of them.
func (m *meeting) checkUnique() error {
	for _, a := range m.copies {
		if a.Owner == m.in.Owner && a.Calendar != m.in.ID {
			e := calendar.Errorf(calendar.Exists, calendar.RuleUniqueScheduling,
				"the owner of this calendar has this event with guests in another calendar already")
			e.Conflict, e.ConflictIn = a.Name, a.Calendar
			return e
		}
	}
	return nil
}

// UniqueForOwner refuses an event with attendees if the calendar's owner already has it in another calendar, even for a
// write without notifications: later both copies would answer. more are copies
// that a preview did not really store.
func (w *Work) UniqueForOwner(
	ctx context.Context, cal calendar.Calendar, next calendar.Object, more []calendar.Appointment,
) error {
	if !organized.Match(next.Data) {
		return nil
	}
	o, err := content.Read(next.Data, unlimited)
	if err != nil {
		return err
	}
	m := meeting{Work: w, in: cal, next: o}
	if m.parties, err = w.partiesOf(ctx, o); err != nil || m.role(o) == schedule.Bystander {
		return err
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	m.copies = append(m.copies, more...)
	return m.checkUnique()
}

// MayTransfer refuses to move an event with attendees to another owner, or to store it twice for one owner. A move
// between calendars of one owner sends no messages.
func (w *Work) MayTransfer(ctx context.Context, from, to calendar.Calendar, o *calendar.Object, remove bool) error {
	there := meeting{Work: w, in: to}
	if !organized.Match(o.Data) {
		return nil
	}
	if err := there.read(ctx, nil, o); err != nil {
		return nil //nolint:nilerr // an older version accepted an object that is invalid now
	}
	here := there
	here.in = from
	if remove && from.Owner != to.Owner && here.role(there.next) != schedule.Bystander {
		return calendar.Errorf(calendar.Forbidden, calendar.RuleOrganizerChange,
			"this is an event with guests of the owner of %q, and stays in their calendars", from.Name)
	}
	if there.is == schedule.Bystander {
		o.ScheduleTag = ""
		return nil
	}
	if err := there.lookUp(ctx); err != nil {
		return err
	}
	there.copies = slices.DeleteFunc(there.copies,
		func(a calendar.Appointment) bool { return remove && a.Calendar == from.ID })
	return there.checkUnique()
}

// organizerHere returns the user who organizes the event, or false if the organizer has no account here.
func (m *meeting) organizerHere() (calendar.User, bool) {
	o := m.before
	if o == nil {
		o = m.next
	}
	u, here := m.parties[schedule.OrganizerOf(o)]
	return u, here
}

func (m *meeting) away() bool {
	_, here := m.organizerHere()
	return !here
}

// orphan reports whether the event's organizer is a user of this server but no longer has the event. Then it belongs
// only to the user who still has it.
func (m *meeting) orphan() bool {
	u, here := m.organizerHere()
	return here && m.copyOf(u.ID) == nil
}

// setData replaces an object's data with the version from the scheduling rules.
func (m *meeting) setData(o *calendar.Object, made *content.Object) error {
	data := made.Document.Bytes()
	if err := m.validator.CheckSize(data); err != nil {
		return err
	}
	o.Data, o.ETag, o.Size, o.Derived = data, calendar.ETagOf(data), int64(len(data)), m.validator.DerivedOf(made)
	return nil
}

// setScheduleTag sets an object's schedule tag, which differs after each change by a client (RFC 6638 §3.2.10).
func (m *meeting) setScheduleTag(next *calendar.Object) {
	switch {
	case next == nil:
	case m.is == schedule.Bystander:
		next.ScheduleTag = ""
	default:
		next.ScheduleTag = calendar.ScheduleTag(next.ETag)
	}
}

// refusal converts a refusal by the scheduling rules.
func refusal(err error) error {
	refused, ok := errors.AsType[*schedule.RefusalError](err)
	if !ok {
		return err
	}
	e := calendar.Errorf(calendar.Forbidden, calendar.Rule(refused.Rule), "%s", refused.Message)
	e.Format, e.Args = refused.Format, refused.Args
	return e
}
