// Package slot finds free times within working hours, best first.
package slot

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"caldav-mcp-server/calendar/freebusy"
)

// Ask is a search for slots.
type Ask struct {
	// From and Until bound the search; Length is the length of a slot.
	From, Until time.Time
	Length      time.Duration
	// Buffer is the free time before and after a slot. Only busy and tentative times need it, not the end of a day.
	Buffer time.Duration
	Hours  Hours
	// Others are the working hours of other people. A slot must be within all of them, unless Lenient is set: then the
	// slots that exceed them least come first.
	Others  []Hours
	Lenient bool
	// Limit is the number of slots to return.
	Limit int
}

// Hours are working hours.
type Hours struct {
	Zone *time.Location
	// Opens and Closes are wall-clock times since midnight; a day has at most 24 hours.
	Opens, Closes time.Duration
	// Breaks are the breaks between them, sorted and without overlaps.
	Breaks []Break
	Days   map[time.Weekday]bool
}

// Break is a time range in a day, since midnight.
type Break struct{ From, Until time.Duration }

// parts returns the hours between the breaks of a day.
func (h Hours) parts(noon time.Time) []Slot {
	opens := h.Opens
	var list []Slot
	for _, b := range append(slices.Clip(h.Breaks), Break{From: h.Closes}) {
		list = append(list, Slot{Start: h.at(noon, opens), End: h.at(noon, b.From)})
		opens = b.Until
	}
	return list
}

// Longest returns the maximum length of a slot within the hours.
func (h Hours) Longest() time.Duration {
	opens, longest := h.Opens, time.Duration(0)
	for _, b := range append(slices.Clip(h.Breaks), Break{From: h.Closes}) {
		longest, opens = max(longest, b.From-opens), b.Until
	}
	return longest
}

// Slot is a possible time for a meeting.
type Slot struct {
	Start, End time.Time
	// Tentative is set when someone has a tentative appointment then.
	Tentative bool
	// Outside are the indexes of the Others whose hours a lenient search exceeds.
	Outside []int
	// Busy are the indexes of the people who are busy then: see Compromise.
	Busy []int
}

const (
	// step is the distance between the starts of candidate slots.
	step = 15 * time.Minute
	// splinter is the length of a gap that is too short to be useful.
	splinter = 30 * time.Minute
	// spread is the number of days over which the slots are distributed, if possible.
	spread = 3
)

// The work for one start of a slot, in steps of a meter: to compare it with the hours of another person, and with the
// busy times of one.
const (
	hoursSteps = 10
	busySteps  = 2
)

// Steps returns the work of a search in steps of a meter. people is the number of lists of busy times: 1 for
// [Find].
func (a Ask) Steps(people int) int64 {
	starts := int64(max(0, a.Until.Sub(a.From))/step) + 1
	return starts * int64(1+hoursSteps*len(a.Others)+busySteps*people)
}

// Find returns slots that do not overlap, best first: free before tentative, then earlier days before later ones.
// Within a day it prefers slots that leave no short gaps, then starts at the full or half hour, then early ones.
// busy must be sorted and without overlaps.
func Find(a Ask, busy []freebusy.Period) []Slot {
	var all []candidate
	for day := range a.days() {
		all = append(all, a.on(day, busy)...)
	}
	slices.SortStableFunc(all, candidate.compare)
	return a.pick(all)
}

// Compromise returns slots at which the fewest people are busy, when Find finds none. each has the busy times of each
// person, in the form that Find takes; required are the indexes of people who must be free. At least one is.
func Compromise(a Ask, each [][]freebusy.Period, required ...int) []Slot {
	var all []candidate
	for day := range a.days() {
		for _, c := range a.on(day, nil) {
			for i, busy := range each {
				one := candidate{Slot: Slot{Start: c.Start, End: c.End}}
				if one.judge(c.Start, c.End, busy, a.Buffer) {
					c.Tentative = c.Tentative || one.Tentative
				} else {
					c.Busy = append(c.Busy, i)
				}
			}
			needed := slices.ContainsFunc(c.Busy, func(i int) bool { return slices.Contains(required, i) })
			if !needed && len(c.Busy) < len(each) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, candidate.compare)
	return a.pick(all)
}

// candidate is a slot with its criteria.
type candidate struct {
	Slot
	day       time.Time
	exceeds   time.Duration
	splinters int
	odd       bool
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(len(c.Busy), len(d.Busy)), cmp.Compare(c.exceeds, d.exceeds),
		compareBool(c.Tentative, d.Tentative), c.day.Compare(d.day), cmp.Compare(c.splinters, d.splinters),
		compareBool(c.odd, d.odd), c.Start.Compare(d.Start))
}

// compareBool sorts false first.
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

// days yields the noon of each working day in the search. Midnight may not exist.
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

// at returns the instant when the wall clock shows a time since midnight.
func (h Hours) at(noon time.Time, since time.Duration) time.Time {
	year, month, day := noon.Date()
	return time.Date(year, month, day, 0, int(since/time.Minute), 0, 0, h.Zone)
}

// on returns the candidates of a day.
func (a Ask) on(day time.Time, busy []freebusy.Period) []candidate {
	var list []candidate
	for _, open := range a.Hours.parts(day) {
		for start := open.Start; !start.Add(a.Length).After(open.End); start = start.Add(step) {
			c := candidate{Slot: Slot{Start: start, End: start.Add(a.Length)}, day: day, odd: start.Minute()%30 != 0}
			c.exceeds = a.exceed(&c.Slot)
			if c.Start.Before(a.From) || c.End.After(a.Until) || c.exceeds > 0 && !a.Lenient ||
				!c.judge(open.Start, open.End, busy, a.Buffer) {
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

// exceed records in a slot the others whose hours it exceeds, and returns the sum of the times by which it does.
func (a Ask) exceed(s *Slot) (sum time.Duration) {
	for i, h := range a.Others {
		if by := h.exceededBy(*s); by > 0 {
			s.Outside, sum = append(s.Outside, i), sum+by
		}
	}
	return sum
}

// exceededBy returns how far a slot extends beyond the hours of its day, or of the day before or after; zero if it is
// within them. If none of these is a working day, the result is a day.
func (h Hours) exceededBy(s Slot) time.Duration {
	year, month, day := s.Start.In(h.Zone).Date()
	least := 24 * time.Hour
	for _, shift := range [...]int{0, -1, 1} {
		noon := time.Date(year, month, day+shift, 12, 0, 0, 0, h.Zone)
		if !h.Days[noon.Weekday()] {
			continue
		}
		for _, open := range h.parts(noon) {
			least = min(least, max(0, open.Start.Sub(s.Start))+max(0, s.End.Sub(open.End)))
		}
	}
	return least
}

// judge reports whether the slot is free, and counts the short gaps before and after it.
func (c *candidate) judge(opens, closes time.Time, busy []freebusy.Period, buffer time.Duration) bool {
	before, after := opens, closes
	next, _ := slices.BinarySearchFunc(busy, c.Start.Add(-buffer), func(p freebusy.Period, at time.Time) int {
		if p.End.After(at) {
			return 1
		}
		return -1
	})
	if next > 0 && busy[next-1].End.After(before) {
		before = busy[next-1].End
	}
	for _, p := range busy[next:] {
		if !p.Start.Before(c.End.Add(buffer)) {
			if p.Start.Before(after) {
				after = p.Start
			}
			break
		}
		if p.Type == freebusy.Unavailable && (!p.End.After(c.Start) || !p.Start.Before(c.End)) {
			continue
		}
		if p.Type != freebusy.Tentative {
			return false
		}
		c.Tentative = true
	}
	for _, gap := range [...]time.Duration{c.Start.Sub(before), after.Sub(c.End)} {
		if gap > buffer && gap < buffer+splinter {
			c.splinters++
		}
	}
	return true
}

// pick selects the best candidates that do not overlap. The first round limits the slots of each day, to offer a
// choice of days; the second fills the rest.
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
	// The second round may have added slots that rank higher than those from the first.
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
