package caldav

import (
	"bytes"
	"errors"
	"net/http"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

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
		refusal  *dav.Failure
	)
	switch {
	case err == nil || errors.As(err, &refusal) || lapsed(err):
		return b.Bytes(), err
	case errors.As(err, &tooLarge):
		return nil, calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize, "this server accepts objects of up to %d bytes", limit)
	}
	return nil, &dav.Failure{Status: http.StatusBadRequest, Message: "the body ended early", Cause: err}
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
