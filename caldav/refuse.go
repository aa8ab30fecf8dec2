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

// retryAfter is how long clients should wait for an unavailable store, in seconds.
const retryAfter = "5"

// refuse renders an error. No other code does.
func (x *exchange) refuse(err error) {
	if x.begun {
		// A truncated multistatus must never pass for a complete one: clients would delete the missing objects. So
		// the connection is aborted.
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
			// A resource that is in the way allows no method that makes one (RFC 9110 §15.5.6).
			there = slices.DeleteFunc(slices.Clone(there), func(m method) bool { return m.makes() })
		}
		x.w.Header().Set("Allow", allowed(there, x.at.kind()))
	}
	m := x.markup()
	defer x.release(m)
	m.failure(f)
	x.reply(f.status, f.mediaType(), m.buf)
}

// faultLevel is the log level for a failed response. A client that has disconnected is no error.
func (x *exchange) faultLevel() slog.Level {
	if x.r.Context().Err() != nil {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// failureOf converts an error to a response. The text of an unexpected error is not sent.
func (x *exchange) failureOf(err error) *failure {
	var (
		f *failure
		e *calendar.Error
		b *http.MaxBytesError
	)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		// The authentication has already set its challenge.
		return refuseWith(http.StatusUnauthorized, "your credentials are no longer valid: log in again")
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

// reply sends a complete response.
func (x *exchange) reply(status int, mediaType string, body []byte) {
	h := x.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	// If the client has gone, there is no way to report the error.
	_, _ = x.w.Write(body)
}
