package calendar

import "time"

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
	// Described asks for the bytes before and after, from which changes are described, where they
	// are not too many.
	Described bool
	// Limit is how many are given, Cursor where the last answer ended.
	Limit  int
	Cursor string
}
