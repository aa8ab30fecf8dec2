package calendar

import (
	"context"
	"iter"
	"time"
)

// Store is what the middle needs remembered. Every engine keeps the whole contract, which
// store/storetest holds as tests. Errors are *Error where the store can tell the reason:
// NotFound, Exists, and Unavailable when the database is away.
type Store interface {
	Reader

	// Update runs fn in one transaction: all of it is kept, or, when fn or the commit
	// fails, nothing. fn may run again when the engine asks for it, so it must have no
	// effect but on its own variables and tx.
	Update(ctx context.Context, fn func(tx Tx) error) error

	// Rederive calls derive with the bytes of every object that the walk comes by, tombstones included, and
	// stores what it returns. It changes no version. It returns how many it went through.
	Rederive(ctx context.Context, walk Walk, derive func(Object) Derived) (int, error)

	Trash
	Attempts
	Watchable
	Subscriptions
	Outbox
	Leases
	Pushes
	Webhooks
	Digests
	OfferMails
	Accounts
}

// Walk is a way through all objects, in one order whatever becomes of them meanwhile.
type Walk struct {
	// After is the object behind which it begins; none for the first.
	After ObjectAddress
	// Reached is told, now and then, the last object and how many it were so far; an error ends the walk. Nil if nobody asks.
	Reached func(ctx context.Context, last ObjectAddress, walked int) error
}

// ObjectAddress is where an object lies.
type ObjectAddress struct {
	Calendar CalendarID
	Name     ObjectName
}

// Reader is the part of a Store that answers questions.
type Reader interface {
	// Epoch returns the store's present epoch.
	Epoch(ctx context.Context) (Epoch, error)

	// ReadHome asks at once, where the engine can, for what a listing of a user's home takes: the calendars, the home's record, what
	// the user has used, how they are scheduled with, the state of their inbox, and what is kept of the home and of the calendars. Such
	// questions with the context that it returns are answered by that, and no others: access to one calendar is asked for anew. It is
	// for one answer, and a Tx does not know of it.
	ReadHome(ctx context.Context, user UserID) (context.Context, error)

	// Calendars returns the live calendars that a user owns or has a share of, own ones
	// first, then by Order (those without last), name and id.
	Calendars(ctx context.Context, user UserID) ([]Calendar, error)
	// Calendar returns a live calendar with the access that the user has, which may be
	// NoAccess; NotFound when there is none.
	Calendar(ctx context.Context, user UserID, id CalendarID) (Calendar, error)
	// CalendarAt returns the live calendar at an address in the user's home: their own by
	// segment, a shared one by id. NotFound when there is none.
	CalendarAt(ctx context.Context, user UserID, address Segment) (Calendar, error)

	// Object returns a live object with its data, or NotFound.
	// Data larger than LargeObject are left out: Objects has them, for a caller that has room.
	Object(ctx context.Context, cal CalendarID, name ObjectName) (Object, error)
	// ObjectByUID does the same by the object's UID.
	ObjectByUID(ctx context.Context, cal CalendarID, uid UID) (Object, error)
	ObjectReader
	// At is for one long question about calendars as they were looked up. What it reads is never of a moment before that, nor
	// before what it read already, and may come from a place that is not as new as what the Reader itself says.
	At(calendars ...Calendar) ObjectReader

	// DeadProperties returns the properties that are kept of something, by name.
	DeadProperties(ctx context.Context, h Holder) ([]DeadProperty, error)
	// DeadPropertiesInHome returns what a user keeps of each live calendar that they own or have a share
	// of.
	DeadPropertiesInHome(ctx context.Context, user UserID) (map[CalendarID][]DeadProperty, error)
	// DeadPropertyHolders returns the names of a calendar's objects of which properties are kept.
	DeadPropertyHolders(ctx context.Context, cal CalendarID) ([]ObjectName, error)

	// Home returns the record of a user's home, which has only an Epoch when there is none.
	Home(ctx context.Context, user UserID) (Home, error)

	Directory
	TrashReader
	JournalReader
	ShareReader
	OwnPartReader
	NoticeReader
	SchedulingReader
	UnverifiedReader
	UsageReader
	BookingReader
}

// ObjectReader answers questions about many objects.
type ObjectReader interface {
	// Objects yields the live objects that match, by name in byte order. It holds no
	// database resource while the consumer works, and at most a bounded page of rows. It goes on behind one that has ErrNoText.
	Objects(ctx context.Context, cal CalendarID, q ObjectQuery) iter.Seq2[Object, error]
	// Changes yields the heads of objects, with their spans and tombstones included, whose last change lies in the
	// range, by version. Should a tombstone of after its Unbroken be pruned, also while this
	// goes on, it ends with RuleSyncToken: a deletion would be missing. Limits as for Objects.
	Changes(ctx context.Context, cal CalendarID, in VersionRange) iter.Seq2[Object, error]

	// Search returns live objects by their words: see SearchQuery. The first of them come with their data,
	// those behind some mebibyte of it, and all that are larger than LargeObject, without.
	Search(ctx context.Context, q SearchQuery) ([]Object, error)

	// SearchTexts gives the words of each live object of a kind in some calendars, of so many objects at most, until each fails.
	// It may give some twice.
	SearchTexts(ctx context.Context, in []CalendarID, kind Kind, most int, each func(text string) error) error
}

// Tx is one transaction. A writer that changes objects of a calendar calls Advance first: it
// takes the calendar's lock, so that versions appear in commit order. An engine may send
// PutObject, BuryObject and Log as late as the commit: Update returns their errors too.
type Tx interface {
	// Advance locks a live calendar, moves its version on by one and returns it as it then
	// is (Access unset). NotFound when it is gone. Several calendars are locked in the order
	// of their ids, lest two transactions wait for each other.
	Advance(ctx context.Context, id CalendarID) (Calendar, error)
	// AdvanceAll is Advance of many, in the order of their ids, which it returns. Those that are gone are left out.
	AdvanceAll(ctx context.Context, ids []CalendarID) ([]Calendar, error)
	// AdvanceFree is AdvanceAll of those whose lock nobody has at this moment: it waits for none, and so may come when other
	// calendars are locked, whatever their ids. Each is counted to have grown, see UsageKeeper.
	AdvanceFree(ctx context.Context, ids []CalendarID, grown Usage) ([]Calendar, error)
	// Duplicates returns whatever lies at the name, a tombstone included, and the live
	// object with the UID, each with its data; nil where there is none. One whose text is lost is shown to no reader, but can be
	// written over and deleted.
	Duplicates(ctx context.Context, cal CalendarID, name ObjectName, uid UID) (atName, withUID *Object, err error)
	// AdvanceTo is Advance and Duplicates in one.
	AdvanceTo(ctx context.Context, id CalendarID, name ObjectName, uid UID) (cal Calendar, atName, withUID *Object, err error)
	// PutObject writes a live object, over whatever lies at its name.
	PutObject(ctx context.Context, o Object) error
	// TouchObject gives a live object another version, and leaves it as it is.
	TouchObject(ctx context.Context, cal CalendarID, name ObjectName, v Version) error
	// BuryObject makes a live object a tombstone of that version, and forgets the properties
	// that were kept of it.
	BuryObject(ctx context.Context, cal CalendarID, name ObjectName, v Version) error
	// Log writes a line of the journal. The lines of a transaction are a unit, see JournalReader.
	Log(ctx context.Context, c Change) error
	// Join makes what is logged from now on part of an earlier transaction's unit, which is named
	// by its first entry.
	Join(head ChangeID)
	// Journal is JournalReader.Journal within the transaction: what it wrote itself included.
	Journal(ctx context.Context, cal CalendarID, q JournalQuery) iter.Seq2[Change, error]

	// InsertCalendar makes a calendar with version 0. Exists when its segment is taken.
	InsertCalendar(ctx context.Context, c Calendar) error
	// UpdateCalendar writes the calendar's properties.
	UpdateCalendar(ctx context.Context, id CalendarID, p Properties) error
	// AddressTaken tells whether a calendar of the user's lies at an address.
	AddressTaken(ctx context.Context, owner UserID, at Segment) (bool, error)
	// UserByID is Directory.UserByID within the transaction, and InGroup tells whether a user is in a group: a transaction
	// that asks outside waits for a second connection, which others that do the same may all hold.
	UserByID(ctx context.Context, id UserID) (User, error)
	InGroup(ctx context.Context, group, user UserID) (bool, error)
	// MoveCalendar gives the calendar another segment. Exists when that is taken.
	MoveCalendar(ctx context.Context, id CalendarID, to Segment) error
	// TrashCalendar takes a calendar out of sight, with all its objects. Its name and its
	// UIDs are free at once; the trash gives it back until it is emptied.
	TrashCalendar(ctx context.Context, id CalendarID) error
	// UntrashCalendar takes a calendar out of the trash, to an address. NotFound when it is not
	// there, Exists when the address is taken.
	UntrashCalendar(ctx context.Context, id CalendarID, at Segment) error

	// SetDeadProperties sets and removes properties that are kept of something, in their order, and returns
	// what there then is in all, and by how many bytes it grew. Whose holder is gone is NotFound. What is kept of objects counts
	// among the bytes of their calendar: what this adds the caller counts, see UsageKeeper, the copying and the burying do so themselves.
	SetDeadProperties(ctx context.Context, h Holder, edits []DeadProperty) (all Usage, grown int64, err error)
	// DeadProperties is Store.DeadProperties within the transaction.
	DeadProperties(ctx context.Context, h Holder) ([]DeadProperty, error)
	// CopyDeadProperties puts what is kept of one object in the place of what is kept of another.
	CopyDeadProperties(ctx context.Context, from, to Holder) error

	// LockHome locks the record of a user's home, making it where there is none, and returns
	// it with the calendars as Store.Calendars has them.
	LockHome(ctx context.Context, user UserID) (Home, []Calendar, error)
	// PutMembers writes the Version and the Replaced of a home, and those of its members that
	// changed. Now is when those that are gone were found to be.
	PutMembers(ctx context.Context, user UserID, home Home, changed []Member, now time.Time) error

	ShareKeeper
	OwnPartKeeper
	NoticeKeeper
	Poster
	SchedulingKeeper
	UnverifiedKeeper
	UsageKeeper
	MirrorKeeper
	BookingKeeper
	ToldEventKeeper
}
