package calendar

import (
	"crypto/sha256"
	"encoding/hex"
)

// A type for each kind of string and number, so that the compiler catches a mix-up.
type (
	// UserID identifies a user; it never changes, unlike the name.
	UserID string
	// TokenID is the public half of an access token.
	TokenID string
	// ToolName names something that assistants can do.
	ToolName string
	// CalendarID identifies a calendar for as long as the store lives.
	CalendarID string
	// Segment is the last part of a calendar's address in its owner's home, decoded.
	Segment string
	// ObjectName is the last part of an object's address, decoded; the client picks it.
	ObjectName string
	// UID is the UID of RFC 5545 §3.8.4.7.
	UID string
	// ETag is a strong entity tag as it stands on the wire, quotes included.
	ETag string
	// Version numbers the changes of one calendar, without a gap, in commit order.
	Version int64
	// Epoch names one life of a store. A restore from a backup begins a new one, so
	// that clients start over instead of missing changes.
	Epoch string
	// Edition moves on where a calendar's objects change in a way that its version does not tell.
	Edition int64
)

// ETagOf returns the entity tag of an object's bytes. It is their hash, so that equal
// bytes have equal tags wherever and whenever they were written.
func ETagOf(data []byte) ETag {
	sum := sha256.Sum256(data)
	return ETag(`"` + hex.EncodeToString(sum[:16]) + `"`)
}
