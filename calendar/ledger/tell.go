package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// The outcomes of a message (RFC 6638 §3.2.9).
const (
	statusPending   = "1.0"
	statusUnfiled   = "1.1"
	statusDelivered = "1.2"
	statusNobody    = "3.7"
	statusForbidden = "3.8"
	statusFailed    = "5.1"
	statusRefused   = "5.3"
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
	if err := m.mayTell(messages); err != nil {
		return err
	}
	m.sign(messages)
	if err := m.prepare(ctx, messages); err != nil {
		return err
	}
	came := map[schedule.Person]string{}
	for _, msg := range messages {
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
		m.told = append(m.told, calendar.Told{To: msg.To.Name(), Method: calendar.Method(msg.Method), Status: status})
		if status != "" {
			came[m.person(msg.To)] = status
		}
	}
	if out.Object != nil {
		m.rules.Note(out.Object, came)
	}
	return nil
}

// mayTell refuses messages that would reach people, if the caller may not send any.
func (m *meeting) mayTell(messages []schedule.Message) error {
	told := heard(messages)
	switch {
	case len(told) == 0:
		return nil
	case m.tell == calendar.TellNobody:
		return errMustTell(told)
	}
	return m.caller.HasScope(calendar.TellOthers)
}

// sign has messages say who wrote them, where that is not the one in whose name they are sent.
func (m *meeting) sign(messages []schedule.Message) {
	if m.caller.User.ID == m.in.Owner || m.caller.User.Email == "" {
		return
	}
	signed := map[*ical.Document]bool{}
	for _, msg := range messages {
		if !signed[msg.Document] {
			signed[msg.Document] = true
			msg.SentBy(schedule.AddressOf("mailto:" + m.caller.User.Email))
		}
	}
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
		return m.post(msg)
	case user.ID == m.in.Owner:
		return "", nil
	}
	t := m.textOf(msg)
	if t.err != nil {
		return statusFailed, nil //nolint:nilerr // such as an event of which nothing is left to tell
	}
	if msg.Method == schedule.Reply {
		return m.reply(ctx, user, msg, t)
	}
	return m.invite(ctx, user, msg, t)
}

// invite puts an organizer's message into a user's calendar.
func (m *meeting) invite(ctx context.Context, user calendar.User, msg schedule.Message, t *text) (string, error) {
	a := m.copyOf(user.ID)
	if a == nil {
		at, there := m.receptions[user.ID]
		switch {
		case msg.Method == schedule.Cancel:
			return m.withoutCopy(user), nil
		case msg.Answered == schedule.Declined && !msg.First && !msg.Retimed:
			return statusDelivered, nil // they have thrown it away
		case !there:
			return statusFailed, nil
		}
		a = &calendar.Appointment{Owner: user.ID, Object: calendar.Object{Calendar: at, Name: calendar.ObjectName(m.newID() + ".ics")}}
	}
	fresh := a.ETag == ""
	made, err := m.merge(ctx, a, user, msg, t)
	switch {
	case errors.Is(err, schedule.ErrForeign):
		// Another event under that UID keeps no invitation away: it can be read, if not filed.
		if !msg.Refresh {
			m.drop(user.ID, t.item)
		}
		return statusUnfiled, nil
	case errors.Is(err, schedule.ErrSame):
	case err != nil:
		return statusFailed, fails(ctx, err) // a copy that cannot be calculated with
	default:
		if !made.fits && msg.Method != schedule.Cancel {
			return statusFailed, nil
		}
		if !m.admits(string(m.in.Owner), msg, user, a, made, t.item) {
			return statusRefused, nil
		}
		if err := m.rules.Meter.Write(int64(len(made.data))); err != nil {
			return "", err
		}
		if err := m.settleCopy(ctx, a, made); err != nil {
			return "", err
		}
		if msg.Method != schedule.Cancel && !msg.Refresh {
			if err := m.booked(ctx, user, a.Calendar, a.UID); err != nil {
				return "", err
			}
		}
		if fresh {
			m.copies = append(m.copies, *a)
		}
	}
	if !msg.Refresh {
		m.drop(user.ID, t.item)
	}
	return statusDelivered, nil
}

// withoutCopy is the status of a cancellation to a guest who has no copy: they have deleted it, unless the invitation never came
// to them. Then its failure still holds.
func (m *meeting) withoutCopy(user calendar.User) string {
	if m.before != nil {
		if s := schedule.StatusOf(m.before, m.parties.Are(user.ID)); s != "" && !(calendar.Told{Status: s}).Reached() {
			return s
		}
	}
	return statusDelivered
}

// reply puts an answer into the organizer's event, and lets the other guests know.
func (m *meeting) reply(ctx context.Context, user calendar.User, msg schedule.Message, t *text) (string, error) {
	a, err := m.whole(ctx, user.ID)
	if err != nil || a == nil {
		return statusFailed, err
	}
	stored, err := content.Read(a.Data, unlimited)
	if err != nil || !m.parties.Are(user.ID)(schedule.OrganizerOf(stored)) {
		return statusFailed, nil //nolint:nilerr // they have something else under that UID
	}
	made, err := m.answer(ctx, stored, t.object, msg.From, false)
	switch {
	case errors.Is(err, schedule.ErrUninvited):
		m.drop(user.ID, t.item) // for the organizer to decide
		return statusForbidden, nil
	case err != nil && !errors.Is(err, schedule.ErrSame):
		return statusFailed, fails(ctx, unusable{err})
	case err == nil:
		if !m.hasRoom(stored, made) {
			return statusFailed, nil // their copy is full, and nobody is invited to what it does not say
		}
		if err := m.widen(ctx, made, user.ID); err != nil {
			return "", err
		}
		if err := m.bring(ctx, user, stored, made); err != nil {
			return "", err
		}
		next := m.versionAsIs(schedule.Delivered{Object: made})
		if !next.fits {
			return "", m.mayHold(next.data)
		}
		if err := m.settleCopy(ctx, a, next); err != nil {
			return "", err
		}
		if err := m.refresh(ctx, made, user.ID); err != nil {
			return "", err
		}
		m.renew(ctx, made, msg.From)
	}
	m.drop(user.ID, t.item)
	return statusDelivered, nil
}

// renew brings what a guest takes out of the trash up to date: they were not told of what changed since they had
// declined.
func (m *meeting) renew(ctx context.Context, event *content.Object, guest schedule.Address) {
	if m.tell != calendar.TellAgain {
		return
	}
	all, err := m.rules.Refreshed(ctx, event, []schedule.Address{guest})
	if err != nil || len(all) == 0 {
		return
	}
	text, err := content.Of(all[0].Document)
	if err != nil {
		return
	}
	done, err := m.rules.Invite(ctx, schedule.Delivery{Stored: m.next, Message: text, Self: m.parties.Are(m.in.Owner)})
	if err == nil {
		m.renewed = done.Object
	}
}

// widen finds the copies of attendees whom the organizer's event names and the guest's copy does not: the attendees of single dates
// that the guest had left out.
func (m *meeting) widen(ctx context.Context, event *content.Object, organizer calendar.UserID) error {
	known := slices.Concat(schedule.Parties(m.before), schedule.Parties(m.next))
	more := slices.DeleteFunc(schedule.Attendees(event), func(a schedule.Address) bool { return slices.Contains(known, a) })
	if len(more) == 0 {
		return nil
	}
	found, err := m.FindParties(ctx, m.Tx, more)
	if err != nil {
		return err
	}
	var users []calendar.UserID
	for address, user := range found {
		m.parties[address] = user
		if m.copyOf(user.ID) == nil && !slices.Contains(users, user.ID) {
			users = append(users, user.ID)
		}
	}
	if len(users) == 0 {
		return nil
	}
	copies, err := m.Appointments(ctx, users, m.uid())
	if err != nil {
		return err
	}
	m.copies = append(m.copies, copies...)
	return m.reach(m.refreshedIn(organizer))
}

// refreshedIn returns the calendars that refresh changes.
func (m *meeting) refreshedIn(organizer calendar.UserID) []calendar.CalendarID {
	var all []calendar.CalendarID
	for _, user := range m.refreshed(organizer) {
		all = append(all, m.copyOf(user).Calendar)
	}
	return all
}

// refresh lets guests see the answers of others. No mail tells them.
func (m *meeting) refresh(ctx context.Context, event *content.Object, organizer calendar.UserID) error {
	named := schedule.Attendees(event)
	var to []schedule.Address
	for _, user := range m.refreshed(organizer) {
		if i := slices.IndexFunc(named, m.parties.Are(user)); i >= 0 {
			to = append(to, named[i])
		}
	}
	all, err := m.rules.Refreshed(ctx, event, to)
	if err != nil {
		return fails(ctx, unusable{err}) // what cannot be told now is told with the next change
	}
	for _, msg := range all {
		t := m.textOf(msg)
		if t.err != nil {
			continue
		}
		if _, err := m.invite(ctx, m.parties[msg.To], msg, t); err != nil {
			return err
		}
	}
	return nil
}

// drop puts a message into a user's inbox.
func (w *work) drop(to calendar.UserID, i calendar.InboxItem) {
	w.inboxes = append(w.inboxes, calendar.InboxEntry{To: to, InboxItem: i})
}

// post puts a message to somebody elsewhere into the outbox. Nobody gets mail about an event that is over; that somebody is
// on their way to what is called off is no past.
func (m *meeting) post(msg schedule.Message) (status string, err error) {
	switch {
	case msg.To.Mail() == "":
		return statusNobody, nil
	case !m.mailed:
		return statusNoService, nil
	case msg.Refresh:
		return "", nil
	}
	parts, err := m.apart(msg)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		t := m.textOf(part)
		// A guest who declined is told that the event is called off, too: they may just be changing their mind.
		if t.late {
			continue
		}
		if len(parts) > 1 {
			if err := m.rules.Meter.Write(int64(len(t.item.Data))); err != nil {
				return "", err
			}
		}
		part.To = msg.To
		m.enclose(part)
		status = statusPending
	}
	if status == "" && msg.Method == schedule.Request {
		m.unwritten = append(m.unwritten, calendar.Recipient{User: m.in.Owner, To: calendar.MailAddress(msg.To.Mail())})
	}
	return status, nil
}

// apart are the mails of a message, which are taken apart once for all who get them.
func (m *meeting) apart(msg schedule.Message) (parts []schedule.Message, err error) {
	if parts, known := m.mails[msg.Document]; known {
		return parts, nil
	}
	if m.mails == nil {
		m.mails = map[*ical.Document][]schedule.Message{}
	}
	m.mails[msg.Document], err = m.rules.Apart(msg)
	return m.mails[msg.Document], err
}

// enclose puts a mail into the outbox.
func (m *meeting) enclose(msg schedule.Message) {
	if m.letters == nil {
		m.letters = map[calendar.UserID][]calendar.Letter{}
	}
	now := m.now()
	m.letters[m.in.Owner] = append(m.letters[m.in.Owner], calendar.Letter{
		ID: calendar.LetterID(m.newID()), User: m.in.Owner, From: calendar.MailAddress(msg.From.Mail()), To: calendar.MailAddress(msg.To.Mail()),
		Method: calendar.Method(msg.Method), UID: m.uid(), Recurrence: msg.Recurrence, Sequence: int64(msg.Sequence), First: msg.First,
		Posted: now, Due: now.Add(lettersHeld), Data: m.textOf(msg).item.Data,
	})
}

func (m *meeting) uid() calendar.UID {
	if m.next != nil {
		return calendar.UID(m.next.UID)
	}
	return calendar.UID(m.before.UID)
}

// recipients are the people without an account here who get a message: by mail, or from the source of a linked calendar. Those whom
// an event that is over invites are among them: from then on they count as people to whom the user writes.
func (w *work) recipients() []calendar.Recipient {
	all := slices.Concat(w.guestsAbroad, w.unwritten)
	for _, letters := range w.letters {
		for _, l := range letters {
			all = append(all, calendar.Recipient{User: l.User, To: l.To})
		}
	}
	return all
}

// WroteTo reports whether a user has mail to a recipient in the outbox, or is remembered to have written to them.
func (s *Ledger) WroteTo(ctx context.Context, r calendar.Recipient) (bool, error) {
	return s.store.WroteTo(ctx, r)
}

// send empties the inboxes' and the letters' part of the outbox, in the order in which they are locked.
func (w *work) send(ctx context.Context) error {
	if err := w.PutInboxItems(ctx, w.inboxes); err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(w.letters)) {
		if err := w.Post(ctx, user, w.letters[user], w.limits.Outbox); err != nil {
			return err
		}
	}
	return nil
}
