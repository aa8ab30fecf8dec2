package change

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
)

// Sources is the access to the sources of linked calendars. A change of such a calendar is written to its source
// first. The source's version is then stored here.
type Sources interface {
	// Send writes to the sources of calendars: new objects first, the others in the given order. Until done is called,
	// no other process writes to these calendars or syncs them. Its argument says whether one did nevertheless. Send
	// returns the results of the writes. It writes nothing and returns [calendar.ErrMovedOn] if an object has another
	// ETag here than its Base.
	Send(ctx context.Context, c calendar.Caller, all []calendar.Outgoing) (sent []calendar.Sent, done func(lost bool),
		err error)
	// Renoted is called after apps have changed the dead properties of a calendar that is Followed.
	Renoted(ctx context.Context, cal calendar.Calendar)
}

// unsentError ends a transaction that changes linked calendars, because the sources must be written first. The
// transaction then runs again and stores the versions of the sources.
type unsentError struct{ outgoing []calendar.Outgoing }

// Error is only shown if the retries are used up.
func (e *unsentError) Error() string {
	return "this keeps changing at its source; try again in a moment"
}

// sourceWrites holds the results of a change's writes to sources, across all attempts of its transaction.
type sourceWrites struct {
	sent map[ObjectKey]calendar.Sent
	// open holds the functions that release the calendars.
	open []func(lost bool)
	// lost is set if another process had a calendar before the change was stored.
	lost bool
}

func (c *sourceWrites) release() {
	for _, done := range slices.Backward(c.open) {
		done(c.lost)
	}
	c.open = nil
}

// send sends a change's writes to the sources. It runs again only if a later attempt produces different writes,
// because other users changed the calendars before they were locked.
func (c *sourceWrites) send(ctx context.Context, to Sources, by calendar.Caller, all []calendar.Outgoing) error {
	if to == nil {
		return calendar.Errorf(calendar.Unavailable, "", "this process cannot access the calendar's source")
	}
	c.release()
	sent, done, err := to.Send(ctx, by, all)
	if err != nil {
		return err
	}
	c.open = append(c.open, done)
	if c.sent == nil {
		c.sent = map[ObjectKey]calendar.Sent{}
	}
	for _, one := range sent {
		c.sent[ObjectKey{one.Calendar, one.UID}] = one
	}
	return nil
}

// NotifyAtSource marks an object of a linked calendar: its source notifies the attendees when it is written.
func (w *Tx) NotifyAtSource(cal calendar.CalendarID, uid calendar.UID) {
	if w.notifying == nil {
		w.notifying = map[ObjectKey]bool{}
	}
	w.notifying[ObjectKey{cal, uid}] = true
}

// NoteFollowed records that the dead properties of a subscription have changed: they may contain the URL that the
// server follows.
func (w *Tx) NoteFollowed(cal calendar.Calendar) {
	if w.writer.sources != nil {
		w.followed = append(w.followed, cal)
	}
}

// queueForSource queues the write of an object in a linked calendar; nil data deletes it. The last write of a UID wins.
func (w *Tx) queueForSource(cal calendar.CalendarID, o calendar.Object, data []byte, base calendar.ETag) {
	next := calendar.Outgoing{
		Calendar: cal, UID: o.UID, Data: data, Quiet: !w.notifying[ObjectKey{cal, o.UID}], Base: base,
	}
	i := slices.IndexFunc(w.outgoing, func(g calendar.Outgoing) bool { return g.Calendar == cal && g.UID == o.UID })
	if i < 0 {
		w.outgoing = append(w.outgoing, next)
		return
	}
	next.Base = w.outgoing[i].Base
	w.outgoing[i] = next
}

// useSourceVersion replaces an object of a linked calendar with its source's version, if it was sent there.
func (w *Tx) useSourceVersion(
	ctx context.Context, cal calendar.Calendar, o *calendar.Object, old *calendar.Object,
) error {
	if !cal.Origin.Mirrors() || w.FromSource {
		return nil
	}
	o.ScheduleTag = ""
	base := calendar.ETag("")
	if old != nil && !old.Deleted {
		base = old.ETag
	}
	w.queueForSource(cal.ID, *o, o.Data, base)
	sent, ok := w.writes.sent[ObjectKey{cal.ID, o.UID}]
	if !ok || !bytes.Equal(sent.Outgoing.Data, o.Data) {
		return nil
	}
	if len(sent.Data) > 0 && !bytes.Equal(sent.Data, o.Data) {
		d, err := w.writer.Derive(sent.Data)
		if err == nil && d.UID == o.UID {
			o.Data, o.ETag, o.Size, o.Derived = sent.Data, calendar.ETagOf(sent.Data), int64(len(sent.Data)), d
		}
	}
	return w.PutMirrored(ctx, cal.ID, sent.Mirrored)
}

// unsent returns the writes that the sources do not have yet. Deletions come last, so that nothing is lost when an
// object moves between accounts.
func (w *Tx) unsent() []calendar.Outgoing {
	var left []calendar.Outgoing
	for _, o := range w.outgoing {
		sent, ok := w.writes.sent[ObjectKey{o.Calendar, o.UID}]
		if !ok || !bytes.Equal(sent.Outgoing.Data, o.Data) {
			left = append(left, o)
		}
	}
	slices.SortStableFunc(left, func(a, b calendar.Outgoing) int {
		switch {
		case (a.Data == nil) == (b.Data == nil):
			return 0
		case a.Data == nil:
			return 1
		}
		return -1
	})
	return left
}

// finishAtSources removes the sync state of objects that were deleted at their source. It ends a transaction whose
// writes were not sent yet, or whose lease was lost while this process was suspended.
func (w *Tx) finishAtSources(ctx context.Context) error {
	if left := w.unsent(); len(left) > 0 {
		return &unsentError{left}
	}
	if err := w.checkLeases(ctx); err != nil {
		return err
	}
	for _, o := range w.outgoing {
		if o.Data != nil {
			continue
		}
		if ref := w.writes.sent[ObjectKey{o.Calendar, o.UID}].Mirrored.Ref; ref != "" {
			if err := w.DropMirrored(ctx, o.Calendar, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLeases checks the leases: no other process may have used the sources since this change wrote to them.
func (w *Tx) checkLeases(ctx context.Context) error {
	seen := map[calendar.Fence]bool{}
	for _, o := range w.outgoing {
		f := w.writes.sent[ObjectKey{o.Calendar, o.UID}].Fence
		if seen[f] {
			continue
		}
		seen[f] = true
		held, err := w.Fence(ctx, f)
		if err != nil {
			return err
		}
		if !held {
			w.writes.lost = true
			return errOverslept
		}
	}
	return nil
}

// errOverslept is the error for a change that its source has stored, but another process has used the calendar before
// it was stored here.
var errOverslept = &calendar.Error{
	Reason: calendar.Unavailable,
	Message: "it was stored at the calendar's source, but took so long that another server used the calendar " +
		"meanwhile; it is being read from there now",
	Hint:  "read it again in a moment, before you repeat anything",
	Cause: errors.Join(calendar.ErrPartly, calendar.ErrElsewhere),
}

// ObjectKey identifies an object by its calendar and its UID.
type ObjectKey struct {
	Calendar calendar.CalendarID
	UID      calendar.UID
}
