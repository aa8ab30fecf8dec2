package filter

import (
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// The names of nested components that have times, and of their root.
const (
	alarm     = "VALARM"
	available = "AVAILABLE" // RFC 7953 §3.1
	root      = "VCALENDAR"
)

// takesPlace reports whether one of the components, which have the same name and parent, overlaps the window.
// Components without a table in §9.9 always do.
func (m *matcher) takesPlace(w window, parent *ical.Component, list []*ical.Component) (bool, error) {
	switch list[0].Name() {
	case content.Event, content.Journal, available:
		return m.instances(w, parent, list, eventRow)
	case content.Todo:
		return m.tasks(w, parent, list)
	case alarm:
		return m.alarms(w, parent, list)
	case content.FreeBusy:
		return m.any(w, list, m.busyRow)
	case content.Availability:
		return m.any(w, list, m.availabilityRow)
	case root:
		// A time range on the VCALENDAR means: any component of the object's kind in that time.
		kind := CompFilter{Name: ComponentName(m.object.Kind), TimeRange: w.timeRange()}
		return m.component(&kind, in(list[0]))
	}
	return true, nil
}

// any reports whether one of the components satisfies a row of a table.
func (m *matcher) any(w window, list []*ical.Component, row func(window, *ical.Component) (bool, error)) (bool, error) {
	var failed error
	for _, c := range list {
		ok, err := row(w, c)
		if ok {
			return true, nil
		}
		if err != nil {
			failed = err
		}
	}
	return false, failed
}

// eventRow implements the tables for VEVENT and VJOURNAL. The instance already has the default end if DTEND is
// missing.
func eventRow(w window, _ *ical.Component, start, end int64) bool { return w.overlaps(start, end) }

// taskRow implements the first three rows of the table for VTODO, which have a DTSTART, and the fourth for each
// instance of a task that recurs by its DUE.
func taskRow(w window, c *ical.Component, start, end int64) bool {
	switch {
	case c.Property("DTSTART") == nil && c.Property("DUE") != nil:
		return w.start < end && w.end >= end
	case c.Property("DURATION") != nil:
		return w.start <= end && (w.end > start || w.end >= end)
	case c.Property("DUE") != nil:
		return (w.start < end || w.start <= start) && (w.end > start || w.end >= end)
	}
	return w.holds(start)
}

// tasks matches VTODOs. Those without a DTSTART have at most one instance, which the other five rows of the table
// cover.
func (m *matcher) tasks(w window, parent *ical.Component, list []*ical.Component) (bool, error) {
	var started []*ical.Component
	var failed error
	for _, c := range list {
		if content.Placed(c) {
			started = append(started, c)
			continue
		}
		ok, err := m.unstartedRow(w, c)
		if ok {
			return true, nil
		}
		if err != nil {
			failed = err
		}
	}
	if len(started) == 0 {
		return false, failed
	}
	return m.instances(w, parent, started, taskRow)
}

// unstartedRow implements the rows for a VTODO without a DTSTART.
func (m *matcher) unstartedRow(w window, c *ical.Component) (bool, error) {
	due, hasDue, err := m.clock.Time(c, "DUE")
	if err != nil {
		return false, err
	}
	if hasDue {
		return w.start < due && w.end >= due, nil
	}
	completed, isCompleted, err := m.clock.Time(c, "COMPLETED")
	if err != nil {
		return false, err
	}
	created, isCreated, err := m.clock.Time(c, "CREATED")
	switch {
	case err != nil:
		return false, err
	case isCompleted && isCreated:
		return (w.start <= created || w.start <= completed) && (w.end >= created || w.end >= completed), nil
	case isCompleted:
		return w.start <= completed && w.end >= completed, nil
	case isCreated:
		return w.end > created, nil
	}
	return true, nil
}

// busyRow implements the table for VFREEBUSY.
func (m *matcher) busyRow(w window, c *ical.Component) (bool, error) {
	start, started, err := m.clock.Time(c, "DTSTART")
	if err != nil {
		return false, err
	}
	end, ended, err := m.clock.Time(c, "DTEND")
	if err != nil {
		return false, err
	}
	if started && ended {
		return w.start <= end && w.end > start, nil
	}
	for _, p := range c.All("FREEBUSY") {
		if m.periods(w, p) {
			return true, nil
		}
	}
	return false, nil
}

// availabilityRow implements the table for VAVAILABILITY (RFC 7953 §5). A missing start or end means no limit.
func (m *matcher) availabilityRow(w window, c *ical.Component) (bool, error) {
	start, end, err := m.clock.Bounds(c)
	if err != nil {
		return false, err
	}
	return w.start < end && start < w.end, nil
}
