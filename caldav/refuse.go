package caldav

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// retryAfter is how long clients should wait for an unavailable store, in seconds.
const retryAfter = "5"

// refuse renders an error. No other code does.
func (x *request) refuse(err error) {
	if x.Begun {
		// A truncated multistatus must never pass for a complete one: clients would delete the missing objects. So
		// the connection is aborted.
		x.Logger.LogAttrs(x.R.Context(), x.faultLevel(), "the answer broke off", slog.String("method", x.R.Method), slog.String("error", service.ForLog(err)))
		panic(http.ErrAbortHandler)
	}
	f := failureOf(err, x.details)
	if f.Status == http.StatusInternalServerError {
		x.Logger.LogAttrs(x.R.Context(), x.faultLevel(), "request failed", slog.String("method", x.R.Method), slog.String("error", service.ForLog(err)))
	}
	if f.Status == http.StatusServiceUnavailable {
		x.W.Header().Set("Retry-After", retryAfter)
	}
	if f.Status == http.StatusMethodNotAllowed {
		there := x.methods
		if x.method != nil && x.method.makes() {
			// A resource that is in the way allows no method that makes one (RFC 9110 §15.5.6).
			there = slices.DeleteFunc(slices.Clone(there), func(m method) bool { return m.makes() })
		}
		x.W.Header().Set("Allow", allowed(there, x.at.kind()))
	}
	x.Refuse(f)
}

// faultLevel is the log level for a failed response. A client that has disconnected is no error.
func (x *request) faultLevel() slog.Level {
	if x.R.Context().Err() != nil {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// failureOf converts an error to a refusal. The text of an unexpected error is not sent. details, which may be nil,
// returns the writer of a condition's content.
func failureOf(err error, details func(error, *calendar.Error) func(*dav.Markup)) *dav.Failure {
	var (
		f *dav.Failure
		e *calendar.Error
		b *http.MaxBytesError
	)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		// The authentication has already set its challenge.
		return dav.Refuse(http.StatusUnauthorized, "your credentials are no longer valid: log in again")
	case errors.As(err, &f):
		return f
	case errors.As(err, &e) && e.Reason != calendar.Internal:
		f := translate(e)
		if details != nil {
			f.Details = details(err, e)
		}
		return f
	case errors.As(err, &b):
		return dav.Refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", b.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return dav.Refuse(http.StatusBadRequest, "the body ended early")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return dav.Refuse(http.StatusServiceUnavailable, "the request took too long")
	}
	return dav.Refuse(http.StatusInternalServerError, "something went wrong here; the log of the server says what")
}
