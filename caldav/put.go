package caldav

import (
	"errors"
	"mime"
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// servePut stores an object byte for byte. It ignores the Content-Type and looks at the body, since several clients
// send no type or a wrong one.
func servePut(x *request) error {
	// RFC 9110 §14.5: a part of an object must not replace the whole.
	if x.R.Header.Get("Content-Range") != "" {
		return dav.Refuse(http.StatusBadRequest, "objects are stored whole: Content-Range is not supported")
	}
	when, err := x.precondition()
	if err != nil {
		return err
	}
	cal, err := x.parentCalendar(x.at)
	if err != nil {
		return err
	}
	if err := beforeBody(x, cal, when); err != nil {
		return unlessStale(x, err, cal)
	}
	data, err := x.meteredBody()
	if err != nil {
		return err
	}
	saved, err := x.Service.Put(x.R.Context(), x.caller, cal, calendar.Draft{Name: x.at.object, Data: data, When: when, Meter: x.Meter})
	if err != nil {
		return unlessStale(x, unlessCalendar(x, err), cal)
	}
	return serveSaved(x, x.at, saved)
}

// unlessCalendar returns err. But if the body is invalid and was not sent as text/calendar, it reports the media type
// as the error (RFC 4791 §5.3.2.1).
func unlessCalendar(x *request, err error) error {
	var e *calendar.Error
	sent := x.R.Header.Get("Content-Type")
	if sent == "" || !errors.As(err, &e) || e.Rule != calendar.RuleValidData {
		return err
	}
	if media, _, bad := mime.ParseMediaType(sent); bad == nil && media == "text/calendar" {
		return err
	}
	return dav.Breach("c:supported-calendar-data", "an object must be text/calendar, not %.100q", sent)
}

// beforeBody refuses requests that cannot succeed before the body is sent; a client may wait for 100 Continue. The
// service checks again under the lock.
func beforeBody(x *request, cal calendar.Calendar, when calendar.Precondition) error {
	if err := x.caller.May(calendar.WriteObjects, cal); err != nil {
		return err
	}
	if !strings.EqualFold(x.R.Header.Get("Expect"), "100-continue") {
		return nil
	}
	now, err := x.Service.Object(x.R.Context(), x.Meter, x.caller, cal, x.at.object)
	if missing(err) {
		return when.CheckObject(nil)
	}
	if err != nil {
		return err
	}
	return when.CheckObject(&now)
}
