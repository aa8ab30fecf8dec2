package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

func (c *carrier) SendForgotten(_ context.Context, u calendar.User, link string, _ time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, u.Email+" forgotten "+link)
	return c.fails
}

// sent waits for a number of mails, and returns them.
func (c *carrier) sent(t *testing.T, n int) []string {
	t.Helper()
	for range 500 {
		c.mu.Lock()
		links := append([]string(nil), c.links...)
		c.mu.Unlock()
		if len(links) >= n {
			return links
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("%d mails did not come", n)
	return nil
}

// A user who has forgotten the password gets a link by mail. The page says the same about users who do not exist, have
// no address, no password or are disabled, and those get no mail.
func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		post := new(carrier)
		h := open(t, database, func(c *web.Config) { c.Passlinks = post })
		for name, email := range map[string]string{
			"ann": "ann@example.com", "bob": "", "cat": "shared@example.com", "dan": "",
			"eve": "eve@example.com",
		} {
			_, err := h.auth.CreateUser(t.Context(), auth.NewUser{Name: name, Email: email, Password: rightPassword})
			h.must(err)
		}
		dan, err := h.auth.User(t.Context(), "dan")
		h.must(err)
		h.must(h.store.ChangeUser(t.Context(), dan.ID, auth.UserEdit{Email: new("shared@example.com")}))
		_, err = h.auth.ChangeUser(t.Context(), "eve", auth.UserEdit{Disabled: new(true)})
		h.must(err)
		// The administrator has cancelled her invitation.
		fay, err := h.auth.CreateUser(t.Context(), auth.NewUser{Name: "fay", Email: "fay@example.com", Invited: true})
		h.must(err)
		_, _, err = h.auth.CreatePasswordLink(t.Context(), "fay", auth.Invitation)
		h.must(err)
		h.must(h.auth.DropPasswordLinks(t.Context(), fay))
		b := h.browser()
		b.get("sign-in").shows(http.StatusOK, "Forgot your password?")
		b.get("sign-in/forgotten?name=ann").shows(http.StatusOK, "User name or mail address")
		b.post("sign-in/forgotten", "name", "").shows(http.StatusUnprocessableEntity, "Enter your user name")
		same := b.post("sign-in/forgotten", "name", "ann").shows(http.StatusOK, "on its way").text()
		for _, name := range []string{"bob", "shared@example.com", "eve", "fay", "nobody", "no body@", "ann"} {
			if name == "nobody" {
				h.pass(time.Hour) // the network's limit
			}
			if got := b.post("sign-in/forgotten", "name", name).shows(http.StatusOK).text(); got != same {
				t.Errorf("about %s the page says %q, about ann %q", name, got, same)
			}
		}
		links := post.sent(t, 2)
		last := links[len(links)-1]
		key, ok := strings.CutPrefix(last, "ann@example.com forgotten "+h.server.URL+"/account/")
		if !ok || len(links) != 2 {
			t.Fatalf("mailed: %q", links)
		}
		b.post(key, "password", "another password", "again", "another password").at("/calendar/week/").
			shows(http.StatusOK, "Sign out")
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusUnprocessableEntity)
		for _, name := range []string{"ann", "Ann@Example.com"} {
			h.browser().post("sign-in", "name", name, "password", "another password").shows(http.StatusOK, "Sign out")
		}
		h.browser().post("sign-in", "name", "shared@example.com", "password", rightPassword).
			shows(http.StatusUnprocessableEntity)
		h.pass(time.Hour)
		b.post("sign-in/forgotten", "name", "Ann@Example.com").shows(http.StatusOK)
		post.sent(t, 3)
	})
}

// Requests for a new password are limited per name and per network.
func TestForgottenPasswordLimits(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t), func(c *web.Config) { c.Passlinks = new(carrier) })
	b := h.browser()
	for range 5 {
		b.post("sign-in/forgotten", "name", "ann").shows(http.StatusOK)
	}
	b.post("sign-in/forgotten", "name", "ann").shows(http.StatusTooManyRequests)
	b.post("sign-in/forgotten", "name", "bob").shows(http.StatusTooManyRequests)
	h.pass(10 * time.Minute)
	b.post("sign-in/forgotten", "name", "bob").shows(http.StatusOK)
}

// A server without mail says what to do instead.
func TestForgottenPasswordWithoutMail(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t))
	b := h.browser()
	b.get("sign-in/forgotten").shows(http.StatusOK, "sends no mail", "Ask its administrator").hides("<input")
	b.post("sign-in/forgotten", "name", "ann").shows(http.StatusOK, "sends no mail")
}

// A new user is asked for name and time zone first, and offered a passkey. The page comes once.
func TestWelcome(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.browser()
		first := b.post("sign-in", "name", "ann", "password", rightPassword).at("welcome").
			shows(http.StatusOK, "Your name, as others see it", "time zone Europe/Berlin", "Skip")
		if !strings.Contains(first.body, `value="Europe/Berlin"`) {
			t.Errorf("the page does not have the user's zone:\n%s", first.body)
		}
		b.post("welcome", "display-name", "Ann", "timezone", "Mars/Base").shows(http.StatusUnprocessableEntity).
			shows(http.StatusUnprocessableEntity, "is no time zone")
		b.post("welcome", "display-name", "Ann Lee", "timezone", "Asia/Tokyo").at("/calendar/week/")
		u, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if u.DisplayName != "Ann Lee" || u.Timezone != "Asia/Tokyo" {
			t.Errorf("saved: %+v", u)
		}
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).at("/calendar/week/")

		h.user("bob")
		h.browser().post("sign-in", "name", "bob", "password", rightPassword, "next", "calendars").at("calendars")
		h.browser().post("sign-in", "name", "bob", "password", rightPassword).at("/calendar/week/")
		h.user("old")
		h.pass(15 * 24 * time.Hour)
		h.browser().post("sign-in", "name", "old", "password", rightPassword).at("/calendar/week/")
	})
}

// An administrator's first page checks the server from outside, also if the first start made a token for them. Codes
// for phones appear only if phones can connect.
func TestFirstPageOfAdministrator(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		found := []web.Check{
			{Name: "answers", Result: "ok"},
			{Name: "encrypted", Result: "ok"},
			{Name: "apps", Result: "ok"},
			{Name: "endpoint", Result: "failed", Detail: "404 <b>", Mend: "pass /mcp on"},
		}
		h := open(t, url, reachable, func(c *web.Config) {
			c.Checks = func(context.Context) ([]web.Check, error) { return found, nil }
		})
		h.user("adam")
		_, err := h.auth.ChangeUser(t.Context(), "adam", auth.UserEdit{Admin: new(true)})
		h.must(err)
		_, _, err = h.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "adam", Name: "first start", Scopes: calendar.ScopeAll,
		})
		h.must(err)
		b := h.browser()
		b.post("sign-in", "name", "adam", "password", rightPassword, "next", "/calendar/").at("welcome").
			shows(http.StatusOK,
				"Your name, as others see it", "Can others reach this server?", "HTTPS : works",
				"The address for assistants (MCP) : does not work", "404 <b>. pass /mcp on",
				"Sign-in of assistants on the web : not checked", "Phones can connect with a code").
			hides("404 <b>")
		b.post("welcome", "timezone", "Mars/Base").shows(http.StatusUnprocessableEntity).
			hides("Can others reach this server?")
		found[1].Result = "failed"
		b.get("checks").shows(http.StatusOK, "HTTPS : does not work", "Phones cannot connect until").
			hides("connect/apple")
		found[1].Result = "ok"
		h.user("ann")
		b = h.browser()
		b.post("sign-in", "name", "ann", "password", rightPassword).at("welcome").
			shows(http.StatusOK, "connect your phone").hides("Can others reach this server?")
		b.get("checks").shows(http.StatusNotFound)
	})
}

// Without a public address the page says how to get one.
func TestFirstPageWithoutPublicAddress(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t))
	h.user("adam")
	_, err := h.auth.ChangeUser(t.Context(), "adam", auth.UserEdit{Admin: new(true)})
	h.must(err)
	h.browser().post("sign-in", "name", "adam", "password", rightPassword).at("welcome").
		shows(http.StatusOK, "has no public address yet", "Set BASE_URL").hides("connect/apple")
}

// One form invites a user, with their time zone, and shares the inviter's calendars with them.
func TestInviteAndShare(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		admin := h.admin()
		c := calendar.Caller{User: admin, Scopes: calendar.ScopeAll}
		var ids []string
		for _, name := range []string{"Family", "Work", "Secret"} {
			cal, err := h.calendars.CreateCalendar(t.Context(), c, calendar.NewCalendar{
				Properties: calendar.Properties{Name: name},
			})
			h.must(err)
			ids = append(ids, string(cal.ID))
		}
		root := h.as("root")
		root.get("invite").shows(http.StatusOK, "Family", "Work", "Time zone")
		root.post("invite", "name", "a/b", "timezone", "Asia/Tokyo", "share-"+ids[0], "write").
			shows(http.StatusUnprocessableEntity, "is no user name")
		root.post("invite", "name", "ann", "timezone", "Mars").shows(http.StatusUnprocessableEntity, "is no time zone")
		root.post("invite", "name", "ann", "language", "xx").shows(http.StatusUnprocessableEntity, "no language")
		made := root.post("invite", "name", "ann", "timezone", "Asia/Tokyo", "language", "fr",
			"share-"+ids[0], "write", "share-"+ids[1], "busy", "share-"+ids[2], "").
			shows(http.StatusOK, "Give ann this link").hides("Not shared")
		ann, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if ann.Timezone != "Asia/Tokyo" || ann.Language != "fr" {
			t.Errorf("ann's zone is %q, the language %q", ann.Timezone, ann.Language)
		}
		offers, err := h.calendars.Offers(t.Context(), calendar.Caller{User: ann, Scopes: calendar.ScopeAll})
		h.must(err)
		got := map[string]calendar.Access{}
		for _, o := range offers {
			got[o.From.Name] = o.Access
		}
		if len(got) != 2 || got["Family"] != calendar.WriteAccess || got["Work"] != calendar.FreeBusyAccess {
			t.Errorf("offered: %v", got)
		}
		key := strings.TrimPrefix(made.secret(), h.server.URL+"/account/")
		guest := h.browser()
		guest.get(key).shows(http.StatusOK, "mot de passe")
		guest.post(key, "password", rightPassword, "again", rightPassword).at("welcome")
		guest.get("").shows(http.StatusOK, "vous propose", "Family")

		// Until the invitation is redeemed, a calendar is deleted, and another one is no longer shared.
		made = root.post("invite", "name", "bob", "share-"+ids[0], "read", "share-"+ids[1], "read", "share-"+ids[2],
			"read").shows(http.StatusOK, "Give bob this link")
		h.must(h.calendars.DeleteCalendar(t.Context(), c, calendar.CalendarID(ids[1])))
		bob, err := h.auth.User(t.Context(), "bob")
		h.must(err)
		h.must(h.calendars.Unshare(t.Context(), c, calendar.CalendarID(ids[0]), bob.Name))
		guest = h.browser()
		guest.post(strings.TrimPrefix(made.secret(), h.server.URL+"/account/"), "password", rightPassword, "again",
			rightPassword).at("welcome")
		guest.get("").shows(http.StatusOK, "offers you", "Secret").hides("Family", "Work")
	})
}

// The defaults of new users are a page for administrators, and what the invitation proposes.
func TestDefaultsOfNewUsers(t *testing.T) {
	t.Parallel()
	d, fixed := auth.Defaults{Reminder: calendar.NoReminder}, []string(nil)
	h := open(t, testdb.SQLite(t), func(c *web.Config) {
		c.Defaults = func(context.Context) (auth.Defaults, []string, error) { return d, fixed, nil }
		c.SetDefaults = func(_ context.Context, to auth.Defaults) error {
			d = to
			return to.Validate()
		}
	})
	h.admin()
	h.user("ann")
	h.as("ann").get("defaults").shows(http.StatusNotFound)
	root := h.as("root")
	root.get("defaults").shows(http.StatusOK, "New users begin with these settings")
	root.post("defaults", "timezone", "Mars").shows(http.StatusUnprocessableEntity, "is no time zone")
	root.post("defaults", "timezone", "Asia/Tokyo", "language", "de", "week-start", "sun", "clock", "12",
		"reminder", "30").shows(http.StatusOK, "Saved")
	want := auth.Defaults{
		Timezone: "Asia/Tokyo", Language: "de", WeekStart: "sun", Clock: "12", WeekNumbersOff: true, Reminder: 30,
	}
	if d != want {
		t.Errorf("saved %+v", d)
	}
	page := root.get("invite").shows(http.StatusOK)
	if !strings.Contains(page.body, `value="Asia/Tokyo"`) || !strings.Contains(page.body, `value="de" selected`) {
		t.Errorf("the invitation lacks the defaults:\n%s", page.body)
	}
	fixed = []string{"NEW_USER_CLOCK"}
	root.get("defaults").shows(http.StatusOK, "set where the server is started", "NEW_USER_CLOCK")
	root.post("defaults", "clock", "24").shows(http.StatusUnprocessableEntity, "NEW_USER_CLOCK")
	if d != want {
		t.Errorf("saved %+v", d)
	}
}
