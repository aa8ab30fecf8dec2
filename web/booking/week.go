package booking

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// weekDays is the number of days that a page shows at once, nextDays how many more it looks for the next free time.
const weekDays, nextDays = 7, 60

// Query is the choice of times that a visitor looks at.
type Query struct {
	Minutes int
	// Zone is the visitor's; From is a moment on the first day.
	Zone *time.Location
	From time.Time
	// Moved is the booking that the visitor moves; nil for a new one.
	Moved *Booking
}

// Week is some days of free times, in the visitor's zone.
type Week struct {
	Days []Day
	// Earlier and Later are the dates of the pages before and after; Earlier is "" on the first, Later on the last.
	Earlier, Later string
	// Next is the next free time, if these days have none.
	Next Choice
	// Changes is the day when the clocks of the zone change; "" if they do not.
	Changes string
}

// Day is a day with its free times.
type Day struct {
	Title, Date string
	Times       []Choice
}

// Choice is a free time: its moment in UTC, and in words. Date is its day.
type Choice struct{ Start, Text, Date string }

// Week returns the free times of seven days. Days without any are left out.
func (s *Service) Week(ctx context.Context, v View, q Query, l *locale.Language) (w Week, err error) {
	today := s.Now().In(q.Zone)
	from := grid.Midnight(latest(q.From.In(q.Zone), today), 0)
	until := grid.Midnight(from, weekDays)
	found, next, err := s.times(ctx, v, q, from, until)
	if err != nil {
		return w, err
	}
	if from.After(today) {
		w.Earlier = latest(grid.Midnight(from, -weekDays), today).Format(time.DateOnly)
	}
	if until.Before(s.Now().AddDate(0, 0, v.HorizonDays)) {
		w.Later = until.Format(time.DateOnly)
	}
	w.Changes = changeOf(from, l)
	for _, one := range found {
		c := choiceOf(one, q.Zone, l)
		if n := len(w.Days); n == 0 || w.Days[n-1].Date != c.Date {
			w.Days = append(w.Days, Day{Title: l.Date(one.Start.In(q.Zone)), Date: c.Date})
		}
		day := &w.Days[len(w.Days)-1]
		day.Times = append(day.Times, c)
	}
	if len(next) > 0 {
		w.Next = choiceOf(next[0], q.Zone, l)
		w.Next.Text = outside.When(l, next[0].Start, q.Zone, "")
	}
	return w, nil
}

// times returns the free times between two midnights. If there are none, next has the times of the days after.
func (s *Service) times(
	ctx context.Context, v View, q Query, from, until time.Time,
) (found, next []slot.Slot, err error) {
	found, err = s.Times(ctx, v, q.Minutes, from, until, q.Moved)
	if err == nil && len(found) == 0 {
		next, err = s.Times(ctx, v, q.Minutes, until, grid.Midnight(until, nextDays), q.Moved)
	}
	return found, next, err
}

// choiceOf describes a free time.
func choiceOf(one slot.Slot, in *time.Location, l *locale.Language) Choice {
	local := one.Start.In(in)
	return Choice{
		Start: one.Start.UTC().Format(time.RFC3339), Text: l.Time(local, ""), Date: local.Format(time.DateOnly),
	}
}

// changeOf returns the day in a week when the clocks change.
func changeOf(from time.Time, l *locale.Language) string {
	for n := range weekDays {
		day := grid.Midnight(from, n)
		_, before := day.Zone()
		if _, after := grid.Midnight(from, n+1).Zone(); before != after {
			return l.Date(day)
		}
	}
	return ""
}
