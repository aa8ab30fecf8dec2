package caldav

import (
	"net/http"

	"caldav-mcp-server/calendar"
)

// listed is a change in a list that is read as a whole: a home, or a box of notifications.
type listed struct {
	*resource
	version calendar.Version
	gone    bool
	// closed tells that what changed within is asked for, and is told only by the member itself.
	closed bool
}

// syncList tells the changes since a token, in the order of their versions, with the token to go on
// from. Paging is exact, since each change has a version of its own.
func (x *exchange) syncList(p plan, list []listed, since, now calendar.SyncToken, limit int) error {
	last := now.Version
	more := limit > 0 && len(list) > limit
	if more {
		list = list[:limit]
		last = list[limit-1].version
	}
	ms := x.multistatus(p)
	for _, change := range list {
		var err error
		switch {
		case change.gone:
			err = ms.gone(x.href(change.at))
		case change.closed:
			// RFC 6578 §3.3: the member takes the report, and its parent does not answer for it.
			ms.refused(change.at, http.StatusForbidden, "d:sync-traversal-supported")
			err = ms.flush(flushBytes)
		default:
			err = ms.add(change.resource)
		}
		if err != nil {
			return err
		}
	}
	if more {
		ms.truncated(x.at)
	}
	ms.element("d:sync-token", since.After(last, more, now).String())
	return ms.end()
}

// syncHome tells which calendars were added to the caller's home, changed or went from it.
// A calendar that is no longer shared is as gone as a deleted one. deep asks for the objects of the calendars as well:
// each calendar numbers its own changes, and its token is its own.
func (x *exchange) syncHome(_ *resource, p plan, since calendar.SyncToken, limit int, deep bool) error {
	changes, err := x.Service.HomeChanges(x.r.Context(), x.caller, since)
	if err != nil {
		return err
	}
	list := make([]listed, 0, len(changes.List))
	for _, change := range changes.List {
		at := place{form: formCalendar, user: x.at.user, calendar: change.Address}
		list = append(list, listed{&resource{x: x, at: at, calendar: change.Calendar}, change.Version, change.Gone, deep})
	}
	return x.syncList(p, list, since, changes.Now, limit)
}
