// Package booking computes the times that a booking page offers, from its owner's hours and busy times. It also defines
// and checks the settings of such a page. It knows no users and no storage.
package booking

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/slot"
)

// Offer is a page's rule for times of one length.
type Offer struct {
	// Week has the hours of each weekday; a day without parts is closed. Zone is the zone of these clocks.
	Week Week
	Zone *time.Location
	// Dates has the hours of single dates, such as 2026-12-24, in place of the weekday's.
	Dates map[string][]slot.Break
	// Length is the length of a booking. Before and After are free times around it.
	Length, Before, After time.Duration
	// Earliest and Latest bound the start of a booking. Earliest is the current time plus the notice.
	Earliest, Latest time.Time
	// PerDay is the maximum number of bookings that start on one day of the zone; 0 is no limit.
	PerDay int
	// Any is set if one person must be free; otherwise all must.
	Any bool
}

// Week has the hours of each weekday. The parts of a day are sorted and do not overlap.
type Week [7][]slot.Break

// step returns the distance between starts: short bookings may start every quarter of an hour, others every half.
func (o Offer) step() time.Duration {
	if o.Length < 30*time.Minute {
		return 15 * time.Minute
	}
	return 30 * time.Minute
}

// Taken are the times that are not free.
type Taken struct {
	// People has the busy times of each person. They may overlap. Without a person, no time is free.
	People [][]freebusy.Period
	// Room are the busy times of the room. It needs no free time around a booking.
	Room []freebusy.Period
	// Booked are the starts of the page's bookings, which count towards PerDay.
	Booked []time.Time
}

// Times returns the bookings that may start in a time range, in order. Each lies within one part of one day's hours,
// and starts a multiple of the step after the beginning of that part. All people are free, or one if Any is set: with
// the free times around it, it overlaps nothing of theirs that is busy or tentative. It does not overlap time outside
// of their availability either, which needs no free time around it. The room is free.
func (o Offer) Times(from, until time.Time, taken Taken) []slot.Slot {
	var list []slot.Slot
	year, month, day := from.In(o.Zone).Date()
	// A day's clock may differ from UTC by more than 12 hours, so the search begins a day earlier.
	for n := day - 1; ; n++ {
		noon := time.Date(year, month, n, 12, 0, 0, 0, o.Zone)
		if noon.Add(-36 * time.Hour).After(until) {
			return list
		}
		near := taken.near(noon)
		if skipped := noon.Day() != time.Date(year, month, n, 0, 0, 0, 0, time.UTC).Day(); skipped ||
			o.full(noon, taken.Booked) {
			continue // a zone that moves across the date line skips a day
		}
		for _, open := range o.open(noon) {
			for start := open.Start; !start.Add(o.Length).After(open.End); start = start.Add(o.step()) {
				s := slot.Slot{Start: start, End: start.Add(o.Length)}
				if !start.Before(from) && start.Before(until) && o.bounds(start) && o.fits(s, near) {
					list = append(list, s)
				}
			}
		}
	}
}

// near returns the busy times around a day.
func (t Taken) near(noon time.Time) Taken {
	some := Taken{People: make([][]freebusy.Period, len(t.People)), Room: around(noon, t.Room)}
	for i, busy := range t.People {
		some.People[i] = around(noon, busy)
	}
	return some
}

func around(noon time.Time, all []freebusy.Period) (list []freebusy.Period) {
	for _, p := range all {
		if p.Start.Before(noon.Add(24*time.Hour)) && noon.Add(-24*time.Hour).Before(p.End) {
			list = append(list, p)
		}
	}
	return list
}

// Offers reports whether a booking may start at a moment.
func (o Offer) Offers(start time.Time, taken Taken) bool {
	return len(o.Times(start, start.Add(time.Second), taken)) == 1
}

// full reports whether a day has its maximum of bookings.
func (o Offer) full(noon time.Time, booked []time.Time) bool {
	if o.PerDay == 0 {
		return false
	}
	n := 0
	for _, start := range booked {
		if sameDay(start.In(o.Zone), noon) {
			n++
		}
	}
	return n >= o.PerDay
}

// bounds reports whether a booking may start at a moment as far as the notice and the horizon allow it.
func (o Offer) bounds(start time.Time) bool {
	return !start.Before(o.Earliest) && !start.After(o.Latest)
}

// fits reports whether the room and the people are free.
func (o Offer) fits(s slot.Slot, taken Taken) bool {
	if !isFree(s, 0, 0, taken.Room) {
		return false
	}
	free := len(o.free(s, taken))
	return free > 0 && (o.Any || free == len(taken.People))
}

// free returns the numbers of the people who are free.
func (o Offer) free(s slot.Slot, taken Taken) (list []int) {
	for i, busy := range taken.People {
		if isFree(s, o.Before, o.After, busy) {
			list = append(list, i)
		}
	}
	return list
}

// Free returns the numbers of the people who are free for a booking that starts at a moment; none if it may not.
func (o Offer) Free(start time.Time, taken Taken) []int {
	if !o.Offers(start, taken) {
		return nil
	}
	return o.free(slot.Slot{Start: start, End: start.Add(o.Length)}, taken)
}

// isFree reports whether a slot, with free times around it, overlaps no busy time.
func isFree(s slot.Slot, before, after time.Duration, busy []freebusy.Period) bool {
	return !slices.ContainsFunc(busy, func(p freebusy.Period) bool {
		before, after := before, after
		if p.Type == freebusy.Unavailable {
			before, after = 0, 0
		}
		return p.Type != freebusy.Free && p.Start.Before(s.End.Add(after)) && s.Start.Add(-before).Before(p.End)
	})
}

// parts returns the hours of a day, on its clock.
func (o Offer) parts(noon time.Time) []slot.Break {
	if own, has := o.Dates[noon.Format(time.DateOnly)]; has {
		return own
	}
	return o.Week[noon.Weekday()]
}

// open returns the parts of a day. If the clocks change that day, a part has only the moments when the clock shows a
// time within it, and may consist of two pieces.
func (o Offer) open(noon time.Time) []slot.Slot {
	var list []slot.Slot
	for _, part := range o.parts(noon) {
		if !o.changes(noon) {
			list = append(list, slot.Slot{Start: o.at(noon, part.From), End: o.at(noon, part.Until)})
			continue
		}
		list = append(list, o.pieces(noon, part)...)
	}
	return list
}

// at returns the instant of a wall-clock time, on a day without a change of the clocks.
func (o Offer) at(noon time.Time, since time.Duration) time.Time {
	return noon.Add(since - 12*time.Hour)
}

// changes reports whether the clocks change on a day or at its ends.
func (o Offer) changes(noon time.Time) bool {
	_, first := noon.Add(-13 * time.Hour).Zone()
	_, last := noon.Add(13 * time.Hour).Zone()
	_, middle := noon.Zone()
	return first != middle || middle != last
}

// pieces returns the pieces of a part on a day with a change of the clocks: the runs of minutes that show a time within
// it. No day is longer than 26 hours.
func (o Offer) pieces(noon time.Time, part slot.Break) []slot.Slot {
	var list []slot.Slot
	within := false
	for at := noon.Add(-14 * time.Hour); !at.After(noon.Add(14 * time.Hour)); at = at.Add(time.Minute) {
		clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
		in := sameDay(at, noon) && clock >= part.From && clock < part.Until
		switch {
		case in && !within:
			list = append(list, slot.Slot{Start: at, End: at.Add(time.Minute)})
		case in:
			list[len(list)-1].End = at.Add(time.Minute)
		}
		within = in
	}
	return list
}

// sameDay reports whether two moments of one zone have the same date.
func sameDay(a, b time.Time) bool {
	return a.Year() == b.Year() && a.YearDay() == b.YearDay()
}
