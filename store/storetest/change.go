package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

func changeTests() []test {
	return []test{
		{"are returned once each, by version", changesOnce},
		{"are bounded on both sides", changesBounded},
		{"go over many pages", changesPages},
		{"go on while there are more", changesMeanwhile},
		{"fail if pruned during the listing", changesPruned},
	}
}

func (b *bundle) changes(cal calendar.Calendar, since, until calendar.Version) []calendar.Object {
	b.Helper()
	return b.all(b.Changes(b.Context(), cal.ID, calendar.VersionRange{After: since, Until: until, Unbroken: since}))
}

func changesOnce(b *bundle) {
	cal := b.home()
	same(b, "of an empty calendar", b.changes(cal, 0, 9), nil)
	b.put(cal, "a.ics")
	second := b.put(cal, "b.ics")
	third := b.put(cal, "c.ics")
	fourth := b.put(cal, "a.ics")
	third = b.bury(third)
	same(b, "all", b.changes(cal, 0, 5), []calendar.Object{change(second), change(fourth), change(third)})
	same(b, "since the second", b.changes(cal, 2, 5), []calendar.Object{change(fourth), change(third)})
	same(b, "since the last", b.changes(cal, 5, 5), nil)
	same(b, "of no calendar", b.changes(calendar.Calendar{ID: "nowhere"}, 1, 5), nil)
}

func changesBounded(b *bundle) {
	cal := b.home()
	for i := range 9 {
		b.put(cal, fmt.Sprint(i+1))
	}
	same(b, "names", names(b.changes(cal, 3, 6)), []string{"4", "5", "6"})
	same(b, "the wrong way round", b.changes(cal, 6, 3), nil)
}

func changesPages(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 1300)
	b.fill(cal, objects)
	for _, since := range []calendar.Version{0, 1, 7, 276, 788} {
		same(b, fmt.Sprintf("names since %d", since), names(b.changes(cal, since, 1300)), names(objects[since:]))
	}
}

// changesMeanwhile: while a client reads page after page, new changes get versions beyond its range. They are
// returned exactly once, by the next sync.
func changesMeanwhile(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 1300)
	b.fill(cal, objects)
	until := b.read(cal).Version
	seen := map[calendar.ObjectName]int{}
	i := 0
	for o, err := range b.Changes(b.Context(), cal.ID, calendar.VersionRange{Until: until}) {
		b.must(err)
		seen[o.Name]++
		switch i {
		case 100: // on another page, and on this one
			b.put(cal, string(objects[1200].Name))
			b.put(cal, string(objects[101].Name))
		case 700:
			b.bury(objects[1100])
			b.put(cal, "new.ics")
		}
		i++
	}
	for _, o := range b.changes(cal, until, b.read(cal).Version) {
		seen[o.Name] += 10
	}
	for _, o := range objects {
		want := 1
		switch o.Name {
		case objects[101].Name:
			want = 11
		case objects[1200].Name, objects[1100].Name:
			want = 10
		}
		if seen[o.Name] != want {
			b.Errorf("%s was told %d times, want %d (tens: by the next sync)", o.Name, seen[o.Name], want)
		}
	}
	same(b, "the new one", seen["new.ics"], 10)
}

// changesPruned: a client whose token was valid when it began must not miss a deletion that is pruned while it reads.
func changesPruned(b *bundle) {
	cal := b.home()
	old := b.put(cal, "old.ics")
	gone := b.bury(b.put(cal, "gone.ics"))
	objects := b.events(cal, 600)
	b.fill(cal, objects)
	b.pass(time.Hour)
	last := b.put(cal, "last.ics")
	until := b.read(cal).Version

	var failed error
	told := 0
	for _, err := range b.Changes(b.Context(), cal.ID,
		calendar.VersionRange{After: old.Version, Until: until, Unbroken: old.Version}) {
		if told++; told == 1 {
			b.must(b.Prune(b.Context(), b.now()))
		}
		failed = err
	}
	b.refused(failed, calendar.Forbidden, calendar.RuleSyncToken)
	for _, err := range b.Changes(b.Context(), cal.ID,
		calendar.VersionRange{After: old.Version, Until: old.Version, Unbroken: old.Version}) {
		b.refused(err, calendar.Forbidden, calendar.RuleSyncToken)
	}
	// A caller that starts at zero but requires an unbroken history is refused, too.
	for _, err := range b.Changes(b.Context(), cal.ID, calendar.VersionRange{Until: until, Unbroken: old.Version}) {
		b.refused(err, calendar.Forbidden, calendar.RuleSyncToken)
		break
	}
	// A token newer than the deletion misses nothing, nor does a start at zero.
	same(b, "since the deletion", len(b.changes(cal, gone.Version, until)), len(objects)+1)
	same(b, "since the last but one", names(b.changes(cal, last.Version-1, until)), []string{"last.ics"})
	same(b, "from the start", len(b.changes(cal, 0, until)), len(objects)+2)
}
