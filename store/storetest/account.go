package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func accountTests() []test {
	return []test{
		{"round-trips", accountComesBack},
		{"are limited per user", accountsAreBounded},
		{"are synced when they are due", accountsAreDue},
		{"has one secret at a time", accountIsSealed},
		{"keeps its owner's edits made during a sync", accountStateIsNarrow},
		{"leaves its calendars when removed", accountGoes},
		{"is deleted with its user", accountGoesWithUser},
	}
}

func mirrorTests() []test {
	return []test{
		{"marks a calendar as a mirror", mirrorShows},
		{"stores its position", mirrorRemembers},
		{"stores objects by ref and by UID", mirrorRemembersObjects},
		{"finds objects missing from a listing", mirrorFindsGone},
		{"lists the calendars of an account", accountListsCalendars},
		{"is hidden in the trash", mirrorInTrash},
		{"is excluded from scheduling", mirrorIsNotScheduled},
	}
}

// account creates a linked account.
func (b *bundle) account(owner calendar.User, provider string) calendar.Account {
	b.Helper()
	id := b.id("account")
	a := calendar.Account{
		ID: calendar.AccountID(id), Owner: owner.ID, Provider: provider, Name: "the “" + id + "”",
		Address: "https://example.org/", Subject: "sub", Scopes: "read",
		Secret: []byte("sealed " + id), Key: "k1", Every: time.Hour, Status: calendar.AccountGood,
		Created: b.now(), Due: b.now(),
		Maker: calendar.Actor{Token: "token", Agent: "Claude"}, LinksNew: true,
	}
	b.must(b.InsertAccount(b.Context(), a, 100))
	return a
}

// set writes the state of an account, like a sync without concurrent changes.
func (b *bundle) set(a calendar.Account) {
	b.Helper()
	began, err := b.Account(b.Context(), a.ID)
	b.must(err)
	kept, err := b.SetAccountState(b.Context(), a, began)
	b.must(err)
	same(b, "kept", kept, true)
}

// mirror creates a calendar that mirrors one of an account's calendars.
func (b *bundle) mirror(owner calendar.User, a calendar.Account) calendar.Calendar {
	b.Helper()
	cal := b.calendar(owner, "work")
	b.update(func(tx calendar.Tx) error {
		return tx.InsertMirror(b.Context(), calendar.Mirror{Calendar: cal.ID, Account: a.ID, Remote: "r"},
			calendar.Origin{From: a.Name, Writable: true})
	})
	return cal
}

func accountComesBack(b *bundle) {
	ann := b.user("ann")
	want := b.account(ann, "caldav")
	gives(b, "account", want)(b.Account(b.Context(), want.ID))
	want.Status, want.Error, want.Failures, want.Failing = calendar.AccountFailed, "away", 3, b.now()
	want.Checked, want.Listed, want.Due = b.now().Add(time.Second), b.now().Add(time.Minute), b.now().Add(time.Hour)
	b.set(want)
	gives(b, "accounts", []calendar.Account{want})(b.Accounts(b.Context(), ann.ID))
	b.refuses(calendar.NotFound, "")(b.Account(b.Context(), "unknown"))
	want.Status, want.Error, want.Failures, want.Failing, want.Listed, want.Due = calendar.AccountGood, "", 0,
		time.Time{}, time.Time{}, b.now()
	b.must(b.SetAccount(b.Context(), want.ID, calendar.AccountEdit{}, want.Due))
	gives(b, "what its owner asks anew", want)(b.Account(b.Context(), want.ID))
	want.Name, want.Scopes, want.Every, want.LinksNew = "another", "write", time.Minute, false
	b.must(b.SetAccount(b.Context(), want.ID, calendar.AccountEdit{
		Name: want.Name, Scopes: want.Scopes, Every: want.Every, LinksNew: &want.LinksNew,
	}, want.Due))
	gives(b, "what its owner changed", want)(b.Account(b.Context(), want.ID))
	b.refused(b.SetAccount(b.Context(), "unknown", calendar.AccountEdit{}, want.Due), calendar.NotFound, "")
	want.ID, want.Owner = "nobody's", "nobody"
	b.refused(b.InsertAccount(b.Context(), want, 100), calendar.NotFound, "")
}

func accountsAreBounded(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	a := b.account(ann, "ics")
	b.account(ann, "ics")
	a.ID = "third"
	b.refused(b.InsertAccount(b.Context(), a, 2), calendar.TooLarge, "")
	a.Owner = bob.ID
	b.must(b.InsertAccount(b.Context(), a, 2))
	all, err := b.Accounts(b.Context(), "")
	b.must(err)
	same(b, "all accounts", len(all), 3)
}

func accountsAreDue(b *bundle) {
	ann := b.user("ann")
	late, soon, asleep := b.account(ann, "ics"), b.account(ann, "ics"), b.account(ann, "ics")
	late.Due, soon.Due, asleep.Status = b.now().Add(time.Hour), b.now().Add(-time.Second), calendar.AccountSignIn
	for _, a := range []calendar.Account{late, soon, asleep} {
		b.set(a)
	}
	gives(b, "due", []calendar.Account{soon})(b.DueAccounts(b.Context(), b.now(), 10))
	gives(b, "the first that is due later", []calendar.Account{soon})(b.DueAccounts(b.Context(),
		b.now().Add(time.Hour), 1))
	// Owners take turns: each one's first account comes before anyone's second. Disabled users get none.
	bob := b.user("bob")
	his := b.account(bob, "ics")
	his.Due = b.now().Add(time.Hour)
	b.set(his)
	gives(b, "by turns", []calendar.Account{soon, his, late})(b.DueAccounts(b.Context(), b.now().Add(time.Hour), 10))
	b.must(b.ChangeUser(b.Context(), bob.ID, auth.UserEdit{Disabled: new(true)}))
	gives(b, "without who is disabled", []calendar.Account{soon, late})(b.DueAccounts(b.Context(),
		b.now().Add(time.Hour), 10))
}

func accountIsSealed(b *bundle) {
	a := b.account(b.user("ann"), "ics")
	before, next := a.Secret, a
	next.Secret, next.Key, next.Address = []byte("two"), "k2", "there.example"
	b.must(b.SealAccount(b.Context(), next, before))
	b.must(b.SealAccount(b.Context(), next, before))
	gives(b, "sealed", next)(b.Account(b.Context(), a.ID))
	late := next
	late.Secret = []byte("three")
	b.refused(b.SealAccount(b.Context(), late, before), calendar.Stale, "")
	late.ID = "unknown"
	b.refused(b.SealAccount(b.Context(), late, before), calendar.NotFound, "")
	gives(b, "still", next)(b.Account(b.Context(), a.ID))
}

// accountStateIsNarrow: a sync writes its own result, and does not overwrite concurrent changes by the owner.
func accountStateIsNarrow(b *bundle) {
	a := b.account(b.user("ann"), "ics")
	a.Due, a.Listed = b.now().Add(time.Minute), b.now().Add(-time.Minute)
	b.set(a)
	began, soon, late := a, b.now().Add(time.Second), b.now().Add(time.Hour)
	state := func(what string, change func(*calendar.Account), want bool) {
		b.Helper()
		found := a
		found.Name, found.Every, found.Scopes, found.Address = "as it was", time.Hour, "as it was", "as it was"
		change(&found)
		kept, err := b.SetAccountState(b.Context(), found, began)
		b.must(err)
		same(b, what, kept, want)
	}
	failed := func(f *calendar.Account) {
		f.Status, f.Error, f.Failures, f.Failing, f.Due = calendar.AccountFailed, "away", 2, b.now(), late
	}
	gives(b, "an account that is looked at", a)(b.DueAccount(b.Context(), a.ID, began.Due))
	a.Status, a.Error, a.Failures, a.Failing, a.Due = calendar.AccountFailed, "away", 2, b.now(), late
	state("a look that failed", failed, true)
	gives(b, "what it has found", a)(b.Account(b.Context(), a.ID))
	// Another process makes it due sooner in the meantime.
	a.Due = soon
	gives(b, "an account that is due", a)(b.DueAccount(b.Context(), a.ID, soon))
	a.Failures = 3
	state("one that fails as well", func(f *calendar.Account) { failed(f); f.Failures = 3 }, true)
	gives(b, "its result, with the due time unchanged", a)(b.Account(b.Context(), a.ID))
	// Its owner edits the account in the meantime.
	a.Status, a.Error, a.Failures, a.Failing, a.Listed = calendar.AccountGood, "", 0, time.Time{}, time.Time{}
	b.must(b.SetAccount(b.Context(), a.ID, calendar.AccountEdit{}, soon))
	state("another that failed", failed, false)
	gives(b, "what the owner did", a)(b.Account(b.Context(), a.ID))
	a.Checked = b.now()
	state("one that did not", func(f *calendar.Account) { f.Checked, f.Listed, f.Due = a.Checked, b.now(), late }, true)
	gives(b, "its result, with a new listing", a)(b.Account(b.Context(), a.ID))
	b.refuses(calendar.NotFound, "")(b.DueAccount(b.Context(), "unknown", soon))
	a.ID = "unknown"
	state("one that is gone", failed, false)
}

func accountGoes(b *bundle) {
	ann := b.user("ann")
	a := b.account(ann, "ics")
	cal := b.mirror(ann, a)
	b.must(b.DeleteAccount(b.Context(), a.ID))
	b.refused(b.DeleteAccount(b.Context(), a.ID), calendar.NotFound, "")
	now, err := b.Calendar(b.Context(), ann.ID, cal.ID)
	b.must(err)
	same(b, "origin", now.Origin, calendar.Origin{})
	b.refuses(calendar.NotFound, "")(b.Mirror(b.Context(), cal.ID))
}

func accountGoesWithUser(b *bundle) {
	ann := b.user("ann")
	a := b.account(ann, "ics")
	b.mirror(ann, a)
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.refuses(calendar.NotFound, "")(b.Account(b.Context(), a.ID))
}

func mirrorShows(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	a := b.account(ann, "ics")
	cal := b.mirror(ann, a)
	plain := b.calendar(ann, "plain")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.WriteAccess))
	for user, id := range map[calendar.UserID]calendar.CalendarID{ann.ID: cal.ID, bob.ID: cal.ID} {
		got, err := b.Calendar(b.Context(), user, id)
		b.must(err)
		same(b, "origin", got.Origin, calendar.Origin{From: a.Name, Writable: true})
	}
	got, err := b.Calendar(b.Context(), ann.ID, plain.ID)
	b.must(err)
	same(b, "origin of another", got.Origin, calendar.Origin{})
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.InsertMirror(b.Context(), calendar.Mirror{Calendar: plain.ID, Account: a.ID, Remote: "r"},
			calendar.Origin{From: "x"})
	}), calendar.Exists, "")
	renamed := calendar.Origin{From: "new", Address: "ann@example.net", Own: true, Notifier: "Model"}
	b.update(func(tx calendar.Tx) error { return tx.SetOrigin(b.Context(), cal.ID, renamed) })
	got, err = b.Calendar(b.Context(), ann.ID, cal.ID)
	b.must(err)
	same(b, "origin by another name", got.Origin, renamed)
	b.must(b.DeleteAccount(b.Context(), a.ID))
	got, err = b.Calendar(b.Context(), ann.ID, cal.ID)
	b.must(err)
	same(b, "origin without its account", got.Origin, calendar.Origin{})
}

func mirrorRemembers(b *bundle) {
	ann := b.user("ann")
	a := b.account(ann, "ics")
	cal := b.mirror(ann, a)
	want := calendar.Mirror{
		Calendar: cal.ID, Account: a.ID, Remote: "r", Cursor: "c", Round: 3, Whole: true,
		Faults: 2, Error: "e", Checked: b.now(),
	}
	put := func(m calendar.Mirror) error {
		return b.Update(b.Context(), func(tx calendar.Tx) error { return tx.PutMirror(b.Context(), m) })
	}
	b.must(put(want))
	want.RemoteName = "Club"
	b.update(func(tx calendar.Tx) error { return tx.SetRemoteName(b.Context(), cal.ID, want.RemoteName) })
	gives(b, "mirror", want)(b.Mirror(b.Context(), cal.ID))
	b.must(b.SetMirrorError(b.Context(), cal.ID, "f"))
	want.Error = "f"
	gives(b, "mirrors", []calendar.Mirror{want})(b.Mirrors(b.Context(), a.ID))
	want.Calendar = "unknown"
	b.refused(put(want), calendar.NotFound, "")
}

// agree writes the synchronized state of objects.
func (b *bundle) agree(id calendar.CalendarID, all ...calendar.Mirrored) {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		for _, m := range all {
			if err := tx.PutMirrored(b.Context(), id, m); err != nil {
				return err
			}
		}
		return nil
	})
}

func mirrorRemembersObjects(b *bundle) {
	ann := b.user("ann")
	cal := b.mirror(ann, b.account(ann, "ics"))
	one := calendar.Mirrored{Ref: "1", Version: "v1", UID: "u1", Round: 1}
	two := calendar.Mirrored{Ref: "2", Version: "v2", UID: "u2", Round: 2, Fault: "broken", Unseen: true}
	unseen := func(want bool) {
		b.Helper()
		b.update(func(tx calendar.Tx) error {
			got, err := tx.MirrorUnseen(b.Context(), cal.ID)
			same(b, "unseen", got, want)
			return err
		})
	}
	unseen(false)
	b.agree(cal.ID, one, two)
	unseen(true)
	for _, ask := range [][]string{nil, {"1", "2", "3"}} {
		gives(b, "by ref", map[string]calendar.Mirrored{"1": one, "2": two})(b.Mirrored(b.Context(), cal.ID, ask))
	}
	gives(b, "faulty", []calendar.Mirrored{two})(b.MirrorFaulty(b.Context(), cal.ID, 5))
	gives(b, "UIDs", map[calendar.UID]bool{"u2": true})(
		b.MirroredUIDs(b.Context(), cal.ID, []calendar.UID{"u3", "u2"}))
	gives(b, "by UID", two)(b.MirroredByUID(b.Context(), cal.ID, "u2"))
	b.refuses(calendar.NotFound, "")(b.MirroredByUID(b.Context(), cal.ID, "u3"))
	moved := one
	moved.Ref = "3"
	b.agree(cal.ID, moved)
	twin := one
	twin.UID, twin.Fault = one.UID.Twin(), "it has the same UID as 3, which is shown instead"
	gives(b, "one whose UID another one has now",
		map[string]calendar.Mirrored{"1": twin, "3": moved, "2": two})(b.Mirrored(b.Context(), cal.ID, nil))
	gives(b, "the one that has it", moved)(b.MirroredByUID(b.Context(), cal.ID, one.UID))
	b.update(func(tx calendar.Tx) error {
		if n, err := tx.MirrorFaults(b.Context(), cal.ID); err != nil || n != 2 {
			b.Errorf("%d faults, %v", n, err)
		}
		if err := tx.DropMirrored(b.Context(), cal.ID, "1"); err != nil {
			return err
		}
		return tx.DropMirrored(b.Context(), cal.ID, "2")
	})
	gives(b, "when one was dropped", map[string]calendar.Mirrored{"3": moved})(b.Mirrored(b.Context(),
		cal.ID, []string{"2", "3"}))
	moved.Unseen = true
	b.agree(cal.ID, moved)
	unseen(true)
	moved.Unseen = false
	b.agree(cal.ID, moved)
	unseen(false)
}

func mirrorFindsGone(b *bundle) {
	ann := b.user("ann")
	cal := b.mirror(ann, b.account(ann, "ics"))
	b.agree(cal.ID, calendar.Mirrored{Ref: "1", UID: "1", Round: 1}, calendar.Mirrored{Ref: "2", UID: "2", Round: 2},
		calendar.Mirrored{Ref: "3", UID: "3", Round: 1})
	b.update(func(tx calendar.Tx) error {
		got, err := tx.MirroredBefore(b.Context(), cal.ID, 2, 10)
		same(b, "before the second",
			got, []calendar.Mirrored{{Ref: "1", UID: "1", Round: 1}, {Ref: "3", UID: "3", Round: 1}})
		b.must(err)
		listed, missing, err := tx.MirrorRound(b.Context(), cal.ID, 2)
		same(b, "counts", [2]int64{listed, missing}, [2]int64{1, 2})
		return err
	})
}

func accountListsCalendars(b *bundle) {
	ann := b.user("ann")
	a := b.account(ann, "caldav")
	work := calendar.ListedCalendar{Remote: "w", Name: "Work", Writable: true}
	home := calendar.ListedCalendar{Remote: "h", Name: "Home"}
	set := func(all ...calendar.ListedCalendar) error {
		return b.SetListedCalendars(b.Context(), a.ID, all, 2)
	}
	b.must(set(work, home))
	gives(b, "listed", []calendar.ListedCalendar{home, work})(b.ListedCalendars(b.Context(), a.ID))
	b.must(set(work))
	home.Missing = true
	gives(b, "a missing one", []calendar.ListedCalendar{home, work})(b.ListedCalendars(b.Context(), a.ID))
	b.must(set(work, calendar.ListedCalendar{Remote: "n", Name: "New"}))
	gives(b, "without the missing one, which is one too many",
		[]calendar.ListedCalendar{{Remote: "n", Name: "New"}, work})(b.ListedCalendars(b.Context(), a.ID))
	a.ID = "unknown"
	b.refused(set(work), calendar.NotFound, "")
}

func mirrorInTrash(b *bundle) {
	ann := b.user("ann")
	a := b.account(ann, "ics")
	cal := b.mirror(ann, a)
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), cal.ID) })
	all, err := b.Mirrors(b.Context(), a.ID)
	b.must(err)
	same(b, "mirrors", len(all), 0)
	trashed, err := b.TrashedMirrors(b.Context(), a.ID)
	b.must(err)
	same(b, "mirrors in the trash", len(trashed), 1)
	b.update(func(tx calendar.Tx) error { return tx.UntrashCalendar(b.Context(), cal.ID, "back") })
	b.does(b.Mirror(b.Context(), cal.ID))
}

func mirrorIsNotScheduled(b *bundle) {
	ann := b.user("ann")
	cal := b.mirror(ann, b.account(ann, "ics"))
	o := b.put(cal, "1.ics")
	b.update(func(tx calendar.Tx) error {
		places, err := tx.Receptions(b.Context(), []calendar.UserID{ann.ID}, calendar.Event)
		same(b, "where invitations go", len(places), 0)
		if err != nil {
			return err
		}
		copies, err := tx.Appointments(b.Context(), []calendar.UserID{ann.ID}, o.UID)
		same(b, "copies", len(copies), 0)
		return err
	})
}
