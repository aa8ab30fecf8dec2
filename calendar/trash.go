package calendar

import (
	"context"
	"iter"
	"time"
)

// Trash is the part of a Store that empties the trash.
type Trash interface {
	// ForgetCalendar removes a calendar for good; NotFound when it is not in the trash.
	ForgetCalendar(ctx context.Context, id CalendarID) error
	// ForgetDeletions drops the bytes of all deleted objects of a calendar, those of their
	// former versions too. Sync tokens stay good: that there was an object is still known.
	ForgetDeletions(ctx context.Context, cal CalendarID) error
}

// TrashReader is the part of a Store that gives back what was deleted, until it is pruned by age.
type TrashReader interface {
	// TrashedCalendars returns a user's own calendars that are in the trash, the latest first.
	TrashedCalendars(ctx context.Context, owner UserID) ([]TrashedCalendar, error)
	// Deletions yields the deletions in a live calendar whose bytes are kept, the latest first:
	// one for each UID, and none for a UID that a live object of the calendar has. What was moved
	// to another calendar is not in the trash of the first, unless the owner of the first does not
	// see the other.
	Deletions(ctx context.Context, cal CalendarID) iter.Seq2[Change, error]
	// Deletion returns the latest deletion of a UID whose bytes are kept; NotFound when there is
	// none, or when that was such a move.
	Deletion(ctx context.Context, cal CalendarID, uid UID) (Change, error)
}

// TrashedCalendar is a calendar in the trash.
type TrashedCalendar struct {
	Calendar
	// Trashed is when it went there, Objects how many come back with it.
	Trashed time.Time
	Objects int64
}

// RestoredCalendar is a calendar that came out of the trash.
type RestoredCalendar struct {
	Calendar
	// Told are the people who were told that meetings take place after all.
	Told []Told
	// Left counts the meetings that stay in the calendar's trash, such as one that its owner has in another calendar by now.
	Left int
}
