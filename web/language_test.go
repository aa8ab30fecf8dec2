package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
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

// A page in another language shows errors, their hints and the reasons within them in that language.
func TestErrorsInOtherLanguages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("ben")
		_, err := h.auth.ChangeUser(h.Context(), "ann", auth.UserEdit{Language: new("de")})
		h.must(err)
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "x", "Talk", "DTSTART:20260505T080000Z"))
		b := h.as("ann")
		b.post("delegates", "with", "ann", "access", "read").
			shows(http.StatusUnprocessableEntity, "Du kannst dich nicht selbst vertreten")
		// An event that was deleted on another page.
		href := b.get("/calendar/day/2026-05-05").link("Talk")
		page := b.get(b.get(href).link("bearbeiten"))
		path, query, _ := strings.Cut(href, "?")
		b.post(path + "/delete?" + query).shows(http.StatusOK)
		page.submit("/edit", "title", "Later").shows(http.StatusNotFound, "Das ist nicht mehr hier.").hides("UID")
		// A change that was undone already.
		undo := regexp.MustCompile(`name="change" value="([^"]+)"`).FindStringSubmatch(b.get("journal").body)
		b.post("undo", "change", undo[1]).shows(http.StatusOK)
		b.post("undo", "change", undo[1]).shows(http.StatusConflict, "Es gibt nichts rückgängig zu machen")
		// A list of users with an error in a line and in the header.
		_, err = h.auth.ChangeUser(h.Context(), "ann", auth.UserEdit{Admin: new(true)})
		h.must(err)
		b.post("import-users", "do", "preview", "list", "name,shoe\nx,42").
			shows(http.StatusUnprocessableEntity, "Es gibt kein Feld „shoe“; die Felder sind")
		b.post("import-users", "do", "preview", "list", "name,email\ncem,c@example.org\ncem,d@example.org").
			shows(http.StatusOK, "Zeile 2 betrifft auch cem")
	})
}
