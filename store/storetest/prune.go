package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

func pruneTests() []test {
	return []test{
		{"removes tombstones by age", pruneTombstones},
		{"leaves a calendar without tombstones alone", pruneLeaves},
		{"removes many", pruneMany},
		{"removes journal lines by age", pruneLines},
		{"empties the trash by age", pruneTrash},
		{"runs concurrently with writers", pruneBesideWriters},
	}
}

func pruneTombstones(b *bundle) {
	cal := b.home()
	b.put(cal, "live.ics")
	old := b.bury(b.put(cal, "old.ics"))
	b.pass(time.Hour)
	young := b.bury(b.put(cal, "young.ics"))
	b.put(cal, "live.ics")

	b.must(b.Prune(b.Context(), b.now().Add(-time.Hour)))
	same(b, "pruned before anything is old enough", b.read(cal).Pruned, 0)

	b.must(b.Prune(b.Context(), b.now()))
	now := b.read(cal)
	same(b, "pruned", now.Pruned, old.Version)
	same(b, "version", now.Version, 6)
	same(b, "left", names(b.changes(cal, 0, now.Version)), []string{"young.ics", "live.ics"})
	b.update(func(tx calendar.Tx) error {
		atName, _, err := tx.Duplicates(b.Context(), cal.ID, "old.ics", "")
		same(b, "at the old name", atName, nil)
		return err
	})

	b.pass(time.Second)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "pruned in the end", b.read(cal).Pruned, young.Version)
	same(b, "left in the end", names(b.changes(cal, 0, now.Version)), []string{"live.ics"})
}

// pruneLines: a line is pruned only after its bytes, and only if it is old enough.
func pruneLines(b *bundle) {
	cal := b.home()
	log := func(times int) {
		for range times {
			b.update(func(tx calendar.Tx) error {
				locked, err := tx.Advance(b.Context(), cal.ID)
				if err != nil {
					return err
				}
				for range 2 { // the second one belongs to the same unit as the first
					err = tx.Log(b.Context(), calendar.Change{
						Calendar: cal.ID, Version: locked.Version, Object: "a.ics", UID: "a", Did: calendar.Modified,
						At: b.now(), User: cal.Owner, Before: []byte("before"),
					})
					if err != nil {
						return err
					}
					if locked, err = tx.Advance(b.Context(), cal.ID); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	lines := func() (n int) {
		for _, err := range b.Journal(b.Context(), cal.ID, calendar.JournalQuery{}) {
			b.must(err)
			n++
		}
		return n
	}
	first := lines()
	made := b.now()
	log(300) // more than one batch
	b.pass(time.Hour)
	b.must(b.PruneLines(b.Context(), b.now()))
	same(b, "lines whose bytes are there", lines(), first+600)
	same(b, "gone of them", b.linesGone(cal), calendar.LinesGone{})
	last := b.read(cal).Version - 1
	log(1)
	b.must(b.Prune(b.Context(), b.now()))
	b.must(b.PruneLines(b.Context(), b.now().Add(-2*time.Hour)))
	same(b, "lines that are young", lines(), first+602)
	same(b, "gone of those", b.linesGone(cal), calendar.LinesGone{})
	b.must(b.PruneLines(b.Context(), b.now()))
	same(b, "lines in the end", lines(), 2)
	same(b, "gone in the end", b.linesGone(cal), calendar.LinesGone{Version: last, At: made.Truncate(time.Second)})
	same(b, "gone of another calendar", b.linesGone(b.calendar(b.user("eve"), "eve")), calendar.LinesGone{})
	now := b.read(cal)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "pruned", b.read(cal).Pruned, now.Pruned)
}

// pruneLeaves: without deletions no token expires, however old it is.
func pruneLeaves(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	b.put(cal, "a.ics")
	b.pass(1000 * time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "pruned", b.read(cal).Pruned, 0)
	same(b, "changes", names(b.changes(cal, 1, 2)), []string{"a.ics"})
}

func pruneMany(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 1200)
	b.fill(cal, objects)
	b.update(func(tx calendar.Tx) error {
		for _, o := range objects[1:] {
			now, err := tx.Advance(b.Context(), cal.ID)
			if err != nil {
				return err
			}
			if err := tx.BuryObject(b.Context(), cal.ID, o.Name, now.Version); err != nil {
				return err
			}
		}
		return nil
	})
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	now := b.read(cal)
	same(b, "pruned", now.Pruned, now.Version)
	same(b, "left", names(b.changes(cal, 0, now.Version)), names(objects[:1]))
}

func pruneTrash(b *bundle) {
	ann := b.user("ann")
	trash := func(cal calendar.Calendar) {
		b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), cal.ID) })
	}
	old, young, live := b.calendar(ann, "old"), b.calendar(ann, "young"), b.calendar(ann, "live")
	for _, cal := range []calendar.Calendar{old, young, live} {
		b.fill(cal, b.events(cal, 600))
	}
	trash(old)
	b.pass(time.Hour)
	trash(young)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "objects of the old", len(b.changes(old, 0, 9999)), 0)
	same(b, "objects of the young", len(b.changes(young, 0, 9999)), 600)
	same(b, "objects of the live", len(b.changes(live, 0, 9999)), 600)
	// Its ID is free, too: the row is gone.
	b.insert(old)
}

// pruneBesideWriters: pruning during concurrent writes loses nothing.
func pruneBesideWriters(b *bundle) {
	cal := b.home()
	other := b.another()
	written := make(chan error, 1)
	go func() {
		for i := range 30 {
			o, err := b.write(other, b.event(cal, fmt.Sprint(i)))
			if err == nil && i%2 == 0 {
				err = other.Update(b.Context(), func(tx calendar.Tx) error { return b.buryIn(tx, &o) })
			}
			if err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for {
		b.must(b.Prune(b.Context(), b.now().Add(time.Hour)))
		select {
		case err := <-written:
			b.must(err)
			same(b, "version", b.read(cal).Version, 45)
			same(b, "live objects", len(b.list(cal, calendar.ObjectQuery{})), 15)
			return
		default:
		}
	}
}
