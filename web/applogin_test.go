package web_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

// anApp is an app that signs in by Nextcloud's login flow, with the requests that DAVx⁵ sends.
type anApp struct {
	*browser
	// page is the path of the page where its user answers, token its own token.
	page, token string
}

const davx5 = "DAVx5/4.5.2-ose (dav4jvm; okhttp/5.1.0) Android/15"

func (h *house) app(agent string) *anApp {
	h.Helper()
	a := &anApp{browser: h.browser()}
	a.agent = agent
	s := a.post("/index.php/login/v2").shows(http.StatusOK)
	var start struct {
		Poll  struct{ Token, Endpoint string }
		Login string
	}
	h.must(json.Unmarshal([]byte(s.body), &start))
	if want := h.server.URL + "/index.php/login/v2/poll"; start.Poll.Endpoint != want {
		h.Errorf("the app shall poll at %q, want %q", start.Poll.Endpoint, want)
	}
	page, ok := strings.CutPrefix(start.Login, h.server.URL+"/account/")
	if !ok || start.Poll.Token == "" || strings.Contains(start.Login, start.Poll.Token) {
		h.Fatalf("the flow begins with %+v", start)
	}
	a.page, a.token = page, start.Poll.Token
	return a
}

func (a *anApp) poll() shown {
	a.Helper()
	return a.post("/index.php/login/v2/poll", "token", a.token)
}

// An app gets a password of its own once its user has allowed it in a browser. The password is listed and revocable.
func TestAppLogin(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		app := h.app(davx5)
		app.poll().shows(http.StatusNotFound)

		b := h.browser()
		b.get(app.page).at("sign-in?next=" + url.QueryEscape(app.page))
		b.post("sign-in", "name", "ann", "password", rightPassword, "next", app.page).at(app.page).shows(http.StatusOK,
			"calls itself “DAVx⁵”", davx5, "192.0.2.1", "only if you started it yourself")
		app.poll().shows(http.StatusNotFound)
		b.post(app.page, "answer", "allow").shows(http.StatusOK, "go back to the app")
		b.get("apps").hides("DAVx⁵")

		var got struct{ Server, LoginName, AppPassword string }
		h.must(json.Unmarshal([]byte(app.poll().shows(http.StatusOK).body), &got))
		if got.Server != h.server.URL || got.LoginName != "ann" {
			t.Errorf("the app got %+v", got)
		}
		c, err := h.auth.VerifyBasic(t.Context(), got.LoginName, got.AppPassword, netip.MustParseAddr("192.0.2.9"))
		h.must(err)
		if c.User.Name != "ann" || c.Scopes != calendar.ScopeAll {
			t.Errorf("the app's caller is %+v", c)
		}
		app.poll().shows(http.StatusNotFound)
		b.get("apps").shows(http.StatusOK, "DAVx⁵")
		b.post(app.page, "answer", "allow").shows(http.StatusConflict, "answered already")
		b.post("apps/"+string(c.Token)+"/revoke").shows(http.StatusOK, "Revoked")
		_, err = h.auth.VerifyBasic(t.Context(), "ann", got.AppPassword, netip.MustParseAddr("192.0.2.9"))
		if err == nil {
			t.Error("the app's password works after it was revoked")
		}
	})
}

// The password of an app reaches the calendars of people who made its user their delegate only if the user ticks a
// box, which is shown to delegates.
func TestAppLoginForDelegates(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.user("bob")
		const box = "calendars of people who made you their delegate"
		b := h.as("bob")
		b.get(h.app(davx5).page).shows(http.StatusOK).hides(box)
		h.as("ann").post("delegates", "with", "bob", "access", "write").shows(http.StatusOK)
		for _, ticked := range []string{"", "yes"} {
			app := h.app(davx5)
			b.get(app.page).shows(http.StatusOK, box, "ann")
			b.post(app.page, "answer", "allow", "others", ticked).shows(http.StatusOK, "go back to the app")
			var got struct{ LoginName, AppPassword string }
			h.must(json.Unmarshal([]byte(app.poll().shows(http.StatusOK).body), &got))
			c, err := h.auth.VerifyBasic(t.Context(), got.LoginName, got.AppPassword, netip.MustParseAddr("192.0.2.9"))
			h.must(err)
			if c.ForOthers != (ticked != "") {
				t.Errorf("with the box %q, the app's caller is %+v", ticked, c)
			}
		}
	})
}

// The user proves their identity anew, may refuse, and has twenty minutes. Other access that ends takes the answer
// along.
func TestAppLoginRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		b := h.as("ann")
		refused := h.app(davx5)
		b.post(refused.page, "answer", "deny").shows(http.StatusOK, "gets no password")
		refused.poll().shows(http.StatusNotFound)
		b.post(refused.page, "answer", "allow").shows(http.StatusConflict)
		refused.poll().shows(http.StatusNotFound)

		ended := h.app(davx5)
		b.post(ended.page, "answer", "allow").shows(http.StatusOK)
		h.must(h.auth.EndAccess(t.Context(), ann))
		ended.poll().shows(http.StatusNotFound)

		b = h.as("ann")
		disabled := h.app(davx5)
		b.post(disabled.page, "answer", "allow").shows(http.StatusOK)
		_, err := h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Disabled: new(true)})
		h.must(err)
		disabled.poll().shows(http.StatusNotFound)
		_, err = h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Disabled: new(false)})
		h.must(err)

		b = h.as("ann")
		late := h.app(davx5)
		h.pass(16 * time.Minute)
		b.get(late.page).at("confirm?next=" + url.QueryEscape(late.page))
		b.post("confirm", "password", rightPassword, "next", late.page).at(late.page).shows(http.StatusOK)
		h.pass(4 * time.Minute)
		b.post(late.page, "answer", "allow").shows(http.StatusNotFound, "has expired")
		late.poll().shows(http.StatusNotFound)

		for _, token := range []string{"", "x", strings.TrimPrefix(h.app(davx5).page, "app-login/")} {
			late.post("/index.php/login/v2/poll", "token", token).shows(http.StatusNotFound)
		}
		b.get("app-login/x").shows(http.StatusNotFound)
		b.get("app-login/" + h.app(davx5).token).shows(http.StatusNotFound)
		b.get("/index.php/login/v2").shows(http.StatusMethodNotAllowed)
		b.get("/index.php/login/flow").shows(http.StatusNotFound)
	})
}

// A flood of requests from one network is slowed down and stores nothing; an app in another network is noticed.
func TestAppLoginFlood(t *testing.T) {
	t.Parallel()
	addresses := map[string]string{"<b>Your bank</b>/1.0": "198.51.100.7", "Flood/1.0": "2001:db8:1::1"}
	each(t, func(h *house) {
		h.user("ann")
		bank := h.app("<b>Your bank</b>/1.0")
		h.as("ann").get(bank.page).shows(http.StatusOK, "in another network", "198.51.100.7", "<b>Your bank<").
			hides("<b>Your bank")
		flood := h.app("Flood/1.0")
		for range 100 {
			flood.post("/index.php/login/v2")
		}
		s := flood.post("/index.php/login/v2").shows(http.StatusTooManyRequests)
		if s.header.Get("Retry-After") == "" {
			t.Error("the refusal does not say when to come back")
		}
		h.app(davx5)
	}, func(c *web.Config) {
		c.ClientAddr = func(r *http.Request) netip.Addr {
			return netip.MustParseAddr(cmp.Or(addresses[r.UserAgent()], "192.0.2.1"))
		}
	})
}

// A page on an Android phone opens DAVx⁵, with the server's address and no secret.
func TestDAVx5Link(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t), func(c *web.Config) {
		c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example.org", Path: "/cal/"}
	})
	h.user("ann")
	b := h.as("ann")
	b.get("connect").hides("intent:")
	b.agent = "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile"
	want := "intent://cal.example.org/cal/#Intent;scheme=caldavs;package=at.bitfire.davdroid;i.loginFlow=1;"
	for _, path := range []string{"connect", "connect/android"} {
		if s := b.get(path).shows(http.StatusOK); !strings.Contains(s.body, want) {
			t.Errorf("%s does not open DAVx⁵:\n%s", path, s.body)
		}
	}
}

// The names of apps in lists come from their User-Agents.
func TestAppLoginNames(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		davx5: "DAVx⁵", "": "App without a name", "Tasks.org/13.8 (Android)": "Tasks.org",
		"Obsidian WebDAV Sync": "Obsidian WebDAV Sync", "Nextcloud (Android)": "Nextcloud",
		"Mozilla/5.0 (Android) Nextcloud-android/3.29": "Mozilla/5.0 (Android) Nextcloud-android/3.29",
		strings.Repeat("x", 200):                       strings.Repeat("x", 60),
	} {
		if got := (auth.AppLogin{Agent: agent}).Name(); got != want {
			t.Errorf("%q is named %q, want %q", agent, got, want)
		}
	}
}
