package caldav

import "caldav-mcp-server/calendar"

// syncHome tells which calendars were added to the caller's home, changed or went from it.
// What is no longer shared is as gone as what was deleted.
func (x *exchange) syncHome(p plan, since calendar.SyncToken, limit int) error {
	changes, err := x.service.HomeChanges(x.r.Context(), x.caller, since)
	if err != nil {
		return err
	}
	last, list := changes.Now.Version, changes.List
	more := limit > 0 && len(list) > limit
	if more {
		list = list[:limit]
		last = list[limit-1].Version
	}
	ms := x.multistatus(p)
	for _, change := range list {
		at := place{form: formCalendar, user: x.at.user, calendar: change.Address}
		if change.Gone {
			err = ms.gone(x.href(at))
		} else {
			err = ms.add(&resource{x: x, at: at, calendar: change.Calendar})
		}
		if err != nil {
			return err
		}
	}
	if more {
		ms.truncated(x.at)
	}
	ms.element("d:sync-token", since.After(last, more, changes.Now).String())
	return ms.end()
}
