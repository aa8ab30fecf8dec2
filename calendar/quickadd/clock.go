package quickadd

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clock is a time of day as it was written.
type clock struct {
	minutes int
	// loose is set if the half of the day was not written; afternoon hours may be meant.
	loose bool
	// weak is set for a number that needs more to be a time, such as the 13 of "13-14:30".
	weak bool
	// half is "am" or "pm" if it was written.
	half string
}

const (
	hour    = 60
	halfDay = 12 * hour
	fullDay = 24 * hour
)

var clockForms = [...]*regexp.Regexp{
	regexp.MustCompile(`^(\d{1,2}):(\d{2})(am|pm|a\.m\.?|p\.m\.?|h)?$`),
	regexp.MustCompile(`^(\d{1,2})()(am|pm|a\.m\.?|p\.m\.?|uhr|h)$`),
	regexp.MustCompile(`^(\d{1,2})h(\d{2})()$`),
	regexp.MustCompile(`^(\d{1,2})\.(\d{2})(am|pm|a\.m\.?|p\.m\.?)?$`),
	regexp.MustCompile(`^(\d{1,2})()()$`),
}

const (
	colonForm = iota
	hourForm
	frenchForm
	dotForm
	bareForm
)

// clock reads a time of day without its preposition: "13:00", "1 pm", "13 Uhr", "half past 3", "8 in the evening".
func (p *parser) clock(i int) (clock, int, bool) {
	c, next, ok := p.spokenClock(i)
	if !ok {
		c, next, ok = p.writtenClock(i)
	}
	if !ok {
		return clock{}, i, false
	}
	part, after, ok := p.partOfDay(next)
	// "Room 5 evening show" has no time, and "um 8 morgen" is tomorrow; but "um 8 morgens" is not.
	bare := after == next+1 && (c.weak || p.is(next, "tomorrow")) && !strings.HasSuffix(p.raw(next), "s")
	if !ok || !c.loose || bare {
		return c, next, true
	}
	return c.in(part), after, true
}

// partOfDay reads "in the evening", "evening".
func (p *parser) partOfDay(i int) (string, int, bool) {
	next := i
	if p.is(i, "in", "at", "on") {
		next = p.skip(i+1, "the")
	}
	// In German, "morgen" is tomorrow, and the morning after a day.
	if p.tongue.german && p.is(next, "tomorrow") {
		return "morning", next + 1, true
	}
	if p.is(next, "morning", "afternoon", "evening", "night") {
		return p.at(next), next + 1, true
	}
	return "", i, false
}

// hours are the times that parts of the day stand for without a time.
var hours = map[string]int{
	"morning": 9 * hour, "noon": halfDay, "afternoon": 15 * hour, "evening": 19 * hour, "night": 21 * hour,
	"midnight": 0,
}

// in applies a part of the day to a time.
func (c clock) in(part string) clock {
	h := c.minutes / hour
	switch {
	case part == "morning" && h == 12, part == "night" && h == 12:
		c.minutes -= halfDay
	case part != "morning" && h < 12 && (part != "night" || h >= 6):
		c.minutes += halfDay
	}
	c.loose, c.weak = false, false
	return c
}

func (p *parser) writtenClock(i int) (clock, int, bool) {
	text := p.at(i)
	for form, pattern := range clockForms {
		m := pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		h, _ := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2])
		c := clock{minutes: h*hour + minute, half: strings.ReplaceAll(m[3], ".", "")}
		next, named := i+1, c.half == "h" || c.half == "uhr"
		if named {
			c.half = ""
		}
		if c.half == "" && p.is(next, "am", "pm") {
			c.half, next = p.at(next), next+1
		}
		if p.is(next, "oclock") || h < 24 && p.hourOfDay(i, h) {
			next, named = next+1, true
			more, ok := number(p.at(next))
			if ok && form == bareForm && p.tongue.exact() && more < hour && len(p.at(next)) == 2 &&
				p.closedTime(next+1) {
				// "13 Uhr 30"
				c.minutes += more
				next++
			}
		}
		if minute >= hour || h > 24 || h == 24 && minute > 0 || c.half != "" && (h < 1 || h > 12) {
			return clock{}, i, false
		}
		c.weak = c.half == "" && !named && (form == bareForm || form == dotForm)
		// A German hour with a minute, or with Uhr, is on the 24-hour clock; so is an hour with a leading zero.
		exact := p.tongue.exact() && (form != bareForm || named) || strings.HasPrefix(m[1], "0")
		c.loose = c.half == "" && h <= 12 && h > 0 && !strings.HasPrefix(m[1], "0")
		if more, ok := quarters[p.at(next)]; ok && minute == 0 && h > 0 {
			// "a las 5 y media"
			c.minutes += more
			c.weak, exact = false, false
			next++
		}
		return c.halved(exact), next, true
	}
	return clock{}, i, false
}

// quarters are the minutes after an hour in words.
var quarters = map[string]int{"+15": 15, "+30": 30, "-15": -15}

// hourOfDay reports whether the word after a number is the hour of a day, and not of a duration: "om 13 uur".
func (p *parser) hourOfDay(i, h int) bool {
	return p.tongue.own && p.is(i+1, "hour") && !p.is(i-1, "for", "in") &&
		(h > 12 || p.is(i-1, "at", "from", "to", "until", "-", "between", "today", "tomorrow") || weekdays[p.at(i-1)] ||
			months[p.at(i-1)] || yearNumber.MatchString(p.at(i-1)) || numericDate.MatchString(p.at(i-1)))
}

// closedTime reports whether a number before a place may be minutes, and counts nothing.
func (p *parser) closedTime(i int) bool {
	return units[p.at(i)] == 0 && !p.is(i, "times", ".") && !months[p.at(i)]
}

// halved applies am or pm. Without them, hours from one to six are in the afternoon, unless they are exact.
func (c clock) halved(exact bool) clock {
	h := c.minutes / hour
	switch {
	case c.half == "am" && h == 12:
		c.minutes -= halfDay
	case c.half == "pm" && h != 12, c.half == "" && c.loose && !exact && h >= 1 && h <= 6:
		c.minutes += halfDay
	}
	return c
}

// spokenClock reads "noon", "half past 3", "quarter to 5", and in German "halb vier".
func (p *parser) spokenClock(i int) (clock, int, bool) {
	if p.is(i, "noon", "midnight") {
		return clock{minutes: hours[p.at(i)]}, i + 1, true
	}
	var shift, next int
	switch {
	case p.tongue.half && p.is(i, "half"):
		shift, next = -30, i+1
	case p.is(i, "half") && p.is(i+1, "past"):
		shift, next = 30, i+2
	case p.is(i, "quarter") && p.is(i+1, "past"):
		shift, next = 15, i+2
	case p.is(i, "quarter") && p.is(i+1, "to", "vor"):
		shift, next = -15, i+2
	default:
		return clock{}, i, false
	}
	h, ok := number(p.at(next))
	if !ok || h < 1 || h > 12 {
		return clock{}, i, false
	}
	c := clock{minutes: h*hour + shift, loose: true}
	if at := c.minutes / hour; at >= 1 && at <= 6 || c.minutes < hour {
		c.minutes += halfDay
	}
	return c, p.skip(next+1, "oclock"), true
}

// number reads a whole number below 10000, or "a".
func number(text string) (int, bool) {
	if text == "a" || text == "an" {
		return 1, true
	}
	if len(text) == 0 || len(text) > 4 {
		return 0, false
	}
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// span is a duration. Days are nominal: a day later is the same time on the next day.
type span struct {
	days    int
	minutes int
	// weeks is set if it was written in weeks or days only.
	whole bool
}

func (s span) zero() bool { return s.days == 0 && s.minutes == 0 }

// duration is the span with days of 24 hours.
func (s span) duration() time.Duration {
	return time.Duration(s.days)*24*time.Hour + time.Duration(s.minutes)*time.Minute
}

var (
	joined  = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)(min|mins|minutes|m|h|hr|hrs|std|d|w)$`)
	joined2 = regexp.MustCompile(`^(\d{1,2})h(\d{2})(?:m|min)?$`)
	decimal = regexp.MustCompile(`^(\d{1,3})[.,](\d{1,2})$`)
)

// units are the sizes in minutes.
var units = map[string]int{
	"minute": 1, "min": 1, "mins": 1, "minutes": 1, "m": 1,
	"hour": hour, "h": hour, "hr": hour, "hrs": hour, "std": hour,
	"day": fullDay, "d": fullDay, "week": 7 * fullDay, "w": 7 * fullDay,
}

// maxSpan is the longest duration in minutes.
const maxSpan = 3660 * fullDay

// span reads "45 minutes", "1 hour 30 minutes", "1h30", "1.5 hours", "half an hour".
func (p *parser) span(i int) (span, int, bool) {
	total, next, last := 0, i, maxSpan+1
	for {
		n, unit, after, ok := p.amount(next)
		// The units get smaller: "1 hour 30 minutes".
		if !ok || unit >= last || total+n > maxSpan || p.hourAfterDays(next, last) {
			break
		}
		total, next, last = total+n, after, unit
		if p.is(next, "and") {
			if _, unit, _, ok := p.amount(next + 1); ok && unit < last {
				next++
			}
		}
	}
	if next == i || total == 0 {
		return span{}, i, false
	}
	return span{days: total / fullDay, minutes: total % fullDay, whole: last >= fullDay}, next, true
}

// hourAfterDays reports whether an hour after days is a time: "dans 3 jours 17h15".
func (p *parser) hourAfterDays(i, last int) bool {
	text := p.at(i)
	return p.tongue.own && last >= fullDay && last <= 7*fullDay &&
		(clockForms[hourForm].MatchString(text) || clockForms[frenchForm].MatchString(text))
}

// amount reads a number with its unit; both are in minutes.
func (p *parser) amount(i int) (n, unit, next int, ok bool) {
	text := p.at(i)
	switch {
	case p.is(i, "half") && p.is(i+1, "a", "an") && p.is(i+2, "hour"):
		return 30, hour, i + 3, true
	case p.is(i, "a") && p.is(i+1, "half", "quarter") && p.is(i+2, "hour"):
		return map[string]int{"half": 30, "quarter": 15}[p.at(i+1)], hour, i + 3, true
	}
	if m := joined2.FindStringSubmatch(text); m != nil {
		h, _ := strconv.Atoi(m[1])
		minutes, _ := strconv.Atoi(m[2])
		return h*hour + minutes, 1, i + 1, minutes < hour
	}
	if m := joined.FindStringSubmatch(text); m != nil {
		n, ok := scaled(m[1], units[m[2]])
		return n, units[m[2]], i + 1, ok
	}
	at := p.skip(i+1, "-")
	unit = units[p.at(at)]
	if unit == 0 || len(p.at(at)) < 3 {
		return 0, 0, i, false
	}
	n, ok = scaled(text, unit)
	return n, unit, at + 1, ok
}

// scaled multiplies a number, possibly a decimal one, with a unit. Only whole minutes count.
func scaled(text string, unit int) (int, bool) {
	if n, ok := number(text); ok {
		return n * unit, n > 0 && n*unit <= maxSpan
	}
	m := decimal.FindStringSubmatch(text)
	if m == nil || unit < hour {
		return 0, false
	}
	whole, _ := strconv.Atoi(m[1])
	digits, _ := strconv.Atoi(m[2])
	scale := 10
	if len(m[2]) == 2 {
		scale = 100
	}
	n := whole*unit + digits*unit/scale
	return n, digits*unit%scale == 0 && n > 0 && n <= maxSpan
}
