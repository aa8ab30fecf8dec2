package dav

import (
	"compress/flate"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Body returns the request's body, decompressed and limited to limit bytes. A body whose Content-Length exceeds the
// limit is refused unread.
func (x *Exchange) Body(limit int64) (io.ReadCloser, error) {
	if x.R.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	raw := http.MaxBytesReader(x.W, x.R.Body, limit)
	switch encoding := x.R.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
		return raw, nil
	case "gzip", "x-gzip":
		return http.MaxBytesReader(x.W, &lazyGzip{source: raw}, limit), nil
	}
	x.W.Header().Set("Accept-Encoding", "gzip") // RFC 9110 §12.5.3
	return nil, Refuse(http.StatusUnsupportedMediaType, "bodies may be compressed with gzip only")
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
		return Refuse(http.StatusBadRequest, "the body is not valid gzip data")
	}
	return err
}

// ErrNoBody is returned for a request without any XML.
var ErrNoBody = Refuse(http.StatusBadRequest, "this method needs an XML body")

// Read decodes the request's XML into v. It returns ErrNoBody if there is none.
func (x *Exchange) Read(v any) error {
	source, err := x.Body(x.server.limits.BodyBytes)
	if err != nil {
		return err
	}
	return x.Decode(source, v)
}

// Decode decodes XML within the limits, and requires that nothing follows its root.
func (x *Exchange) Decode(source io.Reader, v any) error {
	x.guard = NewGuard(source, x.server.limits)
	defer x.guard.Release()
	d := xml.NewTokenDecoder(x.guard)
	err := d.Decode(v)
	if errors.Is(err, io.EOF) {
		return ErrNoBody
	}
	for err == nil {
		_, err = d.Token()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return x.badXML(err)
}

// badXML returns refusals and read errors unchanged, and turns every other decoder error into a 400.
func (x *Exchange) badXML(err error) error {
	var (
		f *StatusError
		b *http.MaxBytesError
		s *xml.SyntaxError
		u xml.UnmarshalError
	)
	switch {
	case errors.As(err, &f), errors.As(err, &b), x.server.lapsed(err):
		return err
	case errors.As(err, &s), errors.As(err, &u):
		return Refuse(http.StatusBadRequest, "this XML cannot be read: %s", err)
	}
	return &StatusError{Status: http.StatusBadRequest, Message: "this XML cannot be read", Cause: err}
}
