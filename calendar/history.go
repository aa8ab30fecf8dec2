package calendar

import "time"

// HistoryQuery selects changes that the caller may see, latest first.
type HistoryQuery struct {
	// Calendar selects one calendar. Empty means all that the caller may write to, and the caller's own calendars
	// in the trash.
	Calendar CalendarID
	// Since selects changes at that time or later. After selects changes after a sync token, which belongs to one
	// calendar.
	Since time.Time
	After SyncToken
	// UID selects the changes to one object, Token and User select the changes that they made; empty means any.
	UID   UID
	Token TokenID
	User  UserID
	// Described requests Before and After, which descriptions need, as long as they are not too large in total.
	Described bool
	// Limit is the page size, Cursor is the end of the previous page.
	Limit  int
	Cursor string
}
