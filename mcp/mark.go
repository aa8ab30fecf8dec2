package mcp

import (
	"fmt"
	"regexp"

	"caldav-mcp-server/mcp/wire"
)

// Marks in results stand for omitted text. People do not type them by chance, so tools that change data refuse them.
// Otherwise a model that writes a truncated text back would replace the rest with the mark.

// moreCharacters is the mark at the end of a truncated text.
func moreCharacters(n int) string { return fmt.Sprintf("… [%d more characters]", n) }

// moreItems is the last item of a truncated list.
func moreItems(n int) string { return fmt.Sprintf("… [%d more]", n) }

// marks match all of these, including the mark at the end of truncated iCalendar text.
var marks = regexp.MustCompile(`…\s*\[\d+ more( characters\b[^\]]*)?\]`)

// checkMarks refuses a value that contains one of our marks.
func (f field) checkMarks(value string) string {
	mark := marks.FindString(value)
	if !f.writes || f.names || mark == "" {
		return ""
	}
	return fmt.Sprintf("%q contains %s, the mark for omitted text in an earlier result, which would replace that text: "+
		"give the full text (see ical_data of get_event), or omit %q if the tool keeps omitted values", f.name, wire.Quote(mark), f.name)
}
