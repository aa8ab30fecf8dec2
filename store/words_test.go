package store

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestWordsOfOthers: a search asks Postgres' index for nothing that other people's events have, so that these cost it nothing. With
// the calendar as a word of its own, the beginning of a word gathered all events of the store.
func TestWordsOfOthers(t *testing.T) {
	t.Parallel()
	q := calendar.SearchQuery{
		Calendars: []calendar.CalendarID{"6e2b1d80-0a6f-4f0e-9a53-c0ffee123456", "home"}, Words: []string{"dinner", "agenda"},
	}
	want := `('ee123456§dinner':* | 'home§dinner':*) & ('ee123456§agenda':* | 'home§agenda':*)`
	if got := postgresExpression(q); got != want {
		t.Errorf("it asks for\n%s\nwant\n%s", got, want)
	}
	q.Calendars = q.Calendars[:1]
	if got := sqliteExpression(q); strings.Count(got, "6e2b1d800a6f4f0e9a53c0ffee123456§") != 2 {
		t.Errorf("SQLite is asked for %s", got)
	}
}
