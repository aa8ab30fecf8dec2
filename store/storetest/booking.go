package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func bookingTests() []test {
	return []test{
		{"rooms are users with a kind", roomsKept},
		{"wait until they are answered", bookingsWait},
		{"see the other objects in the calendar", objectsWithin},
		{"rows of many calendars are written at once", rowsOfMany},
	}
}

func roomsKept(b *bundle) {
	b.user("ann")
	room := calendar.User{
		ID: "room", Name: "blue", Email: "blue@example.com", Created: b.now(),
		Room: calendar.Room{Kind: calendar.Resource, Capacity: 8, Bookers: calendar.Anybody, ByHand: true},
	}
	b.must(b.InsertUser(b.Context(), room, ""))
	gives(b, "rooms", []calendar.User{room})(b.Rooms(b.Context()))
	b.must(b.ChangeUser(b.Context(), room.ID,
		auth.UserEdit{Capacity: new(int64(2)), Bookers: new(""), ByHand: new(false)}))
	room.Room = calendar.Room{Kind: calendar.Resource, Capacity: 2}
	gives(b, "changed", room)(b.UserByName(b.Context(), "blue"))
}

func bookingsWait(b *bundle) {
	ann := b.user("ann")
	cal, other := b.calendar(ann, "work"), b.calendar(ann, "other")
	put := func(cal calendar.Calendar, uid calendar.UID) calendar.Booking {
		k := calendar.Booking{Room: ann.ID, Calendar: cal.ID, UID: uid, Posted: b.now()}
		b.update(func(tx calendar.Tx) error { return tx.PutBooking(b.Context(), k) })
		return k
	}
	one := put(cal, "one")
	b.pass(time.Minute)
	two := put(other, "one")
	put(cal, "gone")
	b.update(func(tx calendar.Tx) error { return tx.DropBooking(b.Context(), cal.ID, "gone") })
	waiting := func(before time.Time, most int) []calendar.Booking {
		all, err := b.Bookings(b.Context(), before, most)
		b.must(err)
		return all
	}
	same(b, "all", waiting(b.now(), 9), []calendar.Booking{one, two})
	same(b, "the oldest", waiting(b.now(), 1), []calendar.Booking{one})
	same(b, "those of before", waiting(b.now().Add(-time.Minute), 9), []calendar.Booking{one})
	b.pass(time.Minute)
	one = put(cal, "one")
	same(b, "one that is asked again", waiting(b.now(), 9), []calendar.Booking{two, one})
	b.must(b.DeleteUser(b.Context(), ann.ID))
	same(b, "of a calendar that is gone", waiting(b.now(), 9), nil)
}

func objectsWithin(b *bundle) {
	cal := b.calendar(b.user("ann"), "work")
	b.put(cal, "there.ics")
	b.update(func(tx calendar.Tx) error {
		now, err := tx.Advance(b.Context(), cal.ID)
		if err != nil {
			return err
		}
		o := b.event(cal, "new.ics")
		o.Version = now.Version
		if err := tx.PutObject(b.Context(), o); err != nil {
			return err
		}
		var names []calendar.ObjectName
		for o, err := range tx.ObjectsWithin(b.Context(), cal.ID, calendar.ObjectQuery{WithData: true}) {
			if err != nil {
				return err
			}
			names = append(names, o.Name)
		}
		same(b, "the stored object and the one written in the transaction",
			names, []calendar.ObjectName{"new.ics", "there.ics"})
		return nil
	})
}

// rowsOfMany writes more rows than fit into one statement, some of them twice, with journal lines in between.
func rowsOfMany(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	const many = 620
	b.update(func(tx calendar.Tx) error {
		for i := range many {
			now, err := tx.Advance(b.Context(), cal.ID)
			if err != nil {
				return err
			}
			o := b.event(cal, fmt.Sprintf("%03d.ics", i%600))
			o.Version, o.Summary = now.Version, fmt.Sprint(i)
			if err := tx.PutObject(b.Context(), o); err != nil {
				return err
			}
			if err := tx.Log(b.Context(), b.entry(o, calendar.Created)); err != nil {
				return err
			}
		}
		return tx.Count(b.Context(), []calendar.CalendarID{cal.ID}, calendar.Usage{Objects: 600})
	})
	objects, lines := 0, 0
	for o, err := range b.Objects(b.Context(), cal.ID, calendar.ObjectQuery{WithData: true}) {
		b.must(err)
		if objects++; o.Name == "003.ics" {
			same(b, "the later of two", o.Summary, "603")
		}
	}
	for _, err := range b.Journal(b.Context(), cal.ID, calendar.JournalQuery{}) {
		b.must(err)
		lines++
	}
	same(b, "objects and lines", [...]int{objects, lines}, [...]int{600, many})
	usage, err := b.Usage(b.Context(), ann.ID)
	b.must(err)
	same(b, "counted", usage.Objects, int64(600))
}
