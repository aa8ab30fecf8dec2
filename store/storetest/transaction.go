package storetest

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
)

func transactionTests() []test {
	return []test{
		{"is committed as a whole", transactionKept},
		{"is rolled back as a whole", transactionRolledBack},
		{"is rolled back by a panic", transactionPanics},
		{"is rolled back when the caller has gone", transactionCancelled},
		{"is invisible before its commit", transactionUnseen},
		{"does not wait for readers, nor they for it", transactionBesideReaders},
	}
}

var errOwn = errors.New("the function's own error")

func transactionKept(b *bundle) {
	cal := b.blank(b.user("ann"), "work")
	o := b.event(cal, "a.ics")
	o.Version = 1
	b.update(func(tx calendar.Tx) error {
		if err := tx.InsertCalendar(b.Context(), cal); err != nil {
			return err
		}
		if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
			return err
		}
		if err := tx.PutObject(b.Context(), o); err != nil {
			return err
		}
		return tx.Log(b.Context(), b.entry(o, calendar.Created))
	})
	gives(b, "object", o)(b.another().Object(b.Context(), cal.ID, "a.ics"))
}

func transactionRolledBack(b *bundle) {
	cal := b.home()
	kept := b.put(cal, "kept.ics")
	before := b.read(cal)
	err := b.Update(b.Context(), func(tx calendar.Tx) error {
		if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
			return err
		}
		o := b.event(cal, "new.ics")
		o.Version = 2
		if err := tx.PutObject(b.Context(), o); err != nil {
			return err
		}
		if err := tx.BuryObject(b.Context(), cal.ID, kept.Name, 3); err != nil {
			return err
		}
		if err := tx.TrashCalendar(b.Context(), cal.ID); err != nil {
			return err
		}
		return errOwn
	})
	if !errors.Is(err, errOwn) {
		b.Errorf("got error %v, want the function's own", err)
	}
	same(b, "calendar", b.read(cal), before)
	same(b, "objects", b.list(cal, calendar.ObjectQuery{WithData: true}), []calendar.Object{kept})
}

func transactionPanics(b *bundle) {
	cal := b.home()
	func() {
		defer func() { same(b, "panic", recover(), any("at the disco")) }()
		_ = b.Update(b.Context(), func(tx calendar.Tx) error {
			b.does(tx.Advance(b.Context(), cal.ID))
			panic("at the disco")
		})
	}()
	same(b, "version", b.read(cal).Version, 0)
	b.put(cal, "a.ics")
}

func transactionCancelled(b *bundle) {
	cal := b.home()
	ctx, cancel := context.WithCancel(b.Context())
	err := b.Update(ctx, func(tx calendar.Tx) error {
		if _, err := tx.Advance(ctx, cal.ID); err != nil {
			return err
		}
		cancel()
		_, err := tx.Advance(ctx, cal.ID)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		b.Errorf("got error %v, want the context's error", err)
	}
	same(b, "version", b.read(cal).Version, 0)
	b.put(cal, "a.ics")
}

func transactionUnseen(b *bundle) {
	cal := b.home()
	b.update(func(tx calendar.Tx) error {
		if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
			return err
		}
		o := b.event(cal, "a.ics")
		o.Version = 1
		if err := tx.PutObject(b.Context(), o); err != nil {
			return err
		}
		same(b, "version meanwhile", b.read(cal).Version, 0)
		same(b, "objects meanwhile", b.list(cal, calendar.ObjectQuery{}), nil)
		return nil
	})
	same(b, "version", b.read(cal).Version, 1)
}

// transactionBesideReaders: a reader between two rows blocks no writer, and sees the state at the time its page was
// read.
func transactionBesideReaders(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	b.put(cal, "b.ics")
	var seen []string
	for o, err := range b.Objects(b.Context(), cal.ID, calendar.ObjectQuery{}) {
		b.must(err)
		seen = append(seen, string(o.Name))
		b.put(cal, "written while reading "+string(o.Name))
	}
	same(b, "seen", seen, []string{"a.ics", "b.ics"})
	same(b, "version", b.read(cal).Version, 4)
}
