package quickadd

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/daterange"
	"caldav-mcp-server/ical"
)

// days are the days that a phrase means, both inclusive.
type days struct {
	first, last ical.Civil
	// sure is set if a preposition leads to the phrase.
	sure bool
	// part is the part of the day in "tonight".
	part string
	// yearless is set for a date without a year, weekly for a weekday. They mean the next one.
	yearless, weekly bool
}

var (
	numericDate = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?$`)
	isoDate     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	ordinal     = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th|\.)$`)
	dayNumber   = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th|\.)?$`)
	yearNumber  = regexp.MustCompile(`^[12]\d{3}$`)
)

// daysIn asks daterange about a phrase.
func (p *parser) daysIn(phrase string) (days, bool) {
	if d, ok := p.asked[phrase]; ok {
		return d, d.first.Valid()
	}
	d, ok := p.ask(phrase)
	if !ok {
		d = days{}
	}
	p.asked[phrase] = d
	return d, ok
}

func (p *parser) ask(phrase string) (days, bool) {
	r := daterange.Reader{Now: p.Now, Zone: p.Zone.Location(), WeekStart: p.WeekStart}
	found, err := r.Parse(phrase)
	if err != nil {
		return days{}, false
	}
	d := days{first: p.Zone.Civil(found.From).Date(), last: p.Zone.Civil(found.Until.Add(-time.Second)).Date()}
	return d, d.first.Valid() && d.last.Valid() && d.last.AddDays(1).Valid()
}

// oneDay is daysIn for a single day.
func (p *parser) oneDay(phrase string) (days, bool) {
	d, ok := p.daysIn(phrase)
	return d, ok && d.first == d.last
}

func (p *parser) today() ical.Civil { return p.Zone.Civil(p.Now).Date() }

// day reads the longest phrase that means one day, or a weekend: "Friday", "on 3 May", "Monday, 3 May 2027", "in two
// weeks".
func (p *parser) day(i int) (days, int, bool) {
	if !p.starts(i) {
		return days{}, i, false
	}
	if d, next, ok := p.dayNamed(i); ok {
		return d, next, true
	}
	start := p.skip(i, "on")
	if p.tongue.own && p.is(start, "day", "in") && (p.dated(start+1) ||
		dayNumber.MatchString(p.at(start+1)) && p.dayAlone(start+1, start+2)) {
		// "dia 3 de maio", "em 3 de maio", "dia 5"
		start++
	}
	sure := start > i
	if p.is(start, "weekend") && sure || p.is(start, "this", "next", "coming") && p.is(start+1, "weekend") {
		next := start + 1
		phrase := "this weekend"
		if p.is(next, "weekend") {
			phrase, next = p.at(start)+" weekend", next+1
		}
		d, ok := p.daysIn(phrase)
		return d, next, ok
	}
	if sure && p.tongue.german && p.is(start, "tomorrow") {
		// "am Morgen"
		return days{}, i, false
	}
	d, next, ok := p.phrase(start)
	d.sure = sure || p.is(start, "in")
	if ok && !sure && next == i+1 && shortDays[p.at(i)] && !p.shortDay(i) {
		return days{}, i, false
	}
	return d, next, ok
}

// dayNamed reads a weekday with its date, if they agree: "Friday, 20 February".
func (p *parser) dayNamed(i int) (days, int, bool) {
	start := p.skip(i, "on")
	if !weekdays[p.at(start)] {
		return days{}, i, false
	}
	next := p.skip(p.skip(start+1, ","), "on", "the")
	d, after, ok := p.date(next)
	if !ok {
		return days{}, i, false
	}
	d.sure = true
	return d, after, d.first.Weekday() == weekdayOf(p.at(start))
}

func weekdayOf(text string) time.Weekday {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(d.String()[:3], text[:3]) {
			return d
		}
	}
	return time.Sunday
}

// shortDay reports whether "sun" or "mon" stands where a weekday is likely: before a time or a date, or capitalized at
// the end.
func (p *parser) shortDay(i int) bool {
	next := p.skip(i+1, ",", "-", "at", "from")
	if _, _, ok := p.clock(next); ok {
		return true
	}
	if p.is(i+1, "-", "until", "to") && weekdays[p.at(i+2)] || p.is(i-1, "-", "until", "to") {
		return true
	}
	raw := p.words[i].raw
	return i > 0 && raw != strings.ToLower(raw) && p.closed(i+1)
}

// phrase reads a day without a preposition.
func (p *parser) phrase(i int) (days, int, bool) {
	if d, next, ok := p.date(i); ok {
		return d, next, true
	}
	word, second := p.at(i), p.at(i+1)
	switch {
	case p.tongue.own && dayNumber.MatchString(word) && p.is(i-1, "on", "day") && p.dayAlone(i, i+1):
		// "el 5 a las 10"
		d, ok := p.oneDay("the " + dayNumber.FindStringSubmatch(word)[1] + "th")
		return d, i + 1, ok
	case word == "easter":
		return p.easter(i)
	case word == "day" && second == "after", word == "the" && second == "day" && p.is(i+2, "after"):
		return p.longest(i, 4)
	case word == "tonight":
		d, ok := p.oneDay("today")
		d.part = "evening"
		return d, i + 1, ok
	case word == "today", word == "tomorrow", word == "yesterday":
		d, ok := p.oneDay(word)
		return p.weeksAfter(d, i+1, ok)
	case word == "in", word == "the" && ordinalWord(second), ordinalWord(word):
		return p.longest(i, 8)
	case word == "this" && weekdays[second], word == "next" && weekdays[second], word == "coming" && weekdays[second],
		word == "last" && weekdays[second]:
		return p.longest(i, 2)
	case (word == "next" || word == "this") && second == "week":
		// "next week Friday"
		at := p.skip(p.skip(i+2, ","), "on")
		if weekdays[p.at(at)] {
			d, ok := p.oneDay(p.at(at) + " of " + word + " week")
			return d, at + 1, ok
		}
	case weekdays[word]:
		d, next, ok := p.longest(i, 4)
		d.weekly = next == i+1
		return p.weeksAfter(d, next, ok)
	}
	return days{}, i, false
}

// weeksAfter reads "in a week" after a day.
func (p *parser) weeksAfter(d days, i int, ok bool) (days, int, bool) {
	if !ok || !p.is(i, "in") {
		return d, i, ok
	}
	s, next, found := p.span(i + 1)
	if !found || !s.whole || s.days%7 != 0 || !d.first.AddDays(s.days).Valid() {
		return d, i, ok
	}
	d.first = d.first.AddDays(s.days)
	d.last = d.first
	return d, next, true
}

func ordinalWord(word string) bool {
	switch word {
	case "first", "second", "third", "fourth", "fifth", "last":
		return true
	}
	return ordinal.MatchString(word)
}

// longest reads the longest phrase of at most n words that daterange takes for one day.
func (p *parser) longest(i, n int) (days, int, bool) {
	for ; n > 0; n-- {
		if i+n < len(p.words) && !p.starts(i+n) && hours[p.at(i+n)] == 0 {
			continue
		}
		texts := make([]string, 0, n)
		for at := i; at < i+n && p.at(at) != "" && !p.words[at].mark && hours[p.at(at)] == 0; at++ {
			// daterange knows 5th, and not the German 5.
			texts = append(texts, strings.Replace(p.at(at), ".", "th", 1))
		}
		if len(texts) < n {
			continue
		}
		phrase := strings.Join(texts, " ")
		if bareDay.MatchString(phrase) && !p.dayAlone(i, i+n) {
			continue
		}
		if d, ok := p.oneDay(phrase); ok {
			return d, i + n, true
		}
	}
	return days{}, i, false
}

// bareDay is a day of the month alone.
var bareDay = regexp.MustCompile(`^(the )?\d{1,2}\D*$`)

// dayAlone reports whether a number is a day of the month: after "on", and before no word that it could count, as in
// "on the 5th floor".
func (p *parser) dayAlone(from, to int) bool {
	if !p.is(from-1, "on", "day") || !p.tongue.own && !ordinal.MatchString(p.at(to-1)) {
		return false
	}
	if p.closed(to) || p.is(to, "at", "from", "with", "until", "to", "for", "in") {
		return true
	}
	_, _, ok := p.clock(to)
	return ok
}

// date reads a date: "3 May", "May 3rd, 2027", "3. Mai", "3.5.2027", "2027-05-03", and after "on" also "the 3rd".
func (p *parser) date(i int) (days, int, bool) {
	text := p.at(i)
	if isoDate.MatchString(text) {
		d, ok := p.oneDay(text)
		return d, i + 1, ok
	}
	if m := numericDate.FindStringSubmatch(text); m != nil {
		month, _ := strconv.Atoi(m[2])
		if month < 1 || month > 12 {
			return days{}, i, false
		}
		year := m[3]
		if len(year) == 2 {
			year = "20" + year
		}
		d, ok := p.inYear(m[1]+" "+time.Month(month).String(), year)
		return d, i + 1, ok
	}
	start := p.skip(i, "the")
	var number, month string
	next := start + 2
	switch {
	case dayNumber.MatchString(p.at(start)) && months[p.at(start+1)]:
		number, month = p.at(start), p.at(start+1)
	case dayNumber.MatchString(p.at(start)) && p.is(start+1, "of") && months[p.at(start+2)]:
		number, month, next = p.at(start), p.at(start+2), start+3
	case months[p.at(start)] && dayNumber.MatchString(p.at(p.skip(start+1, "the"))):
		next = p.skip(start+1, "the") + 1
		month, number = p.at(start), p.at(next-1)
		if _, _, ok := p.clock(next - 1); ok && !p.bareNumber(next-1) {
			return days{}, i, false
		}
	default:
		return days{}, i, false
	}
	phrase := dayNumber.FindStringSubmatch(number)[1] + " " + month
	if at := p.skip(next, ",", "of"); yearNumber.MatchString(p.at(at)) {
		if d, ok := p.oneDay(phrase + " " + p.at(at)); ok {
			return d, at + 1, true
		}
	}
	d, ok := p.inYear(phrase, "")
	return d, next, ok
}

// inYear reads a day of a year. Without the year it is the next one, from today on.
func (p *parser) inYear(phrase, year string) (days, bool) {
	if year != "" {
		return p.oneDay(phrase + " " + year)
	}
	d, ok := p.oneDay(phrase)
	for n := 1; ok && n <= 8 && d.first.Before(p.today()); n++ {
		if later, found := p.oneDay(fmt.Sprint(phrase, " ", p.today().Year+n)); found {
			d = later
		}
	}
	d.yearless = true
	return d, ok
}

// bareNumber reports whether a number has nothing that makes it a time of day.
func (p *parser) bareNumber(i int) bool {
	return dayNumber.MatchString(p.at(i)) && !p.is(i+1, "am", "pm", "oclock")
}

// easter reads the next Easter Sunday, or the one of a year.
func (p *parser) easter(i int) (days, int, bool) {
	if yearNumber.MatchString(p.at(i + 1)) {
		year, _ := strconv.Atoi(p.at(i + 1))
		d := easterSunday(year)
		return days{first: d, last: d}, i + 2, true
	}
	d := easterSunday(p.today().Year)
	if d.Before(p.today()) {
		d = easterSunday(p.today().Year + 1)
	}
	return days{first: d, last: d}, i + 1, d.Valid()
}

// easterSunday is the algorithm of Meeus for the Gregorian calendar.
func easterSunday(year int) ical.Civil {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return ical.CivilDate(year, time.Month(n/31), n%31+1)
}

// dayRange reads two days that share a month: "3 to 10 August", "3.-10. August", "August 3-10", "3.-10.8.".
func (p *parser) dayRange(i int) (days, int, bool) {
	if !p.starts(i) {
		return days{}, i, false
	}
	start := p.skip(p.skip(i, "from", "on"), "the")
	if months[p.at(start)] && dayNumber.MatchString(p.at(start+1)) && p.is(start+2, "-", "to", "until") &&
		dayNumber.MatchString(p.at(start+3)) && p.bareNumber(start+3) {
		return p.daysOfMonth(p.at(start+1), p.at(start+3), p.at(start), start+4)
	}
	if !dayNumber.MatchString(p.at(start)) || !p.is(start+1, "-", "to", "until") {
		return days{}, i, false
	}
	to := p.skip(start+2, "the", "to", "on")
	if m := numericDate.FindStringSubmatch(p.at(to)); m != nil {
		month, _ := strconv.Atoi(m[2])
		if month < 1 || month > 12 {
			return days{}, i, false
		}
		year := m[3]
		if len(year) == 2 {
			year = "20" + year
		}
		return p.daysOfMonth(p.at(start), m[1], strings.TrimSpace(time.Month(month).String()+" "+year), to+1)
	}
	month := p.skip(to+1, "of")
	if dayNumber.MatchString(p.at(to)) && months[p.at(month)] {
		return p.daysOfMonth(p.at(start), p.at(to), p.at(month), month+1)
	}
	return days{}, i, false
}

func (p *parser) daysOfMonth(first, last, month string, next int) (days, int, bool) {
	if !strings.Contains(month, " ") {
		if at := p.skip(next, ",", "of"); yearNumber.MatchString(p.at(at)) {
			month, next = month+" "+p.at(at), at+1
		}
	}
	a, b := dayNumber.FindStringSubmatch(first)[1], dayNumber.FindStringSubmatch(last)[1]
	d, ok := p.daysIn(fmt.Sprintf("%s %s to %s %s", a, month, b, month))
	d.sure = true
	return d, next, ok && d.first.Month == d.last.Month && d.first.Year == d.last.Year && d.first != d.last
}
