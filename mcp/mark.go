package mcp

import (
	"fmt"
	"regexp"
)

// What results have in the place of what they leave out. Nobody writes such words by chance, and so
// no tool that changes something takes them: a model that hands back what it was shown would put
// them where the rest was.

// moreCharacters stands behind a text that is cut.
func moreCharacters(n int) string { return fmt.Sprintf("… [%d more characters]", n) }

// moreItems is the last item of a list that is cut.
func moreItems(n int) string { return fmt.Sprintf("… [%d more]", n) }

// marks are all of these, and what stands behind iCalendar that is cut.
var marks = regexp.MustCompile(`…\s*\[\d+ more( characters\b[^\]]*)?\]`)

// checkMarks refuses a value that has one of our own marks in it.
func (f field) checkMarks(value string) string {
	mark := marks.FindString(value)
	if !f.writes || f.names || mark == "" {
		return ""
	}
	return fmt.Sprintf("%q has %s in it, which stood in an answer for what was left out there, and would take the place of it: "+
		"give all of it (ical_data of get_event has it), or leave %q out of a call that keeps what is not given", f.name, quote(mark), f.name)
}
