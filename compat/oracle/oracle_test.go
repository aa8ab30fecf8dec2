package oracle_test

import (
	"slices"
	"sort"
	"time"
)

// The oracle reads RFC 5545 naively: it walks from day to day, asks of each whether a rule has it, and
// tries offsets until the clocks show what they should. It shares no code with the server, and reads no
// iCalendar: what it is given is what the text was made from.

// A wall is what clocks show, held as a time in UTC.

// place is the zone of a series, or none.
type place struct {
	tzid string
	loc  *time.Location
	// floating and days are read in loc too, which is then the calendar's.
	floating, days bool
	definition     string
}

// shows is what the clocks show at an instant.
func (p place) shows(t time.Time) time.Time {
	_, offset := t.In(p.loc).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

const nearby = 36 * time.Hour

// all are the instants at which the clocks show a wall: none in a gap, two where they are put back.
func (p place) all(w time.Time) []time.Time {
	var found []time.Time
	tried := map[int]bool{}
	for d := -nearby; d <= nearby; d += 30 * time.Minute {
		_, offset := w.Add(d).In(p.loc).Zone()
		at := w.Add(-time.Duration(offset) * time.Second)
		if !tried[offset] && p.shows(at).Equal(w) {
			found = append(found, at)
		}
		tried[offset] = true
	}
	slices.SortFunc(found, time.Time.Compare)
	return found
}

// at is the instant that a wall means (RFC 5545 §3.3.5): the first, or by the offset before the gap.
func (p place) at(w time.Time) time.Time {
	if found := p.all(w); len(found) > 0 {
		return found[0]
	}
	_, before := w.Add(-nearby).In(p.loc).Zone()
	for t := w.Add(-nearby); ; t = t.Add(15 * time.Minute) {
		if p.shows(t).After(w) {
			return w.Add(-time.Duration(before) * time.Second)
		}
		_, before = t.In(p.loc).Zone()
	}
}

// rule is an RRULE or EXRULE.
type rule struct {
	freq                                       string
	interval, count                            int
	until                                      time.Time // on the wall, or an instant
	untilUTC                                   bool
	months, monthDays, yearDays, hours, setPos []int
	days                                       []nthDay
	wkst                                       time.Weekday
}

type nthDay struct {
	n   int
	day time.Weekday
}

func daysSince(w time.Time) int {
	return int(w.Truncate(24*time.Hour).Sub(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
}

// period numbers the period that a wall is in.
func (r rule) period(w time.Time) int {
	switch r.freq {
	case "YEARLY":
		return w.Year()
	case "MONTHLY":
		return w.Year()*12 + int(w.Month())
	case "WEEKLY":
		for w.Weekday() != r.wkst {
			w = w.AddDate(0, 0, -1)
		}
		return daysSince(w) / 7
	case "DAILY":
		return daysSince(w)
	}
	return daysSince(w)*24 + w.Hour()
}

func has(list []int, n int) bool { return len(list) == 0 || slices.Contains(list, n) }

// hasDay tells whether a day is one of the rule's, by its parts or by what DTSTART says for them.
func (r rule) hasDay(d, start time.Time) bool {
	length := d.AddDate(0, 1, -d.Day()).Day()
	year := d.YearDay() + time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()*-1 - 1
	if !has(r.months, int(d.Month())) ||
		!has(r.monthDays, d.Day()) && !slices.Contains(r.monthDays, d.Day()-length-1) ||
		!has(r.yearDays, d.YearDay()) && !slices.Contains(r.yearDays, year) {
		return false
	}
	if len(r.days) > 0 {
		return slices.ContainsFunc(r.days, func(n nthDay) bool { return n.day == d.Weekday() && r.nth(d, n.n) })
	}
	if len(r.monthDays)+len(r.yearDays) > 0 {
		return true
	}
	switch r.freq {
	case "WEEKLY":
		return d.Weekday() == start.Weekday()
	case "MONTHLY":
		return d.Day() == start.Day()
	case "YEARLY":
		return d.Day() == start.Day() && (len(r.months) > 0 || d.Month() == start.Month())
	}
	return true
}

// nth tells whether a day is the n-th of its weekday in the month, or in the year.
func (r rule) nth(d time.Time, n int) bool {
	if n == 0 {
		return true
	}
	step, count := -7, 0
	if n < 0 {
		step = 7
	}
	same := func(o time.Time) bool {
		return o.Year() == d.Year() && (o.Month() == d.Month() || r.freq == "YEARLY" && len(r.months) == 0)
	}
	for o := d; same(o); o = o.AddDate(0, 0, step) {
		count++
	}
	return count == max(n, -n)
}

// walls are the moments of the rule until a horizon, those before the start left out.
func (r rule) walls(start, horizon time.Time) []time.Time {
	var found, group []time.Time
	last := -1
	flush := func() {
		for i, w := range group {
			if len(r.setPos) == 0 || slices.Contains(r.setPos, i+1) || slices.Contains(r.setPos, i-len(group)) {
				found = append(found, w)
			}
		}
		group = nil
	}
	first := time.Date(start.Year(), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -7)
	// To the end of the period that holds the horizon, for BYSETPOS.
	for d := first; d.Year() <= horizon.Year() || d.YearDay() <= 7; d = d.AddDate(0, 0, 1) {
		if !r.hasDay(d, start) {
			continue
		}
		for h := range 24 {
			if !has(r.hours, h) || len(r.hours) == 0 && r.freq != "HOURLY" && h != start.Hour() {
				continue
			}
			w := d.Add(time.Duration(h)*time.Hour + time.Duration(start.Minute())*time.Minute)
			ahead := r.period(w) - r.period(start)
			if ahead < 0 || ahead%r.interval != 0 {
				continue
			}
			if ahead != last {
				flush()
			}
			last = ahead
			group = append(group, w)
		}
	}
	flush()
	return slices.DeleteFunc(found, func(w time.Time) bool { return w.Before(start) || !w.Before(horizon) })
}

// instants are those of the rule. That of DTSTART is one of an RRULE's, named or not, and counts.
func (r rule) instants(p place, start, horizon time.Time, excludes bool) []time.Time {
	var found []time.Time
	seen := map[time.Time]bool{}
	if !excludes {
		found = append(found, p.at(start))
		seen[p.at(start)] = true
	}
	for _, w := range r.walls(start, horizon) {
		means := []time.Time{p.at(w)}
		if r.freq == "HOURLY" {
			means = p.all(w)
		}
		for _, at := range means {
			over := !r.until.IsZero() && (r.untilUTC && at.After(r.until) || !r.untilUTC && w.After(r.until))
			if r.count > 0 && len(found) == r.count || over {
				return found
			}
			if !seen[at] && !at.Before(p.at(start)) {
				seen[at] = true
				found = append(found, at)
			}
		}
	}
	return found
}

// lasting is a length: days on the wall clock, then exact time.
type lasting struct {
	days  int
	exact time.Duration
}

func (l lasting) end(p place, start time.Time) time.Time {
	if l.days > 0 {
		start = p.at(p.shows(start).AddDate(0, 0, l.days))
	}
	return start.Add(l.exact)
}

type date struct {
	wall   time.Time
	period time.Duration // 0 for none
}

type override struct {
	id     time.Time // the instant of the instance
	start  time.Time // on the wall
	length lasting
	title  string
	future bool
}

// series is what an object is made from.
type series struct {
	uid, title string
	place      place
	start      time.Time // on the wall
	length     lasting
	ended      bool // its length is written as a DTEND
	rules      []rule
	exrules    []rule
	dates      []date
	excluded   []time.Time
	overrides  []override
}

// instance is one of a series.
type instance struct {
	id, start, end time.Time
	title          string
}

// made are the instances that rules and dates make, before overrides.
func (s series) made(horizon time.Time) []instance {
	ends := map[time.Time]time.Time{}
	add := func(at time.Time) {
		if _, there := ends[at]; !there {
			ends[at] = s.length.end(s.place, at)
		}
	}
	add(s.place.at(s.start))
	for _, r := range s.rules {
		for _, at := range r.instants(s.place, s.start, horizon, false) {
			add(at)
		}
	}
	for _, d := range s.dates {
		at := s.place.at(d.wall)
		if add(at); d.period > 0 {
			ends[at] = at.Add(d.period)
		}
	}
	for _, w := range s.excluded {
		delete(ends, s.place.at(w))
	}
	for _, r := range s.exrules {
		for _, at := range r.instants(s.place, s.start, horizon, true) {
			delete(ends, at)
		}
	}
	var list []instance
	for at, end := range ends {
		list = append(list, instance{at, at, end, s.title})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id.Before(list[j].id) })
	return list
}

// instances are all until a horizon. An override for the future moves what follows as far as itself, on
// the wall clock.
func (s series) instances(horizon time.Time) []instance {
	list := s.made(horizon)
	for i := range list {
		id := list[i].id
		var from time.Time
		for _, o := range s.overrides {
			switch {
			case o.id.Equal(id):
				at := s.place.at(o.start)
				list[i] = instance{id, at, o.length.end(s.place, at), o.title}
				from = horizon
			case o.future && o.id.Before(id) && o.id.After(from):
				from = o.id
				moved := s.place.shows(id).Add(o.start.Sub(s.place.shows(o.id)))
				at := s.place.at(moved)
				list[i] = instance{id, at, o.length.end(s.place, at), o.title}
			}
		}
	}
	return list
}

// overlaps is RFC 4791 §9.9.
func (i instance) overlaps(from, until time.Time) bool {
	return i.start.Before(until) && (i.end.After(from) || i.start.Equal(i.end) && !i.start.Before(from))
}
