package calendar

import "context"

// OwnPart is what a user has for themselves of an object that another one shares with them: reminders, and whether it
// takes their time. The owner's own stand in the object.
type OwnPart struct {
	UID UID
	// Version is the share's own, see Calendar.Own, of the latest change.
	Version Version
	// ETag is "" where nothing is left of it.
	ETag ETag
	Data []byte
}

const (
	// MaxOwnPart is how many bytes a user may have for themselves of one object.
	MaxOwnPart = 64 << 10
	// MaxOwnParts is how many they may have of all of a calendar.
	MaxOwnParts = 8 << 20
)

// Tag is the tag of an object as the user sees it.
func (p OwnPart) Tag(shared ETag) ETag {
	if p.ETag == "" || shared == "" {
		return shared
	}
	return ETagOf([]byte(string(shared) + "\x00" + string(p.ETag)))
}

// OwnPartReader is the part of a Store that knows what sharees have for themselves.
type OwnPartReader interface {
	// OwnPart returns what a user has of an object; the zero OwnPart for nothing.
	OwnPart(ctx context.Context, cal CalendarID, user UserID, uid UID) (OwnPart, error)
	// OwnParts returns all that a user has of a calendar's objects that changed after a version of theirs, with or without
	// data, by version. What is no longer there is told after a version, and not at first (0).
	OwnParts(ctx context.Context, cal CalendarID, user UserID, after Version, withData bool) ([]OwnPart, error)
}

// OwnPartKeeper is the part of a Tx that changes what sharees have for themselves. The calendar need not be locked.
type OwnPartKeeper interface {
	// OwnPart is OwnPartReader.OwnPart within the transaction.
	OwnPart(ctx context.Context, cal CalendarID, user UserID, uid UID) (OwnPart, error)
	// PutOwnPart writes the data and the tag of a part and moves the share's own version on; without data, nothing is left of
	// it. It returns how many bytes the user then has of the calendar. NotFound when they have no access.
	PutOwnPart(ctx context.Context, cal CalendarID, user UserID, p OwnPart) (bytes int64, err error)
	// CopyOwnParts gives all sharees but one what they have of an object of another one, too.
	CopyOwnParts(ctx context.Context, cal CalendarID, from, to UID, but UserID) error
}
