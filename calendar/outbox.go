package calendar

import (
	"context"
	"time"
)

type (
	// LetterID identifies a letter. The Message-ID that it is mailed with is derived of it, so that
	// a recipient who gets it twice can tell.
	LetterID string
	// MailAddress is where a person gets mail: lower case, and without "mailto:".
	MailAddress string
	// Method is what a scheduling message is for (RFC 5546 §1.4), in upper case.
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

// Leaves tells that what a recipient knew of the event stays as it was: a letter of that method takes the place of none.
func (m Method) Leaves() bool { return m == MethodDecline || m == MethodRefresh }

// MethodDigest is no method of RFC 5546: the letter is mail of their day to a user of the server. Its Data is the moment that it
// is for (RFC 3339), and what it says is found when it leaves.
const MethodDigest = "DIGEST"

// MethodEnded is none either: the letter tells a user that a webhook of theirs was turned off. Its Data is the webhook's id.
const MethodEnded = "WEBHOOK-ENDED"

// MethodOffered is not an iTIP method either: the letter asks a user to accept a calendar that another user shares. Its Data is the calendar's id.
const MethodOffered = "CALENDAR-OFFERED"

// Letter is a scheduling message to somebody without an account here, on its way or as it was sent.
type Letter struct {
	ID LetterID
	// User is the sender, From the address of theirs that the message names.
	User UserID
	From MailAddress
	To   MailAddress
	// Method, UID, Recurrence and Sequence are as in Data. Recurrence is the RECURRENCE-ID as it stands
	// there, and empty where the message is about all of the event.
	Method     Method
	UID        UID
	Recurrence string
	Sequence   int64
	// First tells that the recipient was not told of the UID, or was told that they are no longer invited.
	First bool
	// Posted is when it came into the outbox; what replaces it keeps that. Due is when it may leave.
	Posted, Due time.Time
	// Tries counts how often it was taken out to be sent.
	Tries int64
	// Status is what came of it, as SCHEDULE-STATUS has it (RFC 6638 §3.2.9); empty while it waits.
	Status string
	// Data is the message: a VCALENDAR with its METHOD.
	Data []byte
}

// OutboxLimits bound what may wait of one user.
type OutboxLimits struct {
	// Letters is how many, Bytes how large they are together, Letter how large one may be.
	Letters int
	Bytes   int64
	Letter  int64
}

// News is a letter that goes into the outbox together with what it tells of.
type News struct {
	Letter Letter
	Most   OutboxLimits
}

// LetterHeld is how long a letter may be kept back, however often it is replaced meanwhile.
const LetterHeld = 5 * time.Minute

// Poster is the part of a Tx that puts letters into the outbox.
type Poster interface {
	// Post puts letters of one user into the outbox, in this order; see Coalesce for what becomes of
	// those that wait already. TooLarge where the user would pass the limits, and then the whole change
	// is refused. It locks the user's outbox:
	// calendars and boxes of notices are locked before, outboxes in the order of their users.
	Post(ctx context.Context, user UserID, letters []Letter, most OutboxLimits) error
}

// Outbox is the part of a Store that hands out the letters to the process that mails them.
type Outbox interface {
	// TakeLetters returns letters that are due, the earliest first, and keeps them from being taken again
	// until a time, or until SettleLetter says what came of them. Letters to one recipient about one UID are
	// taken one after the other, in the order in which they were posted. Those with a Status were sent,
	// or given up, and wait for ConcludeLetter.
	TakeLetters(ctx context.Context, now, until time.Time, most int) ([]Letter, error)
	// SettleLetter notes what came of a letter that was taken: its Status and when it is Due again. NotFound
	// where another one has taken it since, as Tries tells.
	SettleLetter(ctx context.Context, l Letter) error
	// ConcludeLetter takes a letter out of the outbox. What was sent is remembered as told at a time, but for
	// a Method that Leaves what was told. Of more than most bytes of a user the largest letters lose their Data first, and
	// then the oldest are forgotten.
	ConcludeLetter(ctx context.Context, l Letter, sent bool, now time.Time, most int64) error
	// Told returns what a recipient was last told of a UID: of all of it, and of single instances.
	Told(ctx context.Context, user UserID, to MailAddress, uid UID) ([]Letter, error)
	// WroteTo reports whether a letter of a user to a recipient waits, or was sent and is still remembered.
	WroteTo(ctx context.Context, r Recipient) (bool, error)
	// WaitingFor returns the letters to a recipient about a UID that wait, in the order in which they were posted, without
	// Data.
	WaitingFor(ctx context.Context, user UserID, to MailAddress, uid UID) ([]Letter, error)
	// ToldBy returns a letter that was sent, and is the last that its recipient was told of what it is
	// about; NotFound where it is not.
	ToldBy(ctx context.Context, id LetterID) (Letter, error)
	// WaitingLetters counts the letters in all outboxes, and tells when the oldest was posted.
	WaitingLetters(ctx context.Context) (letters int, oldest time.Time, err error)
}

// Leases is the part of a Store that lets one process at a time do something.
type Leases interface {
	// Lease gives the lease of a name to a holder until a time, unless another holds it now.
	Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error)
	// Prolong has its holder keep it until a time, also one whose time was over, and tells whether that could be: nobody
	// else has taken it since, and it was not given back.
	Prolong(ctx context.Context, name, holder string, until time.Time) (bool, error)
	// Release gives it back early.
	Release(ctx context.Context, name, holder string) error
}
