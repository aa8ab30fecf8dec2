package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
)

func (b *bundle) unverified(user calendar.User) []calendar.Unverified {
	b.Helper()
	all, err := b.Unverified(b.Context(), user.ID)
	b.must(err)
	return all
}

func (b *bundle) refuse(user calendar.User, u calendar.Unverified) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.PutUnverified(b.Context(), user.ID, u) })
}

// unverifiedKept: an unverified invitation is stored unchanged, once for each event, until it is dismissed or old.
func unverifiedKept(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	same(b, "nothing", len(b.unverified(ann)), 0)
	one := calendar.Unverified{
		Name: "one", Created: b.now(), Method: calendar.MethodRequest, From: "eve@example.net", Proven: true,
		Organizer: "ORG", Title: "Plans",
		Start: ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 10, Hour: 9}), Why: calendar.NotOrganizer, Known: true,
	}
	two := calendar.Unverified{Name: "two", Created: b.now(), Method: calendar.MethodCancel, Why: calendar.NotProven}
	b.refuse(ann, one)
	b.refuse(ann, two)
	b.refuse(bob, two)
	same(b, "both", b.unverified(ann), []calendar.Unverified{one, two})
	b.pass(time.Hour)
	two.Created, two.Title, two.Start = b.now(), "again", ical.Date(ical.Civil{Year: 2026, Month: 3, Day: 10})
	b.refuse(ann, two)
	same(b, "the latest first", b.unverified(ann), []calendar.Unverified{two, one})
	for range 2 {
		b.update(func(tx calendar.Tx) error { return tx.DropUnverified(b.Context(), ann.ID, "two") })
	}
	same(b, "dismissed", b.unverified(ann), []calendar.Unverified{one})
	same(b, "another's stays", len(b.unverified(bob)), 1)
	b.pass(calendar.UnverifiedFor)
	same(b, "old", len(b.unverified(ann)), 0)
	b.must(b.Prune(b.Context(), b.now().AddDate(-1, 0, 0)))
	b.must(b.DeleteUser(b.Context(), bob.ID))
}

// unverifiedBounded: strangers cannot fill the inbox. At the limit no more are accepted for a day; after that the
// oldest ones make room.
func unverifiedBounded(b *bundle) {
	ann := b.user("ann")
	flood := func(prefix string) {
		for i := range calendar.UnverifiedMost + 5 {
			b.refuse(ann, calendar.Unverified{Name: calendar.ObjectName(fmt.Sprint(prefix, i)), Created: b.now()})
		}
	}
	count := func(name calendar.ObjectName) (n, named int) {
		for _, u := range b.unverified(ann) {
			if n++; u.Name == name {
				named++
			}
		}
		return n, named
	}
	first := calendar.Unverified{Name: "first", Created: b.now()}
	b.refuse(ann, first)
	flood("a")
	n, named := count("first")
	same(b, "the first day", [2]int{n, named}, [2]int{calendar.UnverifiedMost, 1})
	first.Title = "changed"
	b.refuse(ann, first)
	n, _ = count("first")
	same(b, "one that is there is replaced", n, calendar.UnverifiedMost)
	b.pass(25 * time.Hour)
	flood("b")
	n, named = count("first")
	same(b, "the second day", [2]int{n, named}, [2]int{calendar.UnverifiedMost, 0})
}
