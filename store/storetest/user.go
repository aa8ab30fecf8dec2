package storetest

import (
	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func userTests() []test {
	return []test{
		{"round-trips", userComesBack},
		{"has a name of their own", userOwnsName},
		{"are listed by name", usersAreListed},
		{"is deleted with all of their data", userTakesTheirs},
		{"is deleted once", userDeletedOnce},
		{"changes in the given fields", userChanges},
		{"keeps an administrator", userKeepsAdministrator},
		{"keeps an administrator when two go at once", userKeepsAdministratorAtOnce},
		{"loses all access", userLosesAccess},
		{"has a password", userPassword},
		{"may have no password", userWithoutPassword},
		{"has a hash replaced by a stronger one", userRehash},
	}
}

func userComesBack(b *bundle) {
	want := b.user("ann")
	gives(b, "user", want)(b.UserByName(b.Context(), "ann"))
	gives(b, "user by id", want)(b.UserByID(b.Context(), want.ID))
	b.refuses(calendar.NotFound, "")(b.UserByID(b.Context(), "ann"))
	for _, name := range []string{"bob", "Ann", "", "ann ", "an_"} {
		b.refuses(calendar.NotFound, "")(b.UserByName(b.Context(), name))
	}
}

func userOwnsName(b *bundle) {
	first := b.user("ann")
	second := first
	second.ID = "another"
	b.refused(b.InsertUser(b.Context(), second, "hash"), calendar.Exists, "")
	gives(b, "credential", auth.Credential{User: first, Hash: "hash of ann"})(b.PasswordByName(b.Context(), "ann"))
}

// usersAreListed checks for byte order: upper-case letters come before all lower-case ones.
func usersAreListed(b *bundle) {
	for _, name := range []string{"b", "ä", "a.b", "a", "B", "ab", "a-b"} {
		b.user(name)
	}
	users, err := b.Users(b.Context())
	b.must(err)
	var got []string
	for _, u := range users {
		got = append(got, u.Name)
	}
	same(b, "names", got, []string{"B", "a", "a-b", "a.b", "ab", "b", "ä"})
	named, err := b.UserNames(b.Context())
	b.must(err)
	for i, u := range users {
		users[i] = calendar.User{ID: u.ID, Name: u.Name, DisplayName: u.DisplayName, Email: u.Email}
	}
	same(b, "users with names", named, users)
}

func userTakesTheirs(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	anns, bobs := b.calendar(ann, "work"), b.calendar(bob, "work")
	b.put(anns, "a.ics")
	b.bury(b.put(anns, "b.ics"))
	kept := b.put(bobs, "a.ics")
	b.must(Share(b.Context(), b, anns.ID, bob.ID, calendar.ReadAccess))
	b.must(Share(b.Context(), b, bobs.ID, ann.ID, calendar.WriteAccess))
	anns2, bobs2 := b.token(ann, nil), b.token(bob, []calendar.CalendarID{anns.ID})

	b.must(b.DeleteUser(b.Context(), ann.ID))

	b.refuses(calendar.NotFound, "")(b.UserByName(b.Context(), "ann"))
	b.refuses(calendar.NotFound, "")(b.Calendar(b.Context(), bob.ID, anns.ID))
	b.refuses(calendar.NotFound, "")(b.Object(b.Context(), anns.ID, "a.ics"))
	same(b, "her objects", b.all(b.Changes(b.Context(), anns.ID, calendar.VersionRange{Until: 9})), nil)
	b.refuses(calendar.NotFound, "")(b.TokenByID(b.Context(), anns2.ID))

	gives(b, "his object", kept)(b.Object(b.Context(), bobs.ID, "a.ics"))
	bound, err := b.TokenByID(b.Context(), bobs2.ID)
	b.must(err)
	same(b, "calendars of his token", bound.Token.Calendars, []calendar.CalendarID{})
	// The name is free for another user, who gets none of the old user's data.
	again := b.user("ann")
	b.givesNone("calendars of the next ann")(b.Calendars(b.Context(), again.ID))
}

func userDeletedOnce(b *bundle) {
	ann := b.user("ann")
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.refused(b.DeleteUser(b.Context(), ann.ID), calendar.NotFound, "")
	b.refuses(calendar.NotFound, "")(b.PasswordByName(b.Context(), "ann"))
}

// userChanges: an edit keeps fields that it leaves nil, and clears fields that it sets to "".
func userChanges(b *bundle) {
	want, other := b.user("ann"), b.user("bob")
	b.must(b.ChangeUser(b.Context(), want.ID, auth.UserEdit{DisplayName: new("Ann Lee"), Timezone: new("Asia/Tokyo")}))
	b.must(b.ChangeUser(b.Context(), want.ID, auth.UserEdit{Email: new("")}))
	b.must(b.ChangeUser(b.Context(), want.ID, auth.UserEdit{}))
	b.must(b.ChangeUser(b.Context(), want.ID, auth.UserEdit{
		WeekStart: new("sun"), WorkingDays: new("mon tue"), WorkingHours: new("08:00-16:00"), Admin: new(true),
		Disabled: new(true), View: &calendar.ViewSettings{SecondZone: "Asia/Tokyo", Clock: "12", ShortcutsOff: true},
		Language: new("de"), BrowserLanguage: new("en"),
	}))
	b.must(b.ChangeUser(b.Context(), want.ID, auth.UserEdit{Disabled: new(false)}))
	want.DisplayName, want.Timezone, want.Email = "Ann Lee", "Asia/Tokyo", ""
	want.WeekStart, want.WorkingDays, want.WorkingHours, want.Admin = "sun", "mon tue", "08:00-16:00", true
	want.View = calendar.ViewSettings{SecondZone: "Asia/Tokyo", Clock: "12", ShortcutsOff: true}
	want.Language, want.BrowserLanguage = "de", "en"
	gives(b, "users", []calendar.User{want, other})(b.Users(b.Context()))
	b.refused(b.ChangeUser(b.Context(), "nobody", auth.UserEdit{Email: new("")}), calendar.NotFound, "")
}

func (b *bundle) administrator(name string) calendar.User {
	b.Helper()
	u := b.user(name)
	b.must(b.ChangeUser(b.Context(), u.ID, auth.UserEdit{Admin: new(true)}))
	return u
}

// userKeepsAdministrator: one administrator must remain, and neither disabled users nor rooms count as one.
func userKeepsAdministrator(b *bundle) {
	b.user("ann")
	root, other := b.administrator("root"), b.administrator("other")
	room := calendar.User{
		ID: "blue", Name: "blue", Created: b.now(), Admin: true,
		Room: calendar.Room{Kind: calendar.RoomToMeet},
	}
	b.must(b.InsertUser(b.Context(), room, ""))
	b.must(b.ChangeUser(b.Context(), other.ID, auth.UserEdit{Disabled: new(true)}))
	for _, e := range []auth.UserEdit{{Admin: new(false)}, {Disabled: new(true)}} {
		b.refused(b.ChangeUser(b.Context(), root.ID, e), calendar.Invalid, "")
	}
	b.refused(b.KeepsAdministrator(b.Context(), root.ID), calendar.Invalid, "")
	b.refused(b.DeleteUser(b.Context(), root.ID), calendar.Invalid, "")
	b.must(b.KeepsAdministrator(b.Context(), other.ID))
	b.must(b.ChangeUser(b.Context(), root.ID, auth.UserEdit{Disabled: new(false), Timezone: new("UTC")}))
	b.must(b.DeleteUser(b.Context(), other.ID))
	b.must(b.ChangeUser(b.Context(), room.ID, auth.UserEdit{Admin: new(false)}))
	second := b.administrator("second")
	b.must(b.DeleteUser(b.Context(), root.ID))
	b.refused(b.ChangeUser(b.Context(), second.ID, auth.UserEdit{Disabled: new(true)}), calendar.Invalid, "")
}

func userKeepsAdministratorAtOnce(b *bundle) {
	ways := []func(calendar.UserID) error{
		func(id calendar.UserID) error { return b.DeleteUser(b.Context(), id) },
		func(id calendar.UserID) error {
			return b.ChangeUser(b.Context(), id, auth.UserEdit{Disabled: new(true)})
		},
		func(id calendar.UserID) error { return b.ChangeUser(b.Context(), id, auth.UserEdit{Admin: new(false)}) },
	}
	left := b.administrator("root")
	for i := range 12 {
		pair := []calendar.User{left, b.administrator(b.id("admin"))}
		outcomes := make(chan error, len(pair))
		for n, u := range pair {
			go func() { outcomes <- ways[(i+n*(i/len(ways)))%len(ways)](u.ID) }()
		}
		gone := 0
		for range pair {
			if err := <-outcomes; err == nil {
				gone++
			}
		}
		users, err := b.Users(b.Context())
		b.must(err)
		admins := 0
		for _, u := range users {
			if u.Admin && !u.Disabled {
				admins++
				left = u
			}
		}
		if gone != 1 || admins != 1 {
			b.Fatalf("round %d: %d went, %d administrators are left", i, gone, admins)
		}
	}
}

func userLosesAccess(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	hers, his := b.token(ann, nil), b.token(bob, nil)
	before := b.generation("ann")
	b.must(b.EndAccess(b.Context(), ann.ID, b.now()))
	for id, want := range map[calendar.TokenID]bool{hers.ID: true, his.ID: false} {
		if c, err := b.TokenByID(b.Context(), id); err != nil || c.Token.Revoked.IsZero() == want {
			b.Errorf("the token of %s is revoked at %v, %v", c.User.Name, c.Token.Revoked, err)
		}
	}
	if b.generation("ann") == before {
		b.Error("access ended, and the generation did not move")
	}
	gives(b, "credential", auth.Credential{User: ann, Hash: "hash of ann"})(b.PasswordByName(b.Context(), "ann"))
}

func userPassword(b *bundle) {
	ann := b.user("ann")
	b.user("bob")
	b.must(b.SetPassword(b.Context(), ann.ID, "second"))
	gives(b, "credential", auth.Credential{User: ann, Hash: "second"})(b.PasswordByName(b.Context(), "ann"))
	b.refused(b.SetPassword(b.Context(), "nobody", "hash"), calendar.NotFound, "")
}

func userWithoutPassword(b *bundle) {
	ann := calendar.User{ID: "1", Name: "ann", Created: b.now()}
	b.must(b.InsertUser(b.Context(), ann, ""))
	gives(b, "credential", auth.Credential{User: ann})(b.PasswordByName(b.Context(), "ann"))
}

func userRehash(b *bundle) {
	ann := b.user("ann")
	before := b.generation("ann")
	b.must(b.Rehash(b.Context(), ann.ID, "hash of ann", "stronger"))
	// Another password was set while the stronger hash of the old one was computed.
	b.must(b.Rehash(b.Context(), ann.ID, "hash of ann", "too late"))
	b.must(b.Rehash(b.Context(), "nobody", "hash of ann", "stronger"))
	got, err := b.PasswordByName(b.Context(), "ann")
	b.must(err)
	same(b, "hash", got.Hash, "stronger")
	same(b, "generation", b.generation("ann"), before)
}
