package delivery

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
	// bookingPatience is how old a pending booking must be before another process answers it. Usually the process that
	// created it is about to answer.
	bookingPatience = time.Minute
	// bookingsMost bounds the bookings answered in one run.
	bookingsMost = 100
	// bookingTime bounds the answer to one booking.
	bookingTime = 30 * time.Second
	// bookingTries bounds the attempts to answer a booking; the pause doubles each time. Afterwards the organizer still
	// sees no answer from the room, and the next change asks it again.
	bookingTries = 8
)

// tries counts the failed answers of rooms since this process started.
type tries struct {
	mutex sync.Mutex
	count map[calendar.Booking]int
}

// add increments the count of a booking and returns it.
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

// forget resets the count of a booking.
func (t *tries) forget(b calendar.Booking) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	b.Posted = time.Time{}
	delete(t.count, b)
}

// queueBooking queues an invitation for a room's answer, in the transaction that delivers it.
func (w *Work) queueBooking(ctx context.Context, room calendar.User, at calendar.CalendarID, uid calendar.UID) error {
	if !room.Room.Bookable() || room.Room.ByHand {
		return nil
	}
	b := calendar.Booking{Room: room.ID, Calendar: at, UID: uid, Posted: w.Now()}
	w.bookings = append(w.bookings, b)
	return w.PutBooking(ctx, b)
}

// answerBookings makes rooms answer the invitations of a change. AnswerBookings retries failed answers.
func (s *Scheduler) answerBookings(ctx context.Context, all []calendar.Booking) {
	for _, b := range all {
		_ = s.answerBooking(context.WithoutCancel(ctx), b)
	}
}

// AnswerBookings makes rooms answer pending bookings, for example after a restart of the server. It returns the number
// of answers and the first error.
func (s *Scheduler) AnswerBookings(ctx context.Context) (answered int, failed error) {
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

// answerBooking makes a room answer one invitation. After a failure it is tried again later, so that others get their
// turn, and is given up in the end. If the calendar is gone, it is dropped at once.
func (s *Scheduler) answerBooking(ctx context.Context, b calendar.Booking) (err error) {
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
		dropped := s.change(ctx, roomOf(b), func(w *Work) error { return w.DropBooking(ctx, b.Calendar, b.UID) })
		if gone {
			return dropped
		}
		return errors.Join(err, dropped)
	}
	b.Posted = s.now().Add(bookingPatience << (tried - 1))
	return errors.Join(err, s.change(ctx, roomOf(b), func(w *Work) error { return w.PutBooking(ctx, b) }))
}

// roomOf returns the room as a caller.
func roomOf(b calendar.Booking) calendar.Caller {
	return calendar.Caller{User: calendar.User{ID: b.Room}, Scopes: calendar.ScopeAll}
}

// tryBooking makes a room answer with all its calendars locked. So if two bookings want the same time, the later one
// sees the earlier.
func (s *Scheduler) tryBooking(ctx context.Context, b calendar.Booking) error {
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
	return s.change(ctx, c, func(w *Work) error {
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

// openOwn opens the calendars in all that the caller owns, unless they are open already.
func (w *Work) openOwn(ctx context.Context, all []calendar.Calendar) error {
	var own []calendar.CalendarID
	for _, cal := range all {
		if cal.Access == calendar.OwnerAccess && w.Locked[cal.ID] == nil {
			own = append(own, cal.ID)
		}
	}
	return w.LockAll(ctx, own)
}

func (w *Work) answerBooking(
	ctx context.Context, room calendar.User, all []calendar.Calendar, b calendar.Booking,
) error {
	in, err := w.Lock(ctx, b.Calendar)
	if err != nil {
		return err
	}
	_, old, err := w.LiveObject(ctx, b.Calendar, "", b.UID)
	if err != nil || old == nil || room.Room.ByHand || !room.Room.Bookable() {
		return err
	}
	stored, err := content.Read(old.Data, unlimited)
	if err != nil {
		return nil //nolint:nilerr // an older version stored it
	}
	parties, err := w.partiesOf(ctx, stored)
	if err != nil {
		return err
	}
	asked := schedule.Booking{
		Stored: stored, Self: parties.Are(room.ID), People: people(stored, parties), Capacity: int(room.Room.Capacity),
	}
	if asked.Barred, err = w.barred(ctx, room, b.Calendar, parties, stored); err != nil {
		return err
	}
	asked.Others = func(from, until time.Time, take func(schedule.Other) error) error {
		return w.otherEvents(ctx, all, b.UID, from, until, take)
	}
	rules := schedule.Rules{Zones: w.zones, Now: w.Now(), Meter: w.messageMeter(ctx)}
	made, err := rules.Book(ctx, asked)
	if err != nil {
		return err
	}
	next := *old
	next.Data = made.Document.Bytes()
	next.ETag, next.Size, next.Derived = calendar.ETagOf(next.Data), int64(len(next.Data)), w.validator.DerivedOf(made)
	next.Modified = w.Now().Truncate(time.Second)
	if err := w.Schedule(ctx, in.Calendar, old, &next, calendar.Draft{}, nil); err != nil {
		return err
	}
	_, err = w.WriteScheduled(ctx, next, old)
	return err
}

// otherEvents calls take for other events in a room's own calendars between two times.
func (w *Work) otherEvents(
	ctx context.Context, all []calendar.Calendar, than calendar.UID, from, until time.Time,
	take func(schedule.Other) error,
) error {
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

// indexedAt returns a test, from the index alone, whether an event may take place in a time range. A series is tested
// by its recurrence index: its hours of the week, continued past the time until which they are known. A series without
// an index never matches. Otherwise it would block the room from its first day to its last.
func indexedAt(o calendar.Object) func(start, end time.Time) bool {
	return func(start, end time.Time) bool {
		from, last := start.Unix(), end.Unix()-1
		if o.Status == "CANCELLED" || o.Span.Start == nil || *o.Span.Start > last ||
			o.Span.End != nil && *o.Span.End <= from {
			return false
		}
		window := calendar.RecurrenceOf(from, last)
		if o.Recurrence != nil {
			window.Known = min(last, o.Recurrence.Known)
		}
		return !o.Recurring || o.Recurrence != nil && o.Recurrence.Meets(window)
	}
}

// people counts the people who take part, without rooms.
func people(o *content.Object, parties lookup.Parties) int {
	seen := map[schedule.Person]bool{}
	for _, a := range append(schedule.Attendees(o), schedule.OrganizerOf(o)) {
		if !parties[a].Room.Bookable() {
			seen[parties.Person(a)] = true
		}
	}
	return len(seen)
}

// barred reports whether the organizer of an event may not book a room. The room's managers always may.
func (w *Work) barred(
	ctx context.Context, room calendar.User, at calendar.CalendarID, parties lookup.Parties, o *content.Object,
) (bool, error) {
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
