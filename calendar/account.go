package calendar

import (
	"context"
	"errors"
	"strings"
	"time"
)

// AccountID identifies a linked account.
type AccountID string

// AccountStatus is the state of a linked account.
type AccountStatus string

// The states of an account. AccountSignIn and AccountPaused stop synchronization until the owner acts.
const (
	AccountGood   AccountStatus = "good"
	AccountFailed AccountStatus = "failing"
	AccountSignIn AccountStatus = "sign in again"
	AccountPaused AccountStatus = "paused"
)

// Account is an account on another server, or a feed, that a user has linked.
type Account struct {
	ID    AccountID
	Owner UserID
	// Provider names the protocol: "ics", "caldav" …
	Provider string
	// Name is for people, Address is the URL. Neither holds a secret.
	Name, Address string
	// Subject is the user's name at the provider, Scopes are the permissions that the provider granted us.
	Subject, Scopes string
	// Secret is encrypted with the key whose ID is Key.
	Secret []byte
	Key    string
	// Every is the time between two synchronizations; 0 leaves it to the source.
	Every  time.Duration
	Status AccountStatus
	// Error is the reason of the last failure, shown to the owner. Failures counts the failures in a row, Failing
	// is the time of the first one.
	Error    string
	Failures int64
	Failing  time.Time
	Created  time.Time
	// Checked is the time of the last successful synchronization, Listed of the last listing of the account's
	// calendars, Due of the next synchronization.
	Checked, Listed, Due time.Time
	// Maker is the token that linked the account; zero for none.
	Maker Actor
	// LinksNew is set if calendars that appear at the account later are linked without asking its owner.
	LinksNew bool
}

// AccountEdit is an owner's change to an account. Zero fields keep the current value.
type AccountEdit struct {
	Name, Scopes string
	Every        time.Duration
	LinksNew     *bool
}

// ListedCalendar is a calendar of an account as last listed. It is linked if a mirror of it exists.
type ListedCalendar struct {
	// Remote is the source's identifier.
	Remote, Name string
	Writable     bool
	// Missing is set if the last listing lacked it.
	Missing bool
}

// Mirror links a calendar here to a calendar of an account.
type Mirror struct {
	Calendar CalendarID
	Account  AccountID
	// Remote is the source's identifier of the calendar.
	Remote string
	// RemoteName is the calendar's display name at the source, as last seen.
	RemoteName string
	// Cursor is the position at the source where the next synchronization continues.
	Cursor string
	// Round counts full listings, Whole is set while one is in progress.
	Round int64
	Whole bool
	// Faults counts the objects that could not be taken over, Error is the reason of the last failure.
	Faults  int64
	Error   string
	Checked time.Time
	// Doubted is the time of the first full listing that lacked most of the objects; zero if the last one did not.
	Doubted time.Time
}

// Mirrored is the state of an object as last synchronized with its source.
type Mirrored struct {
	// Ref is the source's identifier of the object, Version its entity tag there.
	Ref     string
	Version string
	UID     UID
	// Round is the last full listing that included the object.
	Round int64
	// Fault is the reason why the object's current state was not taken over.
	Fault string
	// Unseen is set while no listing has included an object that was created here.
	Unseen bool
}

// twin is the prefix of the stored UID of a hidden object: another object of its calendar has the same UID.
const twin = "same UID as another: "

// Twin returns the stored UID of a hidden object, which shares this UID with a shown one.
func (u UID) Twin() UID { return twin + u }

// TwinOf returns the UID that the object shares with another one, which is shown instead.
func (m Mirrored) TwinOf() (UID, bool) {
	uid, is := strings.CutPrefix(string(m.UID), twin)
	return UID(uid), is
}

// Origin describes the source of a mirrored calendar. It is zero for other calendars.
type Origin struct {
	// From is the account's display name.
	From string
	// Writable is set when changes here are written to the source.
	Writable bool
	// Address is the mail address, in lower case, that organizes events created in the calendar; "" if it is unknown.
	Address string
	// Own is set if the provider itself told the server that Address is the account's. Only then Address counts as the
	// owner's, and only in this calendar: it identifies no user elsewhere.
	Own bool
	// Notifier is the provider's display name if it notifies the attendees of events that Address organizes.
	Notifier string
}

// Has reports whether a mail address is the one that organizes events in the calendar.
func (o Origin) Has(mail string) bool { return o.Address != "" && strings.EqualFold(mail, o.Address) }

// Owns reports whether a mail address is the calendar owner's in this calendar.
func (o Origin) Owns(mail string) bool { return o.Own && o.Has(mail) }

// Mirrors reports whether the calendar mirrors one at another server.
func (o Origin) Mirrors() bool { return o.From != "" }

// sourceAgent is the prefix of the agent of a change that was made at the source of a mirrored calendar.
const sourceAgent = "changed at "

// SourceAgent returns the agent of a change that was made at a source.
func SourceAgent(from string) string { return sourceAgent + from }

// FromSource reports whether the agent of a change is a source, including one that is no longer linked.
func FromSource(agent string) bool { return strings.HasPrefix(agent, sourceAgent) }

// Accounts is the part of a Store that holds linked accounts.
type Accounts interface {
	// InsertAccount stores an account. NotFound when its owner is gone, TooLarge when the owner would have more
	// than most.
	InsertAccount(ctx context.Context, a Account, most int) error
	// Account returns an account, or NotFound.
	Account(ctx context.Context, id AccountID) (Account, error)
	// Accounts returns the accounts of a user, or of all users if owner is empty, sorted by age.
	Accounts(ctx context.Context, owner UserID) ([]Account, error)
	// DueAccounts returns the accounts that are due, earliest first, and skips disabled users. It returns
	// one account of each user before a second of any user.
	DueAccounts(ctx context.Context, now time.Time, most int) ([]Account, error)
	// SetAccount writes the fields of e that are set, clears the account's failures, and makes it due at a time.
	// The next synchronization lists the account's calendars again. NotFound when the account is gone.
	SetAccount(ctx context.Context, id AccountID, e AccountEdit, due time.Time) error
	// DueAccount makes an account due at a time and returns it as updated. NotFound when it is gone.
	DueAccount(ctx context.Context, id AccountID, due time.Time) (Account, error)
	// SetAccountState writes the result of a synchronization: Status, Error, Failures, Failing, Checked, Listed and
	// Due. It reports whether it wrote anything. began is the account as the synchronization found it. If Due was
	// changed since to an earlier time, the earlier time stays. A failure does not count if SetAccount has changed
	// the account since, because it concerns the account's former settings.
	SetAccountState(ctx context.Context, a, began Account) (kept bool, err error)
	// SealAccount writes an account's Secret, Key and Address. Stale when the stored secret differs from before.
	SealAccount(ctx context.Context, a Account, before []byte) error
	// DeleteAccount deletes an account and its mirrors. The calendars stay and become ordinary calendars.
	DeleteAccount(ctx context.Context, id AccountID) error
	// Mirrors returns the mirrors of an account, sorted by calendar, without those whose calendar is in the trash.
	Mirrors(ctx context.Context, id AccountID) ([]Mirror, error)
	// TrashedMirrors returns the mirrors of an account whose calendar is in the trash.
	TrashedMirrors(ctx context.Context, id AccountID) ([]Mirror, error)
	// ListedCalendars returns the calendars of an account that were listed so far, sorted by name.
	ListedCalendars(ctx context.Context, id AccountID) ([]ListedCalendar, error)
	// SetListedCalendars stores a listing of an account's calendars. Calendars that it lacks become Missing,
	// and are forgotten if the account has more than most. NotFound when the account is gone.
	SetListedCalendars(ctx context.Context, id AccountID, all []ListedCalendar, most int) error
	// Mirror returns the mirror of a calendar, or NotFound.
	Mirror(ctx context.Context, id CalendarID) (Mirror, error)
	// SetMirrorError stores the reason why a mirror could not be synchronized.
	SetMirrorError(ctx context.Context, id CalendarID, why string) error
	// Mirrored returns the last synchronized state of objects of a calendar, by ref. Nil refs return all of them.
	Mirrored(ctx context.Context, id CalendarID, refs []string) (map[string]Mirrored, error)
	// MirrorFaulty returns objects that could not be taken over, up to the given number.
	MirrorFaulty(ctx context.Context, id CalendarID, most int) ([]Mirrored, error)
	// MirroredUIDs returns the UIDs of the list that are synchronized.
	MirroredUIDs(ctx context.Context, id CalendarID, uids []UID) (map[UID]bool, error)
	// MirroredByUID returns the last synchronized state of one object, or NotFound.
	MirroredByUID(ctx context.Context, id CalendarID, uid UID) (Mirrored, error)
}

// MirrorKeeper is the part of a Tx that stores the state of mirrors.
type MirrorKeeper interface {
	// InsertMirror makes a calendar a mirror. Exists when another calendar mirrors the same source calendar.
	InsertMirror(ctx context.Context, m Mirror, o Origin) error
	// SetOrigin writes a calendar's Origin.
	SetOrigin(ctx context.Context, id CalendarID, o Origin) error
	// PutMirror writes a mirror's Cursor, Round, Whole, Faults, Error, Checked and Doubted. NotFound when the calendar
	// is no longer a mirror.
	PutMirror(ctx context.Context, m Mirror) error
	// SetRemoteName writes a mirror's RemoteName. NotFound when the calendar is no longer a mirror.
	SetRemoteName(ctx context.Context, id CalendarID, name string) error
	// PutMirrored writes an object's synchronized state. Another ref with the same UID becomes its twin, which is not
	// shown: that is its fault.
	PutMirrored(ctx context.Context, id CalendarID, m Mirrored) error
	// DropMirrored deletes the synchronized state of a ref.
	DropMirrored(ctx context.Context, id CalendarID, ref string) error
	// MirroredBefore returns objects that no full listing since a round has included, up to the given number.
	MirroredBefore(ctx context.Context, id CalendarID, round int64, most int) ([]Mirrored, error)
	// Fence reports whether the holder still has the lease, and prevents others from taking it until the
	// transaction ends.
	Fence(ctx context.Context, f Fence) (bool, error)
	// MirrorRound counts the objects that full listings since a round have included, and the others.
	MirrorRound(ctx context.Context, id CalendarID, round int64) (listed, missing int64, err error)
	// MirrorFaults counts the objects that could not be taken over.
	MirrorFaults(ctx context.Context, id CalendarID) (int64, error)
	// MirrorUnseen reports whether a calendar has unseen objects.
	MirrorUnseen(ctx context.Context, id CalendarID) (bool, error)
}

// Outgoing is a write to a linked calendar on its way to the source. Nil Data deletes the object.
type Outgoing struct {
	Calendar CalendarID
	UID      UID
	Data     []byte
	// Quiet suppresses messages to attendees, for objects that are imported, moved or restored from the trash.
	Quiet bool
	// Base is the object's ETag here when the change was decided, "" if there was none.
	Base ETag
}

// ErrMovedOn means that an object has changed here since a change of it was decided, so it must be decided again.
var ErrMovedOn = errors.New("it has changed meanwhile")

// ErrElsewhere is the cause of an Unavailable error that a linked account is to blame for. The store and everything
// else still work.
var ErrElsewhere = errors.New("a linked account is unavailable")

// ErrPartly is the cause of an error if the source has committed only some of the writes of a change.
var ErrPartly = errors.New("part of the change was made")

// PartlyError is an ErrPartly that names the objects whose writes the sources have committed.
type PartlyError struct{ Stored []Outgoing }

// Error implements error.
func (e *PartlyError) Error() string { return ErrPartly.Error() }

// Is reports whether the target is ErrPartly.
func (e *PartlyError) Is(target error) bool { return target == ErrPartly }

// Fence is the lease that protects access to a calendar's source. Each access uses a new holder. Its results are
// stored only if no other holder has taken the lease since, however long the process was paused.
type Fence struct{ Lease, Holder string }

// ErrOverslept reports that another process has taken the lease since.
var ErrOverslept = &Error{
	Reason:  Unavailable,
	Message: "this took too long, and another process may be writing to the calendar by now; try again in a moment",
	Cause:   ErrElsewhere,
}

// Sent is the result of an Outgoing. Data is the source's version, or nil if the source stored ours unchanged.
type Sent struct {
	Outgoing
	Mirrored Mirrored
	Fence    Fence
	Data     []byte
}

// Arrival is a batch of changes from a source.
type Arrival struct {
	// Mirror is the mirror's state once the whole batch is stored.
	Mirror Mirror
	// Objects are new or changed.
	Objects []Arriving
	// Gone are the refs of objects that the source no longer has.
	Gone []string
	// Sweep also deletes all objects that the current round has not listed. Careful keeps them for now if they are most
	// of the calendar, until another listing lacks them, too.
	Sweep, Careful bool
	// UpToDate is set on the last page of the changes since a cursor.
	UpToDate bool
	Fence    Fence
}

// Arriving is an object as its source has it. Nil Data means that the object exists unchanged.
type Arriving struct {
	Mirrored
	Data []byte
}

// Arrived counts the changes of an Arrival.
type Arrived struct {
	Created, Modified, Deleted, Refused int
	// Missing counts the objects that were missing from a listing and are not deleted yet, see [Arrival].
	Missing int `json:",omitempty"`
}

// Add adds the counts of b.
func (a *Arrived) Add(b Arrived) {
	a.Created, a.Modified, a.Deleted, a.Refused = a.Created+b.Created, a.Modified+b.Modified, a.Deleted+
		b.Deleted, a.Refused+b.Refused
	a.Missing += b.Missing
}
