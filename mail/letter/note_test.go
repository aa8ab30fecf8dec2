package letter_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// TestNotes: whatever people write, it is one line of text, and no markup, no field and no part.
func TestNotes(t *testing.T) {
	t.Parallel()
	for i, text := range append(hostile, "Lunch") {
		data, err := post().Note(letter.Note{
			Language: locale.Match(),
			To:       "alice@example.org", Name: text, Subject: text, ID: "1@example.org",
			At:   time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Stop: "https://cal.example.org/stop/x", Settings: "https://cal.example.org/settings",
			Parts: []letter.NotePart{
				{Title: text, Lines: []letter.NoteLine{
					{"10:00", text, text, "https://cal.example.org/suggestions/1?x=1&y=2"},
				}, More: 2, Link: "https://cal.example.org/journal?app=1&x=2", Do: "Take it back"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		header, kinds, bodies := parts(t, data)
		if len(kinds) != 3 || len(header) != 11 {
			t.Errorf("%d: %d parts and %d fields: %v", i, len(kinds), len(header), header)
		}
		if html := bodies["text/html"]; strings.Contains(html, "<script") || strings.Contains(html, "<img") ||
			!strings.Contains(html, `href="https://cal.example.org/journal?app=1&amp;x=2"`) ||
			!strings.Contains(html, `href="https://cal.example.org/suggestions/1?x=1&amp;y=2"`) {
			t.Errorf("%d: %s", i, html)
		}
		plain := strings.ReplaceAll(bodies["text/plain"], "\r\n", "\n")
		if n := strings.Count(plain, "\n"); n != 16 ||
			!strings.Contains(plain, "\n    https://cal.example.org/suggestions/1?x=1&y=2\n") ||
			!strings.Contains(plain, "\n  10:00  ") {
			t.Errorf("%d: %d lines:\n%s", i, n, plain)
		}
		for line := range strings.SplitSeq(string(data), "\r\n") {
			if len(line) > 78 {
				t.Errorf("%d: a line of %d bytes: %.100q", i, len(line), line)
			}
		}
	}
}
