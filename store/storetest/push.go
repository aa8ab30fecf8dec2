package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func pushTests() []test {
	return []test{
		{"an up-to-date client gets no message", pushFollows},
		{"a new one replaces the old one", pushIsRenewed},
		{"a home covers all of its calendars", pushOfHome},
		{"a sharee is notified of their own parts", pushOfOwnParts},
		{"a client is not notified of its own change", pushIsQuiet},
		{"more than a user may have are refused", pushesAreBounded},
		{"each home has a limit", homesAreBounded},
		{"users take turns", pushesTakeTurns},
		{"they expire, and are deleted with the user or password", pushEnds},
	}
}

// program is a push subscription that is valid for a day and not stored yet.
func (b *bundle) program(u calendar.User, cal calendar.CalendarID) calendar.PushSubscription {
	id := b.id("push")
	return calendar.PushSubscription{
		ID: calendar.PushID(id), User: u.ID, Calendar: cal, Endpoint: "https://push.example.net/" + id,
		Key: []byte("key"), Auth: []byte("auth"),
		Expires: b.now().Add(24 * time.Hour), Due: b.now(),
	}
}

func (b *bundle) register(sub calendar.PushSubscription) calendar.PushSubscription {
	b.Helper()
	sub, err := b.RegisterPush(b.Context(), sub, 10, 10)
	b.must(err)
	return sub
}

// due returns the subscriptions that have something to send.
func (b *bundle) due() []calendar.PushDue {
	b.Helper()
	all, err := b.another().DuePushes(b.Context(), b.now(), 100)
	b.must(err)
	return all
}

func (b *bundle) dueIDs() []calendar.PushID {
	b.Helper()
	ids := []calendar.PushID{}
	for _, p := range b.due() {
		ids = append(ids, p.ID)
	}
	return ids
}

// tellPush marks a subscription as up to date.
func (b *bundle) tellPush(p calendar.PushDue) {
	b.Helper()
	p.Told, p.ToldOwn = p.Now, p.NowOwn
	b.must(b.SettlePushes(b.Context(), []calendar.PushSubscription{p.PushSubscription}))
}

func pushFollows(b *bundle) {
	ann := b.user("ann")
	cal, other := b.calendar(ann, "work"), b.calendar(ann, "other")
	b.put(cal, "a.ics")
	sub := b.register(b.program(ann, cal.ID))
	same(b, "at first", b.dueIDs(), []calendar.PushID{})
	b.put(other, "a.ics")
	same(b, "after a change elsewhere", b.dueIDs(), []calendar.PushID{})
	b.put(cal, "b.ics")
	b.put(cal, "c.ics")
	due := b.due()
	sub.Told = 1
	same(b, "after changes", due, []calendar.PushDue{{PushSubscription: sub, Now: 3}})
	b.put(cal, "d.ics")
	b.tellPush(due[0])
	if due = b.due(); len(due) != 1 || due[0].Told != 3 || due[0].Now != 4 {
		b.Errorf("after a change while it was told: %+v", due)
	}
	b.tellPush(due[0])
	same(b, "when it knows all", b.dueIDs(), []calendar.PushID{})
	later := due[0].PushSubscription
	later.Due, later.Tries, later.Told = b.now().Add(time.Minute), 2, 1
	b.must(b.SettlePushes(b.Context(), []calendar.PushSubscription{later}))
	same(b, "before it is due", b.dueIDs(), []calendar.PushID{})
	b.pass(time.Minute)
	if due = b.due(); len(due) != 1 || due[0].Tries != 2 {
		b.Errorf("when it is due: %+v", due)
	}
	b.must(b.SettlePushes(b.Context(), []calendar.PushSubscription{{ID: sub.ID}}))
	same(b, "forgotten", b.dueIDs(), []calendar.PushID{})
	b.trash(cal)
}

func pushIsRenewed(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	first := b.register(b.program(ann, cal.ID))
	b.put(cal, "a.ics")
	again := first
	again.ID, again.Key, again.Auth, again.Token, again.Expires = "another", []byte("k2"), []byte("a2"), "token",
		b.now().Add(48*time.Hour)
	same(b, "its name", b.register(again).ID, first.ID)
	again.ID = first.ID
	same(b, "what it was not told yet", b.due(), []calendar.PushDue{{PushSubscription: again, Now: 1}})
	b.refused(b.UnregisterPush(b.Context(), "another user", first.ID), calendar.NotFound, "")
	b.must(b.UnregisterPush(b.Context(), ann.ID, first.ID))
	b.refused(b.UnregisterPush(b.Context(), ann.ID, first.ID), calendar.NotFound, "")
}

func pushOfHome(b *bundle) {
	cal, ben, _ := b.shared()
	own := b.calendar(ben, "own")
	b.register(b.program(ben, ""))
	moved := func(what string, want bool) {
		b.Helper()
		due := b.due()
		if len(due) == 1 != want {
			b.Errorf("%s: %d are due", what, len(due))
		}
		for _, p := range due {
			b.tellPush(p)
		}
	}
	moved("at first", false)
	b.put(own, "a.ics")
	moved("an object of one's own", true)
	b.put(cal, "a.ics")
	moved("an object of a shared calendar", true)
	next := b.calendar(ben, "next")
	moved("a new calendar", true)
	b.trash(next)
	moved("one that is gone", true)
	b.must(Share(b.Context(), b, cal.ID, ben.ID, calendar.FreeBusyAccess))
	moved("less access", true)
	b.put(cal, "b.ics")
	moved("what cannot be read", false)
	b.calendar(b.user("zoe"), "hers")
	moved("somebody else's", false)
}

func pushOfOwnParts(b *bundle) {
	cal, ben, eve := b.shared()
	hers, his := b.register(b.program(eve, cal.ID)), b.register(b.program(ben, cal.ID))
	b.own(cal, ben, "uid", "his")
	same(b, "after his reminder", b.dueIDs(), []calendar.PushID{his.ID})
	b.tellPush(b.due()[0])
	b.put(cal, "a.ics")
	same(b, "after a change of all", b.dueIDs(), []calendar.PushID{hers.ID, his.ID})
}

func pushIsQuiet(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	mine, other := b.register(b.program(ann, cal.ID)), b.register(b.program(ann, cal.ID))
	by := calendar.Caller{User: calendar.User{ID: "user"}, Token: "token", Agent: "agent"} // the caller of entry
	quiet := func(m calendar.Moved, ids ...calendar.PushID) []calendar.PushID {
		b.Helper()
		m.Calendar = cal.ID
		b.must(b.QuietPush(b.Context(), ann.ID, ids, m))
		return b.dueIDs()
	}
	b.put(cal, "a.ics")
	same(b, "by somebody else", quiet(calendar.Moved{
		Before: 0, After: 1,
		By: calendar.Caller{User: ann, Agent: "agent"},
	}, mine.ID), []calendar.PushID{mine.ID, other.ID})
	same(b, "of another one's", quiet(calendar.Moved{Before: 0, After: 1, By: by}, "no such"),
		[]calendar.PushID{mine.ID, other.ID})
	same(b, "by the client", quiet(calendar.Moved{Before: 0, After: 1, By: by}, mine.ID, "more"),
		[]calendar.PushID{other.ID})
	b.put(cal, "b.ics")
	same(b, "to all, one with further changes",
		quiet(calendar.Moved{Before: 1, After: 2, By: by}), []calendar.PushID{other.ID})
	b.must(b.UnregisterPush(b.Context(), ann.ID, mine.ID))
	b.must(b.UnregisterPush(b.Context(), ann.ID, other.ID))
	home, second := b.register(b.program(ann, "")), b.register(b.program(ann, ""))
	b.put(cal, "c.ics")
	same(b, "a home, by somebody else", quiet(calendar.Moved{
		Before: 2, After: 3,
		By: calendar.Caller{User: ann, Agent: "agent"},
	}), []calendar.PushID{home.ID, second.ID})
	same(b, "a home, by the client", quiet(calendar.Moved{Before: 2, After: 3, By: by}, home.ID),
		[]calendar.PushID{second.ID})
	b.put(b.calendar(ann, "next"), "a.ics")
	b.put(cal, "d.ics")
	same(b, "homes with further changes", quiet(calendar.Moved{Before: 3, After: 4, By: by}),
		[]calendar.PushID{home.ID, second.ID})
}

func pushesAreBounded(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	var all []calendar.PushSubscription
	for i := range 3 {
		p := b.program(ann, cal.ID)
		p.Expires = p.Expires.Add(time.Duration(i) * time.Hour)
		p, err := b.RegisterPush(b.Context(), p, 3, 3)
		b.must(err)
		all = append(all, p)
	}
	more := func() error {
		_, err := b.RegisterPush(b.Context(), b.program(ann, cal.ID), 3, 3)
		return err
	}
	b.refused(more(), calendar.TooLarge, "")
	b.does(b.RegisterPush(b.Context(), all[0], 3, 3))
	b.put(cal, "a.ics")
	same(b, "the first ones", b.dueIDs(), []calendar.PushID{all[0].ID, all[1].ID, all[2].ID})
	b.pass(all[0].Expires.Sub(b.now()))
	b.must(more())
	b.refused(more(), calendar.TooLarge, "")
}

func homesAreBounded(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	home := func(u calendar.User) error {
		_, err := b.RegisterPush(b.Context(), b.program(u, ""), 10, 2)
		return err
	}
	again, err := b.RegisterPush(b.Context(), b.program(ann, ""), 10, 2)
	b.must(err)
	b.must(home(ann))
	b.refused(home(ann), calendar.TooLarge, "")
	b.does(b.RegisterPush(b.Context(), again, 10, 2))
	b.must(home(ben))
	b.calendar(ann, "new")
	same(b, "her remaining ones", len(b.dueIDs()), 2)
	b.pass(25 * time.Hour)
	b.must(home(ann))
}

func pushesTakeTurns(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	hers, his := b.calendar(ann, "hers"), b.calendar(ben, "his")
	for range 3 {
		b.register(b.program(ann, hers.ID))
		b.register(b.program(ann, ""))
	}
	b.pass(time.Second)
	last := b.register(b.program(ben, his.ID))
	b.put(hers, "a.ics")
	b.put(his, "a.ics")
	due, err := b.DuePushes(b.Context(), b.now(), 2)
	b.must(err)
	if len(due) != 2 || due[0].User != ann.ID || due[1].ID != last.ID {
		b.Errorf("two of what is due: %+v", due)
	}
	same(b, "all that is due", len(b.due()), 7)
}

func pushEnds(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	cal, his := b.calendar(ann, "work"), b.calendar(ben, "his")
	b.register(b.program(ann, cal.ID))
	ofToken := b.program(ann, cal.ID)
	ofToken.Token = "token"
	ofToken = b.register(ofToken)
	b.register(b.program(ben, his.ID))
	b.put(cal, "a.ics")
	b.put(his, "a.ics")
	same(b, "before", len(b.dueIDs()), 3)
	b.must(b.DeleteUser(b.Context(), ben.ID))
	b.must(b.SetPassword(b.Context(), ann.ID, "new"))
	same(b, "after a user is gone, and a password is new", b.dueIDs(), []calendar.PushID{ofToken.ID})
	b.pass(24 * time.Hour)
	same(b, "after a day", b.dueIDs(), []calendar.PushID{})
	b.must(b.Prune(b.Context(), b.now().Add(-time.Hour)))
	b.refused(b.UnregisterPush(b.Context(), ann.ID, ofToken.ID), calendar.NotFound, "")
}
