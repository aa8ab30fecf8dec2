package storetest

import (
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

func calendarTests() []test {
	return []test{
		{"round-trips", calendarComesBack},
		{"separates empty from never set", calendarEmptyOrNil},
		{"has its properties changed", calendarChanges},
		{"has an address of its own", calendarOwnsSegment},
		{"has an address that is case-sensitive", calendarSegmentCase},
		{"are listed in the user's order", calendarsAreListed},
		{"advances", calendarAdvances},
		{"many advance at once", calendarsAdvance},
		{"goes to the trash", calendarTrashed},
		{"moves to another address", calendarMoves},
		{"needs an owner", calendarNeedsOwner},
		{"goes to another owner", calendarGiven},
	}
}

func calendarComesBack(b *bundle) {
	ann := b.user("ann")
	want := b.blank(ann, "wörk space")
	want.Properties = calendar.Properties{
		Name: "Wörk ☀", Description: new("two\r\nlines"), Color: new("#11223344"), Order: new(int64(-7)),
		Timezone: "Europe/Berlin", TimezoneData: new("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"),
		Kinds: calendar.Kinds{calendar.Todo, calendar.Event}, Transparent: true,
	}
	want.Modified, want.OwnerFree = b.now().Add(time.Hour), true
	b.insert(want)
	same(b, "by id", b.read(want), want)
	gives(b, "by address", want)(b.CalendarAt(b.Context(), ann.ID, "wörk space"))
	gives(b, "listed", []calendar.Calendar{want})(b.Calendars(b.Context(), ann.ID))

	bob := b.user("bob")
	b.must(Share(b.Context(), b, want.ID, bob.ID, calendar.ReadAccess))
	b.must(b.arrange(want, bob, calendar.Arrangement{Opaque: true}))
	want.Name, want.Transparent, want.Access = want.ForSharees().Name, false, calendar.ReadAccess
	gives(b, "a sharee's, whose time it takes", want)(b.Calendar(b.Context(), bob.ID, want.ID))
}

func calendarEmptyOrNil(b *bundle) {
	ann := b.user("ann")
	unset, empty := b.calendar(ann, "unset"), b.blank(ann, "empty")
	empty.Description, empty.Color, empty.Order, empty.TimezoneData = new(""), new(""), new(int64(0)), new("")
	b.insert(empty)
	subscription := b.blank(ann, "subscription")
	subscription.Kinds = nil
	b.insert(subscription)
	same(b, "never set", b.read(unset), unset)
	same(b, "empty", b.read(empty), empty)
	same(b, "that takes no kind", b.read(subscription), subscription)
	// Properties that were set can become unset again.
	b.update(func(tx calendar.Tx) error { return tx.UpdateCalendar(b.Context(), empty.ID, unset.Properties) })
	same(b, "unset again", b.read(empty).Properties, unset.Properties)
}

func calendarChanges(b *bundle) {
	cal := b.home()
	want := calendar.Properties{
		Name: "new", Color: new("#000000"), Timezone: "Asia/Tokyo",
		Kinds: calendar.Kinds{calendar.Journal}, Transparent: true,
	}
	b.update(func(tx calendar.Tx) error { return tx.UpdateCalendar(b.Context(), cal.ID, want) })
	same(b, "properties", b.read(cal).Properties, want)
	err := b.Update(b.Context(), func(tx calendar.Tx) error { return tx.UpdateCalendar(b.Context(), "nowhere", want) })
	b.refused(err, calendar.NotFound, "")
}

func calendarOwnsSegment(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	first := b.calendar(ann, "work")
	second := b.blank(ann, "work")
	err := b.Update(b.Context(), func(tx calendar.Tx) error { return tx.InsertCalendar(b.Context(), second) })
	b.refused(err, calendar.Exists, calendar.RuleResourceMustBeNil)
	b.calendar(bob, "work")
	gives(b, "calendar", first)(b.CalendarAt(b.Context(), ann.ID, "work"))
}

func calendarSegmentCase(b *bundle) {
	ann := b.user("ann")
	lower, upper := b.calendar(ann, "work"), b.calendar(ann, "Work")
	for segment, want := range map[calendar.Segment]calendar.Calendar{"work": lower, "Work": upper} {
		gives(b, string(segment), want)(b.CalendarAt(b.Context(), ann.ID, segment))
	}
	for _, segment := range []calendar.Segment{"WORK", "wor_", "w%", "work ", ""} {
		b.refuses(calendar.NotFound, "")(b.CalendarAt(b.Context(), ann.ID, segment))
	}
}

// calendarsAreListed: the user's own calendars come first; then by order, unset orders last, then by name and ID.
func calendarsAreListed(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	add := func(owner calendar.User, name string, order *int64) calendar.Calendar {
		cal := b.blank(owner, calendar.Segment(b.id("segment")))
		cal.Name, cal.Order = name, order
		b.insert(cal)
		return cal
	}
	shared := add(bob, "0", new(int64(-1)))
	add(bob, "not shared", nil)
	lower, upper := add(ann, "a", nil), add(ann, "B", nil)
	umlaut, again := add(ann, "ä", nil), add(ann, "a", nil)
	second, first := add(ann, "z", new(int64(2))), add(ann, "z", new(int64(1)))
	b.must(Share(b.Context(), b, shared.ID, ann.ID, calendar.ReadAccess))
	shared.Name, shared.Access, shared.Transparent = "0 (Ms bob)", calendar.ReadAccess, true
	gives(b, "calendars", []calendar.Calendar{
		first, second, upper, lower, again, umlaut,
		shared,
	})(b.Calendars(b.Context(), ann.ID))
}

func calendarsAdvance(b *bundle) {
	ann := b.user("ann")
	var ids, want []calendar.CalendarID
	for i := range 70 {
		ids = append(ids, b.calendar(ann, calendar.Segment(fmt.Sprintf("c%02d", i))).ID)
	}
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), ids[3]) })
	want = slices.Sorted(slices.Values(slices.Delete(slices.Clone(ids), 3, 4)))
	slices.Reverse(ids)
	before := map[calendar.CalendarID]calendar.Version{}
	for _, id := range want {
		c, err := b.Calendar(b.Context(), ann.ID, id)
		b.must(err)
		before[id] = c.Version
	}
	b.update(func(tx calendar.Tx) error {
		found, err := tx.AdvanceAll(b.Context(), append(ids, "nowhere"))
		var got []calendar.CalendarID
		for _, c := range found {
			got = append(got, c.ID)
			same(b, "version", c.Version, before[c.ID]+1)
			same(b, "owner", c.Owner, ann.ID)
		}
		same(b, "the existing ones, in order", got, want)
		return err
	})
	for _, id := range want {
		c, err := b.Calendar(b.Context(), ann.ID, id)
		b.must(err)
		same(b, "kept", c.Version, before[id]+1)
	}
	same(b, "none", len(in(b, func(tx calendar.Tx) ([]calendar.Calendar, error) {
		return tx.AdvanceAll(b.Context(), nil)
	})), 0)
	free := in(b, func(tx calendar.Tx) ([]calendar.Calendar, error) {
		return tx.AdvanceFree(b.Context(), append(ids, "nowhere"), calendar.Usage{Objects: 2, Bytes: 3})
	})
	used, err := b.Usage(b.Context(), ann.ID)
	b.must(err)
	same(b, "counted with the locks", [2]int64{used.Objects, used.Bytes}, [2]int64{
		2 * int64(len(want)),
		3 * int64(len(want)),
	})
	same(b, "free ones", len(free), len(want))
	for i, c := range free {
		same(b, "free, in order", c.ID, want[i])
		same(b, "version", c.Version, before[c.ID]+2)
	}
}

func calendarAdvances(b *bundle) {
	cal := b.home()
	b.pass(time.Hour)
	want := cal
	want.Version, want.Modified, want.Access = 1, b.now(), calendar.NoAccess
	b.update(func(tx calendar.Tx) error {
		got, err := tx.Advance(b.Context(), cal.ID)
		same(b, "advanced", got, want)
		return err
	})
	want.Access = calendar.OwnerAccess
	same(b, "afterwards", b.read(cal), want)
	err := b.Update(b.Context(), func(tx calendar.Tx) error {
		_, err := tx.Advance(b.Context(), "nowhere")
		return err
	})
	b.refused(err, calendar.NotFound, "")
}

func calendarTrashed(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	o := b.put(cal, "a.ics")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	trash := func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), cal.ID) }
	b.must(b.Update(b.Context(), trash))
	b.refused(b.Update(b.Context(), trash), calendar.NotFound, "")
	for _, u := range []calendar.User{ann, bob} {
		b.refuses(calendar.NotFound, "")(b.Calendar(b.Context(), u.ID, cal.ID))
		b.givesNone("calendars")(b.Calendars(b.Context(), u.ID))
	}
	b.refuses(calendar.NotFound, "")(b.CalendarAt(b.Context(), ann.ID, "work"))
	b.refuses(calendar.NotFound, "")(b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID)))
	b.refuses(calendar.NotFound, "")(b.write(b.Store, o))
	// Its address is free at once.
	next := b.calendar(ann, "work")
	gives(b, "next", next)(b.CalendarAt(b.Context(), ann.ID, "work"))
}

func calendarNeedsOwner(b *bundle) {
	cal := b.blank(calendar.User{ID: "nobody"}, "work")
	err := b.Update(b.Context(), func(tx calendar.Tx) error { return tx.InsertCalendar(b.Context(), cal) })
	b.refused(err, calendar.NotFound, "")
}

func calendarMoves(b *bundle) {
	ann := b.user("ann")
	cal, other := b.calendar(ann, "work"), b.calendar(ann, "other")
	move := func(id calendar.CalendarID, to calendar.Segment) error {
		return b.Update(b.Context(), func(tx calendar.Tx) error { return tx.MoveCalendar(b.Context(), id, to) })
	}
	b.must(move(cal.ID, "Büro"))
	cal.Segment = "Büro"
	same(b, "moved", b.read(cal), cal)
	b.refused(move(cal.ID, other.Segment), calendar.Exists, calendar.RuleResourceMustBeNil)
	b.refused(move("nowhere", "x"), calendar.NotFound, "")
	// The old address is free.
	b.calendar(ann, "work")
}

// calendarGiven: a calendar that another user gets keeps its objects and shares. The new owner's own share ends, also
// one through a group.
func calendarGiven(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	staff := calendar.User{ID: "staff", Name: "staff", Created: b.now(), Group: true}
	b.must(b.InsertUser(b.Context(), staff, ""))
	for _, member := range []calendar.User{bob, eve} {
		b.does(b.PutMember(b.Context(), staff.ID, member.ID, b.now()))
	}
	cal := b.calendar(ann, "work")
	kept := b.put(cal, "a.ics")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	b.update(func(tx calendar.Tx) error {
		err := tx.PutShare(b.Context(), calendar.Share{
			Calendar: cal.ID, User: staff, Access: calendar.WriteAccess, Status: calendar.ShareAccepted,
			Created: b.now(),
		})
		if err != nil {
			return err
		}
		if _, err := tx.Advance(b.Context(), cal.ID); err != nil {
			return err
		}
		return tx.GiveCalendar(b.Context(), cal.ID, bob.ID)
	})
	b.must(b.DeleteUser(b.Context(), ann.ID))

	now, err := b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID))
	b.must(err)
	same(b, "the owner", now.Owner, bob.ID)
	same(b, "bob's access", now.Access, calendar.OwnerAccess)
	gives(b, "the object", kept)(b.Object(b.Context(), cal.ID, "a.ics"))
	theirs, err := b.Calendar(b.Context(), eve.ID, cal.ID)
	b.must(err)
	same(b, "eve's access", theirs.Access, calendar.WriteAccess)
	all, err := b.Calendars(b.Context(), bob.ID)
	b.must(err)
	same(b, "number of bob's calendars", len(all), 1)
}
