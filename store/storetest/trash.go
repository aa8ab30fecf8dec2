package storetest

import (
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

func trashTests() []test {
	return []test{
		{"restores a calendar", trashGivesBack},
		{"restores a calendar to another address", trashGivesBackElsewhere},
		{"lists deletions once, the latest first", trashLists},
		{"keeps a deletion whose name is in use again", trashNameTaken},
		{"has no moved objects", trashMoved},
		{"has objects that were moved out of their owner's sight", trashTaken},
		{"pages", trashPages},
		{"is pruned by age", trashPruned},
		{"deletes a calendar for good", trashForgetsCalendar},
		{"deletes objects for good and keeps the tombstones", trashForgetsObjects},
	}
}

func (b *bundle) trash(cal calendar.Calendar) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), cal.ID) })
}

func (b *bundle) untrash(cal calendar.Calendar, at calendar.Segment) error {
	return b.Update(b.Context(), func(tx calendar.Tx) error { return tx.UntrashCalendar(b.Context(), cal.ID, at) })
}

// deletions lists the trash of a calendar as "name@version uid".
func (b *bundle) deletions(cal calendar.Calendar) []string {
	b.Helper()
	var list []string
	for e, err := range b.Deletions(b.Context(), cal.ID) {
		b.must(err)
		list = append(list, fmt.Sprintf("%s@%d %s", e.Object, e.Version, e.UID))
	}
	return list
}

func trashGivesBack(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	old, young := b.calendar(ann, "old"), b.calendar(ann, "young")
	b.calendar(ann, "live")
	gone := b.bury(b.put(old, "gone.ics"))
	kept := b.put(old, "kept.ics")
	b.must(Share(b.Context(), b, old.ID, bob.ID, calendar.ReadAccess))
	before := b.read(old)
	b.trash(old)
	trashed := b.now()
	b.pass(time.Hour)
	b.trash(young)

	inTrash := before
	inTrash.Shared = false // no sharee sees it there
	got, err := b.TrashedCalendars(b.Context(), ann.ID)
	b.must(err)
	same(b, "trash", got, []calendar.TrashedCalendar{
		{Calendar: young, Trashed: b.now()},
		{Calendar: inTrash, Trashed: trashed, Objects: 1},
	})
	others, err := b.TrashedCalendars(b.Context(), bob.ID)
	b.must(err)
	same(b, "the sharee's trash", len(others), 0)

	b.must(b.untrash(old, old.Segment))
	before.Edition++ // some of its objects may have been deleted for good
	same(b, "calendar", b.read(old), before)
	same(b, "objects", names(b.changes(old, 0, before.Version)), []string{string(gone.Name), string(kept.Name)})
	shared, err := b.Calendar(b.Context(), bob.ID, old.ID)
	b.must(err)
	same(b, "access of the sharee", shared.Access, calendar.ReadAccess)
	b.refused(b.untrash(old, "twice"), calendar.NotFound, "")
	b.refused(b.untrash(calendar.Calendar{ID: "nowhere"}, "x"), calendar.NotFound, "")
}

func trashGivesBackElsewhere(b *bundle) {
	ann := b.user("ann")
	old := b.calendar(ann, "work")
	b.trash(old)
	b.calendar(ann, "work")
	b.refused(b.untrash(old, "work"), calendar.Exists, calendar.RuleResourceMustBeNil)
	b.must(b.untrash(old, "work-2"))
	got, err := b.CalendarAt(b.Context(), ann.ID, "work-2")
	b.must(err)
	same(b, "calendar", got.ID, old.ID)
}

func trashLists(b *bundle) {
	cal := b.home()
	b.put(cal, "live.ics")
	back := b.bury(b.put(cal, "back.ics"))
	twice := b.put(cal, "twice.ics")
	b.bury(twice)
	b.put(cal, "twice.ics")
	once := b.bury(b.put(cal, "once.ics"))
	last := b.bury(twice)
	b.put(cal, "back.ics")
	same(b, "trash", b.deletions(cal), []string{
		fmt.Sprintf("twice.ics@%d uid of twice.ics", last.Version),
		fmt.Sprintf("once.ics@%d uid of once.ics", once.Version),
	})
	gives(b, "deletion", b.entry(once, calendar.Deleted))(b.Deletion(b.Context(), cal.ID, once.UID))
	e, err := b.Deletion(b.Context(), cal.ID, back.UID)
	b.must(err)
	same(b, "deletion of what is back", e.Version, back.Version)
	b.refuses(calendar.NotFound, "")(b.Deletion(b.Context(), cal.ID, "uid of live.ics"))
	other := b.calendar(b.user("bob"), "work")
	b.refuses(calendar.NotFound, "")(b.Deletion(b.Context(), other.ID, once.UID))
}

// trashNameTaken: a new object with the name of a deleted one reuses its row, but does not remove it from the trash.
func trashNameTaken(b *bundle) {
	cal := b.home()
	first := b.bury(b.put(cal, "a.ics"))
	second := b.event(cal, "a.ics")
	second.UID = "another"
	b.does(b.write(b.Store, second))
	same(b, "trash", b.deletions(cal), []string{fmt.Sprintf("a.ics@%d uid of a.ics", first.Version)})
}

// trashMoved: a moved object is not in the trash, since restoring it would duplicate it.
func trashMoved(b *bundle) {
	work := b.home()
	rest := b.calendar(calendar.User{ID: work.Owner}, "rest")
	b.bury(b.put(work, "a.ics"))
	was := b.put(work, "a.ics")
	there := was
	there.Calendar = rest.ID
	b.update(func(tx calendar.Tx) error { return errors.Join(b.buryIn(tx, &was), b.writeIn(tx, &there)) })
	same(b, "trash of what it left", b.deletions(work), nil)
	b.refuses(calendar.NotFound, "")(b.Deletion(b.Context(), work.ID, was.UID))

	// Neither the order of writes in a transaction nor its other writes matter.
	back, before := was, b.event(rest, "before.ics")
	back.Deleted = false
	b.update(func(tx calendar.Tx) error {
		return errors.Join(b.writeIn(tx, &before), b.writeIn(tx, &back), b.buryIn(tx, &there))
	})
	same(b, "trash of the calendar that it left again", b.deletions(rest), nil)
	last := b.put(work, "last.ics")
	b.update(func(tx calendar.Tx) error {
		return errors.Join(b.buryIn(tx, &back), b.writeIn(tx, &before), b.buryIn(tx, &last))
	})
	same(b, "trash", b.deletions(work), []string{
		fmt.Sprintf("last.ics@%d %s", last.Version, last.UID), fmt.Sprintf("a.ics@%d %s", back.Version, back.UID),
	})
	same(b, "trash of where it was for a while", b.deletions(rest), nil)
}

// trashTaken: if a sharee moves an object to their own calendar, its owner can still restore it, until they can see
// it there.
func trashTaken(b *bundle) {
	work, bob := b.home(), b.user("bob")
	theirs := b.calendar(bob, "theirs")
	b.must(Share(b.Context(), b, work.ID, bob.ID, calendar.WriteAccess))
	was := b.put(work, "a.ics")
	there := was
	there.Calendar = theirs.ID
	b.update(func(tx calendar.Tx) error { return errors.Join(b.buryIn(tx, &was), b.writeIn(tx, &there)) })
	same(b, "trash", b.deletions(work), []string{fmt.Sprintf("a.ics@%d %s", was.Version, was.UID)})
	b.does(b.Deletion(b.Context(), work.ID, was.UID))
	b.must(Share(b.Context(), b, theirs.ID, work.Owner, calendar.ReadAccess))
	same(b, "trash once its owner sees it where it is", b.deletions(work), nil)
}

func trashPages(b *bundle) {
	cal := b.home()
	var want []string
	for i := range 150 {
		o := b.bury(b.put(cal, fmt.Sprintf("%03d.ics", i)))
		want = append([]string{fmt.Sprintf("%s@%d %s", o.Name, o.Version, o.UID)}, want...)
	}
	same(b, "trash", b.deletions(cal), want)
}

func trashPruned(b *bundle) {
	cal := b.home()
	b.bury(b.put(cal, "old.ics"))
	b.pass(time.Hour)
	young := b.bury(b.put(cal, "young.ics"))
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "trash", b.deletions(cal), []string{fmt.Sprintf("young.ics@%d uid of young.ics", young.Version)})
}

func trashForgetsCalendar(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	b.refused(b.ForgetCalendar(b.Context(), cal.ID), calendar.NotFound, "")
	same(b, "objects", len(b.list(cal, calendar.ObjectQuery{})), 1)
	b.trash(cal)
	b.must(b.ForgetCalendar(b.Context(), cal.ID))
	b.refused(b.untrash(cal, "work"), calendar.NotFound, "")
	b.insert(cal)
	same(b, "objects of its namesake", len(b.changes(cal, 0, 9999)), 0)
}

func trashForgetsObjects(b *bundle) {
	cal := b.home()
	live := b.put(cal, "live.ics")
	b.put(cal, "a.ics")
	b.put(cal, "a.ics")
	gone := b.bury(b.put(cal, "a.ics"))
	other := b.calendar(b.user("bob"), "work")
	b.bury(b.put(other, "a.ics"))

	b.must(b.ForgetDeletions(b.Context(), cal.ID))
	same(b, "trash", b.deletions(cal), nil)
	b.refuses(calendar.NotFound, "")(b.Deletion(b.Context(), cal.ID, gone.UID))
	same(b, "changes", names(b.changes(cal, 0, gone.Version)), []string{"live.ics", "a.ics"})
	same(b, "pruned", b.read(cal).Pruned, 0)
	same(b, "the live one", b.list(cal, calendar.ObjectQuery{WithData: true})[0].Data, live.Data)
	same(b, "the trash of another calendar", len(b.deletions(other)), 1)
	b.update(func(tx calendar.Tx) error {
		at, _, err := tx.Duplicates(b.Context(), cal.ID, "a.ics", "")
		if at != nil {
			same(b, "bytes of the tombstone", string(at.Data), "")
		}
		return err
	})
}
