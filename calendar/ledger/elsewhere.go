package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// Elsewhere is the access to the sources of linked calendars. A change of such a calendar is written to its source
// first. The source's version is then stored here.
type Elsewhere interface {
	// Send writes to the sources of calendars: new objects first, the others in the given order. Until done is called,
	// no other process writes to these calendars or syncs them. Its argument says whether one did nevertheless. Send
	// returns the results of the writes.
	Send(ctx context.Context, c calendar.Caller, all []calendar.Outgoing) (sent []calendar.Sent, done func(lost bool), err error)
	// Renoted is called after apps have changed the dead properties of a calendar that is Followed.
	Renoted(ctx context.Context, cal calendar.Calendar)
}

// elsewhereError ends a transaction that changes linked calendars, because the sources must be written first. The
// transaction then runs again and stores the versions of the sources.
type elsewhereError struct{ outgoing []calendar.Outgoing }

// Error is only shown if the retries are used up.
func (e *elsewhereError) Error() string {
	return "this keeps changing at its source; try again in a moment"
}

// courier holds the results of a change's writes to sources, across all attempts of its transaction.
type courier struct {
	sent map[holding]calendar.Sent
	// open holds the functions that release the calendars.
	open []func(lost bool)
	// lost is set if another process had a calendar before the change was stored.
	lost bool
}

func (c *courier) end() {
	for _, done := range slices.Backward(c.open) {
		done(c.lost)
	}
	c.open = nil
}

// carry sends a change's writes to the sources. It runs again only if a later attempt produces different writes,
// because other users changed the calendars before they were locked.
func (c *courier) carry(ctx context.Context, s *Ledger, by calendar.Caller, all []calendar.Outgoing) error {
	if s.elsewhere == nil {
		return calendar.Errorf(calendar.Unavailable, "", "this process cannot access the calendar's source")
	}
	c.end()
	sent, done, err := s.elsewhere.Send(ctx, by, all)
	if err != nil {
		return err
	}
	c.open = append(c.open, done)
	if c.sent == nil {
		c.sent = map[holding]calendar.Sent{}
	}
	for _, one := range sent {
		c.sent[holding{one.Calendar, one.UID}] = one
	}
	return nil
}

// tellAbroad makes the source of a linked calendar notify the attendees of a change, unless the caller wants no
// notification.
func (w *work) tellAbroad(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, tell calendar.Telling) error {
	if tell == calendar.TellNobody || tell == calendar.Unscheduled {
		return nil
	}
	if w.loud == nil {
		w.loud = map[holding]bool{}
	}
	for _, o := range []*calendar.Object{old, next} {
		if o != nil {
			w.loud[holding{cal.ID, o.UID}] = true
		}
	}
	return w.noteGuestsAbroad(ctx, cal, old, next)
}

// noteGuestsAbroad records the attendees whom a change adds to an event in a linked calendar: its source invites them.
// Attendees with an account here are left out, and so is the linked account itself.
func (w *work) noteGuestsAbroad(ctx context.Context, cal calendar.Calendar, old, next *calendar.Object) error {
	before := attendeesOf(old)
	added := slices.DeleteFunc(attendeesOf(next), func(a schedule.Address) bool {
		return slices.Contains(before, a) || a.Mail() == "" || strings.EqualFold(a.Mail(), cal.Origin.From)
	})
	if len(added) == 0 {
		return nil
	}
	users, err := w.FindParties(ctx, w.Tx, added)
	for _, a := range added {
		if _, here := users[a]; !here {
			w.guestsAbroad = append(w.guestsAbroad, calendar.Recipient{User: cal.Owner, To: calendar.MailAddress(a.Mail())})
		}
	}
	return err
}

// attendeesOf returns the addresses of an object's attendees. It returns none if the object is nil or unreadable.
func attendeesOf(o *calendar.Object) []schedule.Address {
	if o == nil || !guested.Match(o.Data) {
		return nil
	}
	read, err := content.Read(o.Data, unlimited)
	if err != nil {
		return nil
	}
	return schedule.Attendees(read)
}

// post queues the write of an object in a linked calendar; nil data deletes it. The last write of a UID wins.
func (w *work) post(cal calendar.CalendarID, o calendar.Object, data []byte) {
	next := calendar.Outgoing{Calendar: cal, UID: o.UID, Data: data, Quiet: !w.loud[holding{cal, o.UID}]}
	i := slices.IndexFunc(w.outgoing, func(g calendar.Outgoing) bool { return g.Calendar == cal && g.UID == o.UID })
	if i < 0 {
		w.outgoing = append(w.outgoing, next)
		return
	}
	w.outgoing[i] = next
}

// abroad replaces an object of a linked calendar with its source's version, if it was sent there.
func (w *work) abroad(ctx context.Context, cal calendar.Calendar, o *calendar.Object) error {
	if !cal.Origin.Mirrors() || w.arriving {
		return nil
	}
	o.ScheduleTag = ""
	w.post(cal.ID, *o, o.Data)
	sent, ok := w.courier.sent[holding{cal.ID, o.UID}]
	if !ok || !bytes.Equal(sent.Outgoing.Data, o.Data) {
		return nil
	}
	if len(sent.Data) > 0 && !bytes.Equal(sent.Data, o.Data) {
		d, err := w.derive(sent.Data)
		if err == nil && d.UID == o.UID {
			o.Data, o.ETag, o.Size, o.Derived = sent.Data, calendar.ETagOf(sent.Data), int64(len(sent.Data)), d
		}
	}
	return w.PutMirrored(ctx, cal.ID, sent.Mirrored)
}

// unsent returns the writes that the sources do not have yet. Deletions come last, so that nothing is lost when an
// object moves between accounts.
func (w *work) unsent() []calendar.Outgoing {
	var left []calendar.Outgoing
	for _, o := range w.outgoing {
		sent, ok := w.courier.sent[holding{o.Calendar, o.UID}]
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

// settleAbroad removes the sync state of objects that were deleted at their source. It ends a transaction whose writes
// were not sent yet, or whose lease was lost while this process was suspended.
func (w *work) settleAbroad(ctx context.Context) error {
	if left := w.unsent(); len(left) > 0 {
		return &elsewhereError{left}
	}
	if err := w.fence(ctx); err != nil {
		return err
	}
	for _, o := range w.outgoing {
		if o.Data != nil {
			continue
		}
		if ref := w.courier.sent[holding{o.Calendar, o.UID}].Mirrored.Ref; ref != "" {
			if err := w.DropMirrored(ctx, o.Calendar, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// fence checks the leases: no other process may have used the sources since this change wrote to them.
func (w *work) fence(ctx context.Context) error {
	seen := map[calendar.Fence]bool{}
	for _, o := range w.outgoing {
		f := w.courier.sent[holding{o.Calendar, o.UID}].Fence
		if seen[f] {
			continue
		}
		seen[f] = true
		held, err := w.Fence(ctx, f)
		if err != nil {
			return err
		}
		if !held {
			w.courier.lost = true
			return errOverslept
		}
	}
	return nil
}

// errOverslept is the error for a change that its source has stored, but another process has used the calendar before
// it was stored here.
var errOverslept = &calendar.Error{
	Reason:  calendar.Unavailable,
	Message: "it was stored at the calendar's source, but took so long that another server used the calendar meanwhile; it is being read from there now",
	Hint:    "read it again in a moment, before you repeat anything", Cause: errors.Join(calendar.ErrPartly, calendar.ErrElsewhere),
}
