package calendar

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// Import is an object that comes from a file or another server.
type Import struct {
	// Name is what it is to be called; empty for one made of the UID.
	Name ObjectName
	Data []byte
	// Replace says that it wins over an object that is there already.
	Replace bool
}

// Imported is what became of an Import.
type Imported string

// What can become of one. A second import of the same thing changes nothing.
const (
	ImportedNew      Imported = "created"
	ImportedSame     Imported = "unchanged" // it was there already, byte for byte
	ImportedKept     Imported = "kept"      // another version of it was there, which stays
	ImportedReplaced Imported = "replaced"
)

// Import stores an object that has a life elsewhere. What a calendar knows by the same UID is not
// overwritten unasked: somebody may have changed it here since it was imported before.
func (s *Service) Import(ctx context.Context, c Caller, cal Calendar, i Import) (Imported, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return "", err
	}
	o, err := s.read(ctx, i.Data)
	if err != nil {
		return "", err
	}
	uid := UID(o.UID)
	there, err := s.store.ObjectByUID(ctx, cal.ID, uid)
	if err != nil && ReasonOf(err) == NotFound {
		return s.importNew(ctx, c, cal, uid, i)
	}
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(there.Data, i.Data):
		return ImportedSame, nil
	case !i.Replace:
		return ImportedKept, nil
	}
	_, err = s.save(ctx, c, cal, Draft{Name: there.Name, Data: i.Data, When: Precondition{Match: []ETag{there.ETag}}})
	return ImportedReplaced, err
}

func (s *Service) importNew(ctx context.Context, c Caller, cal Calendar, uid UID, i Import) (Imported, error) {
	name := i.Name
	if name == "" {
		name = nameOf(uid)
	}
	fresh := Precondition{NoneMatchAny: true}
	_, err := s.save(ctx, c, cal, Draft{Name: name, Data: i.Data, When: fresh})
	if ReasonOf(err) == Stale {
		// Something else has that name. UIDs tell objects apart, names need not.
		_, err = s.save(ctx, c, cal, Draft{Name: hashedName(uid), Data: i.Data, When: fresh})
	}
	return ImportedNew, err
}

// plainUID are the UIDs that make a name which needs no escape in a URL.
var plainUID = regexp.MustCompile(`^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,199}$`)

// nameOf makes an object's name of its UID, as clients do.
func nameOf(uid UID) ObjectName {
	if plainUID.MatchString(string(uid)) {
		return ObjectName(uid + ".ics")
	}
	return hashedName(uid)
}

func hashedName(uid UID) ObjectName {
	sum := sha256.Sum256([]byte(uid))
	return ObjectName(hex.EncodeToString(sum[:16]) + ".ics")
}
