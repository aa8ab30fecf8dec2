package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestSearchesMeanWhatIsThere: if nothing has the words, similar words are found and named; other users' private
// content gives no hint (mcp C10).
func TestSearchesMeanWhatIsThere(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "z", wrapped(calendar.Event, "z", "DTSTART:20260303T090000Z", "SUMMARY:Zahnarzt bei Müller"))
		for asked, want := range map[string]string{
			"zahnartz": "zahnarzt", "mueller": "muller",
			"zahnrzt mueller": "zahnarzt muller", "zahn": "", "bakery": "",
		} {
			var v foundView
			text := contentText(t, use(t, door, "alice", "search_events", params{"query": asked}, &v))
			if string(v.Meant) != want || want != "" && (len(v.Events) != 1 ||
				!strings.Contains(text, "did you mean \""+want)) {
				t.Errorf("%s: meant %q, %d events: %s", asked, v.Meant, len(v.Events), text)
			}
		}
		var v foundView
		use(t, door, "bob", "search_events", params{"query": "zahnartz"}, &v)
		if v.Meant != "" || len(v.Events) > 0 {
			t.Errorf("bob is told %q", v.Meant)
		}
	})
}
