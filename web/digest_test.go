package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/web"
)

// Somebody wants mail of the day, changes their mind, and anyone who gets it ends it by the link in it, in a browser or
// by the button of a mail program, which sends no page and comes from another site.
func TestMailOfTheDay(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		digests := &mail.Digests{
			Key: mail.Key("key"), Page: &url.URL{Path: "/account/no-mail"},
			Settings: &url.URL{Path: "/account/settings"},
		}
		h := open(t, database, func(c *web.Config) { c.Digests = digests })
		digests.Store, digests.Now, digests.NewID = h.store, h.Now, h.NewID
		u := h.user("ann")
		ann := h.as("ann")
		ann.get("settings").shows(http.StatusOK, "Daily agenda mail", "18:00")
		ann.post("settings/digest", "agenda", "on", "hour", "7").shows(http.StatusUnprocessableEntity,
			"no mail address that is verified")
		_, err := h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Email: new("ann@example.org")})
		h.must(err)
		wants := func() calendar.Digest {
			d, err := h.store.Digest(t.Context(), u.ID)
			h.must(err)
			return d
		}
		ann.post("settings/digest", "agenda", "on", "hour", "24").shows(http.StatusUnprocessableEntity, "from 0 to 23")
		if wants().Wanted() {
			t.Fatal("what was refused is kept")
		}
		want := func() {
			ann.post("settings/digest", "agenda", "on", "hour", "7").at("settings?done=saved").shows(http.StatusOK,
				"Saved.")
			if d := wants(); !d.Agenda || d.Changes || d.Hour != 7 {
				t.Errorf("wants %+v", d)
			}
		}
		want()
		ann.post("settings/digest", "hour", "7").at("settings?done=saved")
		if wants().Wanted() {
			t.Error("it does not end")
		}
		token := digests.Token(u.ID, "ann@example.org")
		want()
		reader := h.browser()
		reader.get("no-mail/"+token).shows(http.StatusOK, "ann@example.org", "Unsubscribe")
		if !wants().Wanted() {
			t.Fatal("to look at the link ended it")
		}
		reader.post("no-mail/"+token).shows(http.StatusOK, "is turned off")
		if wants().Wanted() {
			t.Error("the page did not end it")
		}
		want()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, reader.address("no-mail/"+token),
			strings.NewReader("List-Unsubscribe=One-Click"))
		h.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://webmail.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		reader.send(r).shows(http.StatusOK, "is turned off")
		if wants().Wanted() {
			t.Error("the button did not end it")
		}
		reader.get("no-mail/x").shows(http.StatusNotFound, "not valid")
		reader.post("no-mail/x").shows(http.StatusNotFound, "not valid")
	})
}
