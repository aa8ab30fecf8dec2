package calendar

import (
	"strconv"
	"strings"
)

// VersionRange is a part of a calendar's history: the versions after After, up to and including Until.
type VersionRange struct {
	After, Until Version
	// Unbroken is a version: no deletion after it may have been pruned. A client that starts from nothing
	// (After is 0) needs no deletions, and may leave it 0.
	Unbroken Version
}

// syncURN makes sync tokens URIs, as RFC 6578 §4 requires.
const syncURN = "urn:caldav-mcp-server:sync:"

// SyncToken is a point in the history of one calendar.
type SyncToken struct {
	Epoch    Epoch
	Calendar CalendarID
	Version  Version
	// Own is the version of a sharee's private data; see Calendar.Own.
	Own Version
	// Begun is the version at the start of a first synchronization that is not finished yet, otherwise 0. The
	// client never saw objects that were deleted before it, so it need not learn of those deletions.
	Begun Version
}

// String returns the token as sent on the wire.
func (t SyncToken) String() string {
	s := syncURN + string(t.Epoch) + ":" + string(t.Calendar) + ":" + t.Version.String()
	if t.Own > 0 {
		s += "." + t.Own.String()
	}
	if t.Begun > 0 {
		s += ":" + t.Begun.String()
	}
	return s
}

// String formats the version as a number.
func (v Version) String() string { return strconv.FormatInt(int64(v), 10) }

// After returns the token for a client that now knows the calendar as of v. t is the token that the client sent,
// zero for a first synchronization. more is set if changes up to now remain.
func (t SyncToken) After(v Version, more bool, now SyncToken) SyncToken {
	next := SyncToken{Epoch: now.Epoch, Calendar: now.Calendar, Version: v, Own: now.Own}
	switch {
	case !more:
	case t == (SyncToken{}):
		next.Begun = now.Version
	default:
		next.Begun, next.Own = t.Begun, t.Own
	}
	return next
}

// ParseSyncToken parses a token; the empty text is the zero token, which starts from nothing. A foreign token
// breaks RuleSyncToken and is never treated as zero: the client must learn that it has to start again.
func ParseSyncToken(s string) (SyncToken, error) {
	if s == "" {
		return SyncToken{}, nil
	}
	rest, ours := strings.CutPrefix(s, syncURN)
	parts := strings.Split(rest, ":")
	if !ours || len(parts) < 3 || len(parts) > 4 {
		return SyncToken{}, ErrSyncToken("it was not made by this server")
	}
	t := SyncToken{Epoch: Epoch(parts[0]), Calendar: CalendarID(parts[1])}
	shared, own, both := strings.Cut(parts[2], ".")
	into := map[*Version]string{&t.Version: shared}
	if both {
		into[&t.Own] = own
	}
	if len(parts) == 4 {
		into[&t.Begun] = parts[3]
	}
	for version, digits := range into {
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v < 0 {
			return SyncToken{}, ErrSyncToken("its version cannot be read")
		}
		*version = Version(v)
	}
	return t, nil
}

// History is the history of something that can be synchronized: a calendar, a home, an inbox or a notice box.
type History struct {
	// Of identifies it.
	Of    CalendarID
	Epoch Epoch
	// Version is the latest change, Pruned the latest pruned one.
	Version, Pruned Version
	// Own is the latest change of a sharee's private data.
	Own Version
}

// Now returns the token of the current state.
func (h History) Now() SyncToken {
	return SyncToken{Epoch: h.Epoch, Calendar: h.Of, Version: h.Version, Own: h.Own}
}

// Check refuses a token if changes after it are no longer known. It accepts the zero token.
func (h History) Check(t SyncToken) error {
	switch {
	case t == SyncToken{}:
		return nil
	case t.Epoch != h.Epoch:
		return ErrSyncToken("the store was restored since")
	case t.Calendar != h.Of:
		return ErrSyncToken("it belongs to another calendar")
	case max(t.Version, t.Begun) > h.Version, t.Own > h.Own:
		return ErrSyncToken("it is from the future")
	case max(t.Version, t.Begun) < h.Pruned:
		return ErrSyncToken("it is older than the journal")
	}
	return nil
}

// ErrSyncToken refuses a sync token.
func ErrSyncToken(why string) error {
	return Errorf(Forbidden, RuleSyncToken, "this sync token cannot be honoured: %s", why).
		Advising("synchronize from the start")
}

// Box holds everything that a user was sent or notified of, including items deleted by now.
type Box[T any] struct {
	// Version is the latest change, Pruned the latest deletion that was pruned.
	Version, Pruned Version
	// Items are sorted by name.
	Items []T
}

// BoxItem is an item in a Box.
type BoxItem interface {
	// Latest returns the version of the item's latest change, and whether that change deleted it.
	Latest() (v Version, gone bool)
}

// BoxChanges lists the changes in a box.
type BoxChanges[T any] struct {
	// Now is the token of the box's current state.
	Now SyncToken
	// Items are new, changed or deleted, sorted by Version.
	Items []T
}
