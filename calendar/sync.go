package calendar

import (
	"strconv"
	"strings"
)

// Stretch is a part of a calendar's history: the versions after After, up to Until.
type Stretch struct {
	After, Until Version
	// Unbroken is the version from which on every deletion must be known still. Who starts
	// from nothing (After is 0) needs to know of none, and may leave it out.
	Unbroken Version
}

// syncURN makes sync tokens URIs, as RFC 6578 §4 wants them.
const syncURN = "urn:caldav-mcp-server:sync:"

// SyncToken is a point in the history of one calendar.
type SyncToken struct {
	Epoch    Epoch
	Calendar CalendarID
	Version  Version
	// Begun is where a first synchronization that is not over yet began, else 0. What has
	// been deleted before then its client never saw, so that it need not be told of it.
	Begun Version
}

// String returns the token as it stands on the wire.
func (t SyncToken) String() string {
	s := syncURN + string(t.Epoch) + ":" + string(t.Calendar) + ":" + t.Version.String()
	if t.Begun > 0 {
		s += ":" + t.Begun.String()
	}
	return s
}

// String returns the version as a number.
func (v Version) String() string { return strconv.FormatInt(int64(v), 10) }

// After returns the token for a client that now knows the calendar as it was at v; more
// tells that the calendar as it is in cal has more for it. t is the token that it came
// with, zero for a first synchronization.
func (t SyncToken) After(v Version, more bool, now SyncToken) SyncToken {
	next := SyncToken{Epoch: now.Epoch, Calendar: now.Calendar, Version: v}
	switch {
	case !more:
	case t == (SyncToken{}):
		next.Begun = now.Version
	default:
		next.Begun = t.Begun
	}
	return next
}

// ParseSyncToken reads a token back; no text is the zero token, from the start. One that is
// not ours breaks RuleSyncToken, never "from the start": the client must learn that it has
// to begin again.
func ParseSyncToken(s string) (SyncToken, error) {
	if s == "" {
		return SyncToken{}, nil
	}
	rest, ours := strings.CutPrefix(s, syncURN)
	parts := strings.Split(rest, ":")
	if !ours || len(parts) < 3 || len(parts) > 4 {
		return SyncToken{}, ErrSyncToken("it was not made by this server")
	}
	var versions [2]Version
	for i, digits := range parts[2:] {
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v < 0 {
			return SyncToken{}, ErrSyncToken("its version cannot be read")
		}
		versions[i] = Version(v)
	}
	return SyncToken{Epoch(parts[0]), CalendarID(parts[1]), versions[0], versions[1]}, nil
}

// History is the past of what can be synchronized: a calendar, a home, or what a user was told.
type History struct {
	// Of names it.
	Of    CalendarID
	Epoch Epoch
	// Version is that of the latest change, Pruned of the latest that was forgotten.
	Version, Pruned Version
}

// Now returns the token for it as it is.
func (h History) Now() SyncToken {
	return SyncToken{Epoch: h.Epoch, Calendar: h.Of, Version: h.Version}
}

// Check refuses a token since which changes cannot be told without a gap. The zero token has none.
func (h History) Check(t SyncToken) error {
	switch {
	case t == SyncToken{}:
		return nil
	case t.Epoch != h.Epoch:
		return ErrSyncToken("the store was restored since")
	case t.Calendar != h.Of:
		return ErrSyncToken("it belongs to another calendar")
	case max(t.Version, t.Begun) > h.Version:
		return ErrSyncToken("it is from the future")
	case max(t.Version, t.Begun) < h.Pruned:
		return ErrSyncToken("it is older than the journal")
	}
	return nil
}

// ErrSyncToken says why a sync token is not honoured.
func ErrSyncToken(why string) error {
	e := Errorf(Forbidden, RuleSyncToken, "this sync token cannot be honoured: %s", why)
	e.Hint = "synchronize from the start"
	return e
}
