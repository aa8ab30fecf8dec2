// Package grid computes where events go on a calendar: the columns of a day, the lanes of events that last whole days,
// and the weeks of a month. It knows no events, only their times, and no markup.
package grid

import (
	"cmp"
	"slices"
	"time"
)

// Item holds the times of an event. End is exclusive; an event without a duration ends at its start.
type Item struct {
	Start, End time.Time
	AllDay     bool
}

// Day is one day of a calendar.
type Day struct {
	// Start is its first instant, in the zone of the calendar.
	Start time.Time
	// Bars are its events that last whole days, by lane. A lane without an event on this day has a bar with Item -1.
	Bars []Bar
	// Blocks are its other events, by start.
	Blocks []Block
}

// Bar is the part of an event in the whole-day section of a day.
type Bar struct {
	// Item is the index of the event, -1 if the lane is empty.
	Item int
	// Before and After are set if the event began on an earlier day or goes on after this day.
	Before, After bool
}

// Block is the part of an event between two times of a day.
type Block struct {
	// Item is the index of the event.
	Item int
	// Top and Bottom are minutes after midnight on the wall clock; Bottom is later than Top.
	Top, Bottom int
	// Column is the block's column, of Columns. Blocks at the same time have different columns.
	Column, Columns int
	// Before and After are set if the event began on an earlier day or goes on after this day.
	Before, After bool
}

const (
	// dayMinutes is the height of a day. A day of 23 or 25 hours has the same height, because it shows the wall clock.
	dayMinutes = 24 * 60
	// leastMinutes is the least height of a block, so that its title fits.
	leastMinutes = 30
)

// Days lays out a number of days, from a midnight on. The location of that time is the zone of the calendar.
func Days(items []Item, from time.Time, n int) []Day {
	days := make([]Day, n)
	for i := range days {
		days[i].Start = Midnight(from, i)
	}
	end := Midnight(from, n)
	var long []bar
	for i, item := range items {
		if !item.meets(from, end) {
			continue
		}
		first, last := item.days(from)
		if item.long() {
			long = append(long, bar{i, first, last, item.Start})
			continue
		}
		for day := max(first, 0); day <= min(last, n-1); day++ {
			days[day].Blocks = append(days[day].Blocks, item.block(i, days[day].Start, day > first, day < last))
		}
	}
	fillLanes(days, long)
	for i := range days {
		arrange(days[i].Blocks)
	}
	return days
}

// Weeks lays out whole weeks, from a midnight on.
func Weeks(items []Item, from time.Time, n int) [][]Day {
	weeks := make([][]Day, n)
	for i := range weeks {
		weeks[i] = Days(items, Midnight(from, 7*i), 7)
	}
	return weeks
}

// MonthOf returns the first day shown for the month of a day, and the number of weeks.
func MonthOf(day time.Time, weekStart time.Weekday) (first time.Time, weeks int) {
	y, m, d := day.Date()
	before := (int(time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Weekday()-weekStart) + 7) % 7
	length := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return Midnight(day, 1-d-before), (before + length + 6) / 7
}

// WeekOf returns the first day of the week of a day.
func WeekOf(day time.Time, weekStart time.Weekday) time.Time {
	return Midnight(day, -((int(day.Weekday()-weekStart) + 7) % 7))
}

// WeekNumber returns the number of a week by its Thursday, as ISO 8601 counts.
func WeekNumber(week []Day) int {
	for _, day := range week {
		if day.Start.Weekday() == time.Thursday {
			_, number := day.Start.ISOWeek()
			return number
		}
	}
	_, number := week[0].Start.ISOWeek()
	return number
}

// Midnight returns the first instant of the day that is some days after another.
func Midnight(day time.Time, after int) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d+after, 0, 0, 0, 0, day.Location())
	wanted := time.Date(y, m, d+after, 0, 0, 0, 0, time.UTC).Day()
	if t.Day() != wanted {
		return t.Add(time.Hour) // the clocks skip midnight, and time.Date used the offset before the change
	}
	if hour := t.Add(-time.Hour); hour.Day() == wanted {
		return hour // the clocks show midnight twice, and time.Date returned the second one
	}
	return t
}

// meets reports whether an event takes place in a time range. One without a duration takes place at its start.
func (i Item) meets(from, until time.Time) bool {
	return i.Start.Before(until) && (i.End.After(from) || !i.Start.Before(from))
}

// long reports whether an event belongs into the whole-day section.
func (i Item) long() bool { return i.AllDay || i.End.Sub(i.Start) >= 24*time.Hour }

// last returns the last instant of an event.
func (i Item) last() time.Time {
	if i.End.After(i.Start) {
		return i.End.Add(-time.Nanosecond)
	}
	return i.Start
}

// days returns the first and the last day of an event, counted from a day.
func (i Item) days(from time.Time) (first, last int) {
	return daysBetween(from, i.Start.In(from.Location())), daysBetween(from, i.last().In(from.Location()))
}

// daysBetween counts the midnights between two times.
func daysBetween(a, b time.Time) int {
	return int(date(b).Sub(date(a)) / (24 * time.Hour))
}

// date returns the date of a time, as a time where all days have 24 hours.
func date(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// block returns the part of an event on a day.
func (i Item) block(index int, day time.Time, before, after bool) Block {
	b := Block{Item: index, Bottom: dayMinutes, Before: before, After: after}
	start, end := i.Start.In(day.Location()), i.End.In(day.Location())
	if !before {
		b.Top = minutes(start)
	}
	if !after {
		if b.Bottom = minutes(end); daysBetween(day, end) > 0 {
			b.Bottom = dayMinutes
		}
	}
	if !before && !after && b.Bottom <= b.Top && end.After(start) {
		// The clocks went back meanwhile.
		b.Bottom = b.Top + int(end.Sub(start)/time.Minute)
	}
	b.Bottom = min(max(b.Bottom, b.Top+1), dayMinutes)
	b.Top = min(b.Top, dayMinutes-1)
	return b
}

// minutes returns the minutes since midnight on the wall clock.
func minutes(t time.Time) int { return t.Hour()*60 + t.Minute() }

// bar is an event of the whole-day section, with its first and last day.
type bar struct {
	item, first, last int
	start             time.Time
}

// fillLanes gives each event the first lane that is free on all of its days. Earlier and longer events come first.
func fillLanes(days []Day, long []bar) {
	slices.SortFunc(long, func(a, b bar) int {
		return cmp.Or(cmp.Compare(max(a.first, 0), max(b.first, 0)), cmp.Compare(b.last, a.last),
			a.start.Compare(b.start), cmp.Compare(a.item, b.item))
	})
	var ends []int // the last occupied day of each lane
	for _, e := range long {
		first, last := max(e.first, 0), min(e.last, len(days)-1)
		lane := slices.IndexFunc(ends, func(end int) bool { return end < first })
		if lane < 0 {
			lane = len(ends)
			ends = append(ends, 0)
		}
		ends[lane] = last
		for day := first; day <= last; day++ {
			days[day].put(lane, Bar{e.item, e.first < day, e.last > day})
		}
	}
}

// put adds a bar to a lane, after empty lanes where needed.
func (d *Day) put(lane int, b Bar) {
	for len(d.Bars) <= lane {
		d.Bars = append(d.Bars, Bar{Item: -1})
	}
	d.Bars[lane] = b
}

// arrange sorts the blocks of a day and gives them columns. Blocks that overlap directly or through others share the
// width of the day.
func arrange(blocks []Block) {
	slices.SortFunc(blocks, func(a, b Block) int {
		return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(b.Bottom, a.Bottom), cmp.Compare(a.Item, b.Item))
	})
	var ends []int // the end of each column of the group
	group := 0     // its first block
	until := 0     // its end
	share := func(next int) {
		for i := group; i < next; i++ {
			blocks[i].Columns = len(ends)
		}
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Top >= until {
			share(i)
			ends, group = ends[:0], i
		}
		b.Column = slices.IndexFunc(ends, func(end int) bool { return end <= b.Top })
		if b.Column < 0 {
			b.Column = len(ends)
			ends = append(ends, 0)
		}
		ends[b.Column] = b.shown()
		until = max(until, b.shown())
	}
	share(len(blocks))
}

// shown returns the end of a block as it is drawn.
func (b Block) shown() int { return max(b.Bottom, b.Top+leastMinutes) }
