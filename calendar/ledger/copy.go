package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// fits tells whether what a message made of a copy may be stored. One that has grown too large loses first what its holder
// added. What does not fit is its holder's loss: the sender's change goes ahead.
func (w *work) fits(done *schedule.Delivered) bool {
	if w.mayHold(done.Object.Document.Bytes()) == nil {
		return true
	}
	schedule.Lighten(done.Object)
	return w.mayHold(done.Object.Document.Bytes()) == nil
}

// settleCopy stores what a message made of what a user has of the event. What calls it off is stored however large the copy is.
func (w *work) settleCopy(ctx context.Context, a *calendar.Appointment, done schedule.Delivered) error {
	old := a.Object
	next := a.Object
	next.Data = done.Object.Document.Bytes()
	next.ETag, next.Size, next.Derived = calendar.ETagOf(next.Data), int64(len(next.Data)), w.derivedOf(done.Object)
	next.Modified = w.now().Truncate(time.Second)
	if done.Consequential || next.ScheduleTag == "" {
		next.ScheduleTag = calendar.ScheduleTag(next.ETag)
	}
	before := &old
	if old.Data == nil {
		before, next.Created = nil, next.Modified
	}
	var err error
	a.Object, err = w.write(ctx, next, before, true)
	return err
}
