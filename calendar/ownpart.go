package calendar

import "context"

// OwnPart is a sharee's private part of a shared object: reminders, and whether it counts as busy for them. The
// owner's own part is in the object itself.
type OwnPart struct {
	UID UID
	// Version is the share's own version (see Calendar.Own) of the latest change.
	Version Version
	// ETag is "" if the part was deleted.
	ETag ETag
	Data []byte
}

const (
	// MaxOwnPart limits the bytes of a user's private part of one object.
	MaxOwnPart = 64 << 10
	// MaxOwnParts limits the total for a calendar.
	MaxOwnParts = 8 << 20
)

// Tag returns the entity tag of an object as the user sees it.
func (p OwnPart) Tag(shared ETag) ETag {
	if p.ETag == "" || shared == "" {
		return shared
	}
	return ETagOf([]byte(string(shared) + "\x00" + string(p.ETag)))
}

// OwnPartReader is the part of a Store that reads private parts.
type OwnPartReader interface {
	// OwnPart returns a user's part of an object; the zero OwnPart if there is none.
	OwnPart(ctx context.Context, cal CalendarID, user UserID, uid UID) (OwnPart, error)
	// OwnParts returns a user's parts of a calendar's objects that changed after one of the user's versions, sorted
	// by version, with or without data. Deleted parts are included unless after is 0.
	OwnParts(ctx context.Context, cal CalendarID, user UserID, after Version, withData bool) ([]OwnPart, error)
}

// OwnPartKeeper is the part of a Tx that writes private parts. The calendar need not be locked.
type OwnPartKeeper interface {
	// OwnPart is OwnPartReader.OwnPart within the transaction.
	OwnPart(ctx context.Context, cal CalendarID, user UserID, uid UID) (OwnPart, error)
	// PutOwnPart writes a part's data and tag, and increments the share's own version. Empty data deletes the part.
	// It returns the total bytes of the user's parts of the calendar. NotFound if the user has no access.
	PutOwnPart(ctx context.Context, cal CalendarID, user UserID, p OwnPart) (bytes int64, err error)
	// CopyOwnParts copies every sharee's part of one object to another object, except the part of the user but.
	CopyOwnParts(ctx context.Context, cal CalendarID, from, to UID, but UserID) error
}
