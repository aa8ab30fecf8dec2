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

// Elsewhere is where the objects of linked calendars really live. What is written to such a calendar goes there first, and
// is then stored here as it is there.
type Elsewhere interface {
	// Send writes to the sources of calendars: what is new to them first, the rest in the order given. Until the function that it returns is called nobody
	// else writes to these calendars or takes over what is new there; it is told whether somebody did all the same. Send returns
	// what became of each.
	Send(ctx context.Context, c calendar.Caller, all []calendar.Outgoing) (sent []calendar.Sent, done func(lost bool), err error)
	// Renoted is told that apps have changed what they keep with a calendar that is Followed.
	Renoted(ctx context.Context, cal calendar.Calendar)
}

// elsewhereError ends a transaction that writes to linked calendars: what it would write goes to their sources first.
// Then it begins anew, and stores what they have made of it.
type elsewhereError struct{ outgoing []calendar.Outgoing }

// Error says so, should it be shown to anybody after all.
func (e *elsewhereError) Error() string {
	return "this is being changed all the time where it is from; try again in a moment"
}

// courier has what became of a change's writes at their sources, over all its attempts.
type courier struct {
	sent map[holding]calendar.Sent
	// open calls are those that let others at the calendars again.
	open []func(lost bool)
	// lost tells that others were at a calendar before the change was stored.
	lost bool
}

func (c *courier) end() {
	for _, done := range slices.Backward(c.open) {
		done(c.lost)
	}
	c.open = nil
}

// carry brings what a change wants to write to its sources. A second time there is only where the change came out
// another way: others were quicker before the calendars were held.
func (c *courier) carry(ctx context.Context, s *Ledger, by calendar.Caller, all []calendar.Outgoing) error {
	if s.elsewhere == nil {
		return calendar.Errorf(calendar.Unavailable, "", "this program does not reach the account that the calendar is from")
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

// tellAbroad has the source of a linked calendar tell the guests of a change, if those are to be told at all.
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

// noteGuestsAbroad notes the attendees whom a change adds to an event in a linked calendar: its source invites them. Attendees with
// an account here are left out, and so is the linked account itself.
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

// attendeesOf returns the addresses of an object's attendees: none of nil, and none of an object that cannot be read.
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

// post notes that an object of a linked calendar is written, nil data for one that goes. The last of what is done to a UID
// is what counts.
func (w *work) post(cal calendar.CalendarID, o calendar.Object, data []byte) {
	next := calendar.Outgoing{Calendar: cal, UID: o.UID, Data: data, Quiet: !w.loud[holding{cal, o.UID}]}
	i := slices.IndexFunc(w.outgoing, func(g calendar.Outgoing) bool { return g.Calendar == cal && g.UID == o.UID })
	if i < 0 {
		w.outgoing = append(w.outgoing, next)
		return
	}
	w.outgoing[i] = next
}

// abroad has an object of a linked calendar written as its source now holds it, if it was sent there.
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

// unsent are the writes that the sources do not have yet: those that take something away come last, so that nothing is
// lost on the way from one account to another.
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

// settleAbroad forgets what was agreed about what is gone at its source, and ends a transaction whose writes
// are not there yet, or were overtaken there by another process while this one slept.
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

// fence sees that nobody was at the calendars' sources since this change wrote there: the process may have slept in between.
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

// errOverslept ends a change that stands at its source, where another process has been before it was stored here.
var errOverslept = &calendar.Error{
	Reason:  calendar.Unavailable,
	Message: "it stands where the calendar is from, but took so long that another server was there since; it is read from there now",
	Hint:    "read it again in a moment, before you repeat anything", Cause: errors.Join(calendar.ErrPartly, calendar.ErrElsewhere),
}
