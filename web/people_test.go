package web_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

// admin makes root, who looks after the others.
func (h *house) admin() calendar.User {
	h.Helper()
	u, err := h.auth.CreateUser(h.Context(), auth.NewUser{Name: "root", Password: rightPassword, Admin: true})
	h.must(err)
	return u
}

// To whom they are not for, the pages of administrators do not exist, and nothing says that they might.
func TestAdminsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		b := h.as("ann")
		b.get("").hides("People")
		for _, path := range []string{"people", "invite", "people/root", "people/nobody"} {
			b.get(path).shows(http.StatusNotFound, "no such page")
			h.browser().get(path).shows(http.StatusOK, "Sign in")
		}
		for _, path := range []string{"invite", "people/root"} {
			b.post(path, "name", "eve", "do", "disable").shows(http.StatusNotFound, "no such page")
		}
		root := h.as("root")
		root.get("people").shows(http.StatusOK, "ann", "root administrator", "Version 1.2.3")
		root.get("people/nobody").shows(http.StatusNotFound, "no such page")
	})
}

// An invited user has the inviter's time zone, unless they or their browser name another one. A user
// without a zone gets that of the browser at the first sign-in. The home page says UTC, and a zone can be typed in
// several ways.
func TestZones(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		root := h.as("root")
		is := func(name, want string) {
			t.Helper()
			u, err := h.auth.User(t.Context(), name)
			h.must(err)
			if u.Timezone != want {
				t.Errorf("%s has the zone %q, want %q", name, u.Timezone, want)
			}
		}
		settings := []string{"week-start", "mon", "day", "mon", "opens", "08:00", "closes", "16:00", "timezone", ""}
		set := func(b *browser, zone string) shown {
			settings[len(settings)-1] = zone
			return b.post("settings", settings...)
		}
		set(root, "europe/berlin").shows(http.StatusOK, "Saved")
		is("root", "Europe/Berlin")
		set(root, "Berlin").shows(http.StatusUnprocessableEntity, "did you mean Europe/Berlin?").
			hides("Berlin?.")
		set(root, "GMT+1").shows(http.StatusUnprocessableEntity, "use the name of a place, such as Europe/Berlin")
		invite := func(name string) string {
			made := root.post("invite", "name", name).shows(http.StatusOK, "shown only now")
			is(name, "Europe/Berlin")
			return strings.TrimPrefix(made.secret(), h.server.URL+"/account/")
		}
		anns, bens := invite("ann"), invite("ben")
		guest := h.browser()
		if page := guest.get(anns).body; !strings.Contains(page, `value="Europe/Berlin"`) ||
			!strings.Contains(page, `<option value="Asia/Tokyo">`) || !strings.Contains(page, "/static/zone-") {
			t.Errorf("the zone cannot be chosen:\n%s", page)
		}
		guest.post(anns, "password", rightPassword, "again", rightPassword, "timezone", "Tokyo").
			shows(http.StatusUnprocessableEntity, "did you mean Asia/Tokyo?")
		guest.post(anns, "password", rightPassword, "again", rightPassword, "timezone", "Asia/Tokyo").
			shows(http.StatusOK, "Home")
		is("ann", "Asia/Tokyo")
		h.browser().post(bens, "password", rightPassword, "again", rightPassword).shows(http.StatusOK, "Home")
		is("ben", "Europe/Berlin")

		_, err := h.auth.CreateUser(t.Context(), auth.NewUser{Name: "zoe", Password: rightPassword})
		h.must(err)
		zoe := h.as("zoe")
		if home := zoe.get("").body; !strings.Contains(home, `data-zone="UTC">Times are in the time zone UTC`) {
			t.Errorf("the home page does not say that it shows UTC:\n%s", home)
		}
		zoe.post("sign-out")
		for _, browsers := range []string{"Mars/Base", "America/New_York", "Asia/Tokyo"} {
			b := h.browser()
			b.post("sign-in", "name", "zoe", "password", rightPassword, "timezone", browsers).shows(http.StatusOK)
			is("zoe", map[bool]string{false: "America/New_York"}[browsers == "Mars/Base"])
		}
		if home := h.as("zoe").get("").body; !strings.Contains(home, `data-zone="America/New_York" hidden>`) {
			t.Errorf("the home page has no zone to compare with the browser's:\n%s", home)
		}
	})
}

// Anyone who is invited chooses a password, once; a reset link ends what was.
func TestInvite(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		root := h.as("root")
		root.post("invite", "name", "ROOT").shows(http.StatusConflict, `There is a user "root" already`)
		root.post("invite", "name", "a/b").shows(http.StatusUnprocessableEntity, "is no user name")
		made := root.post("invite", "name", "Ann", "email", "ann@example.com").shows(http.StatusOK,
			"Give ann this link")
		key := strings.TrimPrefix(made.secret(), h.server.URL+"/account/")
		root.get("people").shows(http.StatusOK, "ann", "invitation until")
		h.browser().post("sign-in", "name", "ann", "password", "").shows(http.StatusUnprocessableEntity)

		guest := h.browser()
		guest.get(key).shows(http.StatusOK, "You are invited", "ann")
		guest.post(key, "password", "short", "again", "short").shows(http.StatusUnprocessableEntity, "too short")
		guest.post(key, "password", "one password", "again", "other password").shows(http.StatusUnprocessableEntity,
			"two passwords differ")
		guest.post(key, "password", rightPassword, "again", rightPassword).at("welcome").shows(http.StatusOK)
		for _, used := range []string{key, key[:len(key)-1] + "A", "key/x"} {
			guest.get(used).shows(http.StatusNotFound, "has been used, has expired or was replaced")
			guest.post(used, "password", rightPassword, "again", rightPassword).shows(http.StatusNotFound)
		}

		reset := func() string {
			s := root.post("people/ann", "do", "reset").shows(http.StatusOK, "Give ann this link")
			return strings.TrimPrefix(s.secret(), h.server.URL+"/account/")
		}
		replaced, key := reset(), reset()
		other := h.browser()
		other.get(replaced).shows(http.StatusNotFound)
		other.post(key, "password", "another password", "again", "another password").at("/calendar/week/").
			shows(http.StatusOK)
		guest.get("").at("sign-in?next=")
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusUnprocessableEntity)

		late := reset()
		h.pass(24 * time.Hour)
		other.get(late).shows(http.StatusNotFound)
		root.post("confirm", "password", rightPassword)
		taken := reset()
		root.post("people/ann", "do", "take-back").shows(http.StatusOK)
		other.get(taken).shows(http.StatusNotFound)
	})
}

// Anyone who keeps a link to choose a password does not outlive the next password, whoever sets that.
func TestResetEndsWithPassword(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		root, ann := h.as("root"), h.as("ann")
		for _, change := range []func(){
			func() {
				ann.post("security/password", "password", "a new password", "again", "a new password").
					at("security?done=password-changed")
			},
			func() { h.must(h.auth.SetPassword(t.Context(), "ann", "a third password")) },
		} {
			key := strings.TrimPrefix(root.post("people/ann", "do", "reset").secret(), h.server.URL+"/account/")
			h.browser().get(key).shows(http.StatusOK)
			change()
			h.browser().get(key).shows(http.StatusNotFound, "was replaced")
			h.browser().post(key, "password", "not hers at all", "again", "not hers at all").shows(http.StatusNotFound)
		}
	})
}

// A link does not get round the second factor.
func TestResetKeepsSecondFactor(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		secret, _ := h.as("ann").withCodes()
		root := h.as("root")
		s := root.post("people/ann", "do", "reset")
		key := strings.TrimPrefix(s.secret(), h.server.URL+"/account/")
		b := h.browser()
		step := b.post(key, "password", "another password", "again", "another password").shows(http.StatusOK,
			"One more step")
		b.get("").at("sign-in?next=")
		h.pass(time.Minute)
		b.post("sign-in/code", "sealed", step.hidden("sealed"), "code", app(t, secret, h.Now())).at("welcome")
		root.post("people/ann", "do", "factors").at("people/ann?done=saved").hides("codes")
		h.browser().post("sign-in", "name", "ann", "password", "another password").at("/calendar/week/")
	})
}

// Nobody gets in as a disabled user, by any door, and administrators cannot lock themselves out.
func TestDisable(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		b, root := h.as("ann"), h.as("root")
		_, token, err := h.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "ann", Name: "x", Scopes: calendar.ScopeAll,
		})
		h.must(err)
		root.post("people/root", "do", "disable").shows(http.StatusUnprocessableEntity, "That would be you")
		root.post("people/root", "do", "plain").shows(http.StatusUnprocessableEntity, "That would be you")
		root.post("people/ann", "do", "explode").shows(http.StatusNotFound)
		root.post("people/ann", "do", "disable").at("people/ann?done=saved").shows(http.StatusOK, "disabled")
		b.get("").at("sign-in?next=")
		b.post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusUnprocessableEntity,
			"did not match")
		for _, secret := range []string{rightPassword, string(token)} {
			if _, err := h.auth.VerifyBasic(t.Context(), "ann", secret, here); err == nil {
				t.Error("a disabled user's credential opens a door to programs")
			}
		}
		root.post("people/ann", "do", "enable")
		b.post("sign-in", "name", "ann", "password", rightPassword).at("/calendar/week/")
		if _, err := h.auth.VerifyBearer(t.Context(), string(token), here); err != nil {
			t.Error(err)
		}
		root.post("people/ann", "do", "admin")
		b.get("people").at("people").shows(http.StatusOK)
	})
}

// What people say of themselves is kept, and their addresses count once somebody has looked.
func TestSettings(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		b, root := h.as("ann"), h.as("root")
		fields := []string{
			"display-name", "Ann <b>Lee</b>", "timezone", "Asia/Tokyo", "week-start", "sun", "day", "mon", "day", "tue",
			"opens", "08:00", "closes", "16:30",
		}
		b.post("settings", fields...).at("settings?done=saved").shows(http.StatusOK, "Saved").hides("<b>Lee")
		u, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		u.ID, u.Created = "", time.Time{}
		want := calendar.User{
			Name: "ann", DisplayName: "Ann <b>Lee</b>", Timezone: "Asia/Tokyo", WeekStart: "sun",
			WorkingDays: "mon tue", WorkingHours: "08:00-16:30",
		}
		if diff := cmp.Diff(want, u); diff != "" {
			t.Errorf("ann (-want +got):\n%s", diff)
		}
		b.post("settings", append(fields, "timezone", "x")...).shows(http.StatusOK)
		fields[3] = "Mars/Base"
		b.post("settings", fields...).shows(http.StatusUnprocessableEntity, `"Mars/Base" is no time zone`)
		b.post("settings/addresses", "address", "no address").shows(http.StatusUnprocessableEntity,
			"is no e-mail address")
		b.post("settings/addresses", "address", "Ann@Example.org").at("settings?done=address-added").
			shows(http.StatusOK, "ann@example.org not verified yet")
		b.post("settings/addresses/main", "address", "ann@example.org").shows(http.StatusNotFound)
		root.post("people/ann", "do", "verify", "address", "ann@example.org").shows(http.StatusOK)
		b.get("settings").shows(http.StatusOK, "ann@example.org main address")
		b.post("settings/addresses", "address", "lee@example.org").shows(http.StatusOK,
			"lee@example.org not verified yet")
		root.post("people/ann", "do", "verify", "address", "lee@example.org").shows(http.StatusOK, "lee@example.org")
		b.post("settings/addresses/main", "address", "lee@example.org").shows(http.StatusOK,
			"lee@example.org main address")
		b.post("settings/addresses/remove", "address", "lee@example.org").shows(http.StatusNotFound)
	})
}

// Anyone who goes takes their calendars along, and is gone; the last administrator stays.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		root := h.admin()
		ann := h.user("ann")
		_, err := h.calendars.CreateCalendar(t.Context(),
			calendar.Caller{User: ann, Scopes: calendar.ScopeAll}, calendar.NewCalendar{
				Segment: "work", Properties: calendar.Properties{Name: "Work", Kinds: calendar.Kinds{calendar.Event}},
			})
		h.must(err)
		b := h.as("ann")
		file := b.get("export").shows(http.StatusOK)
		archive, err := zip.NewReader(bytes.NewReader([]byte(file.body)), int64(len(file.body)))
		h.must(err)
		if len(archive.File) != 1 || archive.File[0].Name != "work.ics" {
			t.Errorf("the export has %v", archive.File)
		}
		b.get("delete").shows(http.StatusOK, "the calendar Work")
		b.post("delete", "name", "").shows(http.StatusUnprocessableEntity, "Type your user name, ann, to confirm")
		b.post("delete", "name", "ann").at("sign-in?done=deleted").shows(http.StatusOK, "The account is deleted")
		b.get("").at("sign-in?next=")
		if _, err := h.auth.User(t.Context(), "ann"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("ann: %v", err)
		}
		h.user("bob")
		h.as(root.Name).post("delete", "name", "root").shows(http.StatusUnprocessableEntity, "the only administrator")
	})
}

// here is where programs of the tests are.
var here = netip.MustParseAddr("198.51.100.7")

// Nobody signs in as a room: no link, no password and no role make a way in, and a session or password from before is
// none.
func TestRoomsNeverSignIn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		root := h.as("root")
		blue, err := h.auth.CreateUser(t.Context(), auth.NewUser{
			Name: "blue", Email: "blue@example.org", Password: rightPassword,
			Room: calendar.Room{Kind: calendar.RoomToMeet},
		})
		h.must(err)
		root.get("people").shows(http.StatusOK, "One user.").hides("blue@example.org")
		root.get("people?q=blue").shows(http.StatusOK, "No users found")
		root.get("rooms").shows(http.StatusOK, "blue blue@example.org room")
		// The page of a room's limits has nothing that only users have; the room's own page deletes it.
		root.get("people/blue").shows(http.StatusOK, "rooms and resources cannot sign in", "Limits").
			hides("Make administrator", "Send password reset link", "Send invitation again", "Delete the user",
				"Name and address")
		for _, do := range []string{"reset", "admin"} {
			root.post("people/blue", "do", do).shows(http.StatusUnprocessableEntity,
				"Blue is a room: rooms and resources cannot sign in")
		}
		h.browser().post("sign-in", "name", "blue", "password", rightPassword).shows(http.StatusUnprocessableEntity,
			"did not match")
		if _, err := h.auth.VerifyBasic(t.Context(), "blue", rightPassword, here); err == nil {
			t.Error("the room's password opens a door to programs")
		}
		if err := h.auth.SetPassword(t.Context(), "blue", "another password"); calendar.ReasonOf(err) !=
			calendar.Invalid {
			t.Errorf("a password for a room: %v", err)
		}
		if _, _, err := h.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "blue", Name: "x", Scopes: calendar.ScopeAll,
		}); calendar.ReasonOf(err) != calendar.Invalid {
			t.Errorf("a token for a room: %v", err)
		}
		if now, err := h.auth.User(t.Context(), "blue"); err != nil || now != blue {
			t.Errorf("the room is %+v, %v", now, err)
		}
	})
}

// The last administrator stays, also when others are disabled.
func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		root := h.as("root")
		alone := "This is the only administrator: make another user an administrator first"
		root.post("delete", "name", "root").shows(http.StatusUnprocessableEntity, alone)
		_, err := h.auth.CreateUser(h.Context(), auth.NewUser{Name: "zoe", Invited: true, Admin: true})
		h.must(err)
		root.post("delete", "name", "root").shows(http.StatusUnprocessableEntity,
			"the only administrator who can sign in")
		h.user("ann")
		root.post("people/ann", "do", "admin").at("people/ann?done=saved")
		root.post("people/ann", "do", "disable").at("people/ann?done=saved")
		root.post("people/zoe", "do", "disable").at("people/zoe?done=saved")
		root.post("delete", "name", "root").shows(http.StatusUnprocessableEntity, alone)
		root.post("people/ann", "do", "enable").at("people/ann?done=saved")
		root.post("delete", "name", "root").at("sign-in?done=deleted")
		ann := h.as("ann")
		ann.post("delete", "name", "ann").shows(http.StatusUnprocessableEntity, alone)
	})
}

// One button ends sessions, app passwords, what assistants were granted, codes on their way and links to choose a
// password. The password stays.
func TestEndAccess(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		h.user("bob")
		root, ann, bob, a := h.as("root"), h.as("ann"), h.as("bob"), h.program(claudeRedirect)
		_, password, err := h.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "ann", Name: "phone", Scopes: calendar.ScopeAll,
		})
		h.must(err)
		granted := a.tokens(ann)
		code := ann.allow(a).Query().Get("code")
		key := strings.TrimPrefix(root.post("people/ann", "do", "reset").secret(), h.server.URL+"/account/")
		root.post("people/ann", "do", "end-access").at("people/ann?done=saved")

		ann.get("").at("sign-in?next=")
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", string(password), here); err == nil {
			t.Error("the app password is still good")
		}
		h.lets(granted.text("access_token"), false)
		a.refresh(granted.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
		a.exchange(code).is(h, http.StatusBadRequest, "invalid_grant")
		h.browser().get(key).shows(http.StatusNotFound)
		bob.get("").at("")
		h.as("ann").get("").at("")
	})
}

// A code from before its user was disabled stays dead when they are enabled again.
func TestCodeOfDisabledUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		root, ann, a := h.as("root"), h.as("ann"), h.program(claudeRedirect)
		first, second := ann.allow(a).Query().Get("code"), ann.allow(a).Query().Get("code")
		root.post("people/ann", "do", "disable").at("people/ann?done=saved")
		a.exchange(first).is(h, http.StatusBadRequest, "invalid_grant")
		root.post("people/ann", "do", "enable").at("people/ann?done=saved")
		for _, code := range []string{first, second} {
			a.exchange(code).is(h, http.StatusBadRequest, "invalid_grant")
		}
		a.tokens(h.as("ann"))
	})
}

// The page of users searches, shows fifty at a time, and says when each was last seen.
func TestPeoplePages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		for i := range 120 {
			name := fmt.Sprintf("user%03d", i)
			_, err := h.auth.CreateUser(t.Context(), auth.NewUser{
				Name: name, DisplayName: fmt.Sprintf("Person Ännchen %d", i), Email: name + "@example.com",
				Invited: true,
			})
			h.must(err)
		}
		root := h.as("root")
		root.get("people").shows(http.StatusOK, "Users 1 to 50 of 121", "last seen just now", "user048", "Next").
			hides("user049", "Previous")
		root.get("people?page=2").shows(http.StatusOK, "Users 51 to 100 of 121", "user049", "Previous", "Next")
		root.get("people?page=3").shows(http.StatusOK, "Users 101 to 121 of 121", "user119", "Previous").hides(">Next<")
		for _, page := range []string{"99", "-1", "x", "99999999999999999999"} {
			root.get("people?page="+page).shows(http.StatusOK, "of 121")
		}
		root.get("people?q=ännchen+11").shows(http.StatusOK, "Users 1 to 11 of 11", "user011", "user110", "Show all")
		root.get("people?q=USER005@example").shows(http.StatusOK, "One user", "user005").hides("user006")
		root.get("people?q=nobody").shows(http.StatusOK, "No users found")
		root.get("people?q=person&page=2").shows(http.StatusOK, "Users 51 to 100 of 120").
			hides(`href="/account/people?page=3"`)
	})
}

// An administrator changes a user's name, address and zone, and deletes a user whose name they typed.
func TestEditAndDeletePerson(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		root := h.as("root")
		root.post("people/ann", "do", "profile", "display-name", "Ann", "email", "no address",
			"timezone", "Asia/Tokyo").shows(http.StatusUnprocessableEntity, "is no e-mail address")
		root.post("people/ann", "do", "profile", "display-name", "Ann", "email", "a@example.com", "timezone", "Mars").
			shows(http.StatusUnprocessableEntity, "is no time zone")
		root.post("people/ann", "do", "profile", "display-name", "Ann", "email", "a@example.com", "timezone",
			"Asia/Tokyo").at("people/ann?done=saved")
		u, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if u.DisplayName != "Ann" || u.Email != "a@example.com" || u.Timezone != "Asia/Tokyo" {
			t.Errorf("saved: %+v", u)
		}
		root.post("people/ann", "do", "delete", "name", "an").
			shows(http.StatusUnprocessableEntity, "Type the user name")
		root.post("people/root", "do", "delete", "name", "root").
			shows(http.StatusUnprocessableEntity, "your own account")
		h.as("ann").post("people/root", "do", "delete", "name", "root").shows(http.StatusNotFound)
		root.post("people/ann", "do", "delete", "name", "ann", "calendars", "give").
			shows(http.StatusUnprocessableEntity, "Enter the user name of the new owner")
		root.post("people/ann", "do", "delete", "name", "ann").
			shows(http.StatusUnprocessableEntity, "choose to delete the calendars")
		root.post("people/ann", "do", "delete", "name", "ann", "calendars", "delete").at("people?done=user-deleted").
			shows(http.StatusOK, "The user is deleted")
		if _, err := h.auth.User(t.Context(), "ann"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("ann after deletion: %v", err)
		}
	})
}

// An address that another user has, as main or as additional one, verified or not, is refused with the user's name:
// in the form to invite, in a user's profile, and line by line in a list. Users who share one already keep it.
func TestAddressOfAnotherUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		ben := h.user("ben")
		h.must(h.auth.AddAddress(t.Context(), ben, "ben@home.example"))
		root := h.as("root")
		root.post("invite", "name", "ann", "email", "Ann@example.com").shows(http.StatusOK)
		for address, holder := range map[string]string{"aNN@example.com": "ann", "Ben@home.example": "ben"} {
			root.post("invite", "name", "eve", "email", address).shows(http.StatusConflict,
				address+`" is the mail address of the user `+holder+"; two users with one address")
			root.post("people/root", "do", "profile", "email", address).shows(http.StatusConflict,
				address+`" is the mail address of the user `+holder)
		}
		list := "name,email\ncem,x@example.com\neve,X@example.com\nfay,ann@example.com\nben,ANN@example.com\n" +
			"ann,ann@EXAMPLE.com\n"
		root.post("import-users", "do", "preview", "list", list).shows(http.StatusOK,
			"New: 1, changed: 1, unchanged: 0, with errors: 3",
			`"X@example.com" is the mail address of the user cem`,
			`"ann@example.com" is the mail address of the user ann`,
			`"ANN@example.com" is the mail address of the user ann`)
		root.post("import-users", "do", "import", "list", list).shows(http.StatusOK,
			"New: 1, changed: 1, unchanged: 0, with errors: 3")
		if _, err := h.auth.User(t.Context(), "eve"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("eve: %v", err)
		}
		root.post("people/ben", "do", "drop-address", "address", "ben@home.example").at("people/ben?done=saved")
		root.post("invite", "name", "eve", "email", "ben@home.example").shows(http.StatusOK)
		// Two users who share an address from before.
		h.must(h.store.ChangeUser(t.Context(), ben.ID, auth.UserEdit{Email: new("ann@example.com")}))
		root.post("people/ben", "do", "profile", "email", "ann@example.com", "display-name", "Ben").
			at("people/ben?done=saved")
	})
}

// A user who has no way to sign in yet gets the invitation again, for a week and with the invitation's mail: from the
// user's page, and from "Forgot your password?", also when the first one has expired. Others get a reset link.
func TestInvitationAgain(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		post := new(carrier)
		h := open(t, database, func(c *web.Config) { c.Passlinks = post })
		h.admin()
		h.user("ben")
		root := h.as("root")
		root.get("people/ben").shows(http.StatusOK, "Send password reset link").hides("Send invitation again")
		first := root.post("invite", "name", "ann", "email", "ann@example.com").secret()
		root.get("people/ann").shows(http.StatusOK, "Send invitation again").hides("Send password reset link")
		again := root.post("people/ann", "do", "invite").shows(http.StatusOK,
			"You can also give ann this link. It is shown only now", "8 May").secret()
		root.get("people").shows(http.StatusOK, "invitation until")
		path := func(link string) string { return strings.TrimPrefix(link, h.server.URL+"/account/") }
		h.browser().get(path(first)).shows(http.StatusNotFound)
		h.browser().get(path(again)).shows(http.StatusOK, "You are invited")

		h.pass(9 * 24 * time.Hour)
		h.browser().get(path(again)).shows(http.StatusNotFound)
		h.browser().post("sign-in/forgotten", "name", "ann@example.com").shows(http.StatusOK, "on its way")
		mails := post.sent(t, 3)
		mailed, ok := strings.CutPrefix(mails[2], "ann@example.com invitation ")
		if !ok {
			t.Fatalf("mailed: %q", mails)
		}
		h.pass(6 * 24 * time.Hour)
		h.browser().post(path(mailed), "password", rightPassword, "again", rightPassword).at("/calendar/week/")
		h.as("root").get("people/ann").shows(http.StatusOK, "Send password reset link").hides("Send invitation again")
	})
}
