package caldav

import (
	"net/http"

	"caldav-mcp-server/calendar/render"
)

// askBusy answers POST to the outbox with the free/busy times of other users (RFC 6638 §5). Invitations are sent by
// storing an event.
func (x *exchange) askBusy() error {
	data, err := x.meteredBody()
	if err != nil {
		return err
	}
	answers, err := x.Service.AskBusy(x.r.Context(), x.caller, x.meter, data)
	if err != nil {
		return err
	}
	m := x.markup()
	defer x.release(m)
	m.begin("c:schedule-response")
	for _, a := range answers {
		m.raw("<c:response><c:recipient>").element("d:href", a.Recipient).raw("</c:recipient>")
		m.element("c:request-status", a.Status)
		if a.Data != nil {
			m.raw("<c:calendar-data>")
			m.cdata(render.Legible(a.Data))
			m.raw("</c:calendar-data>")
		}
		m.raw("</c:response>")
	}
	m.raw("</c:schedule-response>\n")
	x.reply(http.StatusOK, xmlType, m.buf)
	return nil
}
