package caldav

import (
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// listed is a change in a list that is always read whole: a home, the notifications or the inbox.
type listed struct {
	*resource
	version calendar.Version
	gone    bool
	// closed is set if the client requests changes within the member, which only a report on the member itself
	// returns.
	closed bool
}

// syncList writes the changes since a token in the order of their versions, and the new token. Paging is exact, since
// each change has its own version.
func syncList(x *request, p plan, list []listed, since, now calendar.SyncToken, limit int) error {
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
			err = ms.Gone(x.href(change.at))
		case change.closed:
			// RFC 6578 §3.3: the member supports the report, but its parent does not include it.
			ms.Refused(&change.at, http.StatusForbidden, "d:sync-traversal-supported")
			err = ms.Flush(dav.FlushBytes)
		default:
			err = ms.add(change.resource)
		}
		if err != nil {
			return err
		}
	}
	if more {
		ms.Truncated(&x.at)
	}
	ms.Element("d:sync-token", since.After(last, more, now).String())
	return ms.End()
}

// syncHome lists the calendars that were added to the caller's home, changed in it or removed from it. A calendar
// that is no longer shared counts as deleted. deep requests the objects of the calendars as well, which is refused
// for each of them: a calendar numbers its own changes and has its own token.
func syncHome(x *request, _ *resource, p plan, since calendar.SyncToken, limit int, deep bool) error {
	changes, err := x.Service.HomeChanges(x.R.Context(), x.caller, since)
	if err != nil {
		return err
	}
	list := make([]listed, 0, len(changes.List))
	for _, change := range changes.List {
		at := place{form: formCalendar, user: x.at.user, calendar: change.Address}
		list = append(list, listed{&resource{x: x, at: at, calendar: change.Calendar}, change.Version, change.Gone, deep})
	}
	return syncList(x, p, list, since, changes.Now, limit)
}
