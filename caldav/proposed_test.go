package caldav_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/testdb"
)

const proposedHome = "/dav/calendars/alice/proposed-by-assistants/"

// suggester proposes changes to alice.
type suggester struct {
	*house
	claude calendar.Caller
	work   calendar.Calendar
}

func newSuggester(t *testing.T, url string) *suggester {
	t.Helper()
	h := newHouse(t, url, nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(t, "MKCALENDAR /dav/calendars/alice/home/", "")
	alice := calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll}
	work, err := h.service.CalendarAt(t.Context(), alice, "work")
	if err != nil {
		t.Fatal(err)
	}
	claude := alice
	claude.Scopes, claude.Token, claude.Agent = calendar.ScopeRead|calendar.ScopePropose, "claude", "Claude"
	claude.Assistant = true
	return &suggester{h, claude, work}
}

// connect stores the assistant's token.
func (s *suggester) connect(t *testing.T) {
	t.Helper()
	token := auth.Token{ID: "claude", User: s.claude.User.ID, Name: "Claude", Scopes: s.claude.Scopes, Created: now}
	if err := s.Store.InsertToken(t.Context(), token, "", ""); err != nil {
		t.Fatal(err)
	}
}

// suggest stores a suggestion, and returns the address of its first event.
func (s *suggester) suggest(t *testing.T, do func(b *ledger.Batch, c calendar.Caller) error) string {
	t.Helper()
	m := s.service.Meter(t.Context(), s.claude)
	defer m.Close()
	b := s.service.NewBatch(s.claude.Proposing(), m, calendar.TellAll)
	if err := do(b, s.claude.Proposing()); err != nil {
		t.Fatal(err)
	}
	made, err := b.Suggest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return proposedHome + string(made.ProposedUID(0)) + ".ics"
}

// speaks sets alice's language.
func (s *suggester) speaks(language string) {
	alice := s.users["alice"]
	alice.Language = language
	s.users["alice"] = alice
}

// create suggests a new event.
func (s *suggester) create(t *testing.T, title string) string {
	t.Helper()
	return s.suggest(t, func(b *ledger.Batch, c calendar.Caller) error {
		_, err := b.CreateTelling(t.Context(), c, s.work, edit.Draft{
			Kind: string(calendar.Event), Fields: edit.Fields{Summary: edit.To(title)},
			Times: edit.Times{Start: edit.To(ical.Instant(now)), End: edit.To(ical.Instant(now.Add(time.Hour)))},
		}, calendar.TellAll)
		return err
	})
}

// rename suggests another title of the event lunch.
func (s *suggester) rename(t *testing.T, title string) string {
	t.Helper()
	return s.suggest(t, func(b *ledger.Batch, c calendar.Caller) error {
		_, err := b.EditObject(t.Context(), c, s.work, "lunch", ledger.Edit{
			Change: edit.Change{Fields: edit.Fields{Summary: edit.To(title)}},
		})
		return err
	})
}

var syncTokenIn = regexp.MustCompile(`<d:sync-token>([^<]*)</d:sync-token>`)

// sync returns the body of a sync-collection report, and the next token.
func (s *suggester) sync(t *testing.T, at, token string) (reply, string) {
	t.Helper()
	got := s.send(t, "REPORT "+at+"\nDepth: 1", `<D:sync-collection xmlns:D="DAV:"><D:sync-token>`+
		html.EscapeString(token)+`</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`+
		`</D:sync-collection>`)
	if found := syncTokenIn.FindStringSubmatch(got.body); found != nil {
		return got, html.UnescapeString(found[1])
	}
	return got, ""
}

const listHome = `<D:propfind xmlns:D="DAV:" xmlns:CS="http://calendarserver.org/ns/"><D:prop><D:displayname/>` +
	`<CS:getctag/><D:current-user-privilege-set/></D:prop></D:propfind>`

// TestProposedCalendar: the calendar "Proposed" is there while its user has an assistant that proposes, and for this
// user alone.
func TestProposedCalendar(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := newSuggester(t, url)
		home := func(as string) string {
			t.Helper()
			return s.must(t, "PROPFIND /dav/calendars/alice/\nDepth: 1\nAs: "+as, listHome).body
		}
		if strings.Contains(home("alice"), "proposed-by") {
			t.Error("a user without such an assistant has the calendar")
		}
		if got := s.send(t, "PROPFIND "+proposedHome+"\nDepth: 1", ""); got.status != 404 {
			t.Errorf("without such an assistant: %d", got.status)
		}
		_, first := s.sync(t, "/dav/calendars/alice/", "")
		s.connect(t)
		changed, second := s.sync(t, "/dav/calendars/alice/", first)
		if !strings.Contains(changed.body, proposedHome) || second == first {
			t.Errorf("the home does not tell of it: %s", changed.body)
		}
		if got := home("alice"); !strings.Contains(got, proposedHome) || !strings.Contains(got, ">Proposed<") {
			t.Errorf("it is not in the home: %s", got)
		}
		for _, as := range []string{"alice read", "alice bound", "alice none"} {
			if got := s.send(t, "PROPFIND "+proposedHome+"\nDepth: 1\nAs: "+as, ""); got.status != 404 {
				t.Errorf("%s gets %d", as, got.status)
			}
		}
		if got := s.send(t, "PROPFIND "+proposedHome+"\nAs: bob\nDepth: 1", "").status; got != 404 && got != 403 {
			t.Errorf("bob gets %d", got)
		}

		_, empty := s.sync(t, proposedHome, "")
		at := s.create(t, "Lunch")
		if got, _ := s.sync(t, proposedHome, empty); !strings.Contains(got.body, "valid-sync-token") {
			t.Errorf("an old token is not refused: %s", got.body)
		}
		got, full := s.sync(t, proposedHome, "")
		if !strings.Contains(got.body, at) {
			t.Errorf("the event is not listed: %s", got.body)
		}
		if got, same := s.sync(t, proposedHome, full); same != full || strings.Contains(got.body, at) {
			t.Errorf("an unchanged calendar lists %s", got.body)
		}
		if got, next := s.sync(t, "/dav/calendars/alice/", second); next == second ||
			!strings.Contains(got.body, proposedHome) {
			t.Errorf("the home does not tell of the event: %s", got.body)
		}
		s.speaks("de")
		if got, next := s.sync(t, proposedHome, full); next != "" || !strings.Contains(got.body, "valid-sync-token") {
			t.Errorf("in another language, nothing is new: %s", got.body)
		}
		if got := home("alice"); !strings.Contains(got, ">Vorschläge<") {
			t.Errorf("the name is not German: %s", got)
		}
		german := s.must(t, "GET "+at, "").body
		for _, want := range []string{"SUMMARY:Neu? Lunch", "Zum Ablehnen"} {
			if !strings.Contains(strings.ReplaceAll(german, "\r\n ", ""), want) {
				t.Errorf("the event has no %s: %s", want, german)
			}
		}
		s.speaks("")
		if _, again := s.sync(t, proposedHome, ""); again != full {
			t.Errorf("in the first language, the token is %s, not %s", again, full)
		}
		text := s.must(t, "GET "+at, "").body
		for _, want := range []string{
			"SUMMARY:New? Lunch", "STATUS:TENTATIVE", "TRANSP:TRANSPARENT", "DTSTART:20261120T100000Z",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the event has no %s: %s", want, text)
			}
		}
		for what, ask := range map[string]string{
			"query": query(`<C:calendar-data/>`, `<C:time-range start="20261101T000000Z" end="20261201T000000Z"/>`),
			"multiget": `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>` +
				`<C:calendar-data/></D:prop><D:href>` + at + `</D:href></C:calendar-multiget>`,
		} {
			if got := s.must(t, "REPORT "+proposedHome+"\nDepth: 1", ask).body; !strings.Contains(got, "New? Lunch") {
				t.Errorf("%s: %s", what, got)
			}
		}
		// It is no busy time, and nothing to export.
		for _, place := range []string{"/dav/calendars/alice/", proposedHome} {
			busy := s.must(t, "REPORT "+place+"\nDepth: 1",
				`<C:free-busy-query xmlns:C="urn:ietf:params:xml:ns:caldav">`+
					`<C:time-range start="20261101T000000Z" end="20261201T000000Z"/></C:free-busy-query>`).body
			if strings.Contains(busy, "FREEBUSY:") {
				t.Errorf("%s is busy: %s", place, busy)
			}
		}
		if got := s.must(t, "GET "+proposedHome, "").body; strings.Contains(got, "VEVENT") {
			t.Errorf("GET exports %s", got)
		}
		const to = "\nDestination: http://cal.example.com/dav/calendars/alice/"
		for head, body := range map[string]string{
			"PUT " + proposedHome + "x.ics":                          event("x", "X"),
			"PUT " + at:                                              event("x", "X"),
			"DELETE " + proposedHome:                                 "",
			"COPY " + at + to + "work/x.ics":                         "",
			"MOVE " + proposedHome + to + "x/":                       "",
			"ACL " + proposedHome:                                    `<acl xmlns="DAV:"/>`,
			"POST " + proposedHome + "\nContent-Type: text/calendar": event("x", "X"),
			"PROPPATCH " + proposedHome: `<propertyupdate xmlns="DAV:"><set><prop><displayname>X</displayname></prop>` +
				`</set></propertyupdate>`,
		} {
			if got := s.send(t, head, body); got.status < 400 || got.status >= 500 {
				t.Errorf("%s: %d %s", head, got.status, got.body)
			}
		}
		if got := s.must(t, "GET "+at, "").body; got != text {
			t.Errorf("the event changed: %s", got)
		}
	})
}

// TestProposedMoves: apps move an event of the calendar "Proposed" to accept it, by MOVE or by PUT and DELETE, and
// delete one to decline it.
func TestProposedMoves(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := newSuggester(t, url)
		s.connect(t)
		const work, home = "/dav/calendars/alice/work/", "/dav/calendars/alice/home/"
		s.must(t, "PUT "+work+"lunch.ics", event("lunch", "Lunch"))
		state := func(at string) (state calendar.SuggestionState) {
			t.Helper()
			alice := calendar.Caller{User: s.users["alice"], Scopes: calendar.ScopeAll}
			all, err := s.service.Suggestions(t.Context(), alice)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range all {
				if strings.Contains(at, string(one.ID)) {
					state = one.State
				}
			}
			return state
		}
		is := func(at string, want calendar.SuggestionState) {
			t.Helper()
			if got := state(at); got != want {
				t.Errorf("%s is %q, want %q", at, got, want)
			}
		}
		has := func(calendar, text string, want bool) {
			t.Helper()
			got := s.must(t, "REPORT "+calendar+"\nDepth: 1", query(`<C:calendar-data/>`, "")).body
			if strings.Contains(got, text) != want {
				t.Errorf("%s in %s: %t, want %t", text, calendar, !want, want)
			}
		}

		// As Thunderbird does: PUT elsewhere, with its own properties, then DELETE.
		at := s.create(t, "Dinner")
		text := s.must(t, "GET "+at, "").body
		sent := strings.Replace(text, "END:VEVENT", "X-MOZ-GENERATION:1\r\nEND:VEVENT", 1)
		name := at[strings.LastIndex(at, "/")+1:]
		put := s.must(t, "PUT "+home+name+"\nIf-None-Match: *", sent)
		if put.status != 201 || put.header.Get("ETag") != "" {
			t.Errorf("PUT: %d, tag %s", put.status, put.header.Get("ETag"))
		}
		if got := s.must(t, "GET "+home+name, "").body; !strings.Contains(got, "SUMMARY:Dinner") ||
			strings.Contains(got, "TENTATIVE") || strings.Contains(got, "proposal.") {
			t.Errorf("made was %s", got)
		}
		has(home, "SUMMARY:Dinner", true)
		has(work, "SUMMARY:Dinner", false)
		is(at, calendar.SuggestionAccepted)
		if got := s.send(t, "DELETE "+at, ""); got.status != 204 {
			t.Errorf("DELETE after PUT: %d", got.status)
		}
		is(at, calendar.SuggestionAccepted)
		has(home, "SUMMARY:Dinner", true)
		s.must(t, "PUT "+home+name, sent) // repeated, because the response was lost
		if got := s.must(t, "REPORT "+home+"\nDepth: 1", query(`<C:calendar-data/>`, "")).body; strings.Count(got,
			"BEGIN:VEVENT") != 1 {
			t.Errorf("made twice: %s", got)
		}

		// A change stays in its calendar, whatever calendar it is moved to.
		at = s.rename(t, "Brunch")
		if got := s.must(t, "GET "+at, "").body; !strings.Contains(got, "SUMMARY:Change? Brunch") {
			t.Errorf("a change is shown as %s", got)
		}
		s.must(t, "MOVE "+at+"\nDestination: http://cal.example.com"+home+"y.ics", "")
		has(work, "SUMMARY:Brunch", true)
		has(home, "Brunch", false)
		is(at, calendar.SuggestionAccepted)

		// Declined.
		at = s.rename(t, "Supper")
		s.must(t, "DELETE "+at, "")
		is(at, calendar.SuggestionDeclined)
		has(work, "SUMMARY:Brunch", true)
		if got := s.send(t, "PUT "+work+"z.ics", strings.ReplaceAll(text, name[:len(name)-4],
			at[strings.LastIndex(at, "/")+1:len(at)-4])); got.status < 400 || got.status >= 500 {
			t.Errorf("a declined one is accepted: %d", got.status)
		}

		// Text that the user changed in the app is refused, and nothing is lost.
		at = s.create(t, "Tea")
		text = s.must(t, "GET "+at, "").body
		coffee := strings.Replace(text, "SUMMARY:New? Tea", "SUMMARY:Coffee", 1)
		refused := s.send(t, "PUT "+home+"tea.ics", coffee)
		if refused.status != 403 {
			t.Errorf("changed text: %d %s", refused.status, refused.body)
		}
		is(at, calendar.SuggestionOpen)
		// A new event takes no place that another one has.
		for _, head := range []string{
			"PUT " + work + "lunch.ics", "MOVE " + at + "\nDestination: http://cal.example.com" + work + "lunch.ics",
		} {
			if got := s.send(t, head, text); got.status != 412 {
				t.Errorf("%s: %d %s", head, got.status, got.body)
			}
		}
		is(at, calendar.SuggestionOpen)
		// An app without the right to write accepts nothing.
		for _, as := range []string{"alice read", "alice read,delete", "alice bound"} {
			if got := s.send(t, "PUT "+home+"tea.ics\nAs: "+as, text); got.status < 400 || got.status >= 500 {
				t.Errorf("%s accepts: %d", as, got.status)
			}
		}
		if got := s.send(t, "DELETE "+at+"\nAs: alice read", ""); got.status < 400 {
			t.Errorf("a reader declines: %d", got.status)
		}
		is(at, calendar.SuggestionOpen)
		s.must(t, "DELETE "+at, "")

		// The event has another title now: the app cannot show both, so the pages must.
		at = s.rename(t, "Snack")
		now := s.must(t, "GET "+work+"lunch.ics", "").body
		s.must(t, "PUT "+work+"lunch.ics", strings.Replace(now, "SUMMARY:Brunch", "SUMMARY:Feast", 1))
		if got := s.send(t, "MOVE "+at+"\nDestination: http://cal.example.com"+work+"y.ics", ""); got.status < 400 {
			t.Errorf("a conflict is accepted: %d", got.status)
		}
		is(at, calendar.SuggestionOpen)
		has(work, "SUMMARY:Feast", true)

		// A proposal to delete.
		at = s.suggest(t, func(b *ledger.Batch, c calendar.Caller) error {
			_, err := b.CancelObject(t.Context(), c, s.work, "lunch", ledger.Cancellation{})
			return err
		})
		if got := s.must(t, "GET "+at, "").body; !strings.Contains(got, "SUMMARY:Delete? Feast") {
			t.Errorf("a deletion is shown as %s", got)
		}
		s.must(t, "MOVE "+at+"\nDestination: http://cal.example.com"+work+"y.ics", "")
		has(work, "VEVENT", false)

		// The assistant is removed: its suggestions end, and so does the calendar.
		at = s.create(t, "Last")
		text = s.must(t, "GET "+at, "").body
		if err := s.Store.RevokeToken(t.Context(), "claude", s.Now()); err != nil {
			t.Fatal(err)
		}
		if got := s.send(t, "PROPFIND "+proposedHome+"\nDepth: 1", ""); got.status != 404 {
			t.Errorf("after the revocation: %d", got.status)
		}
		if got := s.send(t, "PUT "+home+"last.ics", text); got.status < 400 || got.status >= 500 {
			t.Errorf("a suggestion of a revoked assistant is accepted: %d", got.status)
		}
		has(home, "Last", false)
	})
}
