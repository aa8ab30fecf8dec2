package daterange

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/ical"
)

const (
	clockWords = `(noon|midday|midnight|\d{1,2}:\d{2}(?: ?[ap]m)?|\d{1,2} ?[ap]m)`
	clockUnits = `(hour|hr|minute|min)s?`
)

// instantForms match one moment: a time of day before or after an optional day, and the time until or since now.
type instantForms struct {
	clocks       [2]*regexp.Regexp
	ago, fromNow []*regexp.Regexp
	ahead        *regexp.Regexp
}

var instants = sync.OnceValue(func() instantForms {
	const amount = numberWords + ` ` + clockUnits
	return instantForms{
		clocks: [...]*regexp.Regexp{
			regexp.MustCompile(`^(?:(?P<day>.+?) )?(?:at )?` + `(?P<clock>` + clockWords + `)$`),
			regexp.MustCompile(`^(?:at )?(?P<clock>` + clockWords + `) (?:on )?(?P<day>.+)$`),
		},
		ago: []*regexp.Regexp{
			regexp.MustCompile(`^` + amount + ` ago$`),
			regexp.MustCompile(`^(?:the )?(?:last|past) (?:` + numberWords + ` )?` + clockUnits + `$`),
		},
		fromNow: []*regexp.Regexp{
			regexp.MustCompile(`^(?:with)?in (?:the next )?` + amount + `(?: from now)?$`),
			regexp.MustCompile(`^` + amount + ` from now$`),
			regexp.MustCompile(`^(?:within )?(?:the )?next (?:` + numberWords + ` )?` + clockUnits + `$`),
		},
		ahead: regexp.MustCompile(`\b(?:next|coming|upcoming|following|rest|remainder|tomorrow|from now|from today)\b` +
			`|^in ` + numberWords + ` `),
	}
})

// halves writes fractions of an hour in minutes.
var halves = strings.NewReplacer("an hour and a half", "90 minutes", "a half hour", "30 minutes", "half an hour",
	"30 minutes", "half hour", "30 minutes", "a quarter of an hour", "15 minutes", "quarter of an hour", "15 minutes")

// Since parses a moment in the past: "2 hours ago", "noon", "yesterday 12:00", or the start of a period. Names without
// a year or a week mean the latest ones that have begun: on a Tuesday, "monday" is yesterday, and "tuesday" is today. A
// time of day alone that is later than now is yesterday's.
func (r Reader) Since(text string) (time.Time, error) {
	s := halves.Replace(strings.TrimPrefix(normalize(text), "since "))
	if s == "now" || s == "right now" {
		return r.Now, nil
	}
	if at, found, err := r.away(text, s, instants().ago, -1); found {
		return at, err
	}
	switch {
	case strings.Contains(s, " to "):
		return time.Time{}, &Error{Text: text, Why: "it is a range, and this takes one time"}
	case instants().ahead.MatchString(s):
		return time.Time{}, &Error{Text: text, Why: "it looks ahead, and this takes a moment before now: " +
			"give a time in the past, such as yesterday"}
	}
	if at, found, err := r.onClock(text, s, true); found {
		return at, err
	}
	d, err := r.fromToOf(s, true)
	if err != nil {
		return time.Time{}, &Error{Text: text, Why: err.why}
	}
	return r.moment(d.first, d.opens), nil
}

// Before parses a deadline: "noon", "tomorrow 12:00", "in 2 hours", the start of a single day or of a future period, or
// the end of a period that has begun, of a rest and of an end.
func (r Reader) Before(text string) (time.Time, error) {
	s := strings.ToLower(strings.TrimSpace(text))
	s = halves.Replace(normalize(strings.TrimPrefix(s, "before ")))
	if s == "now" || s == "right now" {
		return r.Now, nil
	}
	if at, found, err := r.away(text, s, instants().fromNow, 1); found {
		return at, err
	}
	if at, found, err := r.onClock(text, s, false); found {
		return at, err
	}
	found, err := r.Parse(s)
	if err != nil {
		return time.Time{}, err
	}
	s = strings.TrimPrefix(s, "the ")
	whole := strings.HasPrefix(s, "rest of ") || strings.HasPrefix(s, "remainder of ") ||
		strings.HasPrefix(s, "end of ") || strings.HasPrefix(s, "today to ")
	if !whole && (found.From.After(r.Now) || found.Until.Before(found.From.AddDate(0, 0, 1).Add(time.Hour))) {
		return found.From, nil
	}
	return found.Until, nil
}

// away parses a number of hours or minutes before or after now.
func (r Reader) away(text, s string, forms []*regexp.Regexp, sign int) (time.Time, bool, error) {
	for _, p := range forms {
		m := p.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		if m[1] == "" {
			m[1] = "one"
		}
		n, why := count(m[1])
		if why != "" {
			return time.Time{}, true, &Error{Text: text, Why: why}
		}
		unit := time.Minute
		if m[2][0] == 'h' {
			unit = time.Hour
		}
		return r.Now.Add(time.Duration(sign*n) * unit), true, nil
	}
	return time.Time{}, false, nil
}

// onClock parses a time of day, with or without a day. In the past, one without a day is the latest. Otherwise it is
// today's, and midnight is the end of its day.
func (r Reader) onClock(text, s string, past bool) (time.Time, bool, error) {
	for _, p := range instants().clocks {
		m := p.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		name, clock := m[p.SubexpIndex("day")], m[p.SubexpIndex("clock")]
		d := one(r.today())
		if name != "" {
			var err *unreadable
			if d, err = r.fromToOf(name, past); err != nil {
				return time.Time{}, true, &Error{Text: text, Why: err.why}
			}
		}
		minutes, ok := minutesOf(clock)
		switch {
		case !ok:
			return time.Time{}, true, &Error{Text: text, Why: "there is no such time of day as " + clock}
		case clock == "midnight" && !past:
			minutes = 24 * 60
		case minutes < 60*d.opens, minutes >= 60*d.closes:
			return time.Time{}, true, &Error{Text: text, Why: clock + " is not in the " + name}
		}
		at := r.clock(d.first, minutes)
		if past && name == "" && at.After(r.Now) {
			at = r.clock(d.first.plus(-1), minutes)
		}
		return at, true, nil
	}
	return time.Time{}, false, nil
}

// minutesOf returns a time of day as minutes since midnight.
func minutesOf(clock string) (int, bool) {
	switch clock {
	case "noon", "midday":
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
