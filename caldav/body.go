package caldav

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// body returns the request's body, decompressed and limited to limit bytes. A body whose Content-Length exceeds the
// limit is refused unread.
func (x *exchange) body(limit int64) (io.ReadCloser, error) {
	if x.r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	raw := http.MaxBytesReader(x.w, x.r.Body, limit)
	switch encoding := x.r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
		return raw, nil
	case "gzip", "x-gzip":
		return http.MaxBytesReader(x.w, &lazyGzip{source: raw}, limit), nil
	}
	x.w.Header().Set("Accept-Encoding", "gzip") // RFC 9110 §12.5.3
	return nil, refuseWith(http.StatusUnsupportedMediaType, "bodies may be compressed with gzip only")
}

// lazyGzip delays the first read of its source until its own first Read, because reading the body makes the server
// send 100 Continue.
type lazyGzip struct {
	source io.ReadCloser
	gz     *gzip.Reader
}

func (l *lazyGzip) Read(p []byte) (n int, err error) {
	if l.gz == nil {
		if l.gz, err = gzip.NewReader(l.source); err != nil {
			return 0, broken(err)
		}
	}
	n, err = l.gz.Read(p)
	return n, broken(err)
}

func (l *lazyGzip) Close() error { return l.source.Close() }

// broken turns corrupt compression into a 400; other errors pass unchanged.
func broken(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		return refuseWith(http.StatusBadRequest, "the body is not valid gzip data")
	}
	return err
}

// objectBody reads a calendar object.
func (x *exchange) objectBody() ([]byte, error) {
	limit := x.Service.Limits().ObjectBytes
	source, err := x.body(limit)
	var b bytes.Buffer
	if err == nil {
		// The client chose Content-Length, so it preallocates no more than a usual object takes.
		b.Grow(int(min(max(x.r.ContentLength, 0), 64<<10)) + bytes.MinRead)
		_, err = b.ReadFrom(source)
	}
	var (
		tooLarge *http.MaxBytesError
		refusal  *failure
	)
	switch {
	case err == nil || errors.As(err, &refusal) || lapsed(err):
		return b.Bytes(), err
	case errors.As(err, &tooLarge):
		return nil, calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize, "this server accepts objects of up to %d bytes", limit)
	}
	return nil, &failure{status: http.StatusBadRequest, message: "the body ended early", cause: err}
}

// lapsed reports whether reading the body failed because the sender's credential is no longer valid, or could not be
// verified just now.
func lapsed(err error) bool {
	return errors.Is(err, auth.ErrUnauthorized) || calendar.ReasonOf(err) == calendar.Unavailable
}

// meteredBody reads a calendar object after it has reserved memory for the body, and then reserves memory for the
// parsed object. A client that sends slowly thus holds no more than its body; without a Content-Length, the largest
// one allowed.
func (x *exchange) meteredBody() ([]byte, error) {
	limit := x.Service.Limits().ObjectBytes
	length := x.r.ContentLength
	if length < 0 {
		length = limit
	}
	if length <= limit {
		if err := x.meter.Hold(2 * length); err != nil {
			return nil, err
		}
	}
	data, err := x.objectBody()
	if err != nil {
		return nil, err
	}
	return data, x.meter.Hold(query.ReadBytes(int64(len(data))))
}

// errNoBody is returned for a request without any XML.
var errNoBody = refuseWith(http.StatusBadRequest, "this method needs an XML body")

// read decodes the request's XML into v. It returns errNoBody if there is none.
func (x *exchange) read(v any) error {
	source, err := x.body(x.Limits.BodyBytes)
	if err != nil {
		return err
	}
	return x.decode(source, v)
}

// decode decodes XML within the limits, and requires that nothing follows its root.
func (x *exchange) decode(source io.Reader, v any) error {
	x.guard = newGuard(source, x.Limits)
	defer x.guard.leaveReader()
	d := xml.NewTokenDecoder(x.guard)
	err := d.Decode(v)
	if errors.Is(err, io.EOF) {
		return errNoBody
	}
	for err == nil {
		_, err = d.Token()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return badXML(err)
}

// badXML returns refusals and read errors unchanged, and turns every other decoder error into a 400.
func badXML(err error) error {
	var (
		f *failure
		b *http.MaxBytesError
		s *xml.SyntaxError
		u xml.UnmarshalError
	)
	switch {
	case errors.As(err, &f), errors.As(err, &b), lapsed(err):
		return err
	case errors.As(err, &s), errors.As(err, &u):
		return refuseWith(http.StatusBadRequest, "this XML cannot be read: %s", err)
	}
	return &failure{status: http.StatusBadRequest, message: "this XML cannot be read", cause: err}
}
