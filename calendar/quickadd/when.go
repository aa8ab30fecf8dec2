package quickadd

import (
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// point is one end of the event's time.
type point struct {
	day   *days
	clock *clock
}

// when is the event's time as it was read.
type when struct {
	first, last point
	from, to    int
	// kinds are the kinds of the words from the first to the last.
	kinds []Kind
	// after is the distance from now in "in 2 hours".
	after *span
}

// readWhen finds the best phrase for the day and the time. If the day and the time are apart, it takes both.
func (p *parser) readWhen() {
	best := p.bestWhen(func(when) bool { return true })
	if best == nil {
		return
	}
	p.accept(*best)
	defer p.readAllDay()
	switch {
	case best.after != nil:
	case best.first.day == nil:
		other := p.bestWhen(func(w when) bool {
			return w.first.day != nil && w.first.clock == nil && w.last.clock == nil
		})
		if other != nil && other.last.day == nil && other.first.day.first == other.first.day.last {
			p.accept(*other)
			p.when.first.day = other.first.day
		}
	case best.first.clock == nil && best.last.day == nil && best.first.day.first == best.first.day.last:
		other := p.bestWhen(func(w when) bool {
			return w.first.clock != nil && w.first.day == nil && w.last.day == nil
		})
		if other != nil {
			p.accept(*other)
			other.first.day = best.first.day
			p.when = *other
		}
	}
}

// readAllDay reads "all day", which says nothing new about an event without a time.
func (p *parser) readAllDay() {
	for i := range p.words {
		if p.is(i, "all") && p.is(i+1, "day") && p.starts(i) && p.when.first.clock == nil && p.when.after == nil {
			p.take(i, i+2, Day)
			return
		}
	}
}

// accept takes the words of a phrase.
func (p *parser) accept(w when) {
	for i, kind := range w.kinds {
		p.kinds[w.from+i] = kind
	}
	if p.when.kinds == nil {
		p.when = w
	}
}

// bestWhen returns the phrase with most content; among equals one after a preposition, then the first.
func (p *parser) bestWhen(fits func(when) bool) *when {
	var best *when
	most := 0
	for i := 0; i < len(p.words); i++ {
		if !p.starts(i) || p.at(i) == "" || p.glued(i) {
			continue
		}
		w, ok := p.whenAt(i)
		if !ok && w.to > i {
			i = w.to - 1
		}
		if !ok || !fits(w) || p.glued(w.to) {
			continue
		}
		if worth := w.worth(); worth > most {
			best, most = &w, worth
		}
		// A phrase is not read again from its middle.
		i = w.to - 1
	}
	return best
}

// glued reports whether a dash or a slash without a space is before a place: "mon/wed", "14:00-14:00".
func (p *parser) glued(i int) bool {
	if i < 1 || i >= len(p.words) || p.words[i-1].to != p.words[i].from {
		return false
	}
	return p.is(i-1, "-", "/") || p.is(i, "-", "/") && i+1 < len(p.words) && p.words[i].to == p.words[i+1].from
}

func (w when) worth() int {
	n := 1
	if w.first.day != nil && (w.first.clock != nil || w.last.clock != nil) || w.after != nil {
		n += 4
	}
	if w.last.day != nil || w.last.clock != nil {
		n += 2
	}
	if w.first.day != nil && w.first.day.sure {
		n++
	}
	return n
}

// whenAt reads a point or two: "Friday 13:00", "from 13 to 14 on Friday", "Monday to Wednesday".
func (p *parser) whenAt(i int) (when, bool) {
	if s, next, ok := p.fromNow(i); ok {
		return p.kinded(when{from: i, to: next, after: &s}, Time), true
	}
	if d, next, ok := p.dayRange(i); ok {
		return p.kinded(when{from: i, to: next, first: point{day: &d}}, Day), true
	}
	start := i
	lead := p.is(i, "from", "between", "starting")
	if lead {
		start = p.skip(i+1, "on", "from")
	}
	w := when{from: i, kinds: make([]Kind, 0, 8)}
	first, next, ok := p.point(start)
	if !ok {
		return when{}, false
	}
	w.first, w.to = first, next
	single := w
	join := "-"
	if p.is(next, "-", "to", "until", "and") {
		join = p.at(next)
	}
	ends := p.is(next, "at") && p.atEnds(i, next, first)
	if p.is(next, "-", "to", "until") || ends || p.is(next, "and") && p.is(i, "between") {
		last, after, ok := p.point(p.skip(next+1, "to"))
		if ok && p.joins(first, last, join) {
			w.last, w.to = last, after
			if combined, ok := p.complete(w, lead); ok {
				return p.kinded(combined, ""), true
			}
		}
		if ok && (first.clock == nil && last.day != nil && (last.clock != nil || join == "-") ||
			first.clock != nil && first.clock.weak && last.clock != nil && last.clock.weak) {
			// "Mon-Fri 9:00" is several events, or none. "from 3 to 5 people" is no time.
			return when{to: after}, false
		}
	}
	if single.first.clock != nil && single.first.clock.weak && !p.prefixed(start, single.to) {
		single, ok = p.withoutClock(start, single)
		if !ok {
			return when{}, false
		}
	}
	if single.first.clock != nil && single.first.clock.minutes >= fullDay {
		return when{}, false
	}
	return p.kinded(single, ""), true
}

// atEnds reports whether "at" leads to the end of a range, as in "de 13h à 15h".
func (p *parser) atEnds(from, to int, first point) bool {
	if !p.tongue.own {
		return false
	}
	for i := from; i < to; i++ {
		if p.is(i, "from", "between") {
			return true
		}
	}
	return first.clock != nil && !first.clock.weak
}

// prefixed reports whether "at" makes a number a time.
func (p *parser) prefixed(from, to int) bool {
	for i := from; i < to; i++ {
		if p.is(i, "at", "from") {
			// "at 14 Main Street" is a place.
			_, _, day := p.day(to)
			return p.tongue.exact() || !p.address(to) || day
		}
	}
	return p.is(from-1, "from")
}

// withoutClock leaves a doubtful number after a day in the title.
func (p *parser) withoutClock(start int, w when) (when, bool) {
	if w.first.day == nil {
		return when{}, false
	}
	d, next, ok := p.day(start)
	if !ok {
		return when{}, false
	}
	w.first, w.to = point{day: &d}, next
	return w, true
}

// joins reports whether two points may be the ends of a range. An end day without a time needs a start day without one.
func (p *parser) joins(first, last point, join string) bool {
	switch {
	case p.rule != nil && join == "until" && last.clock == nil:
		return false
	case first.day != nil && first.clock == nil:
		return last.day != nil && last.clock == nil
	case first.clock != nil && last.clock == nil:
		return false
	}
	return true
}

// complete completes the two points of a range.
func (p *parser) complete(w when, lead bool) (when, bool) {
	a, b := w.first.clock, w.last.clock
	if a == nil || b == nil {
		return w, a == nil && b == nil && p.ordered(w)
	}
	if a.weak && b.weak && w.first.day == nil && w.last.day == nil && !p.likelyTimes(w, lead) {
		return when{}, false
	}
	start, end := *a, *b
	// "1-2pm" and "11-1pm": the start takes the half of the day that puts it before the end.
	if start.half == "" && start.loose && end.half != "" {
		h := start.minutes % halfDay
		start.minutes = h
		if end.minutes >= halfDay && h+halfDay < end.minutes {
			start.minutes += halfDay
		}
	}
	// "9 to 5": the end is in the afternoon.
	if end.half == "" && end.loose && end.minutes <= start.minutes && end.minutes+halfDay > start.minutes &&
		end.minutes < halfDay {
		end.minutes += halfDay
	}
	if start.minutes >= fullDay || w.last.day == nil && start.minutes == end.minutes {
		return when{}, false
	}
	w.first.clock, w.last.clock = &start, &end
	if w.first.day == nil && w.last.day != nil {
		// "13:00 to 14:00 on Friday"
		w.first.day, w.last.day = w.last.day, nil
	}
	return w, p.ordered(w)
}

// likelyTimes reports whether two bare numbers are times: after "from", "at" or a repetition, and before no other word
// that they could count.
func (p *parser) likelyTimes(w when, lead bool) bool {
	if w.from > 0 && p.kinds[w.from-1] == Repeat {
		return true
	}
	return (lead || p.prefixed(w.from, w.to)) &&
		(p.closed(w.to) || p.is(w.to, "on", "at", "in", "with", "for", "until"))
}

// ordered reports whether the end is after the start. A day without a year or a week is the one next to the other day.
func (p *parser) ordered(w when) bool {
	if w.first.day == nil || w.last.day == nil {
		return true
	}
	if w.first.day.first != w.first.day.last || w.last.day.first != w.last.day.last {
		return false
	}
	first, last := *w.first.day, *w.last.day
	switch {
	case first.yearless && !last.yearless && !last.weekly:
		// "3 May to 5 May 2027"
		first.first.Year = last.first.Year
		if last.first.Before(first.first) {
			first.first.Year--
		}
		first.last = first.first
	case last.yearless && last.first.Before(first.first):
		last.first.Year = first.first.Year
		if last.first.Before(first.first) {
			last.first.Year++
		}
		last.last = last.first
	case last.weekly && last.first.Before(first.first):
		weeks := (first.first.Days() - last.first.Days() + 6) / 7
		last.first = last.first.AddDays(7 * weeks)
		last.last = last.first
	}
	if !first.first.Valid() || !last.first.Valid() {
		return false
	}
	*w.first.day, *w.last.day = first, last
	if w.first.day.first == w.last.day.first && w.first.clock != nil {
		return w.last.clock.minutes > w.first.clock.minutes
	}
	return w.first.day.first.Before(w.last.day.first)
}

// kinded adds the kinds of the words: days, and times with the words between.
func (p *parser) kinded(w when, kind Kind) when {
	w.kinds = make([]Kind, w.to-w.from)
	for i := range w.kinds {
		w.kinds[i] = Time
		if kind != "" {
			w.kinds[i] = kind
		}
	}
	if kind == "" && w.first.clock == nil && w.last.clock == nil {
		for i := range w.kinds {
			w.kinds[i] = Day
		}
	}
	if kind == "" && w.first.day != nil && w.first.clock != nil {
		for i := w.from; i < w.to; i++ {
			if _, next, ok := p.day(i); ok {
				for at := i; at < min(next, w.to); at++ {
					w.kinds[at-w.from] = Day
				}
				i = next - 1
			}
		}
		// Words between two parts belong to the second one.
		for i := len(w.kinds) - 2; i >= 0; i-- {
			if p.is(w.from+i, "from", "until", "to", "-", "at", "on", ",", "and", "between", "starting") {
				w.kinds[i] = w.kinds[i+1]
			}
		}
	}
	return w
}

// fromNow reads "in 2 hours", "in 30 minutes".
func (p *parser) fromNow(i int) (span, int, bool) {
	if !p.is(i, "in") || !p.starts(i) {
		return span{}, i, false
	}
	s, next, ok := p.span(i + 1)
	return s, next, ok && !s.whole
}

// point reads a day with a time, in either order, or one of them.
func (p *parser) point(i int) (point, int, bool) {
	if !p.starts(i) {
		return point{}, i, false
	}
	if d, next, ok := p.day(i); ok {
		at := next
		part, after, parted := p.partOfDay(next)
		if parted {
			at = after
		} else if d.part != "" {
			part = d.part
		}
		if c, end, ok := p.clockAfter(at, true); ok && d.first == d.last {
			if part != "" && c.loose {
				c = c.in(part)
			}
			return point{&d, &c}, end, true
		}
		if parted || d.part != "" {
			return point{&d, &clock{minutes: hours[part]}}, at, true
		}
		return point{day: &d}, next, true
	}
	c, next, ok := p.clockAfter(i, false)
	if !ok {
		return point{}, i, false
	}
	if d, end, ok := p.day(p.skip(next, ",")); ok && d.first == d.last && (!c.weak || p.is(i, "at")) {
		if d.part != "" && c.loose {
			c = c.in(d.part)
		}
		return point{&d, &c}, end, true
	}
	return point{clock: &c}, next, true
}

// clockAfter reads a time after the words that lead to it; day is set after a day.
func (p *parser) clockAfter(i int, day bool) (clock, int, bool) {
	at := p.skip(p.skip(i, ","), "at", "from", "on")
	if p.is(at-1, "on") && at > i && !p.is(at, "noon", "midnight", "morning", "afternoon", "evening", "tomorrow") {
		return clock{}, i, false
	}
	if c, next, ok := p.clock(at); ok {
		// "Noon run" is a title.
		if !p.is(at, "noon", "midnight") || at > i || day || p.closed(next) || i > 0 && p.kinds[i-1] != "" {
			return c, next, true
		}
	}
	// "abends", "in the evening"
	if part, next, ok := p.partOfDay(i); ok && next > i+1 {
		if c, end, ok := p.clock(p.skip(next, "at")); ok && c.loose {
			return c.in(part), end, true
		}
		return clock{minutes: hours[part]}, next, true
	}
	return clock{}, i, false
}

// readDuration reads "for 45 minutes", "2 hours long", and a duration directly after the time.
func (p *parser) readDuration() {
	for i := range p.words {
		if !p.starts(i) {
			continue
		}
		if p.is(i, "for") {
			s, next, ok := p.span(i + 1)
			if ok && p.bounds(s) {
				p.lastDay.span = s
				p.take(i, next, Until)
				continue
			}
			if ok && p.fits(s) {
				p.length = s
				p.take(i, p.skip(next, "long"), Duration)
				return
			}
		}
		s, next, ok := p.span(i)
		if !ok || !p.fits(s) {
			continue
		}
		behind := i > 0 && p.kinds[i-1] == Time || i > 1 && p.is(i-1, ",") && p.kinds[i-2] == Time
		if p.is(next, "long") || behind && !p.is(next, "of") {
			p.length = s
			p.take(i, p.skip(next, "long"), Duration)
			return
		}
	}
}

// bounds reports whether a duration says how long an event repeats: "every day for 2 weeks".
func (p *parser) bounds(s span) bool {
	if p.rule == nil || !s.whole || !p.lastDay.day.IsZero() || !p.lastDay.span.zero() || p.rule.count > 0 {
		return false
	}
	return s.days >= 7 || p.rule.freq == ical.Daily
}

// fits reports whether a duration says something new about the event's time.
func (p *parser) fits(s span) bool {
	w := p.when
	switch {
	case w.kinds == nil && p.rule == nil:
		return false
	case w.last.clock != nil || w.last.day != nil, w.first.day != nil && w.first.day.first != w.first.day.last:
		return false
	case w.first.clock == nil && w.after == nil:
		return s.whole
	}
	return true
}

// place computes start and end.
func (p *parser) place() {
	w := p.when
	if w.kinds == nil && p.rule == nil {
		return
	}
	if p.rule != nil && p.rule.part != "" {
		p.when.first.clock = p.rule.clock(p.when.first.clock)
	}
	p.nextWeekday()
	start, timed := p.start()
	if p.rule != nil {
		p.repeat(&start, timed)
	}
	if !timed {
		last := start
		switch {
		case w.first.day != nil && p.rule == nil && w.last.day != nil:
			last = w.last.day.last
		case w.first.day != nil && p.rule == nil:
			last = w.first.day.last
		}
		if p.length.whole && p.length.days > 0 {
			last = start.AddDays(p.length.days - 1)
		}
		p.event.Start, p.event.End = ical.Date(start), ical.Date(last.AddDays(1))
		return
	}
	p.event.Start, p.event.End = p.zoned(start), p.zoned(p.end(start))
}

// giveBack returns the words of a kind to the title.
func (p *parser) giveBack(kind Kind) {
	for i := range p.kinds {
		if p.kinds[i] == kind {
			p.kinds[i] = ""
		}
	}
}

// start returns the start on the wall clock, and whether it has a time. A time without a day is the next one.
func (p *parser) start() (ical.Civil, bool) {
	w := p.when
	if w.after != nil {
		at := p.Now.Add(w.after.duration()).Truncate(time.Minute)
		return p.Zone.Civil(at), true
	}
	day := p.today()
	if w.first.day != nil {
		day = w.first.day.first
	}
	if w.first.clock == nil {
		return day, false
	}
	start := day.AddSeconds(int64(w.first.clock.minutes) * 60)
	if w.first.day == nil && !start.After(p.Zone.Civil(p.Now)) {
		start = start.AddDays(1)
	}
	return start, true
}

// nextWeekday moves "Friday 13:00" to the next week if it is Friday afternoon. "This Friday" and "today" stay.
func (p *parser) nextWeekday() {
	w := &p.when
	if p.rule != nil || w.first.day == nil || !w.first.day.weekly || w.first.clock == nil {
		return
	}
	if start, _ := p.start(); start.After(p.Zone.Civil(p.Now)) {
		return
	}
	for _, day := range []**days{&w.first.day, &w.last.day} {
		if *day == nil {
			continue
		}
		next := **day
		if next.first, next.last = next.first.AddDays(7), next.last.AddDays(7); next.last.Valid() {
			*day = &next
		}
	}
}

// end returns the end of an event with a time.
func (p *parser) end(start ical.Civil) ical.Civil {
	w := p.when
	if c := w.last.clock; c != nil {
		day := start.Date()
		if w.last.day != nil && p.rule == nil {
			return w.last.day.first.AddSeconds(int64(c.minutes) * 60)
		}
		end := day.AddSeconds(int64(c.minutes) * 60)
		if !end.After(start) {
			end = end.AddDays(1)
		}
		return end
	}
	length := p.length
	if length.zero() {
		length.minutes = int(p.Length / time.Minute)
		if length.minutes <= 0 {
			length.minutes = hour
		}
	}
	// Hours are exact, also when the clocks change.
	at, _ := p.Zone.Resolve(start.AddDays(length.days))
	return p.Zone.Civil(at.Add(time.Duration(length.minutes) * time.Minute))
}

func (p *parser) zoned(c ical.Civil) ical.Time {
	if p.Zone.Name() == zone.UTC().Name() {
		return ical.UTC(c)
	}
	return ical.Zoned(c, p.Zone.Name())
}
