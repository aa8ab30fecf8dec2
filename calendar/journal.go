package calendar

import "time"

// ChangeKind says what a change did.
type ChangeKind string

// The kinds of change, in the words of the journal.
const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
)

// Entry is one line of a calendar's journal: the audit trail, the history and the undo at
// once. An entry with an empty Object is about the calendar itself.
type Entry struct {
	Calendar CalendarID
	Version  Version
	Object   ObjectName
	UID      UID
	Change   ChangeKind
	At       time.Time
	User     UserID
	Token    TokenID
	Agent    string
	// Before are the bytes that the change replaced or removed; nil when there were none.
	Before []byte
}
