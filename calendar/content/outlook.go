package content

import (
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// BusyStatus is Outlook's property for the busy status of an event: FREE, TENTATIVE, BUSY or OOF (out of office;
// [MS-OXCICAL] 2.1.3.1.1.20.31).
const BusyStatus = "X-MICROSOFT-CDO-BUSYSTATUS"

// Transparent reports whether an event does not count as busy (RFC 5545 §3.8.2.7). Outlook reads TRANSP only if its
// own property is missing ([MS-OXCICAL] 2.1.3.1.1.20.25). Here TRANSP wins, because other programs change it
// without updating Outlook's property. Outlook's property does not count in a meeting, since attendees' copies
// contain the organizer's value.
func Transparent(c *ical.Component) bool {
	if p := c.Property("TRANSP"); p != nil {
		return Word(p) == "TRANSPARENT"
	}
	return WordOf(c, BusyStatus) == "FREE" && c.Property("ATTENDEE") == nil
}

// OutlookDays reports whether Outlook marked a component as all-day. Its times may still be date-times.
func OutlookDays(c *ical.Component) bool { return WordOf(c, "X-MICROSOFT-CDO-ALLDAYEVENT") == "TRUE" }

// AsDays converts an instance of such a component from date-times at midnight to whole days in the reader's zone
// ([MS-OXCICAL] 2.1.3.1.1.20.28). Other instances are returned unchanged. RecurrenceID stays, because it identifies
// the instance in the stored text.
func AsDays(i recur.Instance, in *zone.Zone) recur.Instance {
	start, end := i.Start.Civil(), i.End.Civil()
	if i.Start.AllDay || start != start.Date() || end != end.Date() || !end.After(start) {
		return i
	}
	i.Start, i.End = dayIn(start, in), dayIn(end, in)
	return i
}

func dayIn(day ical.Civil, in *zone.Zone) recur.Moment {
	at, _ := in.Resolve(day)
	return recur.Moment{Time: at, AllDay: true}
}
