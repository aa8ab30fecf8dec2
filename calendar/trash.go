package calendar

import (
	"context"
	"iter"
	"time"
)

// Trash is the part of a Store that empties the trash.
type Trash interface {
	// ForgetCalendar deletes a calendar for good; NotFound when it is not in the trash.
	ForgetCalendar(ctx context.Context, id CalendarID) error
	// ForgetDeletions deletes the bytes of all deleted objects of a calendar, including their former versions.
	// Sync tokens stay valid, because the tombstones remain.
	ForgetDeletions(ctx context.Context, cal CalendarID) error
}

// TrashReader is the part of a Store that reads deleted items, until they are pruned by age.
type TrashReader interface {
	// TrashedCalendars returns a user's own calendars in the trash, latest first.
	TrashedCalendars(ctx context.Context, owner UserID) ([]TrashedCalendar, error)
	// Deletions yields the deletions in a live calendar whose bytes are still stored, latest first: one for each
	// UID, and none for the UID of a live object in the calendar. An object that was moved to another calendar is
	// not in the trash, unless the owner of the first calendar cannot see the other one.
	Deletions(ctx context.Context, cal CalendarID) iter.Seq2[Change, error]
	// Deletion returns the latest deletion of a UID whose bytes are still stored; NotFound when there is none, or
	// when it was such a move.
	Deletion(ctx context.Context, cal CalendarID, uid UID) (Change, error)
}

// TrashedCalendar is a calendar in the trash.
type TrashedCalendar struct {
	Calendar
	// Trashed is the time of deletion, Objects is the number of objects that a restore brings back.
	Trashed time.Time
	Objects int64
}

// RestoredCalendar is a calendar that was restored from the trash.
type RestoredCalendar struct {
	Calendar
	// Told are the attendees who were told that meetings take place after all.
	Told []Told
	// Left counts the meetings that stay in the calendar's trash, for example because the owner now has them in
	// another calendar.
	Left int
}
