package caldav

import "caldav-mcp-server/calendar"

// serveDelete answers DELETE.
func serveDelete(x *request) error { return x.nodes[x.at.form].remove(x) }

// deleteCalendar moves a calendar with all of its objects to the trash; it evaluates no precondition. Its meetings
// are cancelled or declined (RFC 6638 §3.2.3.2). If another user owns the calendar, it leaves the caller's home only.
func deleteCalendar(x *request) error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if cal.Access != calendar.OwnerAccess {
		err = x.Service.Leave(x.R.Context(), x.caller, cal.ID)
	} else {
		_, err = x.Service.DeleteCalendarTelling(x.R.Context(), x.caller, cal.ID, tellingOf(x))
	}
	if err != nil {
		return err
	}
	return x.Done(false)
}

func deleteObject(x *request) error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if err := x.Service.DeleteTelling(x.R.Context(), x.caller, cal, x.at.object, when, tellingOf(x)); err != nil {
		return unlessStale(x, err, cal)
	}
	return x.Done(false)
}
