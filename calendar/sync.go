package calendar

import (
	"strconv"
	"strings"
)

// tokenPrefix makes sync tokens URIs, as RFC 6578 §4 wants them.
const tokenPrefix = "urn:caldav-mcp-server:sync:"

// SyncToken is a point in the history of one calendar.
type SyncToken struct {
	Epoch    Epoch
	Calendar CalendarID
	Version  Version
}

// String returns the token as it stands on the wire.
func (t SyncToken) String() string {
	return tokenPrefix + string(t.Epoch) + ":" + string(t.Calendar) + ":" + strconv.FormatInt(int64(t.Version), 10)
}

// ParseSyncToken reads a token back. One that is not ours breaks RuleSyncToken, never
// "from the start": the client must learn that it has to begin again.
func ParseSyncToken(s string) (SyncToken, error) {
	rest, ours := strings.CutPrefix(s, tokenPrefix)
	parts := strings.Split(rest, ":")
	if !ours || len(parts) != 3 {
		return SyncToken{}, errSyncToken("it was not made by this server")
	}
	v, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || v < 0 {
		return SyncToken{}, errSyncToken("its version cannot be read")
	}
	return SyncToken{Epoch(parts[0]), CalendarID(parts[1]), Version(v)}, nil
}

// check tells whether changes since t can be told without a gap.
func (t SyncToken) check(epoch Epoch, cal Calendar) error {
	switch {
	case t.Epoch != epoch:
		return errSyncToken("the store was restored since")
	case t.Calendar != cal.ID:
		return errSyncToken("it belongs to another calendar")
	case t.Version > cal.Version:
		return errSyncToken("it is from the future")
	case t.Version < cal.Pruned:
		return errSyncToken("it is older than the journal")
	}
	return nil
}

func errSyncToken(why string) error {
	e := Errorf(Forbidden, RuleSyncToken, "this sync token cannot be honoured: %s", why)
	e.Hint = "synchronize from the start"
	return e
}
