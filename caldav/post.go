package caldav

import (
	"mime"
	"net/http"

	"caldav-mcp-server/calendar"
)

// post answers RFC 5995: an object is added to the calendar under a name of the server's
// making. The address for that is the calendar's own, so that what else may once be
// POSTed there is told apart by its media type.
func (x *exchange) post() error {
	if sent := x.r.Header.Get("Content-Type"); sent != "" {
		if media, _, err := mime.ParseMediaType(sent); err != nil || media != "text/calendar" {
			return refuseWith(http.StatusUnsupportedMediaType, "what is added to a calendar is text/calendar, not %q", sent)
		}
	}
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if err := x.caller.May(calendar.WriteObjects, cal); err != nil {
		return err
	}
	data, err := x.objectBody()
	if err != nil {
		return err
	}
	saved, err := x.service.Add(x.r.Context(), x.caller, cal, data)
	if err != nil {
		return err
	}
	at := x.at
	at.form, at.object = formObject, saved.Object.Name
	x.w.Header().Set("Location", x.href(at))
	return x.saved(at, saved)
}

// addMember is where to POST (RFC 5995 §3.2.1).
func (r *resource) addMember(m *markup) error {
	m.hrefElement(r.at)
	return nil
}
