package storetest

import (
	"bytes"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
)

func rederiveTests() []test {
	return []test{
		{"rebuilds only derived data", rederiveAll},
		{"skips objects written in the meantime", rederiveMeanwhile},
		{"names a conflicting object", rederiveConflict},
	}
}

// derived returns other values than the derivation of the tests' events.
func derived(o calendar.Object) calendar.Derived {
	from := int64(len(o.Data))
	return calendar.Derived{
		UID: "new " + o.UID, Kind: calendar.Journal, Summary: strings.ToUpper(string(o.Data)), Search: "new",
		Span: calendar.Span{Start: &from}, Recurring: true, Status: "DRAFT", Transparent: true,
	}
}

func rederiveAll(b *bundle) {
	ann := b.user("ann")
	work, home := b.calendar(ann, "work"), b.calendar(ann, "home")
	objects := b.events(work, 150)
	b.fill(work, objects)
	large := b.event(home, "large.ics")
	large.Data = bytes.Repeat([]byte{'x'}, 3<<20)
	b.fill(home, []calendar.Object{large})
	tombstone := b.bury(b.put(home, "tombstone.ics"))
	before := b.read(work)
	editions := []calendar.Edition{before.Edition}

	for round := range 2 {
		n, err := b.Rederive(b.Context(), calendar.Walk{}, func(o calendar.Object) calendar.Derived {
			if round > 0 {
				return o.Derived
			}
			return derived(o)
		})
		b.must(err)
		same(b, "objects gone through", n, 152)
		got := b.list(work, calendar.ObjectQuery{WithData: true})
		for i, o := range objects {
			o.Derived = derived(o)
			same(b, string(o.Name), got[i], o)
		}
		tombstone.UID = "new uid of tombstone.ics"
		b.update(func(tx calendar.Tx) error {
			got, _, err := tx.Duplicates(b.Context(), home.ID, tombstone.Name, "")
			same(b, "tombstone", got.UID, tombstone.UID)
			return err
		})
		// A process that caches the objects learns of the change, once.
		before.Edition = b.read(work).Edition
		same(b, "calendar", b.read(work), before)
		editions = append(editions, before.Edition)
		// The index of spans has changed with them.
		same(b, "objects in the new span", len(b.list(work, calendar.ObjectQuery{Until: new(int64(1000))})), 150)
	}
	if editions[1] <= editions[0] || editions[2] != editions[1] {
		b.Errorf("editions %v: want one that grows, and stays", editions)
	}
}

func rederiveMeanwhile(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	next := b.event(cal, "a.ics")
	next.Summary = "written meanwhile"
	n, err := b.Rederive(b.Context(), calendar.Walk{}, func(o calendar.Object) calendar.Derived {
		var err error
		next, err = b.write(b.Store, next)
		b.must(err)
		return derived(o)
	})
	b.must(err)
	same(b, "objects gone through", n, 1)
	gives(b, "object", next)(b.Object(b.Context(), cal.ID, "a.ics"))
}

func rederiveConflict(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	b.put(cal, "b.ics")
	_, err := b.Rederive(b.Context(), calendar.Walk{}, func(o calendar.Object) calendar.Derived {
		d := o.Derived
		d.UID = "the same"
		return d
	})
	b.refused(err, calendar.Exists, calendar.RuleUIDConflict)
	if !strings.Contains(fmt.Sprint(err), "b.ics") {
		b.Errorf("the error does not name the object: %v", err)
	}
}
