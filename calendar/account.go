package calendar

import (
	"context"
	"errors"
	"strings"
	"time"
)

// AccountID identifies an account elsewhere that a user has linked.
type AccountID string

// AccountStatus says how it stands with an account.
type AccountStatus string

// The states of an account. One that must be signed in to, and one that is paused, are not looked at until their owner
// does something about it.
const (
	AccountGood   AccountStatus = "good"
	AccountFailed AccountStatus = "failing"
	AccountSignIn AccountStatus = "sign in again"
	AccountPaused AccountStatus = "paused"
)

// Account is an account elsewhere, or a feed, that a user has linked.
type Account struct {
	ID    AccountID
	Owner UserID
	// Provider names the protocol: "ics", "caldav" …
	Provider string
	// Name is what people call it, Address where it is. Neither holds anything secret.
	Name, Address string
	// Subject is what the provider calls its user, Scopes what it lets us do.
	Subject, Scopes string
	// Secret is sealed, with the key of that id.
	Secret []byte
	Key    string
	// Every is how long to wait between two looks; 0 leaves it to the source.
	Every  time.Duration
	Status AccountStatus
	// Error is why the last look failed, for the owner; Failures how many did since one did not, Failing since when.
	Error    string
	Failures int64
	Failing  time.Time
	Created  time.Time
	// Checked is when a look last did not fail, Listed when the account's calendars were last listed, Due when it is looked at
	// next.
	Checked, Listed, Due time.Time
	// Maker is the token that linked it; zero for none.
	Maker Actor
}

// AccountEdit is what an owner does about an account. What is zero stays as it is.
type AccountEdit struct {
	Name, Scopes string
	Every        time.Duration
}

// Mirror is a calendar here that shows one of an account.
type Mirror struct {
	Calendar CalendarID
	Account  AccountID
	// Remote is what the source calls it.
	Remote string
	// RemoteName is what people call it there, as last seen.
	RemoteName string
	// Cursor is where to go on at the source.
	Cursor string
	// Round counts full listings, Whole tells that one is under way.
	Round int64
	Whole bool
	// Faults counts the objects that are kept out, Error says why the last look failed.
	Faults  int64
	Error   string
	Checked time.Time
}

// Mirrored is what was last agreed with a source about an object.
type Mirrored struct {
	// Ref is what the source calls it, Version its entity tag there.
	Ref     string
	Version string
	UID     UID
	// Round is the full listing that last told of it.
	Round int64
	// Fault says why the object's present state is kept out.
	Fault string
}

// Origin says whose events a calendar holds that mirrors one elsewhere. That of other calendars is zero.
type Origin struct {
	// From names the account for people.
	From string
	// Writable tells that what is written here is written there.
	Writable bool
}

// Mirrors tells that the calendar mirrors one elsewhere.
func (o Origin) Mirrors() bool { return o.From != "" }

// sourceAgent is how the agent of a change begins that was made where a calendar is mirrored from.
const sourceAgent = "changed at "

// SourceAgent is the agent of a change that was made at a source.
func SourceAgent(from string) string { return sourceAgent + from }

// FromSource tells whether the agent of a change is a source, also one that is linked no longer.
func FromSource(agent string) bool { return strings.HasPrefix(agent, sourceAgent) }

// Accounts is the part of a Store that knows what is linked.
type Accounts interface {
	// InsertAccount keeps an account. NotFound when its owner is gone, TooLarge when the owner then had more than most.
	InsertAccount(ctx context.Context, a Account, most int) error
	// Account returns one; NotFound when there is none.
	Account(ctx context.Context, id AccountID) (Account, error)
	// Accounts returns a user's, or with no user all, by their age.
	Accounts(ctx context.Context, owner UserID) ([]Account, error)
	// DueAccounts returns accounts that are to be looked at by now: one of each user before anybody's second, the earliest first,
	// and none of users who are disabled.
	DueAccounts(ctx context.Context, now time.Time, most int) ([]Account, error)
	// SetAccount writes what the owner of an account has done about it, as far as that is set. Nothing is held against it any more, it
	// is looked at next at a time, and its calendars are listed anew. NotFound when it is gone.
	SetAccount(ctx context.Context, id AccountID, e AccountEdit, due time.Time) error
	// DueAccount has an account looked at next at a time, and returns it as it then is. NotFound when it is gone.
	DueAccount(ctx context.Context, id AccountID, due time.Time) (Account, error)
	// SetAccountState writes what a look has found, with which the account was another one as it began: its Status, Error, Failures,
	// Failing, Checked, Listed and Due, and tells whether it did. Where somebody has it due at another time since, it stays so if that is
	// earlier. A look that failed counts for nothing if its owner has done something about the account since, see SetAccount: it was one at
	// what the account was.
	SetAccountState(ctx context.Context, a, began Account) (kept bool, err error)
	// SealAccount writes an account's Secret with its Key, and its Address; Stale when the secret is not the one that it was before.
	SealAccount(ctx context.Context, a Account, before []byte) error
	// DeleteAccount forgets an account and its mirrors. The calendars stay, and are from then on like any other.
	DeleteAccount(ctx context.Context, id AccountID) error
	// Mirrors returns the mirrors of an account whose calendars are not in the trash, by calendar.
	Mirrors(ctx context.Context, id AccountID) ([]Mirror, error)
	// Mirror returns that of a calendar; NotFound where it has none.
	Mirror(ctx context.Context, id CalendarID) (Mirror, error)
	// SetMirrorError notes why a look at a mirror failed.
	SetMirrorError(ctx context.Context, id CalendarID, why string) error
	// Mirrored returns what was agreed about objects of a calendar, by ref. Nil refs are all of them.
	Mirrored(ctx context.Context, id CalendarID, refs []string) (map[string]Mirrored, error)
	// MirroredByUID returns the same of one object; NotFound where nothing was.
	MirroredByUID(ctx context.Context, id CalendarID, uid UID) (Mirrored, error)
}

// MirrorKeeper is the part of a Tx that remembers what was agreed with sources.
type MirrorKeeper interface {
	// InsertMirror makes a calendar a mirror. Exists when another one mirrors the same.
	InsertMirror(ctx context.Context, m Mirror, o Origin) error
	// SetOrigin writes what a calendar says of where it is from.
	SetOrigin(ctx context.Context, id CalendarID, o Origin) error
	// PutMirror writes the Cursor, the Round, the Whole, the Faults, the Error and the Checked of a mirror; NotFound when it is none any more.
	PutMirror(ctx context.Context, m Mirror) error
	// SetRemoteName writes what a mirror's calendar is called at its source; NotFound when it is none any more.
	SetRemoteName(ctx context.Context, id CalendarID, name string) error
	// PutMirrored writes what was agreed about an object. What was agreed about another ref with its UID is forgotten.
	PutMirrored(ctx context.Context, id CalendarID, m Mirrored) error
	// DropMirrored forgets what was agreed about a ref.
	DropMirrored(ctx context.Context, id CalendarID, ref string) error
	// MirroredBefore returns up to most of those that no full listing since a round has told of.
	MirroredBefore(ctx context.Context, id CalendarID, round int64, most int) ([]Mirrored, error)
	// Fence tells whether a lease is that holder's still, and keeps others from taking it before the transaction is over.
	Fence(ctx context.Context, f Fence) (bool, error)
	// MirrorFaults counts the objects that are kept out.
	MirrorFaults(ctx context.Context, id CalendarID) (int64, error)
}

// Outgoing is a write to a linked calendar on its way to its source: nil Data takes the object away.
type Outgoing struct {
	Calendar CalendarID
	UID      UID
	Data     []byte
	// Quiet tells that its guests are to hear nothing of it, as of what is imported, moves or comes out of the trash.
	Quiet bool
}

// ErrElsewhere is a cause of an Unavailable error for which an account elsewhere is to blame, not the store: everything else
// works as ever.
var ErrElsewhere = errors.New("an account elsewhere is away")

// ErrPartly is the cause of an error after which some of the writes of one change stand at their source.
var ErrPartly = errors.New("part of the change was made")

// Fence is the lease under which somebody was at a calendar's source. Each time has a holder of its own, so that what they
// bring from there is stored only if nobody was there since, however long they slept.
type Fence struct{ Lease, Holder string }

// ErrOverslept says that another process has been at a calendar's source since this one was.
var ErrOverslept = &Error{
	Reason: Unavailable, Message: "this took too long, and another server may be at the calendar by now; try again in a moment", Cause: ErrElsewhere,
}

// Sent is what became of an Outgoing: Data is what the source made of it, and nil where that is what was sent.
type Sent struct {
	Outgoing
	Mirrored Mirrored
	Fence    Fence
	Data     []byte
}

// Arrival is a part of what changed at a source, on its way here.
type Arrival struct {
	// Mirror is how far the mirror is when all of it is stored.
	Mirror Mirror
	// Objects are those that are new or have changed.
	Objects []Arriving
	// Gone are the refs of those that are there no more.
	Gone []string
	// Sweep tells that whatever the present round has not told of is gone as well.
	Sweep bool
	Fence Fence
}

// Arriving is an object as its source has it. One without Data is there, and is as it was.
type Arriving struct {
	Mirrored
	Data []byte
}

// Arrived counts what an Arrival changed.
type Arrived struct{ Created, Modified, Deleted, Refused int }

// Add counts others as well.
func (a *Arrived) Add(b Arrived) {
	a.Created, a.Modified, a.Deleted, a.Refused = a.Created+b.Created, a.Modified+b.Modified, a.Deleted+b.Deleted, a.Refused+b.Refused
}
