package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"caldav-mcp-server/calendar"
)

func writerTests() []test {
	return []test{
		{"make versions without gaps, in commit order", writersMakeVersions},
		{"lose no update", writersLoseNothing},
		{"of several calendars do not deadlock", writersDoNotDeadlock},
		{"give a UID to only one of them", writersShareNoUID},
		{"survive the deletion of their calendar and leave nothing there", writersMeetTheEnd},
	}
}

// writersMakeVersions runs two processes with several writers each, and a reader that polls with its last token like
// a client. The reader would miss a change whose version appeared after a later one.
func writersMakeVersions(b *bundle) {
	const writers, each = 6, 20
	cal := b.home()
	stores := []Store{b.Store, b.another()}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				// Half of the writes create an object, the other half change one.
				if _, err := b.write(stores[w%2], b.event(cal, fmt.Sprintf("%d-%d", w, i/2))); err != nil {
					b.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { all.Wait(); close(written) }()

	told := b.poll(b.another(), cal, written)

	want := map[calendar.ObjectName]calendar.Version{}
	versions := []calendar.Version{}
	for _, o := range b.list(cal, calendar.ObjectQuery{}) {
		want[o.Name] = o.Version
	}
	for v := range calendar.Version(writers * each) {
		versions = append(versions, v+1)
	}
	same(b, "version", b.read(cal).Version, writers*each)
	same(b, "objects as the reader knows them", told.objects, want)
	for v := range told.versions {
		if i := slices.Index(versions, v); i < 0 {
			b.Errorf("the reader saw version %d", v)
		}
	}
}

// heard is the state of a polling client.
type heard struct {
	objects  map[calendar.ObjectName]calendar.Version
	versions map[calendar.Version]bool
}

// poll syncs repeatedly until the writers have ended, and then once more.
func (b *bundle) poll(s Store, cal calendar.Calendar, written <-chan struct{}) heard {
	told := heard{map[calendar.ObjectName]calendar.Version{}, map[calendar.Version]bool{}}
	var token calendar.Version
	for last := false; ; {
		now, err := s.Calendar(b.Context(), cal.Owner, cal.ID)
		b.must(err)
		for o, err := range s.Changes(b.Context(), cal.ID,
			calendar.VersionRange{After: token, Until: now.Version, Unbroken: token}) {
			b.must(err)
			if o.Version <= token || told.versions[o.Version] {
				b.Errorf("version %d came after %d", o.Version, token)
			}
			told.objects[o.Name], told.versions[o.Version] = o.Version, true
		}
		token = now.Version
		if last {
			return told
		}
		select {
		case <-written:
			last = true
		default:
		}
	}
}

// writersLoseNothing: each writer adds a byte to the data that it read under the lock.
func writersLoseNothing(b *bundle) {
	const writers, each = 6, 10
	cal := b.home()
	stores := []Store{b.Store, b.another()}
	o := b.event(cal, "a.ics")
	o.Data = []byte(".")
	b.does(b.write(b.Store, o))
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range each {
				if err := b.grow(stores[w%2], cal); err != nil {
					b.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	all.Wait()
	got, err := b.Object(b.Context(), cal.ID, "a.ics")
	b.must(err)
	same(b, "bytes", len(got.Data), writers*each+1)
	same(b, "version", got.Version, writers*each+1)
}

// grow adds a byte to the object.
func (b *bundle) grow(s Store, cal calendar.Calendar) error {
	return s.Update(b.Context(), func(tx calendar.Tx) error {
		now, err := tx.Advance(b.Context(), cal.ID)
		if err != nil {
			return err
		}
		old, _, err := tx.Duplicates(b.Context(), cal.ID, "a.ics", "")
		if err != nil {
			return err
		}
		next := *old
		next.Data, next.Version = append(slices.Clone(old.Data), '.'), now.Version
		return tx.PutObject(b.Context(), next)
	})
}

// writersDoNotDeadlock: even writers that lock two calendars in different orders, against the contract, finish
// eventually.
func writersDoNotDeadlock(b *bundle) {
	const each = 10
	ann := b.user("ann")
	first, second := b.calendar(ann, "first"), b.calendar(ann, "second")
	var all sync.WaitGroup
	for _, order := range [][2]calendar.CalendarID{{first.ID, second.ID}, {second.ID, first.ID}} {
		all.Go(func() {
			for range each {
				err := b.Update(b.Context(), func(tx calendar.Tx) error {
					_, one := tx.Advance(b.Context(), order[0])
					if one != nil {
						return one
					}
					_, two := tx.Advance(b.Context(), order[1])
					return two
				})
				if err != nil && calendar.ReasonOf(err) != calendar.Unavailable {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	same(b, "versions", b.read(first).Version, b.read(second).Version)
}

// writersShareNoUID: if several writers use the same UID without checking, exactly one succeeds.
func writersShareNoUID(b *bundle) {
	const writers = 6
	cal := b.home()
	stores := []Store{b.Store, b.another()}
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			o := b.event(cal, fmt.Sprint(w))
			o.UID = "the one"
			_, errs[w] = b.write(stores[w%2], o)
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		b.refused(err, calendar.Exists, calendar.RuleUIDConflict)
	}
	same(b, "winners", won, 1)
	same(b, "version", b.read(cal).Version, 1)
	if err := errors.Join(errs...); err == nil {
		b.Error("nobody was refused")
	}
}

// writersMeetTheEnd: a write concurrent with the deletion of its calendar or owner either succeeds or reports that
// they are gone. The written objects are deleted too, which the suite's caller checks at the end of the test.
func writersMeetTheEnd(b *bundle) {
	stores := []Store{b.Store, b.another()}
	for round, end := range []func(calendar.Calendar) error{
		func(cal calendar.Calendar) error { return b.DeleteUser(b.Context(), cal.Owner) },
		b.forget,
		func(cal calendar.Calendar) error { return stores[1].DeleteUser(b.Context(), cal.Owner) },
		b.forget,
	} {
		owner, guest := b.user(fmt.Sprint("owner", round)), b.user(fmt.Sprint("guest", round))
		cal, other := b.calendar(owner, "work"), b.calendar(guest, "work")
		b.must(Share(b.Context(), b, cal.ID, guest.ID, calendar.WriteAccess))
		b.must(Share(b.Context(), b, other.ID, owner.ID, calendar.WriteAccess))
		var all sync.WaitGroup
		ways := b.waysToTheEnd(cal, other)
		begun := make(chan struct{}, len(ways))
		for w, way := range ways {
			all.Go(func() { b.writeToTheEnd(stores[w/3], cal, fmt.Sprint(w), way, begun) })
		}
		for range ways {
			<-begun
		}
		b.must(end(cal))
		all.Wait()
		b.refuses(calendar.NotFound, "")(b.Calendar(b.Context(), owner.ID, cal.ID))
	}
}

// forget deletes a calendar for good, by way of the trash.
func (b *bundle) forget(cal calendar.Calendar) error {
	b.update(func(tx calendar.Tx) error {
		if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
			return err
		}
		return tx.TrashCalendar(b.Context(), cal.ID)
	})
	return b.ForgetCalendar(b.Context(), cal.ID)
}

// waysToTheEnd writes to the calendar alone, together with another one, with the owner's usage, or with a new
// calendar.
func (b *bundle) waysToTheEnd(cal, other calendar.Calendar) []func(calendar.Tx, calendar.Object) error {
	return []func(calendar.Tx, calendar.Object) error{
		b.writeEarly,
		func(tx calendar.Tx, o calendar.Object) error {
			_, err := tx.AdvanceAll(b.Context(), []calendar.CalendarID{cal.ID, other.ID})
			return errors.Join(err, b.writeIn(tx, &o))
		},
		b.writeEarly,
		func(tx calendar.Tx, o calendar.Object) error {
			if err := b.writeIn(tx, &o); err != nil {
				return err
			}
			_, err := tx.UsageAlone(b.Context(), cal.Owner)
			return err
		},
		b.writeEarly,
		func(tx calendar.Tx, o calendar.Object) error {
			if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
				return err
			}
			made := b.blank(calendar.User{ID: cal.Owner}, calendar.Segment(o.Name))
			if err := tx.InsertCalendar(b.Context(), made); err != nil {
				return err
			}
			o.Calendar = made.ID
			return b.writeIn(tx, &o)
		},
	}
}

// writeToTheEnd writes until the calendar is gone.
func (b *bundle) writeToTheEnd(
	s Store, cal calendar.Calendar, name string, write func(calendar.Tx, calendar.Object) error, begun chan<- struct{},
) {
	for n := 0; ; n++ {
		o := b.event(cal, fmt.Sprint(name, "-", n))
		err := s.Update(b.Context(), func(tx calendar.Tx) error { return write(tx, o) })
		if n == 2 {
			begun <- struct{}{}
		}
		if err == nil {
			continue
		}
		if n < 2 {
			begun <- struct{}{}
		}
		if n < 2 || calendar.ReasonOf(err) != calendar.NotFound {
			b.Errorf("writer %s, change %d: %v", name, n, err)
		}
		return
	}
}

// writeEarly is writeIn with a lock that may be delayed until the commit.
func (b *bundle) writeEarly(tx calendar.Tx, o calendar.Object) error {
	cal, _, _, err := tx.AdvanceTo(b.Context(), o.Calendar, o.Name, o.UID)
	if err != nil {
		return err
	}
	o.Version = cal.Version
	return errors.Join(tx.PutObject(b.Context(), o), tx.Log(b.Context(), b.entry(o, calendar.Created)))
}
