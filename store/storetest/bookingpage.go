package storetest

import (
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

func bookingPageTests() []test {
	return []test{
		{"a page is kept until its owner deletes it", bookingPageIsKept},
		{"an owner has a limited number of pages", bookingPagesAreLimited},
		{"a hold is confirmed once", holdIsConfirmedOnce},
		{"a hold that expired cannot be confirmed", holdExpires},
		{"holds are limited", holdsAreLimited},
		{"the limit holds for requests at the same time", holdsAreLimitedAtOnce},
		{"a hold follows its event", holdFollowsItsEvent},
		{"people of a page agree and refuse", bookingPeopleAnswer},
		{"a hold gets another host once", holdIsRehomed},
		{"a reserved hold gets another event once", holdsAreSwapped},
	}
}

func (b *bundle) bookingPage(owner calendar.User, name string) calendar.BookingPage {
	b.Helper()
	p := calendar.BookingPage{
		ID: calendar.BookingPageID(b.id("page")), Owner: owner.ID, Name: name, On: true, Created: b.now(),
		Settings: []byte(`{"title":"Talk"}`),
	}
	b.must(b.InsertBookingPage(b.Context(), p, nil, 3))
	return p
}

// mostHolds are low limits.
var mostHolds = calendar.HoldLimits{Waiting: 5, Daily: 8, Address: 3, Network: 4}

func (b *bundle) hold(p calendar.BookingPage, token, address, network string) calendar.Hold {
	return calendar.Hold{
		ID: calendar.HoldID(b.id("hold")), Page: p.ID, Token: []byte(token), State: calendar.Held, Calendar: "cal",
		UID: calendar.UID("uid of " + token), Start: b.now().Add(time.Hour), End: b.now().Add(2 * time.Hour),
		Expires: b.now().Add(15 * time.Minute), Created: b.now(), Name: "Eve", Address: address, Zone: "Asia/Tokyo",
		Language: "de", Network: network,
	}
}

func (b *bundle) placed(h calendar.Hold) calendar.Hold {
	b.Helper()
	b.must(b.InsertHold(b.Context(), h, mostHolds))
	return h
}

func bookingPageIsKept(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	first := b.bookingPage(ann, "talk")
	b.pass(time.Minute)
	second := b.bookingPage(ann, "walk")
	gives(b, "all", []calendar.BookingPage{first, second})(b.BookingPages(b.Context(), ann.ID))
	gives(b, "by name", second)(b.BookingPageNamed(b.Context(), "walk"))
	gives(b, "by id", first)(b.BookingPage(b.Context(), first.ID))
	taken := first
	taken.ID, taken.Owner = "other", bob.ID
	b.refused(b.InsertBookingPage(b.Context(), taken, nil, 3), calendar.Exists, "")
	second.Name = "talk"
	b.refused(b.UpdateBookingPage(b.Context(), second, nil, false), calendar.Exists, "")
	second.Name, second.On, second.Settings = "swim", false, []byte(`{}`)
	b.must(b.UpdateBookingPage(b.Context(), second, nil, false))
	gives(b, "changed", second)(b.BookingPage(b.Context(), second.ID))
	theirs := second
	theirs.Owner = bob.ID
	b.refused(b.UpdateBookingPage(b.Context(), theirs, nil, false), calendar.NotFound, "")
	b.refused(b.DeleteBookingPage(b.Context(), bob.ID, second.ID), calendar.NotFound, "")
	b.placed(b.hold(second, "t", "eve@example.com", "n"))
	b.must(b.DeleteBookingPage(b.Context(), ann.ID, second.ID))
	b.refuses(calendar.NotFound, "")(b.BookingPageNamed(b.Context(), "swim"))
	b.refuses(calendar.NotFound, "")(b.HoldByToken(b.Context(), []byte("t")))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.refuses(calendar.NotFound, "")(b.BookingPage(b.Context(), first.ID))
}

func bookingPagesAreLimited(b *bundle) {
	ann := b.user("ann")
	for _, name := range []string{"a", "b", "c"} {
		b.bookingPage(ann, name)
	}
	more := calendar.BookingPage{ID: "d", Owner: ann.ID, Name: "d", Created: b.now()}
	b.refused(b.InsertBookingPage(b.Context(), more, nil, 3), calendar.TooLarge, "")
}

func holdIsConfirmedOnce(b *bundle) {
	p := b.bookingPage(b.user("ann"), "talk")
	h := b.placed(b.hold(p, "one", "eve@example.com", "n"))
	gives(b, "the hold", h)(b.HoldByToken(b.Context(), []byte("one")))
	gives(b, "the hold by its id", h)(b.HoldByID(b.Context(), h.ID))
	b.refuses(calendar.NotFound, "")(b.HoldByID(b.Context(), "two"))
	b.refuses(calendar.NotFound, "")(b.HoldByToken(b.Context(), []byte("two")))
	next := h
	next.State = calendar.Booked
	confirm := func(tx calendar.Tx) error {
		return tx.UpdateHold(b.Context(), next, calendar.Held, 0, b.now())
	}
	b.update(confirm)
	b.refused(b.Update(b.Context(), confirm), calendar.NotFound, "")
	b.refused(b.EndHold(b.Context(), h.ID), calendar.NotFound, "") // it is confirmed, and stays
	gives(b, "confirmed", next)(b.HoldByToken(b.Context(), []byte("one")))
	moved := next
	moved.Start, moved.End, moved.Moves = h.Start.Add(time.Hour), h.End.Add(time.Hour), 1
	move := func(tx calendar.Tx) error {
		return tx.UpdateHold(b.Context(), moved, calendar.Booked, 0, b.now())
	}
	b.update(move)
	b.refused(b.Update(b.Context(), move), calendar.NotFound, "")
	gives(b, "moved", moved)(b.HoldByToken(b.Context(), []byte("one")))
}

func holdExpires(b *bundle) {
	ann := b.user("ann")
	p := b.bookingPage(ann, "talk")
	h := b.placed(b.hold(p, "one", "eve@example.com", "n"))
	b.givesNone("too early")(b.ExpiredHolds(b.Context(), b.now().Add(15*time.Minute), 9))
	b.pass(15 * time.Minute)
	next := h
	next.State = calendar.Booked
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.UpdateHold(b.Context(), next, calendar.Held, 0, b.now())
	}), calendar.NotFound, "")
	b.pass(time.Second)
	gives(b, "expired", []calendar.Hold{h})(b.ExpiredHolds(b.Context(), b.now(), 9))
	b.must(b.EndHold(b.Context(), h.ID))
	b.givesNone("ended")(b.ExpiredHolds(b.Context(), b.now(), 9))
	b.givesNone("listed")(b.HoldsOf(b.Context(), ann.ID, b.now()))
	h.State = calendar.Ended
	gives(b, "kept for the limits", h)(b.HoldByToken(b.Context(), []byte("one")))
	b.refused(b.EndHold(b.Context(), "none"), calendar.NotFound, "")
	b.must(b.ForgetHolds(b.Context(), h.Expires, b.now()))
	gives(b, "still kept", h)(b.HoldByToken(b.Context(), []byte("one")))
	b.must(b.ForgetHolds(b.Context(), h.Expires.Add(time.Second), b.now()))
	b.refuses(calendar.NotFound, "")(b.HoldByToken(b.Context(), []byte("one")))
}

func holdsAreLimited(b *bundle) {
	p, q := b.bookingPage(b.user("ann"), "talk"), b.bookingPage(b.user("bob"), "walk")
	put := func(p calendar.BookingPage, token, address, network string, want bool) {
		b.Helper()
		err := b.InsertHold(b.Context(), b.hold(p, token, address, network), mostHolds)
		if want {
			b.must(err)
			return
		}
		b.refused(err, calendar.TooLarge, "")
	}
	put(p, "1", "eve@example.com", "a", true)
	put(p, "2", "eve@example.com", "b", true)
	put(q, "3", "eve@example.com", "c", true)
	put(q, "4", "eve@example.com", "d", false) // the address has three, on all pages
	put(q, "5", "x5@example.com", "a", true)
	put(q, "6", "x6@example.com", "a", true)
	put(q, "7", "x7@example.com", "a", true)
	put(p, "8", "x8@example.com", "a", false) // the network has four, on all pages
	put(p, "9", "x9@example.com", "e", true)
	put(p, "10", "x10@example.com", "f", true)
	put(p, "11", "x11@example.com", "g", true)
	put(p, "12", "x12@example.com", "h", false) // five wait
	b.pass(time.Hour)
	put(p, "13", "x13@example.com", "a", true)
	put(p, "14", "x14@example.com", "i", true)
	put(p, "15", "x15@example.com", "j", true)
	put(p, "16", "x16@example.com", "k", false) // the page had eight today
	b.pass(24 * time.Hour)
	put(p, "17", "eve@example.com", "k", true)
}

func holdsAreLimitedAtOnce(b *bundle) {
	ann := b.user("ann")
	p := b.bookingPage(ann, "talk")
	second := b.another()
	var wait sync.WaitGroup
	for i, token := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		h := b.hold(p, token, token+"@example.com", token)
		at := []Store{b.Store, second}[i%2]
		wait.Go(func() {
			_ = at.InsertHold(b.Context(), h, mostHolds) // four are refused
		})
	}
	wait.Wait()
	all, err := b.HoldsOf(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "number", len(all), 5)
}

func holdFollowsItsEvent(b *bundle) {
	ann := b.user("ann")
	p := b.bookingPage(ann, "talk")
	h := b.placed(b.hold(p, "one", "eve@example.com", "n"))
	gone := h
	gone.Gone = true
	gives(b, "without an event", []calendar.Hold{gone})(b.HoldsOf(b.Context(), ann.ID, b.now()))
	b.givesNone("over")(b.HoldsOf(b.Context(), ann.ID, h.End))
	b.givesNone("of another")(b.HoldsOf(b.Context(), b.user("bob").ID, b.now()))
}

func bookingPeopleAnswer(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	p := b.bookingPage(ann, "talk")
	set := func(again bool, people ...calendar.UserID) {
		b.Helper()
		b.must(b.UpdateBookingPage(b.Context(), p, people, again))
	}
	people := func(want ...calendar.BookingPerson) {
		b.Helper()
		gives(b, "people", want)(b.BookingPeople(b.Context(), p.ID))
	}
	set(false, eve.ID, bob.ID)
	people(calendar.BookingPerson{User: eve.ID}, calendar.BookingPerson{User: bob.ID})
	gives(b, "the request", []calendar.BookingRequest{{Page: p}})(b.BookingPagesWith(b.Context(), bob.ID))
	b.must(b.AnswerBookingPage(b.Context(), p, bob.ID, calendar.Agreed))
	b.must(b.AnswerBookingPage(b.Context(), p, eve.ID, calendar.Refused))
	b.refused(b.AnswerBookingPage(b.Context(), p, ann.ID, calendar.Agreed), calendar.NotFound, "")
	set(false, bob.ID)
	people(calendar.BookingPerson{User: bob.ID, Answer: calendar.Agreed})
	b.refused(b.AnswerBookingPage(b.Context(), p, eve.ID, calendar.Agreed), calendar.NotFound, "")
	set(true, bob.ID, eve.ID) // asked again, but not after a refusal
	people(calendar.BookingPerson{User: bob.ID}, calendar.BookingPerson{User: eve.ID, Answer: calendar.Refused})
	seen := p
	p.Settings = []byte(`{"title":"Talk","access":"public"}`)
	set(false, bob.ID)
	b.refused(b.AnswerBookingPage(b.Context(), seen, bob.ID, calendar.Agreed), calendar.NotFound, "")
	b.must(b.AnswerBookingPage(b.Context(), p, bob.ID, calendar.Agreed))
	set(false)
	set(false, bob.ID) // an answer ends with the removal
	people(calendar.BookingPerson{User: bob.ID})
	b.must(b.DeleteUser(b.Context(), bob.ID))
	people()
	b.must(b.DeleteBookingPage(b.Context(), ann.ID, p.ID))
	b.givesNone("of a deleted page")(b.BookingPagesWith(b.Context(), eve.ID))
}

func holdIsRehomed(b *bundle) {
	p := b.bookingPage(b.user("ann"), "talk")
	h := b.placed(b.hold(p, "one", "eve@example.com", "n"))
	next, left := h, h
	next.Host, next.Calendar, next.UID = "bob", "of bob", "uid of two"
	left.ID, left.Token, left.State, left.Created = "left", []byte("left"), calendar.Ended, time.Unix(0, 0).UTC()
	b.must(b.RehomeHold(b.Context(), next, left))
	gives(b, "with another host", next)(b.HoldByToken(b.Context(), []byte("one")))
	gives(b, "the former event", left)(b.HoldByID(b.Context(), "left"))
	b.refused(b.RehomeHold(b.Context(), next, left), calendar.NotFound, "")
	in := []calendar.CalendarID{"cal", "of bob"}
	gives(b, "in its calendar", []calendar.Hold{next})(b.HoldsIn(b.Context(), in, b.now()))
	b.givesNone("in another")(b.HoldsIn(b.Context(), in[:1], b.now()))
	b.givesNone("over")(b.HoldsIn(b.Context(), in, h.End))
}

func holdsAreSwapped(b *bundle) {
	p := b.bookingPage(b.user("ann"), "talk")
	h := b.placed(b.hold(p, "one", "eve@example.com", "n"))
	left := b.hold(p, "left", "eve@example.com", "n")
	left.State, left.Calendar, left.Created = calendar.Ended, "linked", time.Unix(0, 0).UTC()
	b.must(b.KeepHold(b.Context(), left))
	swap := func() error { return b.SwapHolds(b.Context(), h.ID, left.ID, b.now()) }
	b.refused(swap(), calendar.NotFound, "") // it is not reserved
	reserved := h
	reserved.State = calendar.Reserved
	b.update(func(tx calendar.Tx) error {
		return tx.UpdateHold(b.Context(), reserved, calendar.Held, 0, b.now())
	})
	listed, err := b.HoldsOf(b.Context(), p.Owner, b.now())
	b.must(err)
	same(b, "reserved ones", len(listed), 1)
	b.must(swap())
	h.State, h.Calendar, h.UID, left.Calendar, left.UID = calendar.Booked, left.Calendar, left.UID, h.Calendar, h.UID
	left.Expires = b.now()
	gives(b, "booked", h)(b.HoldByID(b.Context(), h.ID))
	gives(b, "left", left)(b.HoldByID(b.Context(), left.ID))
	b.refused(swap(), calendar.NotFound, "")

	late := b.placed(b.hold(p, "late", "eve@example.com", "m"))
	late.State = calendar.Reserved
	b.update(func(tx calendar.Tx) error { return tx.UpdateHold(b.Context(), late, calendar.Held, 0, b.now()) })
	b.refused(b.SwapHolds(b.Context(), late.ID, left.ID, b.now()), calendar.NotFound, "") // left has expired
	gives(b, "unchanged", late)(b.HoldByID(b.Context(), late.ID))
	b.pass(16 * time.Minute)
	gives(b, "expired", []calendar.Hold{late})(b.ExpiredHolds(b.Context(), b.now(), 9))
}
