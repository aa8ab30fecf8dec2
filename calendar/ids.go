package calendar

import (
	"crypto/sha256"
	"encoding/hex"
)

// Each kind of string and number has its own type, so that the compiler catches a mix-up.
type (
	// UserID identifies a user. It never changes, unlike the name.
	UserID string
	// TokenID is the public half of an access token.
	TokenID string
	// ToolName is the name of a tool for assistants.
	ToolName string
	// CalendarID identifies a calendar for the lifetime of the store.
	CalendarID string
	// Segment is the last path segment of a calendar's URL in its owner's home, decoded.
	Segment string
	// ObjectName is the last path segment of an object's URL, decoded. The client chooses it.
	ObjectName string
	// UID is the UID of RFC 5545 §3.8.4.7.
	UID string
	// ETag is a strong entity tag as sent on the wire, with its quotes.
	ETag string
	// Version numbers the changes of one calendar without gaps, in commit order.
	Version int64
	// Epoch identifies one lifetime of a store. A restore from a backup starts a new epoch, so that clients
	// synchronize from the start instead of missing changes.
	Epoch string
	// Edition increases when a calendar's objects change without a new version.
	Edition int64
)

// ETagOf returns the entity tag of an object's bytes. It is a hash, so equal bytes always have equal tags.
func ETagOf(data []byte) ETag {
	sum := sha256.Sum256(data)
	return ETag(`"` + hex.EncodeToString(sum[:16]) + `"`)
}
