package caldav

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
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
	if err := unlessProposed(cal); err != nil {
		return err
	}
	if err := beforeBody(x, cal, when); err != nil {
		return unlessStale(x, err, cal)
	}
	data, err := x.meteredBody()
	if err != nil {
		return err
	}
	if uid := proposedIn(data); uid != "" {
		return acceptProposed(x, uid, data, cal, x.at.object)
	}
	saved, err := x.Service.Put(x.R.Context(), x.caller, cal,
		calendar.Draft{Name: x.at.object, Data: data, When: when, Meter: x.Meter})
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

// serveSaved answers a write of an object. It sends the tag only if GET would return exactly the bytes that the client
// sent (RFC 4791 §5.3.4); without a tag, the client fetches the object. It sends the object if the client prefers
// that.
func serveSaved(x *request, at place, s calendar.Saved) error {
	if s.Object.ScheduleTag != "" {
		x.W.Header().Set("Schedule-Tag", string(s.Object.ScheduleTag))
	}
	if !s.Cleaned && !s.Scheduled {
		x.W.Header().Set("ETag", string(s.Object.ETag))
	}
	if x.Prefers(dav.Representation) {
		status := http.StatusOK
		if s.Created {
			status = http.StatusCreated
		}
		return represent(x, status, at, s.Object)
	}
	x.Prefers(dav.Minimal)
	return x.Done(s.Created)
}

// unlessStale returns err. But if the client's copy was out of date and it prefers a representation, it answers with
// the current object (RFC 8144 §3).
func unlessStale(x *request, err error, cal calendar.Calendar) error {
	if err == nil || calendar.ReasonOf(err) != calendar.Stale || !x.Prefers(dav.Representation) {
		return err
	}
	o, lost := x.Service.Object(x.R.Context(), x.Meter, x.caller, cal, x.at.object)
	if lost != nil {
		x.W.Header().Del("Preference-Applied")
		return err
	}
	return represent(x, http.StatusPreconditionFailed, x.at, o)
}

// represent answers a request other than GET with an object.
func represent(x *request, status int, at place, o calendar.Object) error {
	h := x.W.Header()
	h.Set("ETag", string(o.ETag))
	h.Set("Last-Modified", o.Modified.UTC().Format(http.TimeFormat))
	// RFC 9110 §8.7: the body represents the object, not the result of the request.
	h.Set("Content-Location", x.href(at))
	x.Reply(status, mediaTypeOf(o), o.Data)
	return nil
}

// objectBody reads a calendar object.
func (x *request) objectBody() ([]byte, error) {
	limit := x.Service.Limits().ObjectBytes
	source, err := x.Body(limit)
	var b bytes.Buffer
	if err == nil {
		// The client chose Content-Length, so it preallocates no more than a usual object takes.
		b.Grow(int(min(max(x.R.ContentLength, 0), 64<<10)) + bytes.MinRead)
		_, err = b.ReadFrom(source)
	}
	var (
		tooLarge *http.MaxBytesError
		refusal  *dav.StatusError
	)
	switch {
	case err == nil || errors.As(err, &refusal) || lapsed(err):
		return b.Bytes(), err
	case errors.As(err, &tooLarge):
		return nil, calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize,
			"this server accepts objects of up to %d bytes", limit)
	}
	return nil, &dav.StatusError{Status: http.StatusBadRequest, Message: "the body ended early", Cause: err}
}

// lapsed reports whether reading the body failed because the sender's credential is no longer valid, or could not be
// verified just now.
func lapsed(err error) bool {
	return errors.Is(err, auth.ErrUnauthorized) || calendar.ReasonOf(err) == calendar.Unavailable
}

// meteredBody reads a calendar object after it has reserved memory for the body, and then reserves memory for the
// parsed object. A client that sends slowly thus holds no more than its body; without a Content-Length, the largest
// one allowed.
func (x *request) meteredBody() ([]byte, error) {
	limit := x.Service.Limits().ObjectBytes
	length := x.R.ContentLength
	if length < 0 {
		length = limit
	}
	if length <= limit {
		if err := x.Meter.Hold(2 * length); err != nil {
			return nil, err
		}
	}
	data, err := x.objectBody()
	if err != nil {
		return nil, err
	}
	return data, x.Meter.Hold(query.ReadBytes(int64(len(data))))
}
