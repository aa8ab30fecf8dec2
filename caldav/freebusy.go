package caldav

import (
	"encoding/xml"
	"net/http"

	"caldav-mcp-server/caldav/calxml"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/render"
)

// busyRequest is CALDAV:free-busy-query (RFC 4791 §9.11).
type busyRequest struct {
	XMLName   xml.Name          `xml:"urn:ietf:params:xml:ns:caldav free-busy-query"`
	TimeRange *calxml.TimeRange `xml:"urn:ietf:params:xml:ns:caldav time-range"`
}

// freeBusyQuery answers RFC 4791 §7.10 for one calendar, or for all calendars of a user that count as busy. It
// ignores Depth: leaving out deeper objects would show a busy user as free.
func freeBusyQuery(x *request, r *resource, q *busyRequest) error {
	if q.TimeRange == nil {
		return dav.Refuse(http.StatusBadRequest, "free-busy-query needs a time-range")
	}
	window, err := q.TimeRange.Whole()
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

// serveFreeBusy answers POST to the outbox with the free/busy times of other users (RFC 6638 §5). Invitations are sent
// by storing an event.
func serveFreeBusy(x *request) error {
	data, err := x.meteredBody()
	if err != nil {
		return err
	}
	answers, err := x.Service.AskBusy(x.R.Context(), x.caller, x.Meter, data)
	if err != nil {
		return err
	}
	m := x.Markup()
	defer x.Release(m)
	m.Begin("c:schedule-response")
	for _, a := range answers {
		m.Raw("<c:response><c:recipient>").Element("d:href", a.Recipient).Raw("</c:recipient>")
		m.Element("c:request-status", a.Status)
		if a.Data != nil {
			m.Raw("<c:calendar-data>")
			m.CDATA(render.Legible(a.Data))
			m.Raw("</c:calendar-data>")
		}
		m.Raw("</c:response>")
	}
	m.Raw("</c:schedule-response>\n")
	x.Reply(http.StatusOK, dav.XMLType, m.Buf)
	return nil
}
