package calendar

import (
	"context"
	"iter"
	"time"
)

// Store is the interface of persistent storage. Every database implements the whole contract, which store/storetest
// tests. Errors are *Error if the store knows the reason: NotFound, Exists, and Unavailable when the database is
// down.
type Store interface {
	Reader
	HistoryTrimmer

	// Update runs fn in one transaction, and rolls back if fn or the commit fails. The database may require a
	// retry, so fn must have no side effects except on its own variables and tx.
	Update(ctx context.Context, fn func(tx Tx) error) error

	// Rederive calls derive with the bytes of every object of the walk, including tombstones, and stores the
	// result. It changes no version. It returns the number of objects.
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
	BookingPages
	Polls
	OfferMails
	Accounts
	Uploads
	Suggestions
}

// Walk is an iteration over all objects, in an order that concurrent changes do not affect.
type Walk struct {
	// After is the object after which the walk starts; zero means the start.
	After ObjectAddress
	// Reached is called now and then with the last object and the number of objects so far. An error ends the walk.
	// It may be nil.
	Reached func(ctx context.Context, last ObjectAddress, walked int) error
}

// ObjectAddress identifies an object by calendar and name.
type ObjectAddress struct {
	Calendar CalendarID
	Name     ObjectName
}

// Reader is the part of a Store that reads.
type Reader interface {
	// Epoch returns the store's current epoch.
	Epoch(ctx context.Context) (Epoch, error)

	// ReadHome prefetches a user's home into the returned context, in one round trip if the database can. It reads
	// the calendars, the home's record, the usage, the scheduling settings, the inbox state, and the dead
	// properties of the home and its calendars. Reads with that context use the prefetched data; access to a single
	// calendar is still checked in the database. Use the context for one response only. A Tx ignores it.
	ReadHome(ctx context.Context, user UserID) (context.Context, error)

	// Calendars returns the live calendars that a user owns or has a share of: own ones first, then by Order (unset
	// last), name and ID.
	Calendars(ctx context.Context, user UserID) ([]Calendar, error)
	// Calendar returns a live calendar with the user's access, which may be NoAccess; NotFound when there is none.
	Calendar(ctx context.Context, user UserID, id CalendarID) (Calendar, error)
	// CalendarAt returns the live calendar at an address in the user's home: an own one by segment, a shared one by
	// ID. NotFound when there is none.
	CalendarAt(ctx context.Context, user UserID, address Segment) (Calendar, error)

	// Object returns a live object with its data, or NotFound. Data larger than LargeObject is left out: a caller
	// that has memory for it uses Objects.
	Object(ctx context.Context, cal CalendarID, name ObjectName) (Object, error)
	// ObjectByUID returns a live object by UID, in the same way.
	ObjectByUID(ctx context.Context, cal CalendarID, uid UID) (Object, error)
	ObjectReader
	// At returns a reader for one large read about calendars as looked up before. The reader may be a read replica,
	// which can lag the Reader. It never returns a state older than the given calendars, or older than an earlier
	// read of its own.
	At(calendars ...Calendar) ObjectReader

	// DeadProperties returns the dead properties of a resource, sorted by name.
	DeadProperties(ctx context.Context, h Holder) ([]DeadProperty, error)
	// DeadPropertiesInHome returns a user's dead properties of each live calendar that they own or have a share of.
	DeadPropertiesInHome(ctx context.Context, user UserID) (map[CalendarID][]DeadProperty, error)
	// DeadPropertyHolders returns the names of a calendar's objects that have dead properties.
	DeadPropertyHolders(ctx context.Context, cal CalendarID) ([]ObjectName, error)

	// Home returns the record of a user's home. It has only Epoch and Suggests when there is none.
	Home(ctx context.Context, user UserID) (Home, error)
	SuggestionReader

	Directory
	TrashReader
	JournalReader
	ShareReader
	DelegateReader
	OwnPartReader
	NoticeReader
	SchedulingReader
	UnverifiedReader
	UsageReader
	BookingReader
}

// ObjectReader reads many objects.
type ObjectReader interface {
	// Objects yields the matching live objects, by name in byte order. It holds at most one page of rows, and no
	// database resource while the consumer works. It continues after an object with ErrNoText.
	Objects(ctx context.Context, cal CalendarID, q ObjectQuery) iter.Seq2[Object, error]
	// Changes yields the heads, with spans, of objects whose last change is in the range, by version, including
	// tombstones. If a tombstone after in.Unbroken is pruned, even during the iteration, it ends with
	// RuleSyncToken, because a deletion would be missing. It has the memory limits of Objects.
	Changes(ctx context.Context, cal CalendarID, in VersionRange) iter.Seq2[Object, error]

	// Search returns live objects by their words; see SearchQuery. Results have their data until that reaches about
	// a mebibyte. Later results, and all that are larger than LargeObject, have none.
	Search(ctx context.Context, q SearchQuery) ([]Object, error)

	// SearchTexts calls each with the words of live objects of a kind in some calendars, up to most objects or
	// until each fails. An object may come twice.
	SearchTexts(ctx context.Context, in []CalendarID, kind Kind, most int, each func(text string) error) error
}

// Tx is one transaction. A writer that changes objects of a calendar calls Advance first: it locks the calendar, so
// that versions appear in commit order. A store may delay PutObject, BuryObject and Log until the commit, so Update
// returns their errors too.
type Tx interface {
	// Advance locks a live calendar, increments its version and returns it as updated (Access unset). NotFound when
	// it is gone. Lock several calendars in the order of their IDs, to avoid deadlocks.
	Advance(ctx context.Context, id CalendarID) (Calendar, error)
	// AdvanceAll advances many calendars and returns them in the order of their IDs. It skips calendars that are gone.
	AdvanceAll(ctx context.Context, ids []CalendarID) ([]Calendar, error)
	// AdvanceFree is AdvanceAll for the calendars that no other transaction has locked. It does not wait, so it may
	// follow other locks in any order of IDs. It adds grown to the usage of each calendar; see UsageKeeper.
	AdvanceFree(ctx context.Context, ids []CalendarID, grown Usage) ([]Calendar, error)
	// Duplicates returns the object at the name, including a tombstone, and the live object with the UID, both with
	// their data; nil where there is none. Unlike readers it also returns an object whose text is lost, so that it
	// can be overwritten or deleted.
	Duplicates(ctx context.Context, cal CalendarID, name ObjectName, uid UID) (atName, withUID *Object, err error)
	// AdvanceTo combines Advance and Duplicates.
	AdvanceTo(
		ctx context.Context, id CalendarID, name ObjectName, uid UID,
	) (cal Calendar, atName, withUID *Object, err error)
	// PutObject writes a live object, replacing any object at its name.
	PutObject(ctx context.Context, o Object) error
	// TouchObject gives a live object a new version without changing it.
	TouchObject(ctx context.Context, cal CalendarID, name ObjectName, v Version) error
	// BuryObject turns a live object into a tombstone with that version, and deletes its dead properties.
	BuryObject(ctx context.Context, cal CalendarID, name ObjectName, v Version) error
	// Log writes a journal entry. All entries of a transaction form a unit; see JournalReader.
	Log(ctx context.Context, c Change) error
	// Join adds all later entries of the transaction to an earlier transaction's unit, identified by its first
	// entry.
	Join(head ChangeID)
	// Journal is JournalReader.Journal within the transaction, including its own entries.
	Journal(ctx context.Context, cal CalendarID, q JournalQuery) iter.Seq2[Change, error]

	// InsertCalendar creates a calendar with version 0. Exists when its segment is taken.
	InsertCalendar(ctx context.Context, c Calendar) error
	// UpdateCalendar writes the calendar's properties.
	UpdateCalendar(ctx context.Context, id CalendarID, p Properties) error
	// AddressTaken reports whether one of the user's calendars has the address.
	AddressTaken(ctx context.Context, owner UserID, at Segment) (bool, error)
	// UserByID is Directory.UserByID within the transaction, and InGroup reports whether a user is in a group. A
	// transaction must not use the Reader: it would wait for a second connection, and transactions that do the same
	// may hold all of them.
	UserByID(ctx context.Context, id UserID) (User, error)
	InGroup(ctx context.Context, group, user UserID) (bool, error)
	// MoveCalendar gives the calendar another segment. Exists when that is taken.
	MoveCalendar(ctx context.Context, id CalendarID, to Segment) error
	// GiveCalendar makes another user the owner of a locked calendar, with its id as the segment. The new owner's
	// share of it ends; all other shares stay.
	GiveCalendar(ctx context.Context, id CalendarID, to UserID) error
	// TrashCalendar moves a calendar and its objects to the trash. Its name and its UIDs are free at once. It can
	// be restored until the trash is emptied.
	TrashCalendar(ctx context.Context, id CalendarID) error
	// UntrashCalendar restores a calendar from the trash to an address. NotFound when it is not in the trash,
	// Exists when the address is taken.
	UntrashCalendar(ctx context.Context, id CalendarID, at Segment) error

	// SetDeadProperties sets and removes dead properties of a resource in order. It returns the resource's new
	// total and its growth in bytes. NotFound when the resource is gone. Objects' properties count towards their
	// calendar's bytes. The caller adds this growth (see UsageKeeper); copying and burying add theirs themselves.
	SetDeadProperties(ctx context.Context, h Holder, edits []DeadProperty) (all Usage, grown int64, err error)
	// DeadProperties is Store.DeadProperties within the transaction.
	DeadProperties(ctx context.Context, h Holder) ([]DeadProperty, error)
	// CopyDeadProperties replaces one object's dead properties with a copy of another object's.
	CopyDeadProperties(ctx context.Context, from, to Holder) error

	// LockHome locks the record of a user's home, creating it if needed, and returns it with the calendars as from
	// Store.Calendars.
	LockHome(ctx context.Context, user UserID) (Home, []Calendar, error)
	// PutMembers writes a home's Version and Replaced, and its changed members. Removed members get now as the time
	// of removal.
	PutMembers(ctx context.Context, user UserID, home Home, changed []Member, now time.Time) error

	ShareKeeper
	DelegateKeeper
	OwnPartKeeper
	NoticeKeeper
	Poster
	SchedulingKeeper
	UnverifiedKeeper
	UsageKeeper
	MirrorKeeper
	BookingKeeper
	ToldEventKeeper
	SuggestionKeeper
	HoldKeeper
	PollKeeper
}
