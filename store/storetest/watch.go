package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

func watchTests() []test {
	return []test{
		{"a change is announced when it is committed", watchTellsWhatIsKept},
		{"a rolled-back change is not announced", watchTellsNothingElse},
		{"another process is notified", watchAcrossProcesses},
		{"changes of access are announced to all", watchTellsOfRights},
		{"a stopped watcher is not notified", watchStops},
	}
}

// ear records hints.
type ear struct {
	mu    sync.Mutex
	heard []calendar.Hint
	came  chan struct{}
}

// start records the hints about a store's changes.
func (b *bundle) listen(s Store) (e *ear, stop func()) {
	e = &ear{came: make(chan struct{}, 1)}
	stop = s.Watch(e.hear)
	b.Cleanup(stop)
	return e, stop
}

func (e *ear) hear(n calendar.Hint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, n)
	select {
	case e.came <- struct{}{}:
	default:
	}
}

// any reports whether a matching hint was received.
func (e *ear) any(like func(calendar.Hint) bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.heard, like)
}

// await waits for a matching hint, and then discards all hints.
func (e *ear) await(b *bundle, what string, like func(calendar.Hint) bool) {
	b.Helper()
	late := time.After(time.Minute)
	for !e.any(like) {
		select {
		case <-e.came:
		case <-late:
			b.Fatalf("%s: not heard of", what)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = nil
}

// about matches a hint for this calendar alone. Only a store's own changes are sure to cause one.
func about(cal calendar.Calendar) func(calendar.Hint) bool {
	return func(n calendar.Hint) bool { return !n.Everything && slices.Contains(n.Calendars, cal.ID) }
}

// concerning matches every hint that may be about this calendar.
func concerning(cal calendar.Calendar) func(calendar.Hint) bool {
	return func(n calendar.Hint) bool { return n.Everything || slices.Contains(n.Calendars, cal.ID) }
}

func anything(n calendar.Hint) bool { return n.Everything }

func watchTellsWhatIsKept(b *bundle) {
	cal := b.home()
	e, _ := b.listen(b.Store)
	o := b.put(cal, "a.ics")
	if !e.any(about(cal)) {
		b.Error("a write was kept, and who watches does not know")
	}
	e.await(b, "the write", about(cal))
	b.bury(o)
	if !e.any(about(cal)) {
		b.Error("a deletion was kept, and who watches does not know")
	}
	sub := b.subscription(cal, "session", "calendar://x")
	b.must(b.Subscribe(b.Context(), sub, b.now(), 10, 10))
	if !e.any(func(n calendar.Hint) bool { return slices.Contains(n.Subscribers, sub.Subscriber) }) {
		b.Error("a subscription was kept, and who watches does not know")
	}
}

func watchTellsNothingElse(b *bundle) {
	cal := b.home()
	e, _ := b.listen(b.Store)
	no := errors.New("no")
	err := b.Update(b.Context(), func(tx calendar.Tx) error {
		_, err := tx.Advance(b.Context(), cal.ID)
		return errors.Join(err, no)
	})
	if !errors.Is(err, no) {
		b.Fatal(err)
	}
	b.must(b.TouchToken(b.Context(), "nobody's", b.now()))
	if e.any(about(cal)) {
		b.Error("what was undone was told")
	}
}

func watchAcrossProcesses(b *bundle) {
	cal := b.home()
	e, _ := b.listen(b.another())
	// The first hint says that the other process has begun to listen.
	e.await(b, "the beginning", anything)
	b.put(cal, "a.ics")
	e.await(b, "a write", concerning(cal))
	b.update(func(tx calendar.Tx) error {
		for range 400 { // more than one notice can hold
			if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
				return err
			}
		}
		return nil
	})
	e.await(b, "much at once", concerning(cal))
}

func watchTellsOfRights(b *bundle) {
	cal := b.home()
	ben, eve := b.user("ben"), b.user("eve")
	token := b.token(ben, nil)
	e, _ := b.listen(b.another())
	e.await(b, "the beginning", anything)
	for _, deed := range []struct {
		what string
		do   func() error
	}{
		{"a share", func() error { return Share(b.Context(), b, cal.ID, ben.ID, calendar.ReadAccess) }},
		{"its end", func() error { return Share(b.Context(), b, cal.ID, ben.ID, calendar.NoAccess) }},
		{"a revocation", func() error { return b.RevokeToken(b.Context(), token.ID, b.now()) }},
		{"a new name", func() error { return b.rename(cal, "Other") }},
		{"a user's end", func() error { return b.DeleteUser(b.Context(), eve.ID) }},
		{"a new password", func() error { return b.SetPassword(b.Context(), ben.ID, "new") }},
		{"a new epoch", func() error { return b.NewEpoch(b.Context()) }},
	} {
		b.must(deed.do())
		e.await(b, deed.what, anything)
	}
	other := b.calendar(ben, "other")
	e.await(b, "a calendar", anything)
	b.trash(other)
	e.await(b, "its way out", anything)
	b.must(b.untrash(other, "other"))
	e.await(b, "its way back", anything)
}

func (b *bundle) rename(cal calendar.Calendar, name string) error {
	cal.Name = name
	return b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.UpdateCalendar(b.Context(), cal.ID, cal.Properties)
	})
}

func watchStops(b *bundle) {
	cal := b.home()
	gone, stop := b.listen(b.Store)
	e, _ := b.listen(b.Store)
	stop()
	stop() // stopping twice is allowed
	b.put(cal, "a.ics")
	if !e.any(about(cal)) || gone.any(about(cal)) {
		b.Errorf("told: who watches %t, who stopped %t", e.any(about(cal)), gone.any(about(cal)))
	}
}
