package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A malformed form or query is refused with words and changes nothing.
func TestMalformedForms(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		b := h.as("ann")
		for _, path := range []string{"settings", "apps/new", "calendars/new"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.address(path),
				strings.NewReader("name=x&display-name=x&a=%"))
			h.must(err)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			b.send(r).shows(http.StatusUnprocessableEntity, "The address or the form is malformed")
			b.get(path+"?a=%").shows(http.StatusUnprocessableEntity, "is malformed")
		}
		if now, err := h.auth.User(t.Context(), "ann"); err != nil || now != ann {
			t.Errorf("ann is %+v, %v, and was %+v", now, err, ann)
		}
		if tokens, err := h.auth.Tokens(t.Context(), "ann"); err != nil || len(tokens) > 0 {
			t.Errorf("there are tokens: %v, %v", tokens, err)
		}
	})
}

// Where there is no page, and for a page of another site, nothing of what is sent is read: the answer comes while the
// body has yet to.
func TestRefusalsReadNoBody(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for path, want := range map[string]struct {
			status int
			site   string
		}{
			"nope":          {http.StatusNotFound, "same-origin"},
			"static/nope":   {http.StatusNotFound, "same-origin"},
			"sign-in":       {http.StatusForbidden, "cross-site"},
			"calendars/new": {http.StatusForbidden, "cross-site"},
		} {
			for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				body, never := io.Pipe()
				context.AfterFunc(ctx, func() { _ = never.Close() })
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.browser().address(path), body)
				h.must(err)
				r.ContentLength = 5 << 20
				r.Header.Set("Content-Type", kind)
				r.Header.Set("Sec-Fetch-Site", want.site)
				res, err := http.DefaultTransport.RoundTrip(r)
				if err != nil || res.StatusCode != want.status {
					t.Errorf("%s as %s: got %v, %v, want %d", path, kind, res, err, want.status)
				}
				if err == nil {
					_ = res.Body.Close()
				}
				cancel()
			}
		}
	})
}

// Pages and their dates follow the browser's language. English is the fallback.
func TestLanguage(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		for accept, want := range map[string]struct{ tag, signOut, notice string }{
			"":                  {"en", "Sign out", "Saved."},
			"ja":                {"en", "Sign out", "Saved."},
			"de-CH, en;q=0.8":   {"de", "Abmelden", "Gespeichert."},
			"en-GB, de;q=0.5":   {"en", "Sign out", "Saved."},
			"de;q=x,,;,\"<b>\"": {"en", "Sign out", "Saved."},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.address("settings?done=saved"), nil)
			h.must(err)
			r.Header.Set("Accept-Language", accept)
			page := b.send(r).shows(http.StatusOK, want.signOut, want.notice)
			if !strings.Contains(page.body, `<html lang="`+want.tag+`">`) {
				t.Errorf("%q: the language is not %s:\n%.200s", accept, want.tag, page.body)
			}
		}
		for path, texts := range map[string][]string{
			"":         {"Die nächsten zwei Wochen", "Nichts geplant.", "Zeitzone ändern", "Keine Änderungen."},
			"security": {"gerade eben"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.address(path), nil)
			h.must(err)
			r.Header.Set("Accept-Language", "de")
			b.send(r).shows(http.StatusOK, texts...)
		}
		// A notice must be one of ours.
		b.get("settings?done=long").shows(http.StatusOK).hides(`class="notice"`)
		b.get("settings?done=%3Cb%3E").shows(http.StatusOK).hides(`class="notice"`, "<b>")
	})
}
