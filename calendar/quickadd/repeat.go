package quickadd

import (
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// rule is a repetition as it was read.
type rule struct {
	freq     ical.Frequency
	interval int
	byDay    []ical.WeekdayNum
	// monthDay is the day of the month in "every 15th", date the day in "every 3 May".
	monthDay int
	date     *days
	count    int
	// part is the part of the day in "every evening".
	part string
}

// bound is the last day of a repetition: a day, or a distance from the start.
type bound struct {
	day ical.Civil
	// yearless is set if the day has a month but no year. It is then the first one after the start.
	yearless bool
	span     span
}

// readRepeat finds the first phrase that says how often the event repeats.
func (p *parser) readRepeat() {
	for i := range p.words {
		if !p.starts(i) {
			continue
		}
		r, next, ok := p.ruleAt(i)
		if !ok {
			r, next, ok = p.ruleOfMonth(i)
		}
		if !ok || next < len(p.words) && !p.words[next].first || !p.adverb(i, next) {
			continue
		}
		p.rule = &r
		p.take(i, next, Repeat)
		return
	}
}

// adverb reports whether a single word may be an adverb: in "Weekly report Friday" it belongs to the title.
func (p *parser) adverb(i, next int) bool {
	raw := strings.ToLower(p.words[i].raw)
	if raw == "every" || raw == "each" || strings.Contains(raw, " ") || p.words[i].to != p.words[next-1].to {
		return true
	}
	if p.closed(next) || p.is(next, afterAdverb...) {
		return true
	}
	if _, _, ok := p.point(next); ok {
		return true
	}
	_, _, ok := p.span(next)
	n, counted := number(p.at(next))
	return ok || counted && n > 0 && p.is(next+1, "times")
}

var afterAdverb = strings.Fields("at on from until to for starting in near with remind")

// ruleAt reads "every day", "every 2 weeks on Tuesday", "every Tuesday and Thursday", "every first Monday of the
// month".
func (p *parser) ruleAt(i int) (rule, int, bool) {
	if !p.is(i, "every") {
		return rule{}, i, false
	}
	r, next := rule{interval: 1}, i+1
	if d, after, ok := p.date(next); ok && !isoDate.MatchString(p.at(next)) {
		r.freq, r.date = ical.Yearly, &d
		return r, after, true
	}
	if r, after, ok := p.nthWeekday(next); ok && p.isMonth(after, "of", "in", "near", "the", "every") > 0 {
		return r, p.isMonth(after, "of", "in", "near", "the", "every"), true
	}
	if n := dayOfMonth(p.at(next)); ordinal.MatchString(p.at(next)) && n > 0 && n != 2 {
		after := p.isMonth(next+1, "of", "in", "near", "the", "every")
		if after > 0 || p.closed(next+1) || p.is(next+1, "at", "until") {
			r.freq, r.monthDay = ical.Monthly, n
			return r, max(after, next+1), true
		}
	}
	switch n, ok := number(p.at(next)); {
	case p.is(next, "other", "second", "2nd", "2."):
		r.interval, next = 2, next+1
	case ok && n > 1 && n < 1000 && !p.is(next, "a"):
		r.interval, next = n, next+1
	}
	return p.unit(r, next)
}

// unit reads the unit of a rule and the days that belong to it.
func (p *parser) unit(r rule, i int) (rule, int, bool) {
	next := i + 1
	switch p.at(i) {
	case "day":
		r.freq = ical.Daily
	case "morning", "afternoon", "evening", "night":
		r.freq, r.part = ical.Daily, p.at(i)
	case "week":
		r.freq = ical.Weekly
		_, _, dated := p.dayNamed(next)
		if list, after, ok := p.weekdayList(p.skip(next, "on", "every")); ok && !dated {
			r.byDay, next = list, after
		}
	case "month":
		r.freq = ical.Monthly
		if nth, after, ok := p.nthWeekday(p.skip(p.skip(next, "on"), "the")); ok {
			r.byDay, next = nth.byDay, after
		} else if _, _, dated := p.day(next); dated && !p.is(next, "on") {
			// "every month 20 November": the day is the start.
			break
		} else if at := p.skip(p.skip(next, "on"), "the"); !p.dated(at) && ordinal.MatchString(p.at(at)) {
			if n := dayOfMonth(p.at(at)); n > 0 {
				r.monthDay, next = n, at+1
			}
		}
	case "year":
		r.freq = ical.Yearly
	case "workday":
		r.freq = ical.Weekly
		for d := time.Monday; d <= time.Friday; d++ {
			r.byDay = append(r.byDay, ical.WeekdayNum{Weekday: d})
		}
	case "weekend":
		r.freq = ical.Weekly
		r.byDay = []ical.WeekdayNum{{Weekday: time.Saturday}, {Weekday: time.Sunday}}
	default:
		list, after, ok := p.weekdayList(i)
		if !ok {
			return rule{}, i, false
		}
		r.freq, r.byDay, next = ical.Weekly, list, after
	}
	return r, next, true
}

// dated reports whether a date is at a place.
func (p *parser) dated(i int) bool {
	_, _, ok := p.date(i)
	return ok
}

// ruleOfMonth reads "the last Friday of every month" and "on the 15th of every month".
func (p *parser) ruleOfMonth(i int) (rule, int, bool) {
	start := p.skip(p.skip(i, "on"), "the")
	r, next, ok := p.nthWeekday(start)
	numbered := ordinal.MatchString(p.at(start)) ||
		p.tongue.own && dayNumber.MatchString(p.at(start)) && p.is(start+1, "of")
	if !ok && numbered && dayOfMonth(p.at(start)) > 0 {
		r, next, ok = rule{freq: ical.Monthly, interval: 1, monthDay: dayOfMonth(p.at(start))}, start+1, true
	}
	next = p.skip(next, "of", "in")
	if !ok || !p.is(next, "every") || !p.is(next+1, "month") {
		return rule{}, i, false
	}
	return r, next + 2, true
}

// isMonth returns the place after "of the month"; 0 if it is not there.
func (p *parser) isMonth(i int, words ...string) int {
	next := i
	for p.is(next, words...) {
		next++
	}
	if next > i && p.is(next, "month") {
		return next + 1
	}
	return 0
}

func dayOfMonth(text string) int {
	m := dayNumber.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	if n, _ := strconv.Atoi(m[1]); n <= 31 {
		return n
	}
	return 0
}

var nths = map[string]int{
	"first": 1, "1st": 1, "1.": 1, "second": 2, "2nd": 2, "2.": 2, "other": 2, "third": 3, "3rd": 3, "3.": 3,
	"fourth": 4, "4th": 4, "4.": 4, "last": -1,
}

// nthWeekday reads "first Monday".
func (p *parser) nthWeekday(i int) (rule, int, bool) {
	n := nths[p.at(i)]
	if n == 0 || !weekdays[p.at(i+1)] {
		return rule{}, i, false
	}
	day := ical.WeekdayNum{Weekday: weekdayOf(p.at(i + 1)), N: n}
	return rule{freq: ical.Monthly, interval: 1, byDay: []ical.WeekdayNum{day}}, i + 2, true
}

// weekdayList reads "Tuesday, Thursday and Friday", "Monday to Friday".
func (p *parser) weekdayList(i int) ([]ical.WeekdayNum, int, bool) {
	if !weekdays[p.at(i)] {
		return nil, i, false
	}
	var found [7]bool
	last := weekdayOf(p.at(i))
	found[last] = true
	next := i + 1
	for {
		at := p.skip(p.skip(p.skip(next, ","), "and"), "every", "on")
		switch {
		case at > next && weekdays[p.at(at)]:
			last = weekdayOf(p.at(at))
			found[last] = true
			next = at + 1
			continue
		case p.is(next, "-", "to", "until") && weekdays[p.at(p.skip(next+1, "every"))]:
			next = p.skip(next+1, "every") + 1
			for to := weekdayOf(p.at(next - 1)); last != to; {
				last = (last + 1) % 7
				found[last] = true
			}
			continue
		}
		break
	}
	var list []ical.WeekdayNum
	for n := range 7 {
		if d := time.Weekday((n + 1) % 7); found[d] {
			list = append(list, ical.WeekdayNum{Weekday: d})
		}
	}
	return list, next, true
}

// readCount reads "5 times".
func (p *parser) readCount() {
	if p.rule == nil {
		return
	}
	for i := range p.words {
		n, ok := number(p.at(i))
		next := i + 2
		if count, cut := strings.CutSuffix(p.at(i), "x"); cut {
			n, ok = number(count)
			next = i + 1
		} else if count, cut := strings.CutSuffix(p.at(i), "mal"); cut {
			n, ok = number(p.meaning(count))
			next = i + 1
		} else if !p.is(i+1, "times") {
			continue
		}
		if !ok || !p.starts(i) || n < 1 || p.is(i, "a") {
			continue
		}
		if p.is(i-1, "for") {
			i--
		}
		p.rule.count = n
		p.take(i, next, Times)
		return
	}
}

// readUntil reads "until 3 May" of a repetition.
func (p *parser) readUntil() {
	if p.rule == nil || p.rule.count > 0 {
		return
	}
	for i := range p.words {
		if !p.is(i, "until") || !p.starts(i) {
			continue
		}
		start := p.skip(i+1, "to", "the")
		d, next, ok := p.day(start)
		if !ok {
			d, next, ok = p.endOf(start)
		}
		if !ok || next < len(p.words) && !p.words[next].first {
			continue
		}
		p.lastDay.day, p.lastDay.yearless = d.last, true
		dated := false
		for at := start; at < next; at++ {
			m := numericDate.FindStringSubmatch(p.at(at))
			dated = dated || months[p.at(at)] || m != nil
			if yearNumber.MatchString(p.at(at)) || isoDate.MatchString(p.at(at)) || m != nil && m[3] != "" {
				p.lastDay.yearless = false
			}
		}
		p.lastDay.yearless = p.lastDay.yearless && dated
		p.take(i, next, Until)
		return
	}
}

// endOf reads "the end of May", "end of the year".
func (p *parser) endOf(i int) (days, int, bool) {
	start := p.skip(i, "the")
	if !p.is(start, "end") || !p.is(start+1, "of") {
		return days{}, i, false
	}
	for n := 5; n > 2; n-- {
		var texts []string
		for at := start; at < start+n && p.at(at) != ""; at++ {
			texts = append(texts, p.at(at))
		}
		if len(texts) < n {
			continue
		}
		if d, ok := p.daysIn(strings.Join(texts, " ")); ok {
			return d, start + n, true
		}
	}
	return days{}, i, false
}

// clock applies the part of the day in "every evening" to a time.
func (r *rule) clock(c *clock) *clock {
	if c == nil {
		return &clock{minutes: hours[r.part]}
	}
	if !c.loose {
		return c
	}
	in := c.in(r.part)
	return &in
}

// matches reports whether a day is one of the rule's.
func (r *rule) matches(day ical.Civil) bool {
	if r.monthDay > 0 && day.Day != r.monthDay {
		return false
	}
	if len(r.byDay) == 0 {
		return true
	}
	for _, d := range r.byDay {
		if d.Weekday != day.Weekday() {
			continue
		}
		last := day.Day+7 > ical.DaysIn(day.Year, day.Month)
		if d.N == 0 || d.N == (day.Day+6)/7 || d.N == -1 && last {
			return true
		}
	}
	return false
}

// repeat moves the start to the first day of the rule, and makes the event's rule.
func (p *parser) repeat(start *ical.Civil, timed bool) {
	r := p.rule
	if r.date != nil && p.when.first.day == nil {
		day := r.date.first
		*start = day.AddSeconds(int64(start.SecondOfDay()))
		if timed && !start.After(p.Zone.Civil(p.Now)) {
			start.Year++
			if !start.Valid() {
				start.Year += 3
			}
		}
	}
	const years = 8 * 366
	for n := 0; n < years && !r.matches(*start); n++ {
		*start = start.AddDays(1)
	}
	made := &ical.Recur{
		Freq: r.freq, Interval: r.interval, Count: r.count, ByDay: r.byDay, WeekStart: time.Monday,
	}
	if r.freq == ical.Weekly && r.interval > 1 && len(r.byDay) > 1 {
		made.WeekStart = p.WeekStart
	}
	if until, ok := p.until(start.Date()); ok {
		made.Until = ical.Date(until)
	}
	p.event.Repeat = made
}

// until returns the last day of a repetition. A day before the start goes back to the title.
func (p *parser) until(start ical.Civil) (ical.Civil, bool) {
	b := p.lastDay
	switch {
	case !b.span.zero():
		return start.AddDays(b.span.days - 1), true
	case b.day.IsZero():
		if w := p.when.first.day; w != nil && w.first != w.last {
			return w.last, true
		}
		if w := p.when.last.day; w != nil && p.when.last.clock == nil {
			return w.last, true
		}
		return ical.Civil{}, false
	}
	for n := 0; n < 4 && b.yearless && b.day.Before(start); n++ {
		b.day.Year++
		if !b.day.Valid() {
			b.day.Day--
		}
	}
	if b.day.Before(start) {
		p.giveBack(Until)
		return ical.Civil{}, false
	}
	return b.day, true
}
