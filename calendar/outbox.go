package calendar

import (
	"context"
	"slices"
	"time"
)

type (
	// LetterID identifies a letter. The Message-ID is derived from it, so that a recipient's mail program can
	// detect duplicates.
	LetterID string
	// MailAddress is a mail address in lower case, without "mailto:".
	MailAddress string
	// Method is the iTIP method of a scheduling message (RFC 5546 §1.4), in upper case.
	Method string
)

// The methods of letters.
const (
	MethodRequest Method = "REQUEST"
	MethodCancel  Method = "CANCEL"
	MethodReply   Method = "REPLY"
	MethodAdd     Method = "ADD"
	MethodRefresh Method = "REFRESH"
	MethodCounter Method = "COUNTER"
	MethodDecline Method = "DECLINECOUNTER"
)

// Leaves reports whether a letter of this method leaves the recipient's knowledge of the event unchanged. Such a
// letter replaces no other.
func (m Method) Leaves() bool { return m == MethodDecline || m == MethodRefresh }

// MethodDigest is not an iTIP method: the letter is the daily mail to a user of the server. Its Data is the time
// that it is for (RFC 3339); its text is written when it is sent.
const MethodDigest = "DIGEST"

// MethodEnded is not an iTIP method: the letter tells a user that their webhook was turned off. Its Data is the
// webhook's ID.
const MethodEnded = "WEBHOOK-ENDED"

// MethodOffered is not an iTIP method: the letter asks a user to accept a calendar that another user shares. Its
// Data is the calendar's ID.
const MethodOffered = "CALENDAR-OFFERED"

// MethodPoll is not an iTIP method: the letter asks a person to answer a poll, or says that the poll was cancelled. Its
// Data is the id of the person; its text is written when it is sent.
const MethodPoll = "POLL"

// PollMail is the text of a letter of MethodPoll.
type PollMail struct {
	Name, Subject, Text string
	// Language is the tag of its language.
	Language string
}

// Letter is a scheduling message to a person without an account here, queued or as sent.
type Letter struct {
	ID LetterID
	// User is the sender, From is the sender's address in the message.
	User UserID
	From MailAddress
	To   MailAddress
	// Method, UID, Recurrence and Sequence are as in Data. Recurrence is the RECURRENCE-ID as written there; it is
	// empty if the message is about the whole event.
	Method     Method
	UID        UID
	Recurrence string
	Sequence   int64
	// First is set when the recipient does not know the UID, or was told that they are no longer invited.
	First bool
	// Posted is the time of queuing; a replacement keeps it. Due is the earliest time to send.
	Posted, Due time.Time
	// Tries counts the attempts to send.
	Tries int64
	// Status is the SCHEDULE-STATUS (RFC 6638 §3.2.9); empty while the letter waits.
	Status string
	// Data is the message: a VCALENDAR with its METHOD.
	Data []byte
}

// OutboxLimits limits a user's waiting letters.
type OutboxLimits struct {
	// Letters limits their number, Bytes their total size, Letter the size of one.
	Letters int
	Bytes   int64
	Letter  int64
}

// News is a letter that is queued in the same transaction as the change that it reports.
type News struct {
	Letter Letter
	Most   OutboxLimits
}

// LetterHeld limits how long a letter is delayed, however often it is replaced meanwhile.
const LetterHeld = 5 * time.Minute

// Poster is the part of a Tx that queues letters.
type Poster interface {
	// Post queues letters of one user in this order; Coalesce says how they merge with waiting ones. TooLarge if
	// the user would exceed the limits; the whole change is refused then. It locks the user's outbox: calendars and
	// notice boxes must be locked before, and outboxes in the order of their users.
	Post(ctx context.Context, user UserID, letters []Letter, most OutboxLimits) error
}

// Outbox is the part of a Store that gives the letters to the process that mails them.
type Outbox interface {
	// TakeLetters returns the letters that are due, earliest first, and reserves them until a time or until
	// SettleLetter. Letters to one recipient about one UID are returned one at a time, in the order of posting.
	// Letters with a Status were sent or given up, and wait for ConcludeLetter.
	TakeLetters(ctx context.Context, now, until time.Time, most int) ([]Letter, error)
	// HoldLetters extends the reservation of taken letters. Settled letters stay as they are.
	HoldLetters(ctx context.Context, ids []LetterID, until time.Time) error
	// SettleLetter stores the outcome of a letter: its Status and the next Due time. NotFound if another process
	// has taken the letter since, which Tries shows.
	SettleLetter(ctx context.Context, l Letter) error
	// ConcludeLetter removes a letter from the outbox. A sent letter is recorded as told at a time, unless its
	// Method Leaves the recipient's knowledge unchanged. If a user's records exceed most bytes, the largest lose
	// their Data first, then the oldest are deleted.
	ConcludeLetter(ctx context.Context, l Letter, sent bool, now time.Time, most int64) error
	// Told returns the last letters to a recipient about a UID: about the whole event, and about single instances.
	Told(ctx context.Context, user UserID, to MailAddress, uid UID) ([]Letter, error)
	// WroteTo reports whether a letter of a user to a recipient waits, or was sent and is still recorded.
	WroteTo(ctx context.Context, r Recipient) (bool, error)
	// WaitingFor returns the waiting letters to a recipient about a UID, in the order of posting, without Data.
	WaitingFor(ctx context.Context, user UserID, to MailAddress, uid UID) ([]Letter, error)
	// ToldBy returns a sent letter if it is the last one that its recipient got about its subject; otherwise
	// NotFound.
	ToldBy(ctx context.Context, id LetterID) (Letter, error)
	// WaitingOf counts the letters in a user's outbox.
	WaitingOf(ctx context.Context, user UserID) (int, error)
	// WaitingLetters counts the letters in all outboxes, and returns the time of the oldest.
	WaitingLetters(ctx context.Context) (letters int, oldest time.Time, err error)
}

// Leases is the part of a Store that lets one process at a time do something.
type Leases interface {
	// Lease gives the named lease to a holder until a time, unless another holder has it now.
	Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error)
	// Prolong extends the holder's lease until a time, even after it has expired. It reports false if another
	// holder has taken the lease since, or if it was released.
	Prolong(ctx context.Context, name, holder string, until time.Time) (bool, error)
	// Release gives the lease back early.
	Release(ctx context.Context, name, holder string) error
}

// Coalesce merges a new letter with the waiting letters to the same recipient about the same UID, which are given
// in order. It returns the new letter as it must be posted, whether to post it at all, and the waiting letters to
// drop. So a user who changes an event three times in a minute sends one mail, and a user who creates and deletes
// an event sends none. ahead is set when another letter to the recipient about this UID is being sent right now.
func Coalesce(waiting []Letter, ahead bool, next Letter) (posted Letter, post bool, dropped []LetterID) {
	var notBefore time.Time
	given := next
	for _, old := range waiting {
		if !supersedes(given, old) {
			// A letter about one instance does not concern letters about another instance.
			ahead = ahead || old.Recurrence == "" || given.Recurrence == "" || old.Recurrence == given.Recurrence
			continue
		}
		if len(dropped) == 0 {
			// A letter that was tried may have arrived, even if the other server reported a failure.
			next.First = old.First && old.Tries == 0
		}
		dropped = append(dropped, old.ID)
		if old.Posted.Before(next.Posted) {
			next.Posted = old.Posted
		}
		if old.Tries > 0 && old.Due.After(notBefore) {
			notBefore = old.Due
		}
	}
	next.First = next.First && !ahead
	if held := next.Posted.Add(LetterHeld); held.Before(next.Due) {
		next.Due = held
	}
	if next.Due.Before(notBefore) {
		next.Due = notBefore
	}
	return next, next.Method != MethodCancel || !next.First, dropped
}

// superseded lists the methods of older letters that a new letter makes obsolete. same applies to letters about the
// same instance or the whole event. instances applies to letters about single instances, when the new letter is
// about the whole event.
var superseded = map[Method]struct{ same, instances []Method }{
	// A new REQUEST for the series need not mention a cancelled instance, so that CANCEL is still sent.
	MethodRequest: {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodAdd}},
	MethodCancel:  {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodCancel, MethodAdd}},
	MethodReply:   {same: []Method{MethodReply}},
	MethodPoll:    {same: []Method{MethodPoll}},
	MethodCounter: {same: []Method{MethodCounter}},
	MethodRefresh: {same: []Method{MethodRefresh}},
	MethodAdd:     {},
	MethodDecline: {},
}

// supersedes reports whether the recipient of next no longer needs old.
func supersedes(next, old Letter) bool {
	if next.Method == MethodRequest && next.First && old.Method == MethodCancel {
		// The attendee is invited again and must answer again. Without the CANCEL they would keep their former
		// answer, which the organizer no longer has. A client that deletes an event and creates it again does not
		// get here.
		return false
	}
	row := superseded[next.Method]
	switch next.Recurrence {
	case old.Recurrence:
		return slices.Contains(row.same, old.Method)
	case "":
		return slices.Contains(row.instances, old.Method)
	}
	return false
}

// Recipient is a person without an account here who gets a message about a change.
type Recipient struct {
	// User is the user in whose name the message is sent.
	User UserID
	To   MailAddress
}
