package change

import (
	"slices"

	"caldav-mcp-server/calendar"
)

// outbox holds the messages of a change to other people. They are stored at the end of the transaction.
type outbox struct {
	notices []notice
	items   []calendar.InboxEntry
	letters map[calendar.UserID][]calendar.Letter
	// recipients are people without an account here who get no mail from this server: they are notified by the source
	// of a linked calendar, or not at all because the event is over.
	recipients []calendar.Recipient
}

// notice is a notification to a user or, without data, its withdrawal.
type notice struct {
	to calendar.UserID
	calendar.Notice
}

// SendNotice queues a notification, WithdrawNotice the withdrawal of one.
func (w *Tx) SendNotice(to calendar.UserID, n calendar.Notification) {
	w.outbox.notices = append(w.outbox.notices, notice{to, n.Encode(w.Now())})
}

// WithdrawNotice queues the withdrawal of a notification.
func (w *Tx) WithdrawNotice(to calendar.UserID, name calendar.NoticeName) {
	w.outbox.notices = append(w.outbox.notices, notice{to, calendar.Notice{Name: name}})
}

// AddInboxItem puts a message into a user's inbox.
func (w *Tx) AddInboxItem(to calendar.UserID, i calendar.InboxItem) {
	w.outbox.items = append(w.outbox.items, calendar.InboxEntry{To: to, InboxItem: i})
}

// AddLetter puts a mail into the outbox of its user.
func (w *Tx) AddLetter(l calendar.Letter) {
	if w.outbox.letters == nil {
		w.outbox.letters = map[calendar.UserID][]calendar.Letter{}
	}
	w.outbox.letters[l.User] = append(w.outbox.letters[l.User], l)
}

// AddRecipient records an address that the user writes to, although this server sends no mail there.
func (w *Tx) AddRecipient(r calendar.Recipient) {
	w.outbox.recipients = append(w.outbox.recipients, r)
}

// allRecipients returns the people without an account here who get a message. It includes the attendees of an event
// that is over: they count as addresses that the user has written to.
func (o *outbox) allRecipients() []calendar.Recipient {
	all := slices.Clone(o.recipients)
	for _, letters := range o.letters {
		for _, l := range letters {
			all = append(all, calendar.Recipient{User: l.User, To: l.To})
		}
	}
	return all
}
