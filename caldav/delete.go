package caldav

import "caldav-mcp-server/calendar"

// delete removes what can be removed.
func (x *exchange) delete() error { return x.nodes[x.at.form].remove(x) }

// deleteCalendar removes a calendar with all of its objects: that takes no condition, and the trash gives it back. A
// calendar of somebody else's goes from the caller's home only.
func (x *exchange) deleteCalendar() error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	remove := x.Service.DeleteCalendar
	if cal.Access != calendar.OwnerAccess {
		remove = x.Service.Leave
	}
	if err := remove(x.r.Context(), x.caller, cal.ID); err != nil {
		return err
	}
	return x.done(false)
}

func (x *exchange) deleteObject() error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if err := x.Service.DeleteTelling(x.r.Context(), x.caller, cal, x.at.object, when, x.telling()); err != nil {
		return x.unlessStale(err, cal)
	}
	return x.done(false)
}
