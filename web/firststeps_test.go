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
			"ann": "ann@example.com", "bob": "", "cat": "shared@example.com", "dan": "shared@example.com",
			"eve": "eve@example.com",
		} {
			_, err := h.auth.CreateUser(t.Context(), auth.NewUser{Name: name, Email: email, Password: rightPassword})
			h.must(err)
		}
		_, err := h.auth.ChangeUser(t.Context(), "eve", auth.UserEdit{Disabled: new(true)})
		h.must(err)
		_, err = h.auth.CreateUser(t.Context(), auth.NewUser{Name: "fay", Email: "fay@example.com", Invited: true})
		h.must(err)
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
		b.post(key, "password", "another password", "again", "another password").at("").shows(http.StatusOK, "Sign out")
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusUnprocessableEntity)
		h.browser().post("sign-in", "name", "ann", "password", "another password").shows(http.StatusOK, "Sign out")
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
		b.post("welcome", "display-name", "Ann Lee", "timezone", "Asia/Tokyo").at("?done=saved").
			shows(http.StatusOK, "Saved")
		u, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if u.DisplayName != "Ann Lee" || u.Timezone != "Asia/Tokyo" {
			t.Errorf("saved: %+v", u)
		}
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).at("")

		h.user("bob")
		h.browser().post("sign-in", "name", "bob", "password", rightPassword, "next", "calendars").at("calendars")
		h.browser().post("sign-in", "name", "bob", "password", rightPassword).at("")
		h.user("old")
		h.pass(15 * 24 * time.Hour)
		h.browser().post("sign-in", "name", "old", "password", rightPassword).at("")
	})
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
		made := root.post("invite", "name", "ann", "timezone", "Asia/Tokyo", "share-"+ids[0], "write",
			"share-"+ids[1], "busy", "share-"+ids[2], "").shows(http.StatusOK, "Give ann this link").hides("Not shared")
		ann, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if ann.Timezone != "Asia/Tokyo" {
			t.Errorf("ann's zone is %q", ann.Timezone)
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
		guest.post(key, "password", rightPassword, "again", rightPassword).at("welcome")
		guest.get("").shows(http.StatusOK, "offers you", "Family")
	})
}
