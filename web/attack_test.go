package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web/poll"
)

// forms are the addresses below /account/ with the parts in braces filled in, whatever takes a form there.
func (h *house) forms(parts map[string]string) []string {
	h.Helper()
	part := regexp.MustCompile(`\{(\w+)\}`)
	var all []string
	for _, route := range h.pages.Routes() {
		path, ours := strings.CutPrefix(route, "/account/")
		if !ours || strings.HasPrefix(path, "static/") {
			continue
		}
		path = part.ReplaceAllStringFunc(path, func(name string) string {
			value, known := parts[strings.Trim(name, "{}")]
			if !known {
				h.Errorf("%s: what stands for %s is not known here", route, name)
			}
			return value
		})
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	if len(all) < 50 {
		h.Fatalf("there are %d forms", len(all))
	}
	return all
}

// belongings is all that a user has, as one text.
func (h *house) belongings(name string) string {
	h.Helper()
	ctx := h.Context()
	u, err := h.auth.User(ctx, name)
	h.must(err)
	c := calendar.Caller{User: u, Scopes: calendar.ScopeAll}
	var b strings.Builder
	note := func(what any, err error) {
		h.Helper()
		h.must(err)
		fmt.Fprintf(&b, "%+v\n", what)
	}
	note(u, nil)
	all, err := h.calendars.CalendarsInHome(ctx, c)
	h.must(err)
	for _, cal := range all {
		fmt.Fprintln(&b, cal.ID, cal.Name, cal.Version, cal.Access, cal.Hidden)
		if cal.Access == calendar.OwnerAccess {
			shares, err := h.calendars.Shares(ctx, c, cal.ID)
			h.must(err)
			for _, s := range shares {
				fmt.Fprintln(&b, s.User.Name, s.Access, s.Status)
			}
		}
	}
	tokens, err := h.auth.Tokens(ctx, name)
	h.must(err)
	for _, t := range tokens {
		fmt.Fprintln(&b, t.ID, t.Name, t.Scopes, t.Calendars)
	}
	note(h.auth.Links(ctx, name))
	accounts, err := h.calendars.Mirrors.LinkedAccounts(ctx, c)
	h.must(err)
	for _, a := range accounts {
		fmt.Fprintln(&b, a.ID, a.Name, a.Status, a.Checked, a.Due, len(a.Calendars))
	}
	sessions, err := h.auth.Sessions(ctx, u)
	h.must(err)
	for _, s := range sessions {
		fmt.Fprintln(&b, s.ID)
	}
	note(h.auth.Addresses(ctx, u))
	note(h.store.UploadsOf(ctx, u.ID))
	note(h.store.Polls(ctx, u.ID))
	note(h.auth.Factors(ctx, u))
	return b.String()
}

// TestEveryForm sends every form that there is as somebody who wants to hurt: with everything of another user's in it,
// from a page of another site, without a session, and with too much of everything. Nothing of the other user's changes,
// nothing is told of it, and no answer is a fault of the server.
func TestEveryForm(t *testing.T) {
	t.Parallel()
	if slowtest.Rounds(t, slowtest.Random, 1, 2) == 1 {
		everyForm(open(t, testdb.SQLite(t)))
		return
	}
	each(t, everyForm)
}

func everyForm(h *house) {
	t := h.T
	ann := h.user("ann")
	h.user("eve")
	work := h.made(ann, "Zebrawork")
	h.put(callerOf(ann), work, object("VEVENT", "1", "Zebrameeting", "DTSTART:20260503T080000Z"))
	h.must(h.auth.AddAddress(t.Context(), ann, "zebra@example.org"))
	token := h.assistant(ann, "Zebra assistant").Token
	link, _, err := h.auth.CreateLink(t.Context(), callerOf(ann), work, auth.LinkSpec{
		Name: "Zebra link", Access: calendar.ReadAccess,
	})
	h.must(err)
	changes, err := h.calendars.History(t.Context(), callerOf(ann), calendar.HistoryQuery{Limit: 10})
	h.must(err)
	h.as("ann")
	sessions, err := h.auth.Sessions(t.Context(), ann)
	h.must(err)
	h.must(second(h.auth.CreateGroup(t.Context(), "zebras", "")))
	elsewhere := newPublisher(t)
	h.calendars.Mirrors.Providers, h.calendars.Mirrors.Sealer = elsewhere.providers(), elsewhere.sealer
	linked, _, err := h.calendars.Mirrors.Link(t.Context(), callerOf(ann), mirror.NewAccount{
		Provider: "ics", Name: "Zebra feed", Secret: mirror.Secret{URL: elsewhere.address()},
	})
	h.must(err)
	uploaded := h.as("ann").upload([]byte(calendarFile("Zebra file", "z", 1)))
	asked, err := h.pages.Polls.Save(t.Context(), ann, poll.View{
		Zone: zone.UTC(), Poll: calendar.Poll{Closes: h.Now().Add(time.Hour)}, Settings: rules.Settings{
			Title: "Zebrawalk", Calendar: string(work.ID), Zone: "UTC", Shown: rules.Counts, Times: []rules.Time{
				{Start: h.Now().Add(time.Hour), End: h.Now().Add(2 * time.Hour)},
			},
		},
	}, nil)
	h.must(err)
	parts := map[string]string{
		"poll":    string(asked),
		"upload":  strings.TrimPrefix(uploaded.path, "import/"),
		"account": string(linked.ID), "kind": "agreed", "id": string(work.ID), "token": string(token),
		"link": string(link.ID), "name": "ann", "change": changes.Changes[0].ID().String(), "invitation": "1",
		"message": "1.ics", "secret": "aaaa", "sealed": "bbbb", "state": "cccc", "device": "apple",
	}
	forms := h.forms(parts)
	fields := []string{
		"name", "x", "color", "#123456", "timezone", "UTC", "with", "ann", "access", "read", "days", "0", "uid", "1",
		"change", changes.Changes[0].ID().String(),
		"calendar", string(work.ID), "scope", "read", "all", "yes", "do", "disable", "address", "zebra@example.org",
		"id", string(sessions[0].ID),
		"user", "ann", "member", "ann", "members", "ann", "kind", "events", "answer", "accept", "next",
		"//evil.example/", "query", "x", "seal", "x", "issuer", "x", "subject", "x",
	}
	before := h.belongings("ann")
	unharmed := func(what, path string, s shown) {
		t.Helper()
		if s.status >= http.StatusInternalServerError {
			t.Errorf("%s, %s: %d %s\n%s", what, path, s.status, s.text(), h.log.String())
		}
		if strings.Contains(s.body, "Zebra") || strings.Contains(s.body, "evil.example/\"") &&
			!strings.Contains(s.body, `type="hidden"`) {
			t.Errorf("%s, %s tells: %s", what, path, s.text())
		}
	}
	var long []string
	for i := 0; i < len(fields); i += 2 {
		long = append(long, fields[i], strings.Repeat("é\x00\u202e<\"'", 200))
	}
	malformed := func(b *browser, path string) shown {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.address(path), strings.NewReader("a=%"))
		h.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		return b.send(r)
	}
	huge := append([]string{"name", strings.Repeat("x", 70<<10)}, fields...)
	for _, path := range forms {
		foreign := h.as("ann")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, foreign.address(path),
			strings.NewReader(url.Values{"name": {"x"}}.Encode()))
		h.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if got := foreign.send(r); got.status != http.StatusForbidden && got.status != http.StatusMethodNotAllowed {
			t.Errorf("from another site, %s: %d %s", path, got.status, got.text())
		}
		foreign.post("sign-out")
		unharmed("as nobody", path, h.browser().post(path, fields...))
		unharmed("malformed, as nobody", path, malformed(h.browser(), path))
		if got := malformed(h.as("eve"), path); got.status != http.StatusUnprocessableEntity &&
			got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			t.Errorf("a malformed form, %s: %d %s", path, got.status, got.text())
		}
		for what, form := range map[string][]string{"another's": fields, "long": long, "huge": huge, "empty": nil} {
			// A new browser each time: some forms end the session.
			unharmed(what, path, h.as("eve").post(path, form...))
		}
		if _, err := h.auth.User(t.Context(), "eve"); err != nil {
			h.user("eve") // she has deleted herself
		}
	}
	if after := h.belongings("ann"); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}
