package calendar

import (
	"time"
)

// HistoryQuery asks for the changes that a caller may see, the latest first.
type HistoryQuery struct {
	// Calendar restricts it to one; empty means all that the caller may write to, and what they
	// own in the trash.
	Calendar CalendarID
	// Since restricts it to changes of that time and later, After to those after a sync token,
	// which is of one calendar.
	Since time.Time
	After SyncToken
	// UID restricts it to one object, Token and User to what they did; empty is any.
	UID   UID
	Token TokenID
	User  UserID
	// Limit is how many are given, Cursor where the last answer ended.
	Limit  int
	Cursor string
}

// Change is a change with the calendar that it was made in.
type Change struct {
	Line
	In Calendar
	// InTrash tells that the calendar is deleted.
	InTrash bool
}

// Forgotten tells that the change cannot be taken back since the journal no longer has the bytes
// that were there before.
func (c Change) Forgotten() bool {
	return !c.Kept && c.Line.Change != Created && !c.Line.Change.Answers()
}
