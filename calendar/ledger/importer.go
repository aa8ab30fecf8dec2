package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
)

// Import stores an object that has a life elsewhere. What a calendar knows by the same UID is not
// overwritten unasked: somebody may have changed it here since it was imported before.
func (s *Ledger) Import(ctx context.Context, c calendar.Caller, cal calendar.Calendar, i calendar.Import) (calendar.Imported, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return "", err
	}
	// As it would be stored: what is there already is compared to it.
	i.Data = ical.WithoutControls(i.Data)
	o, err := s.read(ctx, i.Data)
	if err != nil {
		return "", err
	}
	uid := calendar.UID(o.UID)
	there, err := s.store.ObjectByUID(ctx, cal.ID, uid)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return s.importNew(ctx, c, cal, uid, i)
	}
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(there.Data, i.Data):
		return calendar.ImportedSame, nil
	case !i.Replace:
		return calendar.ImportedKept, nil
	}
	_, err = s.save(ctx, c, cal, calendar.Draft{Name: there.Name, Data: i.Data, When: calendar.Precondition{Match: []calendar.ETag{there.ETag}}})
	return calendar.ImportedReplaced, err
}

func (s *Ledger) importNew(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, i calendar.Import) (calendar.Imported, error) {
	name := i.Name
	if name == "" {
		name = nameOf(uid)
	}
	fresh := calendar.Precondition{NoneMatchAny: true}
	_, err := s.save(ctx, c, cal, calendar.Draft{Name: name, Data: i.Data, When: fresh})
	if calendar.ReasonOf(err) == calendar.Stale {
		// Something else has that name. UIDs tell objects apart, names need not.
		_, err = s.save(ctx, c, cal, calendar.Draft{Name: hashedName(uid), Data: i.Data, When: fresh})
	}
	return calendar.ImportedNew, err
}

// plainUID are the UIDs that make a name which needs no escape in a URL.
var plainUID = regexp.MustCompile(`^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,199}$`)

// nameOf makes an object's name of its UID, as clients do.
func nameOf(uid calendar.UID) calendar.ObjectName {
	if plainUID.MatchString(string(uid)) {
		return calendar.ObjectName(uid + ".ics")
	}
	return hashedName(uid)
}

func hashedName(uid calendar.UID) calendar.ObjectName {
	sum := sha256.Sum256([]byte(uid))
	return calendar.ObjectName(hex.EncodeToString(sum[:16]) + ".ics")
}
