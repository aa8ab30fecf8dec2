package caldav

import (
	"encoding/xml"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// busyRequest is CALDAV:free-busy-query (RFC 4791 §9.11).
type busyRequest struct {
	XMLName   xml.Name   `xml:"urn:ietf:params:xml:ns:caldav free-busy-query"`
	TimeRange *timeRange `xml:"urn:ietf:params:xml:ns:caldav time-range"`
}

// freeBusyQuery answers RFC 4791 §7.10 for one calendar, or for all calendars of a user that count as busy. It
// ignores Depth: leaving out deeper objects would show a busy user as free.
func freeBusyQuery(x *request, r *resource, q *busyRequest) error {
	if q.TimeRange == nil {
		return dav.Refuse(http.StatusBadRequest, "free-busy-query needs a time-range")
	}
	window, err := q.TimeRange.whole()
	if err != nil {
		return dav.Refuse(http.StatusBadRequest, "the time-range %s", err)
	}
	ask := query.BusyQuery{From: window.Start, Until: window.End, ByType: true, Meter: x.Meter}
	if r.at.kind() == atCalendar {
		ask.Calendars = []calendar.Calendar{r.calendar}
	}
	busy, err := x.Service.FreeBusy(x.R.Context(), x.caller, ask)
	if err != nil {
		return err
	}
	x.Reply(http.StatusOK, "text/calendar; charset=utf-8", x.Service.BusyText(ask, busy))
	return nil
}
