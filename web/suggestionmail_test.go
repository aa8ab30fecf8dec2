package web_test

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	netmail "net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/digest"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/web"
)

// bodies returns the parts of a mail, decoded.
func bodies(t *testing.T, data []byte) (all []string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextPart()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part) // NextPart decodes quoted-printable
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
}

// TestSuggestionsByMail: the links in the daily mail lead to the pages of suggestions, which ask for the password.
// Opening one changes nothing, it is of no use to others, and afterwards it says what was decided.
func TestSuggestionsByMail(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		u := h.user("ann")
		h.user("eve")
		cal := h.made(u, "Work")
		h.put(callerOf(u), cal, object("VEVENT", "lunch", "Lunch", "DTSTART:20260503T080000Z",
			"DTEND:20260503T090000Z"))
		claude := h.assistant(u, "Claude")
		claude.Scopes = calendar.ScopeRead | calendar.ScopePropose
		for _, title := range []string{"Brunch", "Supper"} {
			m := h.calendars.Meter(t.Context(), claude)
			batch := h.calendars.NewBatch(claude.Proposing(), m, calendar.TellAll)
			_, err := batch.EditObject(t.Context(), claude.Proposing(), cal, "lunch", ledger.Edit{
				Change: edit.Change{Fields: edit.Fields{Summary: edit.To(title)}},
			})
			h.must(err)
			_, err = batch.Suggest(t.Context())
			h.must(err)
			m.Close()
		}
		base, err := url.Parse(h.server.URL)
		h.must(err)
		maker := digest.Maker{
			Service: h.calendars, Journal: base.JoinPath(web.JournalPath),
			Suggestions: base.JoinPath(web.SuggestionsPath),
		}
		note, err := maker.Note(t.Context(), u, calendar.Digest{Changes: true}, h.Now())
		h.must(err)
		note.To, note.ID, note.At = "ann@example.com", "1@example.com", h.Now()
		data, err := letter.Post{From: "calendar@example.com"}.Note(note)
		h.must(err)
		texts := bodies(t, data)
		link := regexp.MustCompile(regexp.QuoteMeta(base.JoinPath(web.SuggestionsPath).String()) + `/([\w-]+)`)
		plain, rich := link.FindAllString(texts[0], -1), link.FindAllString(texts[1], -1)
		if len(plain) != 2 || plain[0] == plain[1] || strings.Join(plain, " ") != strings.Join(rich, " ") ||
			strings.Index(texts[0], "Supper") > strings.Index(texts[0], plain[0]) {
			t.Fatalf("the mail links to %q and %q:\n%s", plain, rich, texts[0])
		}
		path := func(link string) string { return strings.TrimPrefix(link, h.server.URL+"/account/") }
		supper, brunch := path(plain[0]), path(plain[1])

		stored := func() string {
			o, err := h.calendars.ObjectByUID(t.Context(), nil, callerOf(u), cal, "lunch")
			h.must(err)
			all, err := h.calendars.Suggestions(t.Context(), callerOf(u))
			h.must(err)
			return string(o.Data) + string(all[0].State) + string(all[1].State)
		}
		before := stored()
		stranger, eve := h.browser(), h.as("eve")
		asked := stranger.get(supper).shows(http.StatusOK, "Sign in").hides("Supper", "Claude")
		stranger.post(supper, "answer", "accept").shows(http.StatusOK, "Sign in")
		stranger.post(supper, "answer", "decline").shows(http.StatusOK, "Sign in")
		eve.get(supper).shows(http.StatusNotFound).hides("Supper", "Claude")
		eve.post(supper, "answer", "decline").shows(http.StatusNotFound).hides("Supper", "Claude")
		page := asked.submit("sign-in", "name", "ann", "password", rightPassword).at(supper)
		page.shows(http.StatusOK, "Claude suggests", "Supper")
		if got := stored(); got != before {
			t.Fatalf("opening the link changed\n%s\nto\n%s", before, got)
		}

		ann := page.b
		page.submit(supper, "answer", "accept").shows(http.StatusOK, "Accepted")
		ann.get("suggestions").hides(supper)
		accepted := stored()
		ann.get(supper).shows(http.StatusOK, "Accepted. The calendar is changed.").
			hides(`value="accept"`, `value="decline"`)
		page.submit(supper, "answer", "decline").shows(http.StatusOK, "Accepted. The calendar is changed.")
		eve.get(supper).shows(http.StatusNotFound).hides("Claude")
		ann.get(brunch).submit(brunch, "answer", "decline").shows(http.StatusOK, "Declined")
		ann.get(brunch).shows(http.StatusOK, "Declined. Nothing was changed.").hides(`value="accept"`)
		ann.post(brunch, "answer", "accept").shows(http.StatusOK, "Declined. Nothing was changed.")
		event := func(text string) string {
			text, _, _ = strings.Cut(text, "END:VCALENDAR")
			return text
		}
		if got := stored(); !strings.Contains(accepted, "SUMMARY:Supper") || event(got) != event(accepted) {
			t.Errorf("stored is\n%s\nafter\n%s", got, accepted)
		}
		ann.get(ann.get(supper).link("Review or undo the changes")).shows(http.StatusOK, "Claude").
			submit("undo").shows(http.StatusOK)
		if got := stored(); !strings.Contains(got, "SUMMARY:Lunch\r\n") {
			t.Errorf("the undone change is\n%s", got)
		}
	})
}
