package caldav

import "caldav-mcp-server/calendar"

// delete answers DELETE.
func (x *exchange) delete() error { return x.nodes[x.at.form].remove(x) }

// deleteCalendar moves a calendar with all of its objects to the trash; it evaluates no precondition. Its meetings
// are cancelled or declined (RFC 6638 §3.2.3.2). If another user owns the calendar, it leaves the caller's home only.
func (x *exchange) deleteCalendar() error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if cal.Access != calendar.OwnerAccess {
		err = x.Service.Leave(x.R.Context(), x.caller, cal.ID)
	} else {
		_, err = x.Service.DeleteCalendarTelling(x.R.Context(), x.caller, cal.ID, x.telling())
	}
	if err != nil {
		return err
	}
	return x.Done(false)
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
	if err := x.Service.DeleteTelling(x.R.Context(), x.caller, cal, x.at.object, when, x.telling()); err != nil {
		return x.unlessStale(err, cal)
	}
	return x.Done(false)
}
