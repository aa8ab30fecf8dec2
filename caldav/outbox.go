package caldav

import (
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/render"
)

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
