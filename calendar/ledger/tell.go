package ledger

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/schedule"
)

// The outcomes of a message (RFC 6638 §3.2.9).
const (
	statusPending   = "1.0"
	statusUnfiled   = "1.1"
	statusDelivered = "1.2"
	statusNobody    = "3.7"
	statusForbidden = "3.8"
	statusFailed    = "5.1"
	statusNoService = "5.2"
)

// lettersHeld is how long mail waits for the next change: people seldom make only one.
const lettersHeld = 30 * time.Second

// refreshMost is how many guests are told at once what another one has answered. Of a larger event they hear with its
// next change.
const refreshMost = 50

// carryOut tells the guests, or the organizer, what a change has for them, and notes what came of it.
func (m *meeting) carryOut(ctx context.Context, out *schedule.Outcome) error {
	messages := m.wanted(out.Messages)
	if len(messages) == 0 {
		return nil
	}
	if told := heard(messages); len(told) > 0 {
		if m.tell == calendar.TellNobody {
			return errMustTell(told)
		}
		if err := m.caller.HasScope(calendar.TellOthers); err != nil {
			return err
		}
	}
	if err := m.prepare(ctx, messages); err != nil {
		return err
	}
	for _, msg := range messages {
		if m.caller.User.ID != m.in.Owner {
			if mail := m.caller.User.Email; mail != "" {
				msg.SentBy(schedule.AddressOf("mailto:" + mail))
			}
		}
		status, err := m.deliver(ctx, msg)
		if err != nil {
			return err
		}
		if m.renewed != nil {
			out.Object = m.renewed
		}
		if msg.Refresh || m.parties.Are(m.in.Owner)(msg.To) {
			continue
		}
		m.told = append(m.told, calendar.Told{To: cmp.Or(msg.To.Mail(), string(msg.To)), Method: calendar.Method(msg.Method), Status: status})
		if out.Object != nil && status != "" {
			schedule.Note(out.Object, m.person(msg.To), status)
		}
	}
	return nil
}

// heard returns the messages of which people hear: a guest sees that somebody else takes part by looking.
func heard(all []schedule.Message) []schedule.Message {
	return slices.DeleteFunc(slices.Clone(all), func(m schedule.Message) bool { return m.Refresh })
}

// errMustTell refuses a change that guests would have to hear of, to a caller who wants nobody told.
func errMustTell(messages []schedule.Message) error {
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "this changes what %s and others were told of the event, and nobody is to be told", messages[0].To)
	if len(messages) == 1 {
		e.Message = "this changes what " + string(messages[0].To) + " was told of the event, and nobody is to be told"
	}
	e.Hint = "let them be told, which takes the scope invite"
	return e
}

// wanted leaves out what nobody wants: that somebody who throws an invitation away says nothing, if that is how they
// want it.
func (m *meeting) wanted(all []schedule.Message) []schedule.Message {
	if m.tell == calendar.TellNobody && m.next == nil && m.was == schedule.Attendee {
		return nil
	}
	return slices.DeleteFunc(all, func(msg schedule.Message) bool {
		// An attendee who never answered an organizer elsewhere stays silent now: a message would tell that they exist.
		return msg.Method == schedule.Reply && m.next == nil && m.away() && m.unanswered()
	})
}

// unanswered tells whether the owner has said nothing yet to what was thrown away.
func (m *meeting) unanswered() bool {
	return m.before != nil && schedule.Answered(m.before, m.parties.Are(m.in.Owner)) == schedule.NeedsAction
}

// prepare sees that all calendars are open that the messages reach.
func (m *meeting) prepare(ctx context.Context, messages []schedule.Message) error {
	var reached []calendar.CalendarID
	var without []calendar.UserID
	reach := func(user calendar.UserID) {
		if a := m.copyOf(user); a != nil {
			reached = append(reached, a.Calendar)
		} else {
			without = append(without, user)
		}
	}
	for _, msg := range messages {
		if u, here := m.parties[msg.To]; here && u.ID != m.in.Owner {
			reach(u.ID)
		}
		if msg.Method == schedule.Reply {
			for _, user := range m.refreshed(m.parties[msg.To].ID) {
				reach(user)
			}
		}
	}
	if len(without) > 0 {
		var err error
		if m.receptions, err = m.Receptions(ctx, without, m.kind()); err != nil {
			return err
		}
		reached = slices.AppendSeq(reached, maps.Values(m.receptions))
	}
	return m.reach(reached)
}

func (m *meeting) kind() calendar.Kind {
	if m.next != nil {
		return calendar.Kind(m.next.Kind)
	}
	return calendar.Kind(m.before.Kind)
}

// refreshed are the users who are told at once what somebody has answered to an organizer.
func (m *meeting) refreshed(organizer calendar.UserID) []calendar.UserID {
	var all []calendar.UserID
	for _, a := range m.copies {
		if a.Owner != organizer && a.Owner != m.in.Owner && !slices.Contains(all, a.Owner) {
			all = append(all, a.Owner)
		}
	}
	if len(all) > refreshMost {
		return nil
	}
	return all
}

// deliver brings a message to its recipient, and returns the outcome.
func (m *meeting) deliver(ctx context.Context, msg schedule.Message) (string, error) {
	user, here := m.parties[msg.To]
	switch {
	case !here:
		return m.post(msg), nil
	case user.ID == m.in.Owner:
		return "", nil
	}
	text, err := content.Of(msg.Document)
	if err != nil {
		return statusFailed, nil //nolint:nilerr // such as an event of which nothing is left to tell
	}
	if msg.Method == schedule.Reply {
		return m.reply(ctx, user, msg, text)
	}
	return m.invite(ctx, user, msg, text)
}

// invite puts an organizer's message into a user's calendar.
func (m *meeting) invite(ctx context.Context, user calendar.User, msg schedule.Message, text *content.Object) (string, error) {
	a := m.copyOf(user.ID)
	if a == nil {
		at, there := m.receptions[user.ID]
		switch {
		case msg.Method == schedule.Cancel, msg.Answered == schedule.Declined && !msg.First && !msg.Retimed:
			return statusDelivered, nil // they have thrown it away
		case !there:
			return statusFailed, nil
		}
		a = &calendar.Appointment{Owner: user.ID, Object: calendar.Object{Calendar: at, Name: calendar.ObjectName(m.newID() + ".ics")}}
	}
	d := schedule.Delivery{Message: text, Self: m.parties.Are(user.ID), Whole: msg.Whole}
	if a.Data != nil {
		if d.Stored, _ = content.Read(a.Data, unlimited); d.Stored == nil {
			return statusFailed, nil
		}
		if err := m.recognize(ctx, d.Stored); err != nil {
			return "", err
		}
	}
	apply := m.rules.Invite
	if msg.Method == schedule.Cancel {
		apply = m.rules.CallOff
	}
	done, err := apply(ctx, d)
	switch {
	case errors.Is(err, schedule.ErrForeign):
		// Another event under that UID keeps no invitation away: it can be read, if not filed.
		if !msg.Refresh {
			m.drop(user.ID, msg)
		}
		return statusUnfiled, nil
	case errors.Is(err, schedule.ErrSame):
	case err != nil:
		return statusFailed, nil //nolint:nilerr // a copy that cannot be calculated with
	default:
		fresh := a.Data == nil
		if !m.fits(&done) && msg.Method != schedule.Cancel {
			return statusFailed, nil
		}
		if err := m.settleCopy(ctx, a, done); err != nil {
			return "", err
		}
		if fresh {
			m.copies = append(m.copies, *a)
		}
	}
	if !msg.Refresh {
		m.drop(user.ID, msg)
	}
	return statusDelivered, nil
}

// recognize finds the organizer of a user's copy, who may be known there by another address than in the event.
func (m *meeting) recognize(ctx context.Context, stored *content.Object) error {
	org := schedule.OrganizerOf(stored)
	if _, known := m.parties[org]; known || org == schedule.OrganizerOf(m.before) || org == schedule.OrganizerOf(m.next) {
		return nil
	}
	found, err := lookup.FindParties(ctx, m.Tx, []schedule.Address{org})
	maps.Copy(m.parties, found)
	return err
}

// reply puts an answer into the organizer's event, and lets the other guests know.
func (m *meeting) reply(ctx context.Context, user calendar.User, msg schedule.Message, text *content.Object) (string, error) {
	a := m.copyOf(user.ID)
	if a == nil {
		return statusFailed, nil
	}
	stored, err := content.Read(a.Data, unlimited)
	if err != nil || !m.parties.Are(user.ID)(schedule.OrganizerOf(stored)) {
		return statusFailed, nil //nolint:nilerr // they have something else under that UID
	}
	made, err := m.answer(ctx, stored, text, msg.From, false)
	switch {
	case errors.Is(err, schedule.ErrUninvited):
		m.drop(user.ID, msg) // for the organizer to decide
		return statusForbidden, nil
	case err != nil && !errors.Is(err, schedule.ErrSame):
		return statusFailed, nil
	case err == nil:
		if m.mayHold(made.Document.Bytes()) != nil {
			return statusFailed, nil //nolint:nilerr // the status says that their copy is full
		}
		if err := m.settleCopy(ctx, a, schedule.Delivered{Object: made}); err != nil {
			return "", err
		}
		if err := m.refresh(ctx, made, user.ID); err != nil {
			return "", err
		}
		m.renew(ctx, made, msg.From)
	}
	m.drop(user.ID, msg)
	return statusDelivered, nil
}

// renew brings what a guest takes out of the trash up to date: they were not told of what changed since they had
// declined.
func (m *meeting) renew(ctx context.Context, event *content.Object, guest schedule.Address) {
	if m.tell != calendar.TellAgain {
		return
	}
	msg, err := m.rules.Refreshed(ctx, event, guest)
	if err != nil || msg.Document == nil {
		return
	}
	text, err := content.Of(msg.Document)
	if err != nil {
		return
	}
	done, err := m.rules.Invite(ctx, schedule.Delivery{Stored: m.next, Message: text, Self: m.parties.Are(m.in.Owner), Whole: true})
	if err == nil {
		m.renewed = done.Object
	}
}

// refresh lets guests see the answers of others. No mail tells them.
func (m *meeting) refresh(ctx context.Context, event *content.Object, organizer calendar.UserID) error {
	for _, user := range m.refreshed(organizer) {
		named := schedule.Attendees(event)
		i := slices.IndexFunc(named, m.parties.Are(user))
		if i < 0 {
			continue
		}
		msg, err := m.rules.Refreshed(ctx, event, named[i])
		if err != nil || msg.Document == nil {
			continue // what cannot be told now is told with the next change
		}
		text, err := content.Of(msg.Document)
		if err != nil {
			continue
		}
		if _, err := m.invite(ctx, m.parties[named[i]], msg, text); err != nil {
			return err
		}
	}
	return nil
}

// inboxItem is a message on its way into an inbox.
type inboxItem struct {
	to calendar.UserID
	calendar.InboxItem
}

// drop puts a message into a user's inbox. One that comes again takes its own place.
func (w *work) drop(to calendar.UserID, msg schedule.Message) {
	data := msg.Document.Bytes()
	w.inboxes = append(w.inboxes, inboxItem{to, calendar.InboxItem{
		Name: hashedName(calendar.UID(data)), Created: w.now().Truncate(time.Second), Data: data,
	}})
}

// post puts a message to somebody elsewhere into the outbox. Nobody gets mail about an event that is over.
func (m *meeting) post(msg schedule.Message) string {
	to := msg.To.Mail()
	switch {
	case to == "":
		return statusNobody
	case !m.mailed:
		return statusNoService
	// A guest who declined is told that the event is called off, too: they may just be changing their mind.
	case msg.Refresh, m.over(msg):
		return ""
	}
	if m.letters == nil {
		m.letters = map[calendar.UserID][]calendar.Letter{}
	}
	now := m.now()
	m.letters[m.in.Owner] = append(m.letters[m.in.Owner], calendar.Letter{
		ID: calendar.LetterID(m.newID()), User: m.in.Owner, From: calendar.MailAddress(msg.From.Mail()), To: calendar.MailAddress(to),
		Method: calendar.Method(msg.Method), UID: m.uid(), Recurrence: msg.Recurrence, Sequence: int64(msg.Sequence), First: msg.First,
		Posted: now, Due: now.Add(lettersHeld), Data: msg.Document.Bytes(),
	})
	return statusPending
}

func (m *meeting) uid() calendar.UID {
	if m.next != nil {
		return calendar.UID(m.next.UID)
	}
	return calendar.UID(m.before.UID)
}

// over tells whether all that a message is about is past. That somebody is on their way to what is called off is no past.
func (m *meeting) over(msg schedule.Message) bool {
	text, err := content.Of(msg.Document)
	if err != nil {
		return false
	}
	_, end := text.Span(m.zones)
	return end != nil && *end < m.now().Unix() && msg.Method != schedule.Reply
}

// send empties the inboxes' and the letters' part of the outbox, in the order in which they are locked.
func (w *work) send(ctx context.Context) error {
	slices.SortStableFunc(w.inboxes, func(a, b inboxItem) int { return cmp.Compare(a.to, b.to) })
	for _, i := range w.inboxes {
		if err := w.PutInboxItem(ctx, i.to, i.InboxItem); err != nil {
			return err
		}
	}
	for _, user := range slices.Sorted(maps.Keys(w.letters)) {
		if err := w.Post(ctx, user, w.letters[user], w.limits.Outbox); err != nil {
			return err
		}
	}
	return nil
}
