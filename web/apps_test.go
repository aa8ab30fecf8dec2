package web_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/push"
	"caldav-mcp-server/web"
)

func tokenSpec(user, name string) auth.TokenSpec {
	return auth.TokenSpec{User: user, Name: name, Scopes: calendar.ScopeAll}
}

var tokenText = regexp.MustCompile(`mcp_[\w-]+`)

// An app password is shown once, does what was chosen, and ends when it is revoked.
func TestApps(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		b := h.as("ann")
		b.get("apps").shows(http.StatusOK, "None yet")
		b.post("apps/new", "name", "", "scope", "read", "days", "0").shows(http.StatusUnprocessableEntity,
			"A token needs a name")
		b.post("apps/new", "name", "x", "days", "0").shows(http.StatusUnprocessableEntity, "at least one of the scopes")
		b.post("apps/new", "name", "x", "scope", "all", "days", "0").shows(http.StatusUnprocessableEntity,
			`"all" is no scope`)
		b.post("apps/new", "name", "x", "scope", "read", "days", "1").shows(http.StatusUnprocessableEntity,
			"Choose for how long")
		made := b.post("apps/new", "name", "Claude <b>", "scope", "read", "scope", "write", "calendar", string(work.ID),
			"days", "30").
			shows(http.StatusOK, "Claude <b>", "shown only now", b.server.URL+"/")
		secret := tokenText.FindString(made.body)
		caller, err := h.auth.VerifyBearer(t.Context(), secret, netip.MustParseAddr("192.0.2.7"))
		h.must(err)
		if caller.Scopes != calendar.ScopeRead|calendar.ScopeWrite || len(caller.Calendars) != 1 ||
			caller.Calendars[0] != work.ID {
			t.Errorf("the token is for %v in %v", caller.Scopes, caller.Calendars)
		}
		list := b.get("apps").shows(http.StatusOK, "Claude <b>", "read, change, in: Work", "until Sun 31 May 14:00").
			hides(secret, "<b>")
		revoke := regexp.MustCompile(`apps/[0-9a-f]+/revoke`).FindString(list.body)
		b.post(revoke).shows(http.StatusOK, "It gets in no more").hides("Claude")
		if _, err := h.auth.VerifyBearer(t.Context(), secret, netip.MustParseAddr("192.0.2.7")); err == nil {
			t.Error("a token that was revoked is good")
		}
		h.pass(time.Hour)
		b.get("apps/new?name=Thunderbird").at("confirm?next=apps%2Fnew%3Fname%3DThunderbird")
	})
}

// TestAppsForDelegates: a phone and an app password with a ticked box reach the calendars of people who appointed the
// visitor, others do not, and the list says which do.
func TestAppsForDelegates(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		b := h.as("ann")
		const words = "also of people who made you their delegate"
		b.post("apps/new", "name", "Mail", "scope", "read", "days", "0").shows(http.StatusOK, "Password for Mail")
		b.get("apps").shows(http.StatusOK, "Mail").hides(words)
		b.post("connect/android").shows(http.StatusOK, "DAVx⁵")
		b.get("apps").shows(http.StatusOK, words)
		b.get("apps/new").shows(http.StatusOK, "Also the calendars of people who made you their delegate")
		work := h.made(ann, "Work")
		b.post("apps/new", "name", "x", "scope", "read", "days", "0", "others", "yes", "calendar", string(work.ID)).
			shows(http.StatusUnprocessableEntity, "cannot use the calendars of others")
		b.post("apps/new", "name", "Desk", "scope", "read", "days", "0", "others", "yes").shows(http.StatusOK)
		reach := map[string]bool{}
		all, err := h.auth.Tokens(t.Context(), "ann")
		h.must(err)
		for _, token := range all {
			reach[token.Name] = token.ForOthers
		}
		if diff := cmp.Diff(map[string]bool{"Mail": false, "DAVx⁵": true, "Desk": true}, reach); diff != "" {
			t.Errorf("tokens that reach others' calendars (-want +got):\n%s", diff)
		}
	}, reachable)
}

// What an assistant set up is listed when it is revoked, and after that, and goes where its user says so.
func TestWhatAnAppSetUp(t *testing.T) {
	t.Parallel()
	secret := func(_ context.Context, w calendar.Webhook) (string, error) {
		return push.WebhookSecret([]byte("key"), w)
	}
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		work := h.made(ann, "Work")
		b := h.as("ann")
		token := func(name string) calendar.Caller {
			_, secret, err := h.auth.CreateToken(t.Context(), tokenSpec("ann", name))
			h.must(err)
			caller, err := h.auth.VerifyBearer(t.Context(), string(secret), netip.MustParseAddr("192.0.2.7"))
			h.must(err)
			return caller
		}
		claude, phone := token("Claude <b>"), token("phone")
		_, err := h.calendars.AddWebhook(t.Context(), claude, watch.WebhookSpec{URL: "https://example.org/<i>"})
		h.must(err)
		_, err = h.calendars.Share(t.Context(), claude, work.ID, "bob", calendar.FreeBusyAccess)
		h.must(err)
		b.get("webhooks").shows(http.StatusOK, "by Claude <b>").hides("<b>")
		b.get("calendars/"+string(work.ID)).shows(http.StatusOK, "shared by Claude <b>").hides("<b>")

		made := "apps/" + string(claude.Token) + "/made"
		b.get("apps/"+string(phone.Token)+"/made").shows(http.StatusOK, "phone has created no webhooks")
		h.as("bob").get(made).shows(http.StatusNotFound)
		h.as("bob").post(made, "made", "webhook").shows(http.StatusNotFound)
		b.post("apps/" + string(phone.Token) + "/revoke").at("apps?done=app-revoked")
		page := b.post("apps/"+string(claude.Token)+"/revoke").at(made+"?done=app-revoked").
			shows(http.StatusOK, "no longer has access", "https://example.org/",
				"bob may see busy times in your calendar Work").hides("<i>")
		b.get("apps").shows(http.StatusOK, "Claude <b>", "revoked", "Webhooks and shares").hides("phone")
		b.post(made).shows(http.StatusUnprocessableEntity, "Select what to remove")
		b.get(made).shows(http.StatusOK, "bob may")

		keys := regexp.MustCompile(`name="made" value="([^"]+)"`).FindAllStringSubmatch(page.body, -1)
		if len(keys) != 2 {
			t.Fatalf("offered: %q", keys)
		}
		b.post(made, "made", "webhook 00000000-0000-4000-8000-000000000000", "made", keys[0][1]).
			at("apps?done=removed").shows(http.StatusOK, "Claude")
		b.get("webhooks").shows(http.StatusOK, "None yet")
		b.post(made, "made", keys[0][1], "made", keys[1][1]).at("apps?done=removed").shows(http.StatusOK).
			hides("Claude")
		b.get("calendars/"+string(work.ID)).shows(http.StatusOK, "Not shared")
	}, func(c *web.Config) { c.WebhookSecret = secret })
}

// An Apple device fetches its profile with nobody signed in on it, for ten minutes and as long as its password is good.
func TestProfile(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		b.get("connect").shows(http.StatusOK, "http://cal.example.org:5232/", "claude.ai").hides("cannot connect yet")
		b.get("connect/fridge").shows(http.StatusNotFound)
		page := b.post("connect/apple").shows(http.StatusOK, "10 minutes")
		if !strings.Contains(page.body, "<svg") {
			t.Error("there is no code to scan")
		}
		path := regexp.MustCompile(`/account/profile/[\w-]+`).FindString(page.body)
		device := h.browser()
		first := device.get(path).shows(http.StatusOK)
		second := device.get(path).shows(http.StatusOK)
		if first.header.Get("Content-Type") != "application/x-apple-aspen-config" || first.body != second.body {
			t.Errorf("the profile came as %s, twice the same: %t", first.header.Get("Content-Type"),
				first.body == second.body)
		}
		keys := plistKeys(t, first.body)
		secret := keys["CalDAVPassword"]
		for key, want := range map[string]string{
			"CalDAVHostName": "cal.example.org", "CalDAVUsername": "ann", "CalDAVPrincipalURL": "/",
			"CalDAVPort":     "5232",
			"PayloadVersion": "1", "CalDAVPassword": tokenText.FindString(page.body),
		} {
			if keys[key] != want {
				t.Errorf("%s is %q, want %q", key, keys[key], want)
			}
		}
		caller, err := h.auth.VerifyBasic(t.Context(), "ann", secret, netip.MustParseAddr("192.0.2.7"))
		h.must(err)
		device.get(path+"x").shows(http.StatusUnprocessableEntity, "That took too long")
		h.must(h.auth.RevokeToken(t.Context(), caller.Token))
		device.get(path).shows(http.StatusUnprocessableEntity).hides(secret)
		path = regexp.MustCompile(`/account/profile/[\w-]+`).FindString(b.post("connect/apple").body)
		h.pass(11 * time.Minute)
		device.get(path).shows(http.StatusUnprocessableEntity, "That took too long")
	}, reachable)
}

// reachable gives a house an address that phones can reach.
func reachable(c *web.Config) { c.BaseURL = &url.URL{Scheme: "http", Host: "cal.example.org:5232"} }

// A server that only this machine reaches says so, and makes neither a code nor an app password for a phone.
func TestConnectLocally(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		b.get("connect").shows(http.StatusOK, b.server.URL+"/", "http://127.0.0.1:5233/mcp", "cannot connect yet",
			"works on this machine only", "BASE_URL").hides("claude.ai")
		for _, device := range []string{"connect/apple", "connect/android"} {
			b.get(device).shows(http.StatusOK, "cannot reach this server", "BASE_URL").hides("Show code")
			b.post(device).shows(http.StatusUnprocessableEntity, "cannot reach this server").hides("<svg")
		}
		tokens, err := h.auth.Tokens(t.Context(), "ann")
		h.must(err)
		if len(tokens) != 0 {
			t.Errorf("app passwords were made: %v", tokens)
		}
	})
}

// plistKeys reads a property list's keys with what stands behind each, and finds whether it is well-formed.
func plistKeys(t *testing.T, text string) map[string]string {
	t.Helper()
	d, keys, key, in := xml.NewDecoder(strings.NewReader(text)), map[string]string{}, "", ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return keys
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "key" {
				key = string(token)
			} else if in != "" {
				keys[key] = string(token)
			}
		}
	}
}

// A phone with DAVx⁵ is led to the login screen with everything filled in.
func TestAndroid(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		page := h.as("ann").post("connect/android").shows(http.StatusOK)
		want := "caldav://ann:" + tokenText.FindString(page.body) + "@cal.example.org:5232/"
		if !strings.Contains(page.body, want) {
			t.Errorf("there is no %s in\n%s", want, page.body)
		}
	}, reachable)
}
