package calendar

import (
	"math/bits"
	"time"
)

// Rhythm is when the instances of a series take place, as a pattern that repeats: an index knows by it that a weekly
// meeting of Mondays is not what a Wednesday has. It may have more in it than the truth, never less. All is in UTC.
type Rhythm struct {
	// Hours are the hours of the week that instances touch, 56 in each, the first after Thursday midnight, as 1970 began.
	Hours [3]int64
	// Dates are the days of the month (1 to 31), and above them the months (1 to 12).
	Dates int64
	// Known is until when instances are in the pattern, in Unix seconds.
	Known int64
	// Beat is the hour of the week, from 1 on, with which the pattern begins where it keeps within a few hours of the week;
	// else 0. An index finds by it what has the hours of a window, where by Hours it can only leave out what has not.
	Beat int64
}

const (
	hour         = 60 * 60
	hoursPerWeek = 7 * 24
	hoursPerPart = 56
	daysMost     = 31
	// beatHours is how many hours of the week a pattern with a beat has at most: a meeting of three hours, through changes of the
	// clock and with a moved instance.
	beatHours = 6
)

// DaysOfMonth and MonthsOfYear are the parts of [Rhythm.Dates].
const (
	DaysOfMonth  = 1<<(daysMost+1) - 2
	MonthsOfYear = (1<<13 - 2) << daysMost
)

// RhythmOf is the pattern of a window: what it shares nothing with does not take place in it.
func RhythmOf(from, until int64) Rhythm {
	r := Rhythm{Known: until}
	r.Add(from, until)
	return r
}

// Add adds a time, both ends included.
func (r *Rhythm) Add(start, end int64) {
	if end < start {
		return
	}
	for h, last := floor(start, hour), floor(end, hour); h <= last; h++ {
		slot := h - floor(h, hoursPerWeek)*hoursPerWeek
		r.Hours[slot/hoursPerPart] |= 1 << (slot % hoursPerPart)
		if h-floor(start, hour) == hoursPerWeek {
			break // a whole week
		}
	}
	day, last := floor(start, 24*hour), floor(end, 24*hour)
	if last-day > daysMost {
		r.Dates |= DaysOfMonth
	}
	if last-day > 366 {
		r.Dates |= MonthsOfYear
		return
	}
	for ; day <= last; day++ {
		_, month, date := time.Unix(day*24*hour, 0).UTC().Date()
		r.Dates |= 1<<date | 1<<(int(month)+daysMost)
	}
}

// touches tells whether a pattern has an hour of the week, which may be beyond its end.
func (r *Rhythm) touches(h int64) bool {
	h %= hoursPerWeek
	return r.Hours[h/hoursPerPart]&(1<<(h%hoursPerPart)) != 0
}

// Settle finds the beat, once all is added.
func (r *Rhythm) Settle() {
	all := 0
	for _, part := range r.Hours {
		all += bits.OnesCount64(uint64(part))
	}
	r.Beat = 0
	for first := int64(0); first < hoursPerWeek && all <= beatHours; first++ {
		within := 0
		for h := range int64(beatHours) {
			if r.touches(first + h) {
				within++
			}
		}
		if within == all && r.touches(first) {
			r.Beat = first + 1
			return
		}
	}
}

// Beats are those that a pattern in a window may have; nil where they are more than some, and tell little.
func (r *Rhythm) Beats(most int) []int64 {
	all := []int64{0}
	for first := range int64(hoursPerWeek) {
		for h := range int64(beatHours) {
			if r.touches(first + h) {
				all = append(all, first+1)
				break
			}
		}
	}
	if len(all) > most {
		return nil
	}
	return all
}

// Meets tells whether an instance may take place in a window. Of what nothing is known it may.
func (r *Rhythm) Meets(window Rhythm) bool {
	if r == nil || window.Known > r.Known {
		return true
	}
	both := r.Dates & window.Dates
	return both&DaysOfMonth != 0 && both&MonthsOfYear != 0 &&
		r.Hours[0]&window.Hours[0]|r.Hours[1]&window.Hours[1]|r.Hours[2]&window.Hours[2] != 0
}

// Equal tells whether two are alike; nil is none.
func (r *Rhythm) Equal(other *Rhythm) bool {
	return r == other || r != nil && other != nil && *r == *other
}

// floor divides, downwards also below zero.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}
