package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"caldav-mcp-server/auth/passkey/passkeytest"
	"caldav-mcp-server/web"
)

// named makes the pages known by a name with https, as behind a proxy.
func named(c *web.Config) {
	c.BaseURL = &url.URL{Scheme: "https", Host: "calendar.example.org"}
}

// tls makes a browser's cookies go to the test's server as if it had https.
type tls struct{ next http.RoundTripper }

func (t tls) RoundTrip(r *http.Request) (*http.Response, error) {
	plain := r.Clone(r.Context())
	plain.URL.Scheme = "http"
	res, err := t.next.RoundTrip(plain)
	if err == nil {
		res.Request = r
	}
	return res, err
}

// secure is a browser that comes by https.
func (h *house) secure() *browser {
	b := h.browser()
	b.client.Transport = tls{http.DefaultTransport}
	b.https = true
	return b
}

// options are what a page asks the browser for.
func (s shown) options() string {
	s.b.Helper()
	found := regexp.MustCompile(`data-options="([^"]*)"`).FindStringSubmatch(s.body)
	if found == nil {
		s.b.Fatalf("/account/%s asks for no passkey:\n%s", s.path, s.body)
	}
	return html.UnescapeString(found[1])
}

func phone() *passkeytest.Authenticator {
	return &passkeytest.Authenticator{Origin: "https://calendar.example.org", Host: "calendar.example.org", Counter: 1}
}

// make makes a passkey and returns the recovery codes' page.
func (b *browser) make(a *passkeytest.Authenticator) shown {
	b.Helper()
	form := b.get("security/passkey").shows(http.StatusOK)
	answer, err := a.Make(form.options())
	b.must(err)
	return b.post("security/passkey", "sealed", form.hidden("sealed"), "name", "Phone", "answer", answer)
}

// use signs in with a passkey.
func (b *browser) use(a *passkeytest.Authenticator) (s shown, fields []string) {
	b.Helper()
	form := b.get("sign-in")
	answer, err := a.Use(form.options())
	b.must(err)
	fields = []string{"sealed", form.hidden("sealed"), "answer", answer, "next", "security"}
	return b.post("sign-in/passkey", fields...), fields
}

// A passkey is made, signs in by itself, and is removed.
func TestPasskey(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.secure(), phone()
		b.post("sign-in", "name", "ann", "password", rightPassword)
		b.make(a).shows(http.StatusOK, "Your recovery codes")
		b.get("security").shows(http.StatusOK, "Phone created Fri 1 May, last used never", "10 are left")

		other := h.secure()
		s, fields := other.use(a)
		s.at("security").shows(http.StatusOK, "by passkey", "last used just now")
		// the same signature again
		h.secure().post("sign-in/passkey", fields...).shows(http.StatusUnprocessableEntity, "did not match")
		step := h.secure().post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusOK,
			"One more step", "Recovery code")
		if step.options() == "" {
			t.Error("the second step offers no passkey")
		}

		h.pass(time.Hour)
		form := other.get("delete").shows(http.StatusOK, "Confirm that it is you")
		answer, err := a.Use(form.options())
		h.must(err)
		other.post("confirm/passkey", "sealed", form.hidden("sealed"), "answer", answer, "next", "delete").at("delete")
		id := other.get("security").hidden("id")
		other.post("security/passkey/remove", "id", id).shows(http.StatusOK, "Removed").hides("are left")
		s, _ = h.secure().use(a)
		s.shows(http.StatusUnprocessableEntity, "did not match")
	}, named)
}

// The first passkey ends what the password alone had opened; the next one ends nothing.
func TestFirstPasskeyEndsSessions(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, thief, a := h.secure(), h.secure(), phone()
		for _, one := range []*browser{b, thief} {
			one.post("sign-in", "name", "ann", "password", rightPassword)
		}
		b.make(a).shows(http.StatusOK, "Your recovery codes")
		thief.get("security").at("sign-in?next=security")
		other := h.secure()
		if s, _ := other.use(a); s.status != http.StatusOK {
			t.Fatalf("signing in with the passkey: %d", s.status)
		}
		b.make(phone()).at("security?done=passkey-added")
		other.get("security").at("security")

		h.pass(time.Hour)
		b.get("delete").shows(http.StatusOK, "Recovery code")
		b.post("confirm", "password", rightPassword, "next", "delete").shows(http.StatusUnprocessableEntity,
			"did not match")
	}, named)
}

// What is not from here, not from the owner, or copied, is refused alike.
func TestPasskeyRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.user("bob")
		b, a := h.secure(), phone()
		b.post("sign-in", "name", "ann", "password", rightPassword)
		for what, spoil := range map[string]func(*passkeytest.Authenticator){
			"another origin": func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example" },
			"another host":   func(a *passkeytest.Authenticator) { a.Host = "evil.example" },
			"no owner":       func(a *passkeytest.Authenticator) { a.Unverified = true },
		} {
			bad := phone()
			spoil(bad)
			if s := b.make(bad); s.status != http.StatusUnprocessableEntity {
				t.Errorf("made with %s: %d", what, s.status)
			}
		}
		b.make(a).shows(http.StatusOK)
		for what, spoil := range map[string]func(*passkeytest.Authenticator){
			"another origin": func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example" },
			"another host":   func(a *passkeytest.Authenticator) { a.Host = "evil.example" },
			"no owner":       func(a *passkeytest.Authenticator) { a.Unverified = true },
		} {
			bad := *a
			spoil(&bad)
			if s, _ := h.secure().use(&bad); s.status != http.StatusUnprocessableEntity {
				t.Errorf("used with %s: %d", what, s.status)
			}
		}
		late := h.secure()
		form := late.get("sign-in")
		answer, err := a.Use(form.options())
		h.must(err)
		other := late.get("sign-in").hidden("sealed")
		late.post("sign-in/passkey", "sealed", other, "answer", answer).shows(http.StatusUnprocessableEntity,
			"did not match")
		late.post("sign-in/passkey", "sealed", form.hidden("sealed"), "answer", "{}").
			shows(http.StatusUnprocessableEntity)
		h.pass(10 * time.Minute)
		late.post("sign-in/passkey", "sealed", form.hidden("sealed"), "answer", answer).
			shows(http.StatusUnprocessableEntity, "took too long")

		// A copy of the passkey is behind the original.
		copied := *a
		if s, _ := h.secure().use(a); s.status != http.StatusOK {
			t.Errorf("the original: %d", s.status)
		}
		if s, _ := h.secure().use(&copied); s.status != http.StatusUnprocessableEntity {
			t.Errorf("a copy: %d", s.status)
		}

		// Bob's session is not proved by ann's finger.
		bob := h.secure()
		bob.post("sign-in", "name", "bob", "password", rightPassword)
		bobs := phone()
		bob.make(bobs).shows(http.StatusOK)
		h.pass(time.Hour)
		ask := bob.get("delete")
		answer, err = a.Use(ask.options())
		h.must(err)
		bob.post("confirm/passkey", "sealed", ask.hidden("sealed"), "answer", answer, "next", "delete").
			shows(http.StatusUnprocessableEntity, "did not match")
	}, named)
}

// By an address alone browsers make no passkeys, so none are offered.
func TestNoPasskeysWithoutName(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		b.get("security").shows(http.StatusOK, "only for a name with https")
		b.get("security/passkey").shows(http.StatusNotFound)
		h.browser().get("sign-in").hides("passkey")
		h.browser().post("sign-in/passkey", "sealed", "x").shows(http.StatusNotFound)
	})
}
