package daterange

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/ical"
)

// sincePatterns match moments in the past: "2 hours ago", "the last 90 minutes", and a time of day with or without a
// day.
var sincePatterns = sync.OnceValue(func() [3]*regexp.Regexp {
	const units = `(hour|hr|minute|min)s?`
	return [3]*regexp.Regexp{
		regexp.MustCompile(`^` + numberWords + ` ` + units + ` ago$`),
		regexp.MustCompile(`^(?:the )?(?:last|past) (?:` + numberWords + ` )?` + units + `$`),
		regexp.MustCompile(`^(?:(.+?) )?(?:at )?(noon|midnight|\d{1,2}:\d{2}(?: ?[ap]m)?|\d{1,2} ?[ap]m)$`),
	}
})

// Since parses a moment in the past: "2 hours ago", "noon", "yesterday 12:00", or the start of a period. Names without
// a year or a week mean the latest ones that have begun: on a Tuesday, "monday" is yesterday, and "tuesday" is today.
func (r Reader) Since(text string) (time.Time, error) {
	s := strings.TrimPrefix(normalize(text), "since ")
	patterns := sincePatterns()
	for _, p := range patterns[:2] {
		m := p.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		if m[1] == "" {
			m[1] = "one"
		}
		n, why := count(m[1])
		if why != "" {
			return time.Time{}, &Error{Text: text, Why: why}
		}
		unit := time.Minute
		if m[2][0] == 'h' {
			unit = time.Hour
		}
		return r.Now.Add(-time.Duration(n) * unit), nil
	}
	clock := ""
	if m := patterns[2].FindStringSubmatch(s); m != nil {
		if s, clock = m[1], m[2]; s == "" {
			s = "today"
		}
	}
	d, err := r.fromToOf(s, true)
	if err != nil {
		return time.Time{}, &Error{Text: text, Why: err.why}
	}
	if clock == "" {
		return r.moment(d.first, d.opens), nil
	}
	minutes, ok := minutesOf(clock)
	if !ok {
		return time.Time{}, &Error{Text: text, Why: "there is no such time of day as " + clock}
	}
	return r.clock(d.first, minutes), nil
}

// minutesOf returns a time of day as minutes since midnight.
func minutesOf(clock string) (int, bool) {
	switch clock {
	case "noon":
		return 12 * 60, true
	case "midnight":
		return 0, true
	}
	clock = strings.ToUpper(strings.ReplaceAll(clock, " ", ""))
	for _, form := range [...]string{"15:04", "3:04PM", "3PM"} {
		if at, err := time.Parse(form, clock); err == nil {
			return at.Hour()*60 + at.Minute(), true
		}
	}
	return 0, false
}

// clock returns the first instant when the clock of a day has reached a time.
func (r Reader) clock(d day, minutes int) time.Time {
	return r.at(ical.CivilFromSeconds(d.utc().Unix() + int64(minutes)*60))
}
