package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func reminderTests() []test {
	return []test{
		{"settings come back", reminderSettingsComeBack},
		{"plans lag behind their calendars", plansLag},
		{"feeds and shared calendars ring only if switched on", plansFollowSwitches},
		{"users take turns with their plans", plansTakeTurns},
		{"a plan is saved once", planIsSavedOnce},
		{"they are due by user", remindersAreDue},
		{"one process fires a reminder", reminderFiresOnce},
		{"they can be put off", reminderIsSnoozed},
		{"inboxes and notices are reported once", newsIsReported},
		{"are queued for each browser", browserMessages},
		{"a browser ends with its session", browserEnds},
		{"browsers are limited per user", browsersAreBounded},
	}
}

// reminded turns on a user's reminders.
func (b *bundle) reminded(u calendar.User) calendar.ReminderSettings {
	b.Helper()
	b.must(b.SetReminderSettings(b.Context(), calendar.ReminderSettings{
		User: u.ID, Before: 10, Alarms: calendar.BrowserChannel, Invitations: calendar.MailChannel,
		Shares: calendar.MailChannel, Changes: calendar.NoChannel, Mails: true, Since: b.now(),
	}))
	s, err := b.ReminderSettings(b.Context(), u.ID)
	b.must(err)
	return s
}

// browser adds a browser of a user.
func (b *bundle) browser(u calendar.User) calendar.Browser {
	b.Helper()
	id := b.id("browser")
	n := calendar.Browser{
		ID: calendar.BrowserID(id), User: u.ID, Session: string(b.session(u).ID), Agent: "Firefox", Created: b.now(),
		Endpoint: "https://push.example.net/" + id, Key: []byte("key"), Auth: []byte("auth"),
	}
	b.must(b.AddBrowser(b.Context(), n, 10))
	return n
}

// plansBehind returns the plans that lag behind, by another process.
func (b *bundle) plansBehind() []calendar.ReminderPlan {
	b.Helper()
	all, err := b.another().ReminderLags(b.Context(), 100)
	b.must(err)
	return all
}

// plan saves a plan that is up to date, with reminders.
func (b *bundle) plan(lag calendar.ReminderPlan, s calendar.ReminderSettings, all ...calendar.Reminder) {
	b.Helper()
	cal, err := b.Calendar(b.Context(), lag.User, lag.Calendar)
	b.must(err)
	next := lag
	next.Version, next.Own, next.Epoch, next.Token = cal.Version, cal.Own, cal.Epoch, cal.SyncToken().String()
	next.Number, next.Reported = s.Number, cal.Version
	b.must(b.SavePlan(b.Context(), lag, next, all, calendar.Alerts{}, b.now().Add(-time.Hour)))
}

func (b *bundle) dueReminders(each int) []calendar.Reminder {
	b.Helper()
	all, err := b.another().DueReminders(b.Context(), b.now(), each)
	b.must(err)
	return all
}

func reminderSettingsComeBack(b *bundle) {
	ann := b.user("ann")
	gives(b, "at first", calendar.ReminderSettings{
		User: ann.ID, Before: calendar.NoReminder, Alarms: calendar.NoChannel, Invitations: calendar.NoChannel,
		Shares: calendar.NoChannel, Changes: calendar.NoChannel,
	})(b.ReminderSettings(b.Context(), ann.ID))
	want := calendar.ReminderSettings{
		User: ann.ID, Before: 10, Alarms: calendar.BrowserChannel, Invitations: calendar.MailChannel,
		Shares: calendar.MailChannel, Changes: calendar.NoChannel, Mails: true, Number: 1, Since: b.now(),
		Zone: ann.Timezone,
	}
	same(b, "when set", b.reminded(ann), want)
	want.Number = 2
	same(b, "when set again", b.reminded(ann), want)
}

func plansLag(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	same(b, "without settings", b.plansBehind(), nil)
	s := b.reminded(ann)
	lag := calendar.ReminderPlan{User: ann.ID, Calendar: cal.ID, Reported: -1}
	same(b, "at first", b.plansBehind(), []calendar.ReminderPlan{lag})
	b.plan(lag, s)
	same(b, "when planned", b.plansBehind(), nil)
	b.put(cal, "a.ics")
	lags := b.plansBehind()
	if len(lags) != 1 || lags[0].Number != 1 || lags[0].Token == "" {
		b.Fatalf("after a change: %+v", lags)
	}
	b.plan(lags[0], s)
	same(b, "when planned again", b.plansBehind(), nil)
	s = b.reminded(ann)
	lags = b.plansBehind()
	same(b, "after a change of the settings", len(lags), 1)
	b.plan(lags[0], s)
	b.must(b.NewEpoch(b.Context()))
	lags = b.plansBehind()
	same(b, "in another epoch", len(lags), 1)
	b.plan(lags[0], s)
	same(b, "at last", b.plansBehind(), nil)
}

func plansFollowSwitches(b *bundle) {
	cal, ben, _ := b.shared()
	feed := b.mirror(ben, b.account(ben, "ics"))
	b.update(func(tx calendar.Tx) error {
		return tx.SetOrigin(b.Context(), feed.ID, calendar.Origin{From: "a feed"})
	})
	s := b.reminded(ben)
	same(b, "at first", b.plansBehind(), nil)
	b.must(
		b.SetReminderSwitches(b.Context(), ben.ID, map[calendar.CalendarID]bool{cal.ID: true, feed.ID: true}, b.now()),
	)
	gives(
		b,
		"switches",
		map[calendar.CalendarID]bool{cal.ID: true, feed.ID: true},
	)(
		b.ReminderSwitches(b.Context(), ben.ID),
	)
	lags := b.plansBehind()
	same(b, "when switched on", len(lags), 2)
	for _, lag := range lags {
		same(b, "since", lag.Since, b.now())
		b.plan(lag, s, calendar.Reminder{User: ben.ID, Calendar: lag.Calendar, Object: "a.ics", At: b.now()})
	}
	same(b, "when planned", b.plansBehind(), nil)
	same(b, "due", len(b.dueReminders(10)), 2)
	b.pass(time.Minute)
	b.must(
		b.SetReminderSwitches(b.Context(), ben.ID, map[calendar.CalendarID]bool{cal.ID: false, feed.ID: true}, b.now()),
	)
	same(b, "when one is switched off", len(b.dueReminders(10)), 1)
	same(b, "when the other stays on", b.plansBehind(), nil)
}

func plansTakeTurns(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	for _, name := range []calendar.Segment{"a", "b", "c"} {
		b.calendar(ann, name)
	}
	b.calendar(ben, "d")
	b.reminded(ann)
	b.reminded(ben)
	all, err := b.ReminderLags(b.Context(), 2)
	b.must(err)
	if len(all) != 2 || all[0].User == all[1].User {
		b.Errorf("the first two: %+v", all)
	}
}

func planIsSavedOnce(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	s := b.reminded(ann)
	lag := b.plansBehind()[0]
	one := calendar.Reminder{User: ann.ID, Calendar: cal.ID, Object: "a.ics", At: b.now()}
	b.plan(lag, s, one)
	other := one
	other.Object = "b.ics"
	b.plan(lag, s, other) // from the same state as before
	same(b, "due", b.dueReminders(10), []calendar.Reminder{one})
	gives(b, "planned", []calendar.Reminder{one})(
		b.PlannedReminders(b.Context(), ann.ID, cal.ID, []calendar.ObjectName{"a.ics", "b.ics"}))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	same(b, "due after the user is gone", b.dueReminders(10), nil)
	b.must(b.SavePlan(b.Context(), lag, lag, nil, calendar.Alerts{}, b.now()))
}

func remindersAreDue(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	for _, u := range []calendar.User{ann, ben} {
		s, cal := b.reminded(u), b.calendar(u, "work")
		var all []calendar.Reminder
		for i, name := range []calendar.ObjectName{"a", "b", "c", "later"} {
			all = append(all, calendar.Reminder{
				User: u.ID, Calendar: cal.ID, Object: name, At: b.now().Add(time.Duration(i-2) * time.Minute),
			})
		}
		all = append(all, calendar.Reminder{User: u.ID, Calendar: cal.ID, Object: "never"})
		b.plan(calendar.ReminderPlan{User: u.ID, Calendar: cal.ID, Reported: -1}, s, all...)
	}
	var got []string
	for _, r := range b.dueReminders(2) {
		got = append(got, string(r.User)+" "+string(r.Object))
	}
	same(b, "due", got, []string{
		string(ann.ID) + " a", string(ann.ID) + " b", string(ben.ID) + " a", string(ben.ID) + " b",
	})
	same(b, "all", len(b.dueReminders(10)), 6)
}

func reminderFiresOnce(b *bundle) {
	ann := b.user("ann")
	cal, s := b.calendar(ann, "work"), b.reminded(ann)
	b.browser(ann)
	one := calendar.Reminder{User: ann.ID, Calendar: cal.ID, Object: "a.ics", At: b.now()}
	b.plan(b.plansBehind()[0], s, one)
	next := one
	next.At, next.Rung = b.now().Add(time.Hour), b.now()
	fired := []calendar.FiredReminder{{Before: one, After: next}}
	for i, s := range []Store{b.Store, b.another()} {
		l := b.letter(ann, "ann@example.com", calendar.UID(b.id("alert")))
		l.Due = b.now()
		gives(b, "fired", i == 0)(s.FireReminders(b.Context(), ann.ID, fired, calendar.Alerts{
			Messages: []calendar.BrowserMessage{
				{ID: "m", Due: b.now(), Expires: b.now().Add(time.Hour), Body: []byte("x")},
			},
			Letters: []calendar.Letter{l},
			Most:    outboxMost(),
		}, b.now()))
	}
	same(b, "letters", len(b.take(b.Store)), 1)
	messages, err := b.DueBrowserMessages(b.Context(), b.now(), 10)
	b.must(err)
	same(b, "messages", len(messages), 1)
	same(b, "due", b.dueReminders(10), nil)
	b.pass(time.Hour)
	same(b, "due later", b.dueReminders(10), []calendar.Reminder{next})
	last := next
	last.At, last.Rung = time.Time{}, b.now()
	for _, old := range []time.Duration{-time.Hour, time.Second} {
		b.does(b.FireReminders(b.Context(), ann.ID, []calendar.FiredReminder{{Before: next, After: last}},
			calendar.Alerts{}, b.now().Add(old)))
		held, err := b.PlannedReminders(b.Context(), ann.ID, cal.ID, []calendar.ObjectName{"a.ics"})
		b.must(err)
		same(b, "a reminder that rang lately", held, []calendar.Reminder{last})
	}
	b.must(b.SavePlan(b.Context(), calendar.ReminderPlan{}, calendar.ReminderPlan{User: ann.ID, Calendar: cal.ID}, nil,
		calendar.Alerts{}, b.now()))
}

func reminderIsSnoozed(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	b.reminded(ann)
	one := calendar.Reminder{User: ann.ID, Calendar: cal.ID, Object: "a.ics", Snoozed: "x", At: b.now(), Rung: b.now()}
	b.must(b.Snooze(b.Context(), one, 1))
	one.At = b.now().Add(-time.Minute)
	b.must(b.Snooze(b.Context(), one, 1))
	same(b, "due", b.dueReminders(10), []calendar.Reminder{one})
	other := one
	other.Snoozed = "y"
	b.refused(b.Snooze(b.Context(), other, 1), calendar.TooLarge, "")
	b.must(b.Unsnooze(b.Context(), one))
	same(b, "due when dismissed", b.dueReminders(10), nil)
	b.must(b.Snooze(b.Context(), one, 1))
	after := one
	after.At, after.Rung = time.Time{}, time.Time{}
	gives(b, "fired", true)(b.FireReminders(b.Context(), ann.ID, []calendar.FiredReminder{{Before: one, After: after}},
		calendar.Alerts{}, b.now()))
	same(b, "due when fired", b.dueReminders(10), nil)
}

func newsIsReported(b *bundle) {
	ann := b.user("ann")
	s := b.reminded(ann)
	news := func() []calendar.ReminderSettings {
		b.Helper()
		all, err := b.another().ReportLags(b.Context(), 10)
		b.must(err)
		return all
	}
	same(b, "at first", news(), nil)
	b.update(func(tx calendar.Tx) error {
		return tx.PutNotice(b.Context(), ann.ID, calendar.Notice{Name: "n", Created: b.now(), Data: []byte("{}")})
	})
	same(b, "with a notice", news(), []calendar.ReminderSettings{s})
	for range 2 {
		l := b.letter(ann, "ann@example.com", calendar.UID(b.id("alert")))
		l.Due = b.now()
		b.must(b.Report(b.Context(), s, calendar.Reported{Notices: 1},
			calendar.Alerts{Letters: []calendar.Letter{l}, Most: outboxMost()}))
	}
	same(b, "when reported", news(), nil)
	same(b, "letters", len(b.take(b.Store)), 1)
}

func browserMessages(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	one, two, bens := b.browser(ann), b.browser(ann), b.browser(ben)
	m := calendar.BrowserMessage{ID: "m", Due: b.now(), Expires: b.now().Add(time.Hour), Body: []byte("x")}
	s := b.reminded(ann)
	b.must(b.Report(b.Context(), s, calendar.Reported{}, calendar.Alerts{Messages: []calendar.BrowserMessage{m}}))
	b.must(b.PostToBrowser(b.Context(), ben.ID, bens.ID, calendar.BrowserMessage{
		ID: "t", Due: b.now(), Expires: m.Expires, Body: []byte("y"),
	}))
	b.refused(b.PostToBrowser(b.Context(), ben.ID, one.ID, m), calendar.NotFound, "")
	due := func() []calendar.BrowserDue {
		b.Helper()
		all, err := b.another().DueBrowserMessages(b.Context(), b.now(), 10)
		b.must(err)
		return all
	}
	all := due()
	var to []calendar.BrowserID
	for _, d := range all {
		to = append(to, d.To.ID)
	}
	same(b, "by turns", to, []calendar.BrowserID{one.ID, bens.ID, two.ID})
	later := all[0].BrowserMessage
	later.Due, later.Tries = b.now().Add(time.Minute), 1
	b.must(b.SettleBrowserMessage(b.Context(), later))
	done := all[1].BrowserMessage
	done.Due = done.Expires
	b.must(b.SettleBrowserMessage(b.Context(), done))
	b.must(b.EndBrowser(b.Context(), two.ID))
	same(b, "when settled", due(), nil)
	b.pass(time.Minute)
	same(b, "the second try", due(), []calendar.BrowserDue{{BrowserMessage: later, To: one}})
	b.pass(time.Hour)
	same(b, "when expired", due(), nil)
	gives(b, "browsers", []calendar.Browser{one})(b.BrowsersOf(b.Context(), ann.ID))
	b.must(b.RemoveBrowser(b.Context(), ann.ID, one.ID))
	b.refused(b.RemoveBrowser(b.Context(), ann.ID, one.ID), calendar.NotFound, "")
}

func browserEnds(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	one, two := b.browser(ann), b.browser(ann)
	b.must(b.EndSessions(b.Context(), ann.ID, "another"))
	b.givesNone("browsers")(b.BrowsersOf(b.Context(), ann.ID))
	one.Session, two.User, two.Session = string(b.session(ann).ID), ben.ID, string(b.session(ben).ID)
	two.Endpoint = one.Endpoint
	b.must(b.AddBrowser(b.Context(), one, 10))
	b.must(b.AddBrowser(b.Context(), two, 10)) // another person signed in there
	b.givesNone("browsers of the first")(b.BrowsersOf(b.Context(), ann.ID))
	gives(b, "browsers of the second", []calendar.Browser{two})(b.BrowsersOf(b.Context(), ben.ID))
}

func browsersAreBounded(b *bundle) {
	ann := b.user("ann")
	one := b.browser(ann)
	two := one
	two.ID, two.Endpoint = "another", "https://push.example.net/another"
	b.refused(b.AddBrowser(b.Context(), two, 1), calendar.TooLarge, "")
	one.Session = string(b.session(ann).ID)
	b.must(b.AddBrowser(b.Context(), one, 1))
}
