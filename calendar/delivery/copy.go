package delivery

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// versionAsIs is versionOf for objects that must not lose anything.
func (w *Work) versionAsIs(done schedule.Delivered) version {
	data := done.Object.Document.Bytes()
	return version{
		done, data, calendar.ETagOf(data), w.validator.DerivedOf(done.Object), w.validator.CheckSize(data) == nil,
	}
}

// storeCopy stores a user's copy of an event after a message. A cancellation is stored even if the copy is too large.
func (w *Work) storeCopy(ctx context.Context, a *calendar.Appointment, made version) error {
	old := a.Object
	next := a.Object
	next.Data, next.ETag, next.Size, next.Derived = made.data, made.etag, int64(len(made.data)), made.derived
	next.Modified = w.Now().Truncate(time.Second)
	if made.Consequential || next.ScheduleTag == "" {
		next.ScheduleTag = calendar.ScheduleTag(next.ETag)
	}
	before := &old
	if old.ETag == "" {
		before, next.Created = nil, next.Modified
	}
	var err error
	a.Object, err = w.WriteScheduled(ctx, next, before)
	return err
}

// noteBytes is the most that a delivery status adds to an attendee's line, including a fold.
const noteBytes = len(";SCHEDULE-STATUS=0.0") + len("\r\n ")

// hasRoom reports whether an event has room for an answer and for the delivery status of the attendees that it adds.
func (w *Work) hasRoom(before, after *content.Object) bool {
	brought := max(0, guestLines(after)-guestLines(before))
	return int64(len(after.Document.Bytes())+brought*noteBytes) <= w.limits.ObjectBytes
}

func guestLines(o *content.Object) int {
	n := 0
	for _, c := range o.Components() {
		n += len(c.All("ATTENDEE"))
	}
	return n
}
