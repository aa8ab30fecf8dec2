package ledger

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

// organized finds out of what is surely not scheduled that it is not, without reading it.
var organized = regexp.MustCompile(`(?i)\nORGANIZER[;:]`)

// guested finds out that an event may have guests, whom its source would write to.
var guested = regexp.MustCompile(`(?i)\nATTENDEE[;:]`)

// unlimited are the limits of what is stored already.
var unlimited = ical.Limits{}

// partiesOf looks up the people whom events name.
func (w *work) partiesOf(ctx context.Context, objects ...*content.Object) (lookup.Parties, error) {
	var named []schedule.Address
	for _, o := range objects {
		if o != nil {
			named = append(named, schedule.Parties(o)...)
		}
	}
	return w.FindParties(ctx, w.Tx, named)
}

// meeting is a change of an event with guests, under way.
type meeting struct {
	*work
	// in is the calendar in which the change was made, tell says which people hear of it.
	in   calendar.Calendar
	tell calendar.Telling
	// before and next are the event; next is nil when it is gone.
	before, next *content.Object
	parties      lookup.Parties
	// was and is are the owner's role in it, before and after.
	was, is schedule.Role
	// edited is set when the change was made to the stored text.
	edited bool
	rules  schedule.Rules
	// copies are the copies of the users whom the event names.
	copies []calendar.Appointment
	// formers are the users' copies of the undivided series, if a new event is its second half.
	formers map[calendar.UserID]calendar.Appointment
	// renewed is the owner's object after it came back from the trash and was brought up to date.
	renewed *content.Object
	// receptions are where users without a copy get one.
	receptions map[calendar.UserID]calendar.CalendarID
	// texts are the messages as they are written, mails those that leave by mail taken apart, merges what they made of copies, asked the organizers that were looked
	// up. Extra is how many bytes guests have added to their copies.
	texts  map[*ical.Document]*text
	mails  map[*ical.Document][]schedule.Message
	merges map[merging]merged
	asked  map[schedule.Address]bool
	extra  int64
}

// schedule does what follows from a change of an event with guests: next becomes what is to be stored, and guests, or the
// organizer, are told. Of old and next either may be nil. For an event in a linked calendar its source does that.
func (w *work) schedule(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling) error {
	return w.scheduleDraft(ctx, cal, old, next, calendar.Draft{Telling: tell})
}

// scheduleDraft is schedule for a draft, which says where the change comes from.
func (w *work) scheduleDraft(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, d calendar.Draft) error {
	tell := d.Telling
	if cal.Origin.Mirrors() && (old != nil && guested.Match(old.Data) || next != nil && guested.Match(next.Data)) {
		if err := w.caller.HasScope(calendar.TellOthers); err != nil {
			return err
		}
	}
	if cal.Origin.Mirrors() {
		if err := w.tellAbroad(ctx, cal, old, next, tell); err != nil {
			return err
		}
	}
	if cal.Origin.Mirrors() || (old == nil || !organized.Match(old.Data)) && (next == nil || !organized.Match(next.Data)) {
		if next != nil {
			next.ScheduleTag = ""
		}
		return nil
	}
	m, err := w.readMeeting(ctx, cal, old, next, tell)
	if err != nil {
		return err
	}
	m.edited = d.Edited
	if d.From != "" && w.replaced != nil && w.replaced.UID == d.From {
		m.rules.Origin, _ = content.Read(w.replaced.Data, unlimited)
	}
	if tell == calendar.Unscheduled {
		if err := m.agree(ctx, old, next); err != nil {
			return err
		}
		m.tag(next)
		return nil
	}
	out, err := m.decide(ctx, old)
	if err != nil {
		return refusal(err)
	}
	if err := m.carryOut(ctx, &out); err != nil {
		return err
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
		if err := m.keep(next, out.Object); err != nil {
			return err
		}
		m.is = m.role(out.Object)
	}
	m.tag(next)
	return nil
}

// readMeeting reads both versions of an event.
func (w *work) readMeeting(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling) (*meeting, error) {
	m := &meeting{work: w, in: cal, tell: tell, rules: schedule.Rules{Zones: w.zones, Now: w.now(), Known: tell == calendar.TellAgain}}
	m.rules.Person, m.rules.Meter = m.person, w.telling(ctx)
	return m, m.read(ctx, old, next)
}

// agree has what a guest takes out of the trash say what the organizer knows of their answer: to throw it away declined.
func (m *meeting) agree(ctx context.Context, old, next *calendar.Object) error {
	organizer, here := m.organizerHere()
	if old != nil || next == nil || m.is != schedule.Attendee || !here {
		return nil
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	a, err := m.whole(ctx, organizer.ID)
	if err != nil || a == nil {
		return err
	}
	organized, _ := content.Read(a.Data, unlimited)
	if organized == nil || schedule.OrganizerOf(organized) != schedule.OrganizerOf(m.next) {
		return nil
	}
	if changed, err := m.rules.Agree(ctx, m.next, organized, m.parties.Are(m.in.Owner)); err != nil || !changed {
		return nil //nolint:nilerr // what cannot be calculated with stays as it was
	}
	return m.keep(next, m.next)
}

// read reads both versions, and finds the people in them. An unreadable object of an older program counts as none.
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

// person tells who has an address.
func (m *meeting) person(a schedule.Address) schedule.Person { return m.parties.Person(a) }

func (m *meeting) role(o *content.Object) schedule.Role {
	if o == nil {
		return schedule.Bystander
	}
	return schedule.RoleIn(o, m.parties.Are(m.in.Owner))
}

// decide asks the rules.
func (m *meeting) decide(ctx context.Context, old *calendar.Object) (schedule.Outcome, error) {
	self := m.parties.Are(m.in.Owner)
	if m.was == schedule.Bystander && m.is == schedule.Bystander {
		return schedule.Outcome{}, nil
	}
	if err := m.lookUp(ctx); err != nil {
		return schedule.Outcome{}, err
	}
	if old == nil {
		if err := m.unique(); err != nil {
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
		if err := m.calledOff(ctx); err != nil {
			return schedule.Outcome{}, err
		}
		return m.rules.Organize(ctx, nil, next, self)
	default:
		return m.rules.Attend(ctx, nil, next, m.guest(ctx, self))
	}
}

// guest describes the calendar's owner as an attendee.
func (m *meeting) guest(ctx context.Context, self schedule.Self) schedule.Guest {
	return schedule.Guest{Self: self, Away: m.away(), Exact: m.edited, Told: func() *content.Object { return m.toldOwner(ctx) }}
}

// calledOff finds what guests were told last of an event with the same UID that was deleted here: some programs delete an
// event and make it anew where they change it.
func (m *meeting) calledOff(ctx context.Context) error {
	uid := calendar.UID(m.next.UID)
	for e, err := range m.Journal(ctx, m.in.ID, calendar.JournalQuery{Of: &uid, WithBefore: true}) {
		if err != nil || e.Did != calendar.Deleted {
			return err
		}
		// Where the journal has forgotten the event, or its line is damaged, the new one is counted as if there had been none:
		// guests who know of the end may take it for older. To refuse it would keep its owner from the UID for good.
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

// lookUp finds the copies of the users whom the event names.
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

// copyOf is a user's copy of the event; nil for none.
func (m *meeting) copyOf(user calendar.UserID) *calendar.Appointment {
	i := slices.IndexFunc(m.copies, func(a calendar.Appointment) bool { return a.Owner == user })
	if i < 0 {
		return nil
	}
	return &m.copies[i]
}

// unique sees that somebody has an event with guests once (RFC 6638 §3.2.4.1): answers would go to one of them only.
func (m *meeting) unique() error {
	for _, a := range m.copies {
		if a.Owner == m.in.Owner && a.Calendar != m.in.ID {
			e := calendar.Errorf(calendar.Exists, calendar.RuleUniqueScheduling, "the owner of this calendar has this event with guests in another calendar already")
			e.Conflict, e.ConflictIn = a.Name, a.Calendar
			return e
		}
	}
	return nil
}

// elsewhere refuses an event with guests that the owner of a calendar has in another one already, though nobody is told
// of what is stored: both copies would answer later.
func (w *work) elsewhere(ctx context.Context, cal calendar.Calendar, next calendar.Object) error {
	if !organized.Match(next.Data) {
		return nil
	}
	o, err := content.Read(next.Data, unlimited)
	if err != nil {
		return err
	}
	m := meeting{work: w, in: cal, next: o}
	if m.parties, err = w.partiesOf(ctx, o); err != nil || m.role(o) == schedule.Bystander {
		return err
	}
	if err := m.lookUp(ctx); err != nil {
		return err
	}
	m.copies = append(m.copies, w.before.copiesOf(next.UID)...)
	return m.unique()
}

// organizerHere is the user who organizes the event; false where that is nobody of this server.
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

// orphan tells whether the event's organizer, a user of this server, has no such event: then it belongs only to the user
// who still has it.
func (m *meeting) orphan() bool {
	u, here := m.organizerHere()
	return here && m.copyOf(u.ID) == nil
}

// keep takes over an object as the rules made it.
func (m *meeting) keep(o *calendar.Object, made *content.Object) error {
	data := made.Document.Bytes()
	if err := m.mayHold(data); err != nil {
		return err
	}
	o.Data, o.ETag, o.Size, o.Derived = data, calendar.ETagOf(data), int64(len(data)), m.derivedOf(made)
	return nil
}

// tag gives an object its schedule tag, which is another one with each change that a program makes (RFC 6638 §3.2.10).
func (m *meeting) tag(next *calendar.Object) {
	switch {
	case next == nil:
	case m.is == schedule.Bystander:
		next.ScheduleTag = ""
	default:
		next.ScheduleTag = calendar.ScheduleTag(next.ETag)
	}
}

// refusal renders a refusal by the rules.
func refusal(err error) error {
	refused, ok := errors.AsType[*schedule.RefusalError](err)
	if !ok {
		return err
	}
	return calendar.Errorf(calendar.Forbidden, calendar.Rule(refused.Rule), "%s", refused.Message)
}
