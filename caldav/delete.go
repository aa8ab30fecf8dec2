package caldav

import "caldav-mcp-server/calendar"

// delete removes an object, or a calendar with all of its objects: that takes no
// condition, and the trash gives it back. A calendar of somebody else's goes from the
// caller's home alone.
func (x *exchange) delete() error {
	if x.at.kind() == atNotice {
		return x.dismiss()
	}
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if x.at.kind() == atCalendar {
		remove := x.service.DeleteCalendar
		if cal.Access != calendar.OwnerAccess {
			remove = x.service.Leave
		}
		if err := remove(x.r.Context(), x.caller, cal.ID); err != nil {
			return err
		}
		return x.done(false)
	}
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if err := x.service.Delete(x.r.Context(), x.caller, cal, x.at.object, when); err != nil {
		return x.unlessStale(err, cal)
	}
	return x.done(false)
}
