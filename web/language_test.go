package web_test

import (
	"net/http"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// speaking is a browser's transport that asks for a language.
type speaking string

func (s speaking) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Language", string(s))
	return http.DefaultTransport.RoundTrip(r)
}

// TestChosenLanguage: pages follow the browser until the user chooses a language. The browser's is kept for mails.
func TestChosenLanguage(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := open(t, database)
		h.user("ann")
		stored := func(language, browser string) {
			t.Helper()
			u, err := h.auth.User(t.Context(), "ann")
			h.must(err)
			if u.Language != language || u.BrowserLanguage != browser {
				t.Errorf("stored %q and %q, want %q and %q", u.Language, u.BrowserLanguage, language, browser)
			}
		}
		b := h.browser()
		b.client.Transport = speaking("de-AT,de;q=0.9")
		b.post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusOK, "Abmelden")
		stored("", "de")
		b.get("settings").shows(http.StatusOK, "Wie der Browser (Deutsch)", "English")
		save := []string{"week-start", "mon", "day", "mon", "opens", "08:00", "closes", "16:00", "timezone", ""}
		b.post("settings", append(save, "language", "en")...).shows(http.StatusOK, "Sign out", "Saved.")
		stored("en", "de")
		b.post("settings", append(save, "language", "tlh")...).shows(http.StatusUnprocessableEntity, "no language")
		b.post("settings", append(save, "language", "")...).shows(http.StatusOK, "Abmelden")
		stored("", "de")
		b.post("settings/addresses", "address", "nowhere").shows(http.StatusUnprocessableEntity,
			"„nowhere“ ist keine E-Mail-Adresse")
	})
}
