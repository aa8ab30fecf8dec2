package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// ErrSame ends a transaction that would change nothing.
var ErrSame = errors.New("nothing to change")

// UnlessSame drops ErrSame, for callers that do not treat it as an error.
func UnlessSame(err error) error {
	if errors.Is(err, ErrSame) {
		return nil
	}
	return err
}

// LiveObject is Tx.Duplicates without tombstones.
func (w *Tx) LiveObject(
	ctx context.Context, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (atName, withUID *calendar.Object, err error) {
	atName, withUID, err = w.Duplicates(ctx, id, name, uid)
	return unlessDeleted(atName), withUID, err
}

func unlessDeleted(o *calendar.Object) *calendar.Object {
	if o != nil && o.Deleted {
		return nil
	}
	return o
}

// FindObject returns the stored object with a name. It must exist, and the caller's view of it must meet the
// precondition.
func (w *Tx) FindObject(
	ctx context.Context, cal calendar.Calendar, name calendar.ObjectName, when calendar.Precondition,
) (calendar.Object, error) {
	o, _, err := w.LiveObject(ctx, cal.ID, name, "")
	if err != nil {
		return calendar.Object{}, err
	}
	if o == nil {
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	seen := *o
	seen.Data = nil
	if seen, err = w.AsSeen(ctx, cal, seen); err != nil {
		return calendar.Object{}, err
	}
	return *o, when.CheckObject(&seen)
}

// Owns reports whether the calendar is the caller's, so that its objects contain the caller's private data.
func (w *Tx) Owns(cal calendar.Calendar) bool { return cal.Owner == w.Caller.User.ID }

// AsSeen is [lookup.Reader.AsSeen] within the transaction.
func (w *Tx) AsSeen(ctx context.Context, cal calendar.Calendar, o calendar.Object) (calendar.Object, error) {
	if w.Owns(cal) {
		return o, nil
	}
	p, err := w.OwnPart(ctx, cal.ID, w.Caller.User.ID, o.UID)
	if err != nil {
		return o, err
	}
	return lookup.Exchanged(nil, o, p)
}

// HashedName derives an object's name from its UID.
func HashedName(uid calendar.UID) calendar.ObjectName {
	sum := sha256.Sum256([]byte(uid))
	return calendar.ObjectName(hex.EncodeToString(sum[:16]) + ".ics")
}
