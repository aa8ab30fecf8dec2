package delivery

import (
	"context"
	"errors"
	"maps"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// ownMost bounds the bytes that attendees have added to their copies, in all, for a change to keep these additions.
// Beyond it, they are lost: they must not slow the sender's change.
const ownMost = 16 << 20

// messageMeter returns the meter for a change's messages: it counts their text and the work. It never waits for other
// meters, because the change holds locks.
func (w *Work) messageMeter(ctx context.Context) *meter.Meter {
	pool := meter.NewPool(meter.Config{Turns: 1, Limits: w.limits.Telling, Refuse: errTooManyMessages})
	return pool.Meter(ctx, string(w.Caller.Author().ID))
}

// errTooManyMessages is the error for a change whose messages are too large.
func errTooManyMessages(o *meter.OverrunError) error {
	return calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize,
		"this event is too large for so many attendees: notifying all of them takes more than %d %s", o.Limit, o.Of).
		Advising("invite fewer people, change fewer single instances, or store long texts elsewhere and link to them")
}

// text is a message as text, created once for all recipients.
type text struct {
	object *content.Object
	err    error
	item   calendar.InboxItem
	late   bool
	// crowded is set if it has more attendees than a mail names; nil if that is not known yet.
	crowded *bool
}

// textOf creates the text of a message.
func (m *meeting) textOf(msg schedule.Message) *text {
	if known := m.texts[msg.Document]; known != nil {
		return known
	}
	t := &text{item: m.itemOf(msg)}
	if t.object, t.err = content.Of(msg.Document); t.err == nil {
		_, end := t.object.Span(m.zones)
		t.late = end != nil && *end < m.Now().Unix() && msg.Method != schedule.Reply
	}
	if m.texts == nil {
		m.texts = map[*ical.Document]*text{}
	}
	m.texts[msg.Document] = t
	return t
}

// itemOf returns a message as an inbox item. A repeated message replaces itself.
func (w *Work) itemOf(msg schedule.Message) calendar.InboxItem {
	data := msg.Document.Bytes()
	return calendar.InboxItem{
		Name: change.HashedName(calendar.UID(data)), Created: w.Now().Truncate(time.Second),
		Method: calendar.Method(msg.Method), Data: data,
	}
}

// version is a copy after a message, ready to be stored.
type version struct {
	schedule.Delivered
	data    []byte
	etag    calendar.ETag
	derived calendar.Derived
	// fits is set if it is not too large to be stored.
	fits bool
}

// versionOf returns the version to store. If the copy has grown too large, it first loses its owner's additions. If it
// still does not fit, the copy is not updated: the sender's change goes ahead.
func (w *Work) versionOf(done schedule.Delivered) version {
	data := done.Object.Document.Bytes()
	fits := w.validator.CheckSize(data) == nil
	if !fits {
		schedule.Lighten(done.Object)
		data = done.Object.Document.Bytes()
		fits = w.validator.CheckSize(data) == nil
	}
	return version{done, data, calendar.ETagOf(data), w.validator.DerivedOf(done.Object), fits}
}

// merging identifies the application of one message to many equal copies: the result is computed once. Copies of the
// second half of a split series are equal if the copies of the series were.
type merging struct {
	copy calendar.ETag
	text *text
	room bool // each room decides by itself
}

// merged is the result for one of the copies, and stored is that copy.
type merged struct {
	version
	stored []byte
	err    error
}

// merge applies an organizer's message to a user's copy of the event.
func (m *meeting) merge(
	ctx context.Context, a *calendar.Appointment, user calendar.User, msg schedule.Message, t *text,
) (version, error) {
	self := m.parties.Are(user.ID)
	own, err := m.formerCopy(ctx, a)
	if err != nil {
		return version{}, err
	}
	key := merging{a.ETag + own.ETag, t, user.Room.Bookable()}
	if known, there := m.merges[key]; there {
		a.Data = known.stored
		return known.of(self), known.err
	}
	d := schedule.Delivery{Message: t.object, Self: self, Room: user.Room.Bookable()}
	if err := m.readCopy(ctx, a, len(t.item.Data)); err != nil {
		return version{}, err
	}
	if len(own.Data) > 0 {
		d.Own, _ = content.Read(own.Data, unlimited)
	}
	if len(a.Data) > 0 {
		var err error
		if d.Stored, err = content.Read(a.Data, unlimited); err != nil {
			return version{}, unusable{err}
		}
		if err := m.lookUpOrganizer(ctx, d.Stored); err != nil {
			return version{}, err
		}
		if m.rules.Known {
			d.Earlier = m.earlier(ctx, *a)
		}
	}
	if err := m.rules.Meter.Work(int64(mergeSteps * (len(a.Data) + len(t.item.Data)) >> 6)); err != nil {
		return version{}, err
	}
	apply := m.rules.Invite
	if msg.Method == schedule.Cancel {
		apply = m.rules.CallOff
	}
	done, err := apply(ctx, d)
	if err != nil {
		err = unusable{err}
	}
	made := merged{stored: a.Data, err: err}
	if err == nil {
		made.version = m.versionOf(done)
	}
	if !d.Room && !schedule.Personal(d.Stored) {
		if m.merges == nil {
			m.merges = map[merging]merged{}
		}
		m.merges[key] = made
	}
	return made.version, err
}

// formerCopy returns the attendee's copy of the undivided series, if the event is its second half; zero otherwise.
func (m *meeting) formerCopy(ctx context.Context, a *calendar.Appointment) (calendar.Appointment, error) {
	if m.rules.Origin == nil || a.ETag != "" {
		return calendar.Appointment{}, nil
	}
	if m.formers == nil {
		users := []calendar.UserID{}
		for _, u := range m.parties {
			users = append(users, u.ID)
		}
		all, err := m.Appointments(ctx, users, calendar.UID(m.rules.Origin.UID))
		if err != nil {
			return calendar.Appointment{}, err
		}
		m.formers = map[calendar.UserID]calendar.Appointment{}
		for _, f := range all {
			m.formers[f.Owner] = f
		}
	}
	return m.formers[a.Owner], nil
}

// mergeSteps is the approximate cost of reading, merging and writing 64 bytes of a copy.
const mergeSteps = 60

// of returns the result for the owner of another copy with the same text.
func (m merged) of(self schedule.Self) version {
	v := m.version
	if m.err == nil {
		v.Delivered = v.For(self)
	}
	return v
}

// readCopy loads the data of a copy. If attendees have added too much, it leaves the data out, and the message replaces
// the copy.
func (m *meeting) readCopy(ctx context.Context, a *calendar.Appointment, message int) error {
	if a.Size == 0 {
		return nil
	}
	if extra := a.Size - int64(2*message) - 16<<10; extra > 0 {
		if m.extra += extra; m.extra > ownMost {
			a.Data = nil
			return nil
		}
	}
	return m.loadData(ctx, a)
}

// loadCopy returns a user's copy of the event with its data, even if it is large, or nil.
func (m *meeting) loadCopy(ctx context.Context, user calendar.UserID) (*calendar.Appointment, error) {
	a := m.copyOf(user)
	if a == nil {
		return nil, nil // no copy is a valid result
	}
	return a, m.loadData(ctx, a)
}

// loadData loads the data of a large copy.
func (w *Work) loadData(ctx context.Context, a *calendar.Appointment) error {
	if len(a.Data) > 0 {
		return nil
	}
	_, o, err := w.Duplicates(ctx, a.Calendar, "", a.UID)
	if err == nil && o != nil {
		a.Data = o.Data
	}
	return err
}

// lookUpOrganizer looks up the organizer of a user's copy, who may have another address there than in the event.
func (m *meeting) lookUpOrganizer(ctx context.Context, stored *content.Object) error {
	org := schedule.OrganizerOf(stored)
	if _, known := m.parties[org]; known || m.asked[org] || org == schedule.OrganizerOf(m.before) ||
		org == schedule.OrganizerOf(m.next) {
		return nil
	}
	if m.asked == nil {
		m.asked = map[schedule.Address]bool{}
	}
	m.asked[org] = true
	found, err := m.reader.FindParties(ctx, m.Tx, []schedule.Address{org})
	maps.Copy(m.parties, found)
	return err
}

// unusable is the reason why a copy or a message cannot be processed.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// fatal returns the errors that stop the whole change, such as errors of the store or an exceeded limit. An unusable
// message only fails itself, which its delivery status shows.
func fatal(ctx context.Context, err error) error {
	if _, alone := errors.AsType[unusable](err); !alone {
		return err
	}
	if _, ours := errors.AsType[*calendar.Error](err); ours {
		return err
	}
	return ctx.Err()
}
