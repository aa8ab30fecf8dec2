package filter

import (
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Names of the components inside others that take place.
const (
	alarm     = "VALARM"
	available = "AVAILABLE" // RFC 7953 §3.1
	root      = "VCALENDAR"
)

// takesPlace tells whether one of the components, which all have the same name and
// parent, overlaps the window. Of those that §9.9 has no table for, it is enough to be.
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
		// "Anything in that time": of whatever kind the object is.
		kind := CompFilter{Name: ComponentName(m.object.Kind), TimeRange: w.timeRange()}
		return m.component(&kind, in(list[0]))
	}
	return true, nil
}

// any tells whether a row of a table holds for one of the components.
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

// eventRow is the tables of VEVENT and of VJOURNAL: an instance has been given the end
// that it has for want of a DTEND.
func eventRow(w window, _ *ical.Component, start, end int64) bool { return w.overlaps(start, end) }

// taskRow is the first three rows of the table of VTODO, those with a DTSTART, and the
// fourth for each instance of a task that recurs by its DUE.
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

// tasks decides about VTODOs. Those without a DTSTART have one instance at most, which the
// other five rows of the table tell.
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

// unstartedRow is the rows of VTODO without a DTSTART.
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

// busyRow is the table of VFREEBUSY.
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

// availabilityRow is the table of VAVAILABILITY (RFC 7953 §5): without a start or an end
// it lasts without one.
func (m *matcher) availabilityRow(w window, c *ical.Component) (bool, error) {
	start, end, err := m.clock.Bounds(c)
	if err != nil {
		return false, err
	}
	return w.start < end && start < w.end, nil
}
