package caldav

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// retryAfter is how many seconds a client should not ask a store that is away.
const retryAfter = "5"

// refuse renders an error; it is the one place that does.
func (x *exchange) refuse(err error) {
	if x.begun {
		// Half of a multistatus must never pass for a whole one: the connection breaks, so that
		// no client takes what is missing for deleted.
		x.Logger.LogAttrs(x.r.Context(), x.faultLevel(), "the answer broke off", slog.String("method", x.r.Method), slog.String("error", service.ForLog(err)))
		panic(http.ErrAbortHandler)
	}
	f := x.failureOf(err)
	if f.status == http.StatusInternalServerError {
		x.Logger.LogAttrs(x.r.Context(), x.faultLevel(), "request failed", slog.String("method", x.r.Method), slog.String("error", service.ForLog(err)))
	}
	if f.status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", retryAfter)
	}
	if f.status == http.StatusMethodNotAllowed {
		there := x.methods
		if x.method != nil && x.method.makes() {
			// A resource in the way takes no method that makes it (RFC 9110 §15.5.6).
			there = slices.DeleteFunc(slices.Clone(there), func(m method) bool { return m.makes() })
		}
		x.w.Header().Set("Allow", allowed(there, x.at.kind()))
	}
	m := x.markup()
	defer x.release(m)
	m.failure(f)
	x.reply(f.status, f.mediaType(), m.buf)
}

// faultLevel is how much it matters that an answer failed: that a client has gone is nobody's fault.
func (x *exchange) faultLevel() slog.Level {
	if x.r.Context().Err() != nil {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// failureOf turns an error into its form on the wire. An unforeseen one is Internal, and
// its text stays here.
func (x *exchange) failureOf(err error) *failure {
	var (
		f *failure
		e *calendar.Error
		b *http.MaxBytesError
	)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		// The login has put its challenge on the answer.
		return refuseWith(http.StatusUnauthorized, "your credentials are no longer good: log in again")
	case errors.As(err, &f):
		return f
	case errors.As(err, &e) && e.Reason != calendar.Internal:
		return x.translate(e)
	case errors.As(err, &b):
		return refuseWith(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", b.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuseWith(http.StatusBadRequest, "the body ended early")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refuseWith(http.StatusServiceUnavailable, "the request took too long")
	}
	return refuseWith(http.StatusInternalServerError, "something went wrong here; the log of the server says what")
}

func (f *failure) mediaType() string {
	if f.condition == "" {
		return "text/plain; charset=utf-8"
	}
	return xmlType
}

// descriptionNS is where Apple's server has the sentence for people, which its clients
// show. RFC 4918 §14.5 gives DAV:error only conditions: anything else in it, strict
// clients take for one.
const descriptionNS = "http://twistedmatrix.com/xml_namespace/dav/"

// failure writes the body of a refusal: the error element of RFC 4918 §14.5 where a
// condition was broken, else a sentence.
func (m *markup) failure(f *failure) {
	if f.condition == "" {
		m.raw(f.message).raw("\n")
		return
	}
	m.begin("d:error")
	m.condition(f)
	m.raw(`<error-description xmlns="`).raw(descriptionNS).raw(`">`).text(f.message).raw("</error-description></d:error>")
}

// condition writes the element of a broken condition.
func (m *markup) condition(f *failure) {
	if f.details == nil {
		m.raw("<").raw(f.condition).raw("/>")
		return
	}
	m.raw("<").raw(f.condition).raw(">")
	f.details(m)
	m.raw("</").raw(f.condition).raw(">")
}

// reply sends a whole answer.
func (x *exchange) reply(status int, mediaType string, body []byte) {
	h := x.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	// A client that has gone cannot be told so.
	_, _ = x.w.Write(body)
}
