package caldav

import (
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

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
