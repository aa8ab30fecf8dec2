package planner

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/grid"
)

// Side is the sidebar of a calendar page: a small month and the calendars.
type Side struct {
	Kind Kind
	// Month is the title of the small month, Earlier and Later lead to others.
	Month, Earlier, Later string
	Weekdays              []string
	Weeks                 []SideWeek
	Own, Others           []SideCalendar
	// Numbers is set if weeks have numbers.
	Numbers bool
}

// SideWeek is a row of the small month.
type SideWeek struct {
	Number int
	Days   []SideDay
}

// SideDay is a day of the small month.
type SideDay struct {
	Date, Title          string
	Number               int
	Today, Chosen, Other bool
}

// SideCalendar is a calendar with a box to tick.
type SideCalendar struct {
	Swatch
	Owner  string
	Ticked bool
	// Write is set if the visitor may add events.
	Write bool
}

func (p *Planner) side(kind Kind, chosen time.Time, all []calendar.Calendar) Side {
	weekStart := p.Caller.User.FirstDay()
	earlier, later := months(chosen)
	s := Side{
		Kind: kind, Month: p.Language.MonthYear(chosen), Earlier: earlier, Later: later,
		Numbers: !p.Caller.User.View.WeekNumbersOff,
	}
	first, n := grid.MonthOf(chosen, weekStart)
	for w, week := range grid.Weeks(nil, first, n) {
		row := SideWeek{Number: grid.WeekNumber(week)}
		for _, d := range week {
			view := p.day(d, chosen)
			row.Days = append(row.Days, SideDay{
				view.Date, view.Title, view.Number, view.Today, view.Date == iso(chosen), view.Other,
			})
			if w == 0 {
				s.Weekdays = append(s.Weekdays, view.Name)
			}
		}
		s.Weeks = append(s.Weeks, row)
	}
	for _, cal := range all {
		listed := SideCalendar{
			SwatchOf(cal), "", !slices.Contains(p.Unticked, cal.ID),
			p.Caller.May(calendar.WriteObjects, cal) == nil,
		}
		if cal.Access == calendar.OwnerAccess {
			s.Own = append(s.Own, listed)
			continue
		}
		if owner := clean(cal.OwnerTitle); !strings.Contains(listed.Name, owner) {
			listed.Owner = owner
		}
		s.Others = append(s.Others, listed)
	}
	return s
}
