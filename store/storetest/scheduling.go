package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func schedulingTests() []test {
	return []test{
		{"users are found by address and name", usersFoundAt},
		{"an address of several users belongs to none", usersApart},
		{"users have several addresses", mailsOfUsers},
		{"copies are found in every calendar", appointmentsFound},
		{"many copies are found at once", manyAppointments},
		{"copies are written at once", copiesWritten},
		{"received events go into the chosen calendar", receptions},
		{"round-trips", schedulingKept},
		{"tags stay with their objects", scheduleTags},
		{"consequences do not belong to the unit", scheduledApart},
	}
}

func inboxTests() []test {
	return []test{
		{"add, replace and remove messages", inboxTakes},
		{"expire", inboxGrowsOld},
		{"are limited", inboxBounded},
		{"are limited in bytes", inboxBytesBounded},
		{"show unverified invitations", unverifiedKept},
		{"limit unverified invitations", unverifiedBounded},
		{"keep removed proposals", proposalsStay},
		{"limit proposals", proposalsBounded},
		{"are found by method", inboxByMethod},
		{"hold one message to many users", inboxesAlike},
	}
}

func usersFoundAt(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	found, err := b.UsersAt(b.Context(), []string{"bob@example.com", "nobody@example.com", "ann@example.com"},
		[]string{"eve", "ann", "zoe"})
	b.must(err)
	at := func(text string, u calendar.User) calendar.UserAt { return calendar.UserAt{Text: text, User: u} }
	same(b, "found", found, []calendar.UserAt{
		at("ann", ann), at("ann@example.com", ann),
		at("bob@example.com", bob), at("eve", eve),
	})
	found, err = b.UsersAt(b.Context(), nil, nil)
	b.must(err)
	same(b, "nobody was asked for", len(found), 0)
}

func mailsOfUsers(b *bundle) {
	ann := b.user("ann")
	mails := func() []string {
		mails, err := b.Mails(b.Context(), ann.ID)
		b.must(err)
		return mails
	}
	same(b, "one", mails(), []string{"ann@example.com"})
	b.must(b.InsertAddress(b.Context(), ann.ID, auth.Address{Text: "a@example.net", Created: b.now()}))
	same(b, "one that is not verified", mails(), []string{"ann@example.com"})
	b.must(b.VerifyAddress(b.Context(), ann.ID, "a@example.net", b.now()))
	same(b, "two", mails(), []string{"ann@example.com", "a@example.net"})
	found, err := b.UsersAt(b.Context(), []string{"a@example.net"}, nil)
	b.must(err)
	same(b, "found by it", len(found), 1)
}

func usersApart(b *bundle) {
	ann := b.user("ann")
	twin := calendar.User{ID: "twin", Name: "twin", Email: "ANN@example.com", Created: b.now()}
	b.must(b.InsertUser(b.Context(), twin, ""))
	found, err := b.UsersAt(b.Context(), []string{"ann@example.com"}, nil)
	b.must(err)
	same(b, "neither", len(found), 0)
	gives(b, "by name", []calendar.UserAt{{Text: "ann", User: ann}})(b.UsersAt(b.Context(), nil, []string{"ann"}))
}

// in runs a query in a transaction.
func in[T any](b *bundle, ask func(calendar.Tx) (T, error)) T {
	b.Helper()
	var found T
	b.must(b.Update(b.Context(), func(tx calendar.Tx) (err error) {
		found, err = ask(tx)
		return err
	}))
	return found
}

func (b *bundle) appointments(uid calendar.UID, users ...calendar.UserID) []calendar.Appointment {
	b.Helper()
	return in(b, func(tx calendar.Tx) ([]calendar.Appointment, error) {
		return tx.Appointments(b.Context(), users, uid)
	})
}

func appointmentsFound(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	work, trip := b.calendar(ann, "work"), b.calendar(bob, "trip")
	gone, hidden := b.calendar(bob, "gone"), b.calendar(eve, "hidden")
	mine, his := b.put(work, "a"), b.put(trip, "a")
	b.put(work, "b")
	b.bury(b.put(gone, "a"))
	b.put(hidden, "a")
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), hidden.ID) })
	same(b, "found", b.appointments(mine.UID, ann.ID, bob.ID, eve.ID),
		[]calendar.Appointment{{Owner: ann.ID, Object: mine}, {Owner: bob.ID, Object: his}})
	same(b, "of one", b.appointments(mine.UID, bob.ID), []calendar.Appointment{{Owner: bob.ID, Object: his}})
	same(b, "of nobody", len(b.appointments(mine.UID)), 0)
}

func manyAppointments(b *bundle) {
	var users []calendar.UserID
	var uid calendar.UID
	for i := range 70 {
		u := b.user(fmt.Sprintf("user%02d", i))
		users, uid = append(users, u.ID), b.put(b.calendar(u, "work"), "a").UID
	}
	same(b, "copies", len(b.appointments(uid, users...)), len(users))
}

// copiesWritten: the copies of an event are all stored in full, each with its own differences. Full-text search finds
// each of them, and every UID is still unique within its calendar.
func copiesWritten(b *bundle) {
	var want []calendar.Object
	for i := range 12 {
		o := b.event(b.calendar(b.user(fmt.Sprintf("user%02d", i)), "work"), "a.ics")
		o.Name, o.Search, o.ScheduleTag = calendar.ObjectName(fmt.Sprintf("%02d's \"copy\".ics", i)), "plans", `"tag"`
		if i == 5 {
			o.Data, o.ScheduleTag, o.Summary = []byte{0, 255}, "", "another"
		}
		want = append(want, o)
	}
	put := func(tx calendar.Tx, all []calendar.Object) error {
		for i := range all {
			if err := b.writeIn(tx, &all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	advanced := func(tx calendar.Tx, all []calendar.Object) error {
		for i := range all {
			cal, err := tx.Advance(b.Context(), all[i].Calendar)
			if err != nil {
				return err
			}
			all[i].Version = cal.Version
		}
		for _, o := range all {
			if err := tx.PutObject(b.Context(), o); err != nil {
				return err
			}
		}
		return nil
	}
	b.update(func(tx calendar.Tx) error { return advanced(tx, want) })
	for _, o := range want {
		gives(b, string(o.Name), o)(b.Object(b.Context(), o.Calendar, o.Name))
		same(b, "found by a word", b.find(calendar.SearchQuery{
			Calendars: []calendar.CalendarID{o.Calendar},
			Kind:      calendar.Event, Past: true, Limit: 9,
		}, "plans"), []string{string(o.Name)})
	}
	b.update(func(tx calendar.Tx) error { return put(tx, want) })
	for i := range want {
		want[i].Data = []byte("new")
	}
	b.update(func(tx calendar.Tx) error { return advanced(tx, want) })
	for _, o := range want {
		gives(b, "written over", o)(b.Object(b.Context(), o.Calendar, o.Name))
	}
	twins := append([]calendar.Object{}, want...)
	for i := range twins {
		twins[i].Name += "2"
	}
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error { return advanced(tx, twins) }), calendar.Exists,
		calendar.RuleUIDConflict)
}

func receptions(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	tasks := b.blank(ann, "tasks")
	tasks.Kinds = calendar.Kinds{calendar.Todo}
	b.insert(tasks)
	b.pass(time.Minute)
	first := b.calendar(ann, "first")
	b.pass(time.Minute)
	second := b.calendar(ann, "second")
	his := b.calendar(bob, "his")
	where := func(kind calendar.Kind) map[calendar.UserID]calendar.CalendarID {
		return in(b, func(tx calendar.Tx) (map[calendar.UserID]calendar.CalendarID, error) {
			return tx.Receptions(b.Context(), []calendar.UserID{ann.ID, bob.ID, eve.ID}, kind)
		})
	}
	same(b, "the oldest", where(calendar.Event),
		map[calendar.UserID]calendar.CalendarID{ann.ID: first.ID, bob.ID: his.ID})
	same(b, "of tasks", where(calendar.Todo)[ann.ID], tasks.ID)
	b.schedule(ann, calendar.Scheduling{Default: second.ID})
	same(b, "the chosen one", where(calendar.Event)[ann.ID], second.ID)
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), second.ID) })
	same(b, "the chosen one is gone", where(calendar.Event)[ann.ID], first.ID)
	b.calendar(eve, "b")
	a := b.calendar(eve, "a")
	same(b, "the first of one moment", where(calendar.Event),
		map[calendar.UserID]calendar.CalendarID{ann.ID: first.ID, bob.ID: his.ID, eve.ID: a.ID})
}

func (b *bundle) schedule(user calendar.User, s calendar.Scheduling) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.SetScheduling(b.Context(), user.ID, s) })
}

func schedulingKept(b *bundle) {
	ann := b.user("ann")
	read := func() calendar.Scheduling {
		s, err := b.Scheduling(b.Context(), ann.ID)
		b.must(err)
		return s
	}
	same(b, "never set", read(), calendar.Scheduling{})
	text := "BEGIN:VCALENDAR"
	for _, s := range []calendar.Scheduling{{Default: "one", Availability: &text}, {Default: "two"}, {}} {
		b.schedule(ann, s)
		same(b, "set", read(), s)
	}
}

func scheduleTags(b *bundle) {
	cal := b.home()
	o := b.event(cal, "a")
	o.ScheduleTag = `"tag"`
	o, err := b.write(b.Store, o)
	b.must(err)
	b.put(cal, "b")
	gives(b, "an object", o)(b.Object(b.Context(), cal.ID, "a"))
	gives(b, "tags", map[calendar.ObjectName]calendar.ScheduleTag{"a": `"tag"`})(b.ScheduleTags(b.Context(), cal.ID))
	o.ScheduleTag = ""
	b.does(b.write(b.Store, o))
	tags, err := b.ScheduleTags(b.Context(), cal.ID)
	b.must(err)
	same(b, "taken away", len(tags), 0)
}

func scheduledApart(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	mine, his := b.calendar(ann, "work"), b.calendar(bob, "work")
	var ids []calendar.ChangeID
	b.update(func(tx calendar.Tx) error {
		ids = nil
		for i, cal := range []calendar.Calendar{his, mine, mine} {
			o := b.event(cal, fmt.Sprint(i))
			now, err := tx.Advance(b.Context(), cal.ID)
			if err != nil {
				return err
			}
			o.Version = now.Version
			if err := tx.PutObject(b.Context(), o); err != nil {
				return err
			}
			e := b.entry(o, calendar.Created)
			e.Scheduled = i == 0
			ids = append(ids, e.ID())
			if err := tx.Log(b.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	unit := func(id calendar.ChangeID) []calendar.ChangeID {
		unit, err := b.Unit(b.Context(), id)
		b.must(err)
		return unit
	}
	same(b, "of the change", unit(ids[1]), ids[1:])
	same(b, "of what it brought about", unit(ids[0]), ids[:1])
	for line, err := range b.Journal(b.Context(), his.ID, calendar.JournalQuery{}) {
		b.must(err)
		same(b, "its line", line.Scheduled, true)
	}
}

func (b *bundle) inbox(user calendar.User) calendar.Box[calendar.InboxItem] {
	b.Helper()
	in, err := b.Inbox(b.Context(), user.ID)
	b.must(err)
	return in
}

func (b *bundle) deliver(user calendar.User, items ...calendar.InboxItem) {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		var all []calendar.InboxEntry
		for _, i := range items {
			all = append(all, calendar.InboxEntry{To: user.ID, InboxItem: i})
		}
		return tx.PutInboxItems(b.Context(), all)
	})
}

func (b *bundle) item(name string) calendar.InboxItem {
	return calendar.InboxItem{Name: calendar.ObjectName(name), Created: b.now(), Data: []byte("message " + name)}
}

func (b *bundle) discard(user calendar.User, name calendar.ObjectName) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.DropInboxItem(b.Context(), user.ID, name, 0) })
}

// stale tries to remove a message that has been replaced or removed.
func (b *bundle) stale(user calendar.User, name calendar.ObjectName, seen calendar.Version) {
	b.Helper()
	err := b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.DropInboxItem(b.Context(), user.ID, name, seen)
	})
	same(b, "reason", calendar.ReasonOf(err), calendar.Stale)
}

func inboxTakes(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	same(b, "nothing", b.inbox(ann), calendar.Box[calendar.InboxItem]{})
	one, two := b.item("one"), b.item("two")
	b.deliver(ann, one, two)
	one.Version, two.Version = 1, 2
	same(b, "two", b.inbox(ann), calendar.Box[calendar.InboxItem]{Version: 2, Items: []calendar.InboxItem{one, two}})
	one.Data = []byte("another")
	b.deliver(ann, one)
	one.Version = 3
	b.discard(ann, "two")
	b.discard(ann, "two")
	b.discard(ann, "three")
	gone := calendar.InboxItem{Name: "two", Version: 4, Created: two.Created, Gone: true}
	same(b, "one replaced, one gone", b.inbox(ann),
		calendar.Box[calendar.InboxItem]{Version: 4, Items: []calendar.InboxItem{one, gone}})
	same(b, "another user's", b.inbox(bob), calendar.Box[calendar.InboxItem]{})
	b.deliver(ann, two)
	two.Version = b.inbox(ann).Version
	b.stale(ann, "two", two.Version-1)
	same(b, "another than was seen", slices.ContainsFunc(b.inbox(ann).Items, func(i calendar.InboxItem) bool {
		return i.Name == "two" && !i.Gone
	}), true)
	b.update(func(tx calendar.Tx) error { return tx.DropInboxItem(b.Context(), ann.ID, "two", two.Version) })
	b.stale(ann, "two", two.Version)
	b.must(b.DeleteUser(b.Context(), ann.ID))
	same(b, "of a user who is gone", b.inbox(ann), calendar.Box[calendar.InboxItem]{})
}

func inboxGrowsOld(b *bundle) {
	ann := b.user("ann")
	b.deliver(ann, b.item("one"), b.item("two"))
	b.discard(ann, "two")
	b.pass(time.Hour)
	three := b.item("three")
	b.deliver(ann, three)
	three.Version = 4
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "what is left", b.inbox(ann),
		calendar.Box[calendar.InboxItem]{Version: 5, Pruned: 5, Items: []calendar.InboxItem{three}})
}

// inboxesAlike: a message to many users is stored unchanged in each inbox, and counts in each of them.
func inboxesAlike(b *bundle) {
	long := b.item("long")
	long.Data, long.Method = bytes.Repeat([]byte("ATTENDEE:mailto:somebody@example.com\r\n"), 50), "REQUEST"
	var all []calendar.InboxEntry
	users := make([]calendar.User, 40)
	for i := range users {
		users[i] = b.user(fmt.Sprintf("user%02d", i))
		all = append(all, calendar.InboxEntry{To: users[i].ID, InboxItem: long})
	}
	b.deliver(users[7], b.item("own"))
	b.update(func(tx calendar.Tx) error { return tx.PutInboxItems(b.Context(), all) })
	for i, u := range users {
		long.Version = 1
		if i == 7 {
			long.Version = 2
		}
		gives(b, u.Name, long)(b.InboxItem(b.Context(), u.ID, long.Name))
	}
	b.discard(users[3], long.Name)
	b.refuses(calendar.NotFound, "")(b.InboxItem(b.Context(), users[3].ID, long.Name))
	long.Version = 1
	gives(b, "another one's", long)(b.InboxItem(b.Context(), users[4].ID, long.Name))
}

func inboxByMethod(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	of := func(most int) []calendar.InboxNote {
		b.Helper()
		all, err := b.Proposals(b.Context(), ann.ID, most)
		b.must(err)
		return all
	}
	same(b, "nothing", len(of(9)), 0)
	var items []calendar.InboxItem
	for _, name := range []string{"z", "y", "x", "other"} {
		i := b.item(name)
		if i.Method = calendar.MethodCounter; name == "other" {
			i.Method = calendar.MethodReply
		}
		items = append(items, i)
	}
	b.deliver(ann, items...)
	b.deliver(bob, items[0])
	size := int64(len(items[0].Data))
	same(b, "all",
		of(9), []calendar.InboxNote{{Name: "z", Size: size}, {Name: "y", Size: size}, {Name: "x", Size: size}})
	same(b, "the latest", of(2), []calendar.InboxNote{{Name: "y", Size: size}, {Name: "x", Size: size}})
	b.discard(ann, "y")
	items[0].Method = calendar.MethodReply
	b.deliver(ann, items[0])
	same(b, "what is left", of(9), []calendar.InboxNote{{Name: "x", Size: size}})
	one, err := b.InboxItem(b.Context(), ann.ID, "x")
	b.must(err)
	items[2].Version = 3
	same(b, "one", one, items[2])
	for _, name := range []calendar.ObjectName{"y", "none"} {
		_, err = b.InboxItem(b.Context(), ann.ID, name)
		same(b, string(name), calendar.ReasonOf(err), calendar.NotFound)
	}
}

// inboxBytesBounded: 500 messages of the largest size would be gigabytes.
func inboxBytesBounded(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	random := rand.NewChaCha8([32]byte{})
	large := func(name string, size int) calendar.InboxItem {
		i := b.item(name)
		i.Data = make([]byte, size)
		_, err := random.Read(i.Data)
		b.must(err)
		return i
	}
	wish := large("wish", 3<<20)
	wish.Method = calendar.MethodCounter
	b.deliver(ann, b.item("old"), wish)
	b.deliver(bob, large("bobs", 1<<20))
	same(b, "nothing is counted for others", b.proposalsOf(bob, ""), [2]int64{})
	same(b, "proposals", b.proposalsOf(ann, ""), [2]int64{1, 3 << 20})
	same(b, "proposals but that one", b.proposalsOf(ann, "wish"), [2]int64{})
	for i := range 6 {
		b.deliver(ann, large(fmt.Sprint("large", i), 3<<20))
	}
	var left []string
	for _, i := range b.inbox(ann).Items {
		if !i.Gone {
			left = append(left, string(i.Name))
		}
	}
	same(b, "left", left, []string{"large1", "large2", "large3", "large4", "large5", "wish"})
	same(b, "bob's", b.inbox(bob).Items[0].Gone, false)
}

func (b *bundle) proposalsOf(user calendar.User, but calendar.ObjectName) (n [2]int64) {
	b.Helper()
	b.update(func(tx calendar.Tx) (err error) {
		n[0], n[1], err = tx.CountProposals(b.Context(), user.ID, but)
		return err
	})
	return n
}

func inboxBounded(b *bundle) {
	ann := b.user("ann")
	var items []calendar.InboxItem
	for i := range 505 {
		items = append(items, b.item(fmt.Sprintf("%03d", i)))
	}
	b.deliver(ann, items...)
	there := 0
	for _, i := range b.inbox(ann).Items {
		if !i.Gone {
			there++
		}
		same(b, string(i.Name), i.Gone, i.Name < "005")
	}
	same(b, "there", there, 500)
}
