package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

const (
	// bookedAhead is how far ahead a room can be booked.
	bookedAhead = 2 * 366 * 24 * time.Hour
	// declinedMost bounds the instances of a series that a room declines while it accepts the others.
	declinedMost = 50
)

// Booking is an invitation of a room, as stored in its calendar, and the data to decide about it.
type Booking struct {
	Stored *content.Object
	Self   Self
	// People is the number of attendees, Capacity the room's limit; 0 means no limit.
	People, Capacity int
	// Barred is set if the organizer may not book the room.
	Barred bool
	// Others calls take for everything else in the room's calendars between two times.
	Others func(from, until time.Time, take func(Other) error) error
}

// Other is another event in a room's calendar. If its text is lost, Object is nil, and Meets reports whether it may
// take place in a time range.
type Other struct {
	*content.Object
	Meets func(start, end time.Time) bool
}

// The comments that accompany a refusal.
const (
	saysBarred   = "You may not book this. Ask the people in charge of it."
	saysTaken    = "It is taken at that time."
	saysTooFar   = "It can be booked two years ahead at most: a series has to end before."
	saysTooMany  = "It takes %d people, and %d take part."
	saysTooOften = "It is taken at too many of these times."
	saysUnclear  = "When this takes place cannot be worked out."
)

// RoomReason reports whether a comment is the reason that a room gave for a refusal, and whether that is that the room
// is taken.
func RoomReason(comment string) (own, taken bool) {
	switch comment {
	case saysTaken, saysTooOften:
		return true, true
	case saysBarred, saysTooFar, saysUnclear:
		return true, false
	}
	var capacity, people int
	n, err := fmt.Sscanf(comment, saysTooMany, &capacity, &people)
	return err == nil && n == 2 && comment == TooMany(capacity, people), false
}

// TooMany is the reason of a room that is too small.
func TooMany(capacity, people int) string { return fmt.Sprintf(saysTooMany, capacity, people) }

// TooFar is the reason of a room that cannot be booked for so long.
func TooFar() string { return saysTooFar }

// Book answers an invitation on behalf of a room, as far as it is unanswered. It accepts each instance for which the
// room is free and declines the others. It returns ErrSame if nothing needs an answer.
func (r Rules) Book(ctx context.Context, b Booking) (*content.Object, error) {
	return room{r, b}.answer(ctx)
}

// room decides about a booking.
type room struct {
	Rules
	Booking
}

// answer answers the booking.
func (r room) answer(ctx context.Context) (*content.Object, error) {
	asked, err := r.asked(ctx)
	var over *recur.BudgetError
	switch {
	case err != nil && !errors.As(err, &over):
		return nil, err
	case err == nil && len(asked.open) == 0 && asked.endless && asked.waits():
		return r.refuse(ctx, asked, saysTooFar)
	case err == nil && len(asked.open) == 0:
		return nil, ErrSame
	case err != nil:
		return r.refuse(ctx, asked, saysUnclear)
	case r.Barred:
		return r.refuse(ctx, asked, saysBarred)
	case r.Capacity > 0 && r.People > r.Capacity:
		return r.refuse(ctx, asked, TooMany(r.Capacity, r.People))
	case asked.endless:
		return r.refuse(ctx, asked, saysTooFar)
	}
	taken, err := r.taken(ctx, asked.open)
	switch {
	case err != nil:
		return nil, err
	case len(taken) == len(asked.open):
		return r.refuse(ctx, asked, saysTaken)
	case len(taken) > declinedMost:
		return r.refuse(ctx, asked, saysTooOften)
	}
	return r.accept(ctx, asked, taken)
}

// inquiry is the unanswered part of an invitation.
type inquiry struct {
	// open lists the future instances without an answer.
	open []recur.Instance
	// apart lists the recurrence ids of the unanswered overrides, past ones included.
	apart []ical.Time
	// whole is set if the series itself is unanswered, endless if it goes on for longer than the room can be booked.
	whole, endless bool
}

// waits reports whether anything is unanswered.
func (q inquiry) waits() bool { return q.whole || len(q.apart) > 0 }

// asked returns the unanswered part of an invitation.
func (r room) asked(ctx context.Context) (q inquiry, err error) {
	o := r.Stored
	waits := map[*ical.Component]bool{}
	for _, c := range o.Components() {
		p := attendee(c, r.Self)
		if p == nil && c != o.Master && o.Master != nil && len(c.All("ATTENDEE")) == 0 {
			p = attendee(o.Master, r.Self)
		}
		waits[c] = p != nil && partstat(p) == NeedsAction && content.WordOf(c, "STATUS") != "CANCELLED"
		if id := c.Property("RECURRENCE-ID"); waits[c] && id != nil {
			name, err := id.Time()
			if err != nil {
				return q, err
			}
			q.apart = append(q.apart, name)
		}
	}
	q.whole = o.Master != nil && waits[o.Master]
	horizon := r.Now.Add(bookedAhead)
	set, err := o.Set(o.Series(), o.Clock(r.Zones, nil))
	if err != nil {
		return q, err
	}
	for i, err := range set.Between(ctx, r.Now, horizon, recur.DefaultBudget()) {
		if err == nil {
			err = r.Meter.Work(bookingSteps)
		}
		if err != nil {
			return q, err
		}
		if waits[i.Component] {
			q.open = append(q.open, i)
		}
	}
	_, end := o.Span(r.Zones)
	q.endless = end == nil || *end > horizon.Unix()
	return q, nil
}

// bookingSteps is the cost of checking one instance.
const bookingSteps = 20

// taken returns the instances that clash with another event.
func (r room) taken(ctx context.Context, open []recur.Instance) ([]recur.Instance, error) {
	w := wantedOf(open)
	err := r.Others(open[0].Start.Time, w.until[len(open)-1], func(o Other) error { return r.clashes(ctx, o, w) })
	var taken []recur.Instance
	for n, i := range open {
		if w.out[n] {
			taken = append(taken, i)
		}
	}
	return taken, err
}

// wanted holds the requested instances, sorted by start.
type wanted struct {
	open []recur.Instance
	// until is the latest end up to each instance, out marks the instances that clash.
	until []time.Time
	out   []bool
}

func wantedOf(open []recur.Instance) wanted {
	w := wanted{open: open, until: make([]time.Time, len(open)), out: make([]bool, len(open))}
	for n, i := range open {
		if w.until[n] = i.End.Time; n > 0 && w.until[n-1].After(w.until[n]) {
			w.until[n] = w.until[n-1]
		}
	}
	return w
}

// mark marks the instances that overlap a time range. It searches backwards and stops as soon as no earlier instance
// can reach into the range.
func (w wanted) mark(start, end time.Time) {
	n, _ := slices.BinarySearchFunc(w.open, end, func(i recur.Instance,
		at time.Time,
	) int {
		return i.Start.Time.Compare(at)
	})
	for n--; n >= 0 && w.until[n].After(start); n-- {
		if w.open[n].End.Time.After(start) {
			w.out[n] = true
		}
	}
}

// clashes marks the instances that overlap another event. An unreadable event blocks no time, unless its time is known
// from the index. Otherwise one broken line could make a room unusable.
func (r room) clashes(ctx context.Context, o Other, w wanted) error {
	if o.Object == nil {
		for n, i := range w.open {
			w.out[n] = w.out[n] || o.Meets(i.Start.Time, i.End.Time)
		}
		return r.Meter.Work(int64(len(w.open)))
	}
	set, err := o.Set(o.Series(), o.Clock(r.Zones, nil))
	if err != nil {
		return nil // see above
	}
	for other, err := range set.Between(ctx, w.open[0].Start.Time, w.until[len(w.until)-1], recur.DefaultBudget()) {
		if err != nil {
			return ctx.Err()
		}
		if err := r.Meter.Work(bookingSteps); err != nil {
			return err
		}
		if !holds(o.Object, other.Component, r.Self) {
			continue
		}
		w.mark(other.Start.Time, other.End.Time)
	}
	return nil
}

// holds reports whether an event in a room's calendar blocks the room. Cancelled, declined and unanswered events do
// not. TRANSP counts only for events without the room as an attendee, which were entered by hand: an organizer's TRANSP
// refers to the organizer's own time.
func holds(o *content.Object, c *ical.Component, room Self) bool {
	if content.WordOf(c, "STATUS") == "CANCELLED" {
		return false
	}
	p := attendee(c, room)
	if p == nil && o.Master != nil && len(c.All("ATTENDEE")) == 0 {
		p = attendee(o.Master, room)
	}
	if p == nil {
		return content.WordOf(c, "TRANSP") != "TRANSPARENT"
	}
	return partstat(p) == Accepted || partstat(p) == Tentative
}

// refuse declines everything unanswered.
func (r room) refuse(ctx context.Context, q inquiry, why string) (*content.Object, error) {
	return r.pronounce(ctx, q, Declined, why)
}

// accept accepts everything unanswered, except the instances that clash.
func (r room) accept(ctx context.Context, q inquiry, taken []recur.Instance) (*content.Object, error) {
	var but []Response
	for _, i := range taken {
		but = append(but, Response{Instance: nameOf(r.Stored, i), Status: Declined, Comment: saysTaken})
	}
	return r.pronounce(ctx, q, Accepted, "", but...)
}

// pronounce gives one answer to everything unanswered, with exceptions.
func (r room) pronounce(
	ctx context.Context, q inquiry, status, comment string, but ...Response,
) (*content.Object, error) {
	var all []Response
	if q.whole || r.Stored.Master == nil && len(r.Stored.Overrides) == 1 {
		all = append(all, Response{Status: status, Comment: comment})
	} else {
		for _, id := range q.apart {
			all = append(all, Response{Instance: id, Status: status, Comment: comment})
		}
	}
	return r.Respond(ctx, r.Stored, r.Self, append(all, but...)...)
}

// nameOf returns the RECURRENCE-ID of an instance, or zero if the event does not recur.
func nameOf(o *content.Object, i recur.Instance) ical.Time {
	if p := i.Component.Property("RECURRENCE-ID"); p != nil {
		if id, err := p.Time(); err == nil {
			return id
		}
	}
	if o.Master == nil || !o.Recurring() {
		return ical.Time{}
	}
	p := o.Master.Property("DTSTART")
	if p == nil {
		return ical.Time{}
	}
	start, err := p.Time()
	if err != nil {
		return ical.Time{}
	}
	return ical.Time{Civil: i.RecurrenceID.Civil(), Form: start.Form, TZID: start.TZID}
}
