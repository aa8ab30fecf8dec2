package calendar

import (
	"strconv"
	"strings"
)

// VersionRange is a part of a calendar's history: the versions after After, up to Until.
type VersionRange struct {
	After, Until Version
	// Unbroken is the version from which on every deletion must be known still. A client that starts
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
	// Own is the version of what a sharee has for themselves, see Calendar.Own.
	Own Version
	// Begun is where a first synchronization that is not over yet began, else 0. What has
	// been deleted before then its client never saw, so that it need not be told of it.
	Begun Version
}

// String returns the token as it stands on the wire.
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

// String returns the version as a number.
func (v Version) String() string { return strconv.FormatInt(int64(v), 10) }

// After returns the token for a client that now knows the calendar as it was at v; more
// tells that the calendar as it is in cal has more for it. t is the token that it came
// with, zero for a first synchronization.
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

// History is the past of what can be synchronized: a calendar, a home, or what a user was told.
type History struct {
	// Of names it.
	Of    CalendarID
	Epoch Epoch
	// Version is that of the latest change, Pruned of the latest that was forgotten.
	Version, Pruned Version
	// Own is that of the latest change of what a sharee has for themselves.
	Own Version
}

// Now returns the token for it as it is.
func (h History) Now() SyncToken {
	return SyncToken{Epoch: h.Epoch, Calendar: h.Of, Version: h.Version, Own: h.Own}
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
	case max(t.Version, t.Begun) > h.Version, t.Own > h.Own:
		return ErrSyncToken("it is from the future")
	case max(t.Version, t.Begun) < h.Pruned:
		return ErrSyncToken("it is older than the journal")
	}
	return nil
}

// ErrSyncToken says why a sync token is not honoured.
func ErrSyncToken(why string) error {
	return Errorf(Forbidden, RuleSyncToken, "this sync token cannot be honoured: %s", why).Advising("synchronize from the start")
}
