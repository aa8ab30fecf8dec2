package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// The delivery status of a message (RFC 6638 §3.2.9).
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

// mailDelay is how long mail waits for further changes, because users seldom make only one.
const mailDelay = 30 * time.Second

// refreshMost bounds the attendees who are updated at once after another attendee answers. In a larger event they see
// the answer with its next change.
const refreshMost = 50

// carryOut sends a change's messages to the attendees or the organizer, and records the delivery status.
func (m *meeting) carryOut(ctx context.Context, out *schedule.Outcome) error {
	messages := m.onlyToRooms(m.withoutSilentDeclines(out.Messages))
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
		m.Told = append(m.Told, calendar.Told{
			To: msg.To.Name(), Method: calendar.Method(msg.Method), Status: status,
			Room: m.parties[msg.To].Room.Bookable(),
		})
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
	told := notifying(messages)
	switch {
	case len(told) == 0:
		return nil
	case m.tell == calendar.TellNobody:
		return errMustTell(told)
	}
	return m.Caller.HasScope(calendar.TellOthers)
}

// sign names the writer in messages that are sent on another user's behalf.
func (m *meeting) sign(messages []schedule.Message) {
	author := m.Caller.Author()
	if author.ID == m.in.Owner || author.Email == "" {
		return
	}
	signed := map[*ical.Document]bool{}
	for _, msg := range messages {
		if !signed[msg.Document] {
			signed[msg.Document] = true
			msg.SentBy(schedule.AddressOf("mailto:" + author.Email))
		}
	}
}

// notifying returns the messages that notify people. A refresh only updates copies, without a notification.
func notifying(all []schedule.Message) []schedule.Message {
	return slices.DeleteFunc(slices.Clone(all), func(m schedule.Message) bool { return m.Refresh })
}

// errMustTell refuses a change that attendees must learn of, if the caller wants no notifications.
func errMustTell(messages []schedule.Message) error {
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"%s and others must be notified of this change, but the request turns notifications off", messages[0].To)
	if len(messages) == 1 {
		e.Message = string(messages[0].To) + " must be notified of this change, but the request turns notifications off"
	}
	e.Hint = "allow notifications, which needs the scope invite"
	return e
}

// withoutSilentDeclines drops the declines that a user chose not to send.
func (m *meeting) withoutSilentDeclines(all []schedule.Message) []schedule.Message {
	if m.tell == calendar.TellNobody && m.next == nil && m.was == schedule.Attendee {
		return nil
	}
	return slices.DeleteFunc(all, func(msg schedule.Message) bool {
		// An attendee who never answered an external organizer stays silent: a message would reveal that the address
		// exists.
		return msg.Method == schedule.Reply && m.next == nil && m.away() && m.unanswered()
	})
}

// onlyToRooms drops the messages to people if only rooms are told.
func (m *meeting) onlyToRooms(all []schedule.Message) []schedule.Message {
	if m.tell != calendar.TellRooms {
		return all
	}
	return slices.DeleteFunc(all, func(msg schedule.Message) bool { return !m.parties[msg.To].Room.Bookable() })
}

// unanswered reports whether the owner had not answered the event that they deleted.
func (m *meeting) unanswered() bool {
	return m.before != nil && schedule.Answered(m.before, m.parties.Are(m.in.Owner)) == schedule.NeedsAction
}

func (m *meeting) kind() calendar.Kind {
	if m.next != nil {
		return calendar.Kind(m.next.Kind)
	}
	return calendar.Kind(m.before.Kind)
}

// refreshed returns the users whose copies are updated at once after an answer to an organizer.
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

// deliver delivers a message and returns the delivery status.
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
		return statusFailed, nil //nolint:nilerr // for example, nothing of the event is left
	}
	if msg.Method == schedule.Reply {
		return m.reply(ctx, user, msg, t)
	}
	return m.invite(ctx, user, msg, t)
}

// invite applies an organizer's message to a user's calendar.
func (m *meeting) invite(ctx context.Context, user calendar.User, msg schedule.Message, t *text) (string, error) {
	a := m.copyOf(user.ID)
	if a == nil {
		at, there := m.receptions[user.ID]
		switch {
		case msg.Method == schedule.Cancel:
			return m.withoutCopy(user), nil
		case msg.Answered == schedule.Declined && !msg.First && !msg.Retimed:
			return statusDelivered, nil // they have deleted it
		case !there:
			return statusFailed, nil
		}
		a = &calendar.Appointment{Owner: user.ID, Object: calendar.Object{
			Calendar: at, Name: calendar.ObjectName(m.newID() + ".ics"),
		}}
	}
	fresh := a.ETag == ""
	made, err := m.merge(ctx, a, user, msg, t)
	switch {
	case errors.Is(err, schedule.ErrForeign):
		// Another event has the UID there. The invitation can still be read in the inbox, but not stored.
		if !msg.Refresh {
			m.AddInboxItem(user.ID, t.item)
		}
		return statusUnfiled, nil
	case errors.Is(err, schedule.ErrSame):
	case err != nil:
		return statusFailed, fatal(ctx, err) // the copy cannot be processed
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
		if err := m.storeCopy(ctx, a, made); err != nil {
			return "", err
		}
		if msg.Method != schedule.Cancel && !msg.Refresh {
			if err := m.queueBooking(ctx, user, a.Calendar, a.UID); err != nil {
				return "", err
			}
		}
		if fresh {
			m.copies = append(m.copies, *a)
		}
	}
	if !msg.Refresh {
		m.AddInboxItem(user.ID, t.item)
	}
	return statusDelivered, nil
}

// withoutCopy returns the delivery status of a cancellation for an attendee without a copy. They have deleted it,
// unless the invitation never reached them. In that case its failure still holds.
func (m *meeting) withoutCopy(user calendar.User) string {
	if m.before != nil {
		if s := schedule.StatusOf(m.before, m.parties.Are(user.ID)); s != "" && !(calendar.Told{Status: s}).Reached() {
			return s
		}
	}
	return statusDelivered
}

// reply applies an answer to the organizer's event and updates the other attendees.
func (m *meeting) reply(ctx context.Context, user calendar.User, msg schedule.Message, t *text) (string, error) {
	a, err := m.loadCopy(ctx, user.ID)
	if err != nil || a == nil {
		return statusFailed, err
	}
	stored, err := content.Read(a.Data, unlimited)
	if err != nil || !m.parties.Are(user.ID)(schedule.OrganizerOf(stored)) {
		return statusFailed, nil //nolint:nilerr // they have another event with that UID
	}
	made, err := m.answer(ctx, stored, t.object, msg.From, false)
	switch {
	case errors.Is(err, schedule.ErrUninvited):
		m.AddInboxItem(user.ID, t.item) // for the organizer to decide
		return statusForbidden, nil
	case err != nil && !errors.Is(err, schedule.ErrSame):
		return statusFailed, fatal(ctx, unusable{err})
	case err == nil:
		if !m.hasRoom(stored, made) {
			return statusFailed, nil // the copy has no room to list the new attendee, so no invitation is sent
		}
		if err := m.findMoreCopies(ctx, made, user.ID); err != nil {
			return "", err
		}
		if err := m.inviteDelegates(ctx, user, stored, made); err != nil {
			return "", err
		}
		next := m.versionAsIs(schedule.Delivered{Object: made})
		if !next.fits {
			return "", m.validator.CheckSize(next.data)
		}
		if err := m.storeCopy(ctx, a, next); err != nil {
			return "", err
		}
		if err := m.refresh(ctx, made, user.ID); err != nil {
			return "", err
		}
		m.refreshRestored(ctx, made, msg.From)
	}
	m.AddInboxItem(user.ID, t.item)
	return statusDelivered, nil
}

// refreshRestored brings an event that an attendee restores from the trash up to date: after they had declined, they
// got no updates.
func (m *meeting) refreshRestored(ctx context.Context, event *content.Object, guest schedule.Address) {
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

// findMoreCopies finds the copies of attendees who are in the organizer's event but not in this attendee's copy. They
// attend single instances that the copy excludes.
func (m *meeting) findMoreCopies(ctx context.Context, event *content.Object, organizer calendar.UserID) error {
	known := slices.Concat(schedule.Parties(m.before), schedule.Parties(m.next))
	more := slices.DeleteFunc(schedule.Attendees(event),
		func(a schedule.Address) bool { return slices.Contains(known, a) })
	if len(more) == 0 {
		return nil
	}
	found, err := m.reader.FindParties(ctx, m.Tx, more)
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
	return m.RequireLocks(m.refreshedIn(organizer))
}

// refreshedIn returns the calendars that refresh changes.
func (m *meeting) refreshedIn(organizer calendar.UserID) []calendar.CalendarID {
	var all []calendar.CalendarID
	for _, user := range m.refreshed(organizer) {
		all = append(all, m.copyOf(user).Calendar)
	}
	return all
}

// refresh updates the answers in the other attendees' copies. It sends no mail.
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
		return fatal(ctx, unusable{err}) // the next change will send it
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

// post puts a message to an external person into the outbox. It sends no mail about events that are over. A running
// event is not over: an attendee may still be on their way to it when it is cancelled.
func (m *meeting) post(msg schedule.Message) (status string, err error) {
	switch {
	case msg.To.Mail() == "":
		return statusNobody, nil
	case !m.mailed:
		return statusNoService, nil
	case msg.Refresh:
		return "", nil
	}
	parts, err := m.splitForMail(msg)
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		t := m.textOf(part)
		// Attendees who declined get the cancellation too: they may be about to change their mind.
		if t.late {
			continue
		}
		if len(parts) > 1 {
			if err := m.rules.Meter.Write(int64(len(t.item.Data))); err != nil {
				return "", err
			}
		}
		part.To = msg.To
		m.queueMail(part)
		status = statusPending
	}
	if status == "" && msg.Method == schedule.Request {
		m.AddRecipient(calendar.Recipient{User: m.in.Owner, To: calendar.MailAddress(msg.To.Mail())})
	}
	return status, nil
}

// splitForMail splits a message into mails, once for all recipients.
func (m *meeting) splitForMail(msg schedule.Message) (parts []schedule.Message, err error) {
	if parts, known := m.mails[msg.Document]; known {
		return parts, nil
	}
	if m.mails == nil {
		m.mails = map[*ical.Document][]schedule.Message{}
	}
	m.mails[msg.Document], err = m.rules.Apart(msg)
	return m.mails[msg.Document], err
}

// queueMail puts a mail into the outbox.
func (m *meeting) queueMail(msg schedule.Message) {
	now := m.Now()
	m.AddLetter(calendar.Letter{
		ID: calendar.LetterID(m.newID()), User: m.in.Owner, From: calendar.MailAddress(msg.From.Mail()),
		To:     calendar.MailAddress(msg.To.Mail()),
		Method: calendar.Method(msg.Method), UID: m.uid(), Recurrence: msg.Recurrence, Sequence: int64(msg.Sequence),
		First:  msg.First,
		Posted: now, Due: now.Add(mailDelay), Data: m.mailOf(msg),
	})
}

// mailOf returns the text of a message for mail. One about an event with very many attendees names only its recipient.
func (m *meeting) mailOf(msg schedule.Message) []byte {
	t := m.textOf(msg)
	if t.crowded == nil {
		t.crowded = new(schedule.Crowded(msg.Document))
	}
	if *t.crowded {
		return schedule.Alone(msg.Document, msg.To).Bytes()
	}
	return t.item.Data
}

func (m *meeting) uid() calendar.UID {
	if m.next != nil {
		return calendar.UID(m.next.UID)
	}
	return calendar.UID(m.before.UID)
}

// WroteTo reports whether a user has mail to a recipient in the outbox, or is known to have written to them.
func (s *Scheduler) WroteTo(ctx context.Context, r calendar.Recipient) (bool, error) {
	return s.store.WroteTo(ctx, r)
}

// Involves reports whether the owner of a calendar organizes or attends an event in it.
func (w *Work) Involves(ctx context.Context, cal calendar.Calendar, o *calendar.Object) (bool, error) {
	m, err := w.readMeeting(ctx, cal, o, nil, calendar.TellAll)
	return err == nil && m.was != schedule.Bystander, err
}

// Organizes reports whether the owner of a calendar organizes an event in it.
func (w *Work) Organizes(ctx context.Context, cal calendar.Calendar, o *calendar.Object) (bool, error) {
	m, err := w.readMeeting(ctx, cal, o, nil, calendar.TellAll)
	return err == nil && m.was == schedule.Organizer, err
}

// DeletionNotifies returns the people whom the deletion of an event would notify. It changes nothing.
func (w *Work) DeletionNotifies(
	ctx context.Context, cal calendar.Calendar, old *calendar.Object, tell calendar.Telling,
) (people []schedule.Person, err error) {
	m, err := w.readMeeting(ctx, cal, old, nil, tell)
	if err != nil {
		return nil, err
	}
	out, err := m.decide(ctx, old)
	if err != nil {
		return nil, refusal(err)
	}
	messages := notifying(m.withoutSilentDeclines(out.Messages))
	if err := m.mayTell(messages); err != nil {
		return nil, err
	}
	for _, msg := range messages {
		if m.wouldReach(msg) {
			people = append(people, m.person(msg.To))
		}
	}
	return people, nil
}

// wouldReach reports whether the message about a deleted meeting would be sent. An attendee who has deleted the
// invitation gets no message, and a meeting in the past causes no mail.
func (m *meeting) wouldReach(msg schedule.Message) bool {
	user, here := m.parties[msg.To]
	switch {
	case !here:
		return m.mailed && msg.To.Mail() != "" && !m.textOf(msg).late
	case user.ID == m.in.Owner:
		return false
	}
	return m.copyOf(user.ID) != nil
}
