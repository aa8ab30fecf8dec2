// Package slot looks for times at which somebody is free, within working hours, the best first.
package slot

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"caldav-mcp-server/calendar/freebusy"
)

// Ask says what is looked for.
type Ask struct {
	// From and Until bound the search; Length is how long a slot is.
	From, Until time.Time
	Length      time.Duration
	Hours       Hours
	// Others are hours within which a slot must be as well: those of people elsewhere.
	Others []Hours
	// Limit is how many slots are wanted.
	Limit int
}

// Hours are working hours.
type Hours struct {
	Zone *time.Location
	// Opens and Closes are since midnight on the wall clock; a day has at most 24 hours.
	Opens, Closes time.Duration
	// Breaks are the times in between at which nobody meets, in order and apart.
	Breaks []Break
	Days   map[time.Weekday]bool
}

// Break is a time of the day, since midnight.
type Break struct{ From, Until time.Duration }

// parts are the hours between the breaks of a day.
func (h Hours) parts(noon time.Time) []Slot {
	opens := h.Opens
	var list []Slot
	for _, b := range append(slices.Clip(h.Breaks), Break{From: h.Closes}) {
		list = append(list, Slot{Start: h.at(noon, opens), End: h.at(noon, b.From)})
		opens = b.Until
	}
	return list
}

// Longest is how long a slot may be at most.
func (h Hours) Longest() time.Duration {
	opens, longest := h.Opens, time.Duration(0)
	for _, b := range append(slices.Clip(h.Breaks), Break{From: h.Closes}) {
		longest, opens = max(longest, b.From-opens), b.Until
	}
	return longest
}

// Slot is a time to meet.
type Slot struct {
	Start, End time.Time
	// Tentative tells that somebody has something there that is not settled.
	Tentative bool
}

const (
	// step is how far apart the beginnings of slots are that are looked at.
	step = 15 * time.Minute
	// splinter is a gap that is too short to be of use.
	splinter = 30 * time.Minute
	// spread is over how many days the slots lie, if there are any.
	spread = 3
)

// Find returns slots that do not overlap, the best first: settled before tentative, sooner
// days before later ones; on a day those that leave no splinters of time, that begin at the
// full or half hour, and early ones. Busy times are in order and apart.
func Find(a Ask, busy []freebusy.Period) []Slot {
	var all []candidate
	for day := range a.days() {
		all = append(all, a.on(day, busy)...)
	}
	slices.SortStableFunc(all, candidate.compare)
	return a.pick(all)
}

// candidate is a slot with what it is judged by.
type candidate struct {
	Slot
	day       time.Time
	splinters int
	odd       bool
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(compareBool(c.Tentative, d.Tentative), c.day.Compare(d.day), cmp.Compare(c.splinters, d.splinters),
		compareBool(c.odd, d.odd), c.Start.Compare(d.Start))
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// days yields the working days of the search, each as its noon: midnight may not exist.
func (a Ask) days() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		year, month, day := a.From.In(a.Hours.Zone).Date()
		for ; ; day++ {
			noon := time.Date(year, month, day, 12, 0, 0, 0, a.Hours.Zone)
			if a.Hours.at(noon, 0).After(a.Until) || a.Hours.Days[noon.Weekday()] && !yield(noon) {
				return
			}
		}
	}
}

// at is the moment at which the clocks of a day show so much since midnight.
func (h Hours) at(noon time.Time, since time.Duration) time.Time {
	year, month, day := noon.Date()
	return time.Date(year, month, day, 0, int(since/time.Minute), 0, 0, h.Zone)
}

// on lists the slots of a day.
func (a Ask) on(day time.Time, busy []freebusy.Period) []candidate {
	var list []candidate
	for _, open := range a.Hours.parts(day) {
		for start := open.Start; !start.Add(a.Length).After(open.End); start = start.Add(step) {
			c := candidate{Slot: Slot{Start: start, End: start.Add(a.Length)}, day: day, odd: start.Minute()%30 != 0}
			if c.Start.Before(a.From) || c.End.After(a.Until) || !a.suits(c.Slot) || !c.judge(open.Start, open.End, busy) {
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

// suits tells whether a slot is within everybody's hours.
func (a Ask) suits(s Slot) bool {
	return !slices.ContainsFunc(a.Others, func(h Hours) bool { return !h.hold(s) })
}

// hold tells whether a slot is within the hours of the day on which it begins.
func (h Hours) hold(s Slot) bool {
	local := s.Start.In(h.Zone)
	year, month, day := local.Date()
	noon := time.Date(year, month, day, 12, 0, 0, 0, h.Zone)
	return h.Days[local.Weekday()] && slices.ContainsFunc(h.parts(noon), func(open Slot) bool {
		return !s.Start.Before(open.Start) && !s.End.After(open.End)
	})
}

// judge tells whether the slot is free, and how well it fits between what is around it.
func (c *candidate) judge(opens, closes time.Time, busy []freebusy.Period) bool {
	before, after := opens, closes
	next, _ := slices.BinarySearchFunc(busy, c.Start, func(p freebusy.Period, at time.Time) int {
		if p.End.After(at) {
			return 1
		}
		return -1
	})
	if next > 0 && busy[next-1].End.After(before) {
		before = busy[next-1].End
	}
	for _, p := range busy[next:] {
		if !p.Start.Before(c.End) {
			if p.Start.Before(after) {
				after = p.Start
			}
			break
		}
		if p.Type != freebusy.Tentative {
			return false
		}
		c.Tentative = true
	}
	for _, gap := range [...]time.Duration{c.Start.Sub(before), after.Sub(c.End)} {
		if gap > 0 && gap < splinter {
			c.splinters++
		}
	}
	return true
}

// pick takes the first that do not overlap: some of each day to begin with, so that there is
// a choice of days, then whatever there is.
func (a Ask) pick(all []candidate) []Slot {
	var picked []Slot
	for _, most := range [...]int{(a.Limit + spread - 1) / spread, a.Limit} {
		ofDay := map[time.Time]int{}
		for _, s := range picked {
			ofDay[a.dayOf(s)]++
		}
		for _, c := range all {
			overlaps := func(s Slot) bool { return s.Start.Before(c.End) && c.Start.Before(s.End) }
			if len(picked) == a.Limit || ofDay[c.day] == most || slices.ContainsFunc(picked, overlaps) {
				continue
			}
			picked = append(picked, c.Slot)
			ofDay[c.day]++
		}
	}
	// The second round may have found better ones than the last of the first.
	order := func(s Slot) int {
		return slices.IndexFunc(all, func(c candidate) bool { return c.Start.Equal(s.Start) })
	}
	slices.SortFunc(picked, func(s, t Slot) int { return cmp.Compare(order(s), order(t)) })
	return picked
}

func (a Ask) dayOf(s Slot) time.Time {
	year, month, day := s.Start.In(a.Hours.Zone).Date()
	return time.Date(year, month, day, 12, 0, 0, 0, a.Hours.Zone)
}
