package digest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/digest"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestDeedsAreTheReaders: a mail lists what the reader's own programs changed, not what a colleague's did in a
// calendar that both write to, nor what an app did or a password, however much; and where it was more than is looked
// through, it says so and leads to all of it.
func TestDeedsAreTheReaders(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := housetest.Open(t, database, housetest.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ann, ben := calendar.User{ID: "ann", Name: "ann"}, calendar.User{ID: "ben", Name: "ben"}
		h.Admit(t, ann, ben)
		s := service.New(h.Middle())
		by := func(u calendar.User, token, agent string) calendar.Caller {
			return calendar.Caller{
				User: u, Scopes: calendar.ScopeAll, Token: calendar.TokenID(token), Agent: agent,
				Assistant: token != "" && agent != "Phone",
			}
		}
		cal, err := s.CreateCalendar(t.Context(), by(ann, "", ""), calendar.NewCalendar{Segment: "both"})
		must(err)
		_, err = s.Settle(t.Context(), by(ann, "", ""), cal.ID, "ben", calendar.WriteAccess)
		must(err)
		put := func(c calendar.Caller, uid string, times int) {
			t.Helper()
			for i := range times {
				_, err := s.Put(t.Context(), c, cal, calendar.Draft{
					Name: calendar.ObjectName(uid + ".ics"), Data: []byte(strings.Join([]string{
						"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VEVENT", "UID:" + uid,
						"DTSTAMP:20260301T100000Z", "DTSTART:20260401T100000Z",
						fmt.Sprintf("SUMMARY:%s %d", uid, i), "END:VEVENT", "END:VCALENDAR", "",
					}, "\r\n")),
				})
				must(err)
			}
		}
		maker := &digest.Maker{
			Service: s, Journal: &url.URL{Scheme: "https", Host: "example.org", Path: "/journal"},
			Suggestions: &url.URL{Scheme: "https", Host: "example.org", Path: "/suggestions"},
		}
		told := func(subject string, titles ...string) {
			t.Helper()
			n, err := maker.Note(t.Context(), ann, calendar.Digest{Changes: true}, h.Now().Add(time.Hour))
			must(err)
			var got []string
			for _, p := range n.Parts {
				got = append(got, p.Title)
			}
			if last := len(n.Parts) - 1; last >= 0 && subject == "many changes by assistants" &&
				n.Parts[last].Link != maker.Journal.String() {
				t.Errorf("the rest is found at %q", n.Parts[last].Link)
			}
			if n.Subject != subject || strings.Join(got, "|") != strings.Join(titles, "|") {
				t.Errorf("the mail is %q with %q", n.Subject, got)
			}
		}
		put(by(ben, "bens", "Ben's program"), "hers", 1)
		told("")
		must(h.Store.InsertToken(t.Context(), auth.Token{
			ID: "claude", User: ann.ID, Name: "Claude", Scopes: calendar.ScopePropose, Created: h.Now(),
		}, "", ""))
		suggestion := calendar.Suggestion{
			ID: "one", User: ann.ID, Maker: calendar.Actor{Token: "claude", Agent: "Claude"}, Created: h.Now(),
			Expires: h.Now().AddDate(0, 0, 30), Parts: []calendar.SuggestedPart{{
				Calendar: cal.ID, Name: "x.ics", UID: "x", Kind: calendar.Event, After: []byte("BEGIN:VCALENDAR"),
			}},
		}
		must(h.Store.InsertSuggestion(t.Context(), suggestion, calendar.SuggestionLimits{Number: 9, Bytes: 1 << 20}))
		told("1 suggestion", "Suggested by assistants")
		later, err := maker.Note(t.Context(), ann, calendar.Digest{Changes: true}, h.Now().AddDate(0, 0, 3))
		if err != nil || len(later.Parts) != 0 {
			t.Errorf("an old suggestion alone is mailed: %v, %v", later.Parts, err)
		}
		must(h.Store.DeclineSuggestion(t.Context(), ann.ID, "one"))
		told("")
		put(by(ann, "anns", "Claude"), "mine", 2)
		told("2 changes by assistants", "Changed today by Claude")
		german := ann
		german.Language = "de"
		note, err := maker.Note(t.Context(), german, calendar.Digest{Changes: true}, h.Now().Add(time.Hour))
		must(err)
		if got := note.Parts[0].Lines[0].Text; got != "Termin „mine 1“ erstellt" {
			t.Errorf("in German a change is %q", got)
		}
		put(by(ben, "bens", "Ben's program"), "his", 3)
		told("2 changes by assistants", "Changed today by Claude")
		put(by(ann, "", ""), "byhand", 500)
		put(by(ann, "phone", "Phone"), "byphone", 2)
		told("2 changes by assistants", "Changed today by Claude")
		put(by(ann, "anns", "Claude"), "much", 500)
		told("many changes by assistants", "Changed today by Claude", "More changes of today")
	})
}
