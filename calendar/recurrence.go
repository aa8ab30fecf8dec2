package calendar

import (
	"math/bits"
	"time"
)

// RecurrenceIndex is the recurrence index of a series: the UTC hours of the week and the dates that its instances
// touch. It lets an index skip a Monday meeting in a query about a Wednesday. It may contain more than the truth, never
// less.
type RecurrenceIndex struct {
	// Hours are bit sets of the hours of the week that instances touch, 56 in each. Hour 0 is Thursday 00:00, the
	// start of 1970.
	Hours [3]int64
	// Dates are bits for the days of the month (1 to 31), and above them for the months (1 to 12).
	Dates int64
	// Known is the end of the indexed time, in Unix seconds. Later instances are not in the pattern.
	Known int64
	// FirstHour is the first hour of the week of the pattern, counted from 1, if all hours lie within a few hours;
	// otherwise 0. A database index can look up FirstHour, whereas it can use Hours only to filter.
	FirstHour int64
}

const (
	hour         = 60 * 60
	hoursPerWeek = 7 * 24
	hoursPerPart = 56
	daysMost     = 31
	// firstHourSpan limits the hours of a pattern with a FirstHour. It allows a meeting of three hours with clock
	// changes and a moved instance.
	firstHourSpan = 6
)

// DaysOfMonth and MonthsOfYear are the parts of [RecurrenceIndex.Dates].
const (
	DaysOfMonth  = 1<<(daysMost+1) - 2
	MonthsOfYear = (1<<13 - 2) << daysMost
)

// RecurrenceOf returns the pattern of a time window. A series that does not meet it has no instance in the window.
func RecurrenceOf(from, until int64) RecurrenceIndex {
	r := RecurrenceIndex{Known: until}
	r.Add(from, until)
	return r
}

// Add adds a time range, both ends inclusive.
func (r *RecurrenceIndex) Add(start, end int64) {
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

// touches reports whether the pattern has an hour of the week. h wraps around at the end of the week.
func (r *RecurrenceIndex) touches(h int64) bool {
	h %= hoursPerWeek
	return r.Hours[h/hoursPerPart]&(1<<(h%hoursPerPart)) != 0
}

// SetFirstHour sets the FirstHour after all times are added.
func (r *RecurrenceIndex) SetFirstHour() {
	all := 0
	for _, part := range r.Hours {
		all += bits.OnesCount64(uint64(part))
	}
	r.FirstHour = 0
	for first := int64(0); first < hoursPerWeek && all <= firstHourSpan; first++ {
		within := 0
		for h := range int64(firstHourSpan) {
			if r.touches(first + h) {
				within++
			}
		}
		if within == all && r.touches(first) {
			r.FirstHour = first + 1
			return
		}
	}
}

// FirstHours returns the values of FirstHour that a series in the window may have. It is nil for more than most values,
// because the lookup would hardly narrow the result.
func (r *RecurrenceIndex) FirstHours(most int) []int64 {
	all := []int64{0}
	for first := range int64(hoursPerWeek) {
		for h := range int64(firstHourSpan) {
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

// Meets reports whether an instance may take place in the window. A nil pattern, or a window beyond Known, may meet.
func (r *RecurrenceIndex) Meets(window RecurrenceIndex) bool {
	if r == nil || window.Known > r.Known {
		return true
	}
	both := r.Dates & window.Dates
	return both&DaysOfMonth != 0 && both&MonthsOfYear != 0 &&
		r.Hours[0]&window.Hours[0]|r.Hours[1]&window.Hours[1]|r.Hours[2]&window.Hours[2] != 0
}

// Equal reports whether two patterns are equal; nil equals only nil.
func (r *RecurrenceIndex) Equal(other *RecurrenceIndex) bool {
	return r == other || r != nil && other != nil && *r == *other
}

// floor divides, rounding down for negative numbers too.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}
