package daterange

import (
	"regexp"
	"strings"
	"sync"
)

// spellings normalizes different ways to write the same thing.
var spellings = sync.OnceValue(func() []spelling {
	rows := [][2]string{
		{`[,;]`, " "},
		{`\s+`, " "},
		{`^ | $|\.$`, ""},
		// All of these mean "to" when surrounded by spaces.
		{`\s?[–—]\s?| (?:until|till|til|through|thru|-) `, " to "},
		{`\.\.+`, " to "},
		{`^between (.+) and (.+)$`, "$1 to $2"},
		{`^(?:until|till|through|thru|up to|from now to|by) (.+)$`, "today to $1"},
		{`^from `, ""},
		// mon-fri, dec 24-26, and the intervals of ISO 8601.
		{`([a-z])-([a-z])`, "$1 to $2"},
		{`^([a-z]+ \d{1,2})-(\d{1,2})$`, "$1 to $2"},
		{`^(\d{4}-[\dw-]+)/`, "$1 to "},
	}
	list := make([]spelling, len(rows))
	for i, row := range rows {
		list[i] = spelling{regexp.MustCompile(row[0]), row[1]}
	}
	return list
})

type spelling struct {
	pattern *regexp.Regexp
	means   string
}

func normalize(text string) string {
	s := strings.ToLower(text)
	for _, spelling := range spellings() {
		s = spelling.pattern.ReplaceAllString(s, spelling.means)
	}
	return strings.TrimSpace(s)
}
