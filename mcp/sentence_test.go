package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestSearchTakesSentences: connectors pass on a user's own words. The time is Sunday the 1st of March 2026, 13:00. It
// is mcp C10.
func TestSearchTakesSentences(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		for uid, lines := range map[string][]string{
			"dentist":  {"DTSTART;" + berlin + "20260304T090000", "DURATION:PT1H", "SUMMARY:Dentist"},
			"dentist2": {"DTSTART;" + berlin + "20260404T090000", "DURATION:PT1H", "SUMMARY:Dentist again"},
			"anna": {
				"DTSTART;" + berlin + "20260106T140000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY",
				"SUMMARY:1:1 with Anna",
			},
			"lunch": {
				"DTSTART;" + berlin + "20260220T120000", "DURATION:PT1H", "SUMMARY:Lunch",
				"ATTENDEE;CN=Anna Bell:mailto:anna@example.com",
			},
			"budget": {"DTSTART;" + berlin + "20260310T140000", "DURATION:PT1H", "SUMMARY:Budget meeting"},
			"that": {
				"DTSTART;" + berlin + "20260312T200000", "DURATION:PT1H",
				"SUMMARY:When we meet again (theatre)",
			},
			"reise": {"DTSTART;" + berlin + "20260601T080000", "DURATION:PT9H", "SUMMARY:Reise nach Wien"},
		} {
			h.put(t, work, uid, wrapped(calendar.Event, uid, lines...))
		}
		door := h.open(t, h.config())
		for said, want := range map[string]string{
			"the dentist next week":             "Dentist (Wed",
			"Do I have the dentist in april?":   "Dentist again",
			"when did I last meet Anna?":        "1:1 with Anna (Tue 2026-02-24",
			"When do I meet Anna next?":         "1:1 with Anna (Tue 2026-03-03|Lunch",
			"What is my next budget meeting?":   "Budget meeting",
			"when we meet again":                "When we meet again",
			"what have I got on march 12":       "When we meet again",
			"What did I do last week?":          "1:1 with Anna (Tue 2026-02-17|Lunch",
			"Wann ist denn die Reise nach Wien": "Reise nach Wien",
			"the dentist on friday":             "",
			"Is there anything with Zebulon?":   "",
			"buget":                             "Budget meeting",
			"dentist":                           "Dentist (Wed|Dentist again",
			"2026-03-10":                        "1:1 with Anna|Budget meeting",
		} {
			var v resultsView
			use(t, door, "alice", "search", params{"query": said}, &v)
			var titles []string
			for _, r := range v.Results {
				titles = append(titles, string(r.Title))
			}
			for i, part := range strings.Split(want, "|") {
				if want == "" && len(titles) > 0 || want != "" && (i >= len(titles) ||
					!strings.HasPrefix(titles[i], part)) {
					t.Errorf("%s: %q, want %s", said, titles, want)
					break
				}
			}
		}
	})
}
