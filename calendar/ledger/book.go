package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/schedule"
)

const (
	// bookingPatience is how long a booking that was left over waits: its maker is most likely still about to have it answered.
	bookingPatience = time.Minute
	// bookingsMost is how many are answered in one go.
	bookingsMost = 100
	// bookingTime bounds the answer to one booking.
	bookingTime = 30 * time.Second
	// bookingTries is how often an answer is tried before it is given up, each time after twice as long. Then the organizer goes on
	// reading that the room has not answered, and the next change asks it again.
	bookingTries = 8
)

// tries counts how often rooms have failed to answer, since this process began.
type tries struct {
	mutex sync.Mutex
	count map[calendar.Booking]int
}

// add counts one more, and returns how many there are.
func (t *tries) add(b calendar.Booking) int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.count == nil {
		t.count = map[calendar.Booking]int{}
	}
	b.Posted = time.Time{}
	t.count[b]++
	return t.count[b]
}

// forget begins to count anew.
func (t *tries) forget(b calendar.Booking) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	b.Posted = time.Time{}
	delete(t.count, b)
}

// booked notes that a room is to answer an invitation, in the transaction that brings it.
func (w *work) booked(ctx context.Context, room calendar.User, at calendar.CalendarID, uid calendar.UID) error {
	if !room.Room.Bookable() || room.Room.ByHand {
		return nil
	}
	b := calendar.Booking{Room: room.ID, Calendar: at, UID: uid, Posted: w.now()}
	w.bookings = append(w.bookings, b)
	return w.PutBooking(ctx, b)
}

// answerBookings has rooms answer what a change asked them for. An answer that fails now is given by AnswerBookings.
func (s *Ledger) answerBookings(ctx context.Context, all []calendar.Booking) {
	for _, b := range all {
		_ = s.answerBooking(context.WithoutCancel(ctx), b)
	}
}

// AnswerBookings has rooms answer what is left over, where a server was stopped in between. It returns how many it
// answered, and the first error.
func (s *Ledger) AnswerBookings(ctx context.Context) (answered int, failed error) {
	all, err := s.store.Bookings(ctx, s.now().Add(-bookingPatience), bookingsMost)
	if err != nil {
		return 0, err
	}
	for _, b := range all {
		if err := s.answerBooking(ctx, b); ctx.Err() != nil {
			return answered, ctx.Err()
		} else if err == nil {
			answered++
		} else if failed == nil {
			failed = err
		}
	}
	return answered, failed
}

// answerBooking has a room answer one invitation. One that it cannot answer waits, so that the others have their turn, and is
// given up in the end; where the calendar is gone nobody waits for an answer.
func (s *Ledger) answerBooking(ctx context.Context, b calendar.Booking) (err error) {
	ctx, end := s.task(ctx, "room answer")
	defer func() { end(err != nil) }()
	err = s.tryBooking(ctx, b)
	if err == nil || ctx.Err() != nil {
		s.tries.forget(b)
		return err
	}
	gone, tried := calendar.ReasonOf(err) == calendar.NotFound, s.tries.add(b)
	if gone || tried >= bookingTries {
		s.tries.forget(b)
		dropped := s.change(ctx, roomOf(b), func(w *work) error { return w.DropBooking(ctx, b.Calendar, b.UID) })
		if gone {
			return dropped
		}
		return errors.Join(err, dropped)
	}
	b.Posted = s.now().Add(bookingPatience << (tried - 1))
	return errors.Join(err, s.change(ctx, roomOf(b), func(w *work) error { return w.PutBooking(ctx, b) }))
}

// roomOf is the room as one who changes something.
func roomOf(b calendar.Booking) calendar.Caller {
	return calendar.Caller{User: calendar.User{ID: b.Room}, Scopes: calendar.ScopeAll}
}

// tryBooking has a room answer under the lock of all its calendars: of two that want the same time, one is later and sees the
// other.
func (s *Ledger) tryBooking(ctx context.Context, b calendar.Booking) error {
	ctx, cancel := context.WithTimeout(ctx, bookingTime)
	defer cancel()
	room, err := s.store.UserByID(ctx, b.Room)
	if err != nil {
		return err
	}
	all, err := s.store.Calendars(ctx, room.ID)
	if err != nil {
		return err
	}
	c := calendar.Caller{User: room, Scopes: calendar.ScopeAll, Agent: "the room itself"}
	return s.change(ctx, c, func(w *work) error {
		if err := w.openOwn(ctx, all); err != nil {
			return err
		}
		err := w.answerBooking(ctx, room, all, b)
		if errors.Is(err, schedule.ErrSame) {
			err = nil
		}
		if err != nil {
			return err
		}
		return w.DropBooking(ctx, b.Calendar, b.UID)
	})
}

// openOwn opens the caller's own calendars among some, as far as they are not open yet.
func (w *work) openOwn(ctx context.Context, all []calendar.Calendar) error {
	var own []calendar.CalendarID
	for _, cal := range all {
		if cal.Access == calendar.OwnerAccess && w.opened[cal.ID] == nil {
			own = append(own, cal.ID)
		}
	}
	return w.openAll(ctx, own)
}

func (w *work) answerBooking(ctx context.Context, room calendar.User, all []calendar.Calendar, b calendar.Booking) error {
	in, err := w.open(ctx, b.Calendar)
	if err != nil {
		return err
	}
	_, old, err := w.live(ctx, b.Calendar, "", b.UID)
	if err != nil || old == nil || room.Room.ByHand || !room.Room.Bookable() {
		return err
	}
	stored, err := content.Read(old.Data, unlimited)
	if err != nil {
		return nil //nolint:nilerr // an older program has stored it
	}
	parties, err := w.partiesOf(ctx, stored)
	if err != nil {
		return err
	}
	asked := schedule.Booking{Stored: stored, Self: parties.Are(room.ID), People: people(stored, parties), Capacity: int(room.Room.Capacity)}
	if asked.Barred, err = w.barred(ctx, room, b.Calendar, parties, stored); err != nil {
		return err
	}
	asked.Others = func(from, until time.Time, take func(schedule.Other) error) error {
		return w.besides(ctx, all, b.UID, from, until, take)
	}
	rules := schedule.Rules{Zones: w.zones, Now: w.now(), Meter: w.telling(ctx)}
	made, err := rules.Book(ctx, asked)
	if err != nil {
		return err
	}
	next := *old
	next.Data = made.Document.Bytes()
	next.ETag, next.Size, next.Derived = calendar.ETagOf(next.Data), int64(len(next.Data)), w.derivedOf(made)
	next.Modified = w.now().Truncate(time.Second)
	if err := w.schedule(ctx, in.Calendar, old, &next, calendar.TellAll); err != nil {
		return err
	}
	_, err = w.write(ctx, next, old, true)
	return err
}

// besides calls take with the other events that may lie between two times in a room's own calendars.
func (w *work) besides(ctx context.Context, all []calendar.Calendar, than calendar.UID, from, until time.Time, take func(schedule.Other) error) error {
	since, before := from.Unix(), until.Unix()
	q := calendar.ObjectQuery{Kinds: calendar.Kinds{calendar.Event}, From: &since, Until: &before, WithData: true}
	for _, cal := range all {
		if cal.Access != calendar.OwnerAccess || cal.Transparent {
			continue
		}
		for o, err := range w.ObjectsWithin(ctx, cal.ID, q) {
			if err != nil && !errors.Is(err, calendar.ErrNoText) {
				return err
			}
			if o.UID == than {
				continue
			}
			other := schedule.Other{Meets: indexedAt(o)}
			if err == nil {
				other.Object, err = content.Read(o.Data, unlimited)
				if err != nil {
					continue
				}
			}
			if err := take(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexedAt tells by the index alone whether an event may take place in a time: once as its span says, a series in the hours of its rhythm, also
// later than these are known until: a meeting of each day goes on as it was. A series of which none are known is nowhere, or nothing could be booked
// from its first day to its last.
func indexedAt(o calendar.Object) func(start, end time.Time) bool {
	return func(start, end time.Time) bool {
		from, last := start.Unix(), end.Unix()-1
		if o.Status == "CANCELLED" || o.Span.Start == nil || *o.Span.Start > last || o.Span.End != nil && *o.Span.End <= from {
			return false
		}
		window := calendar.RhythmOf(from, last)
		if o.Rhythm != nil {
			window.Known = min(last, o.Rhythm.Known)
		}
		return !o.Recurring || o.Rhythm != nil && o.Rhythm.Meets(window)
	}
}

// people is how many take part, rooms apart.
func people(o *content.Object, parties lookup.Parties) int {
	seen := map[schedule.Person]bool{}
	for _, a := range append(schedule.Attendees(o), schedule.OrganizerOf(o)) {
		if !parties[a].Room.Bookable() {
			seen[parties.Person(a)] = true
		}
	}
	return len(seen)
}

// barred tells whether the organizer of an event may not book a room. Anyone who looks after it may.
func (w *work) barred(ctx context.Context, room calendar.User, at calendar.CalendarID, parties lookup.Parties, o *content.Object) (bool, error) {
	by, here := parties[schedule.OrganizerOf(o)]
	may := room.Room.Bookers
	switch {
	case may == calendar.Anybody, here && (may == "" || calendar.UserID(may) == by.ID):
		return false, nil
	case !here:
		return true, nil
	}
	has, err := w.SharedAccess(ctx, at, by.ID)
	if err != nil || has >= calendar.WriteAccess {
		return false, err
	}
	in, err := w.InGroup(ctx, calendar.UserID(may), by.ID)
	return !in, err
}
