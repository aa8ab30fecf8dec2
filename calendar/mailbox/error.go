package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// Fault is the kind of an error.
type Fault string

// The kinds, with the codes that clients know.
const (
	NotAuthorized   Fault = "NOT_AUTHORIZED"
	InvalidArgument Fault = "INVALID_ARGUMENT"
	APIError        Fault = "GMAIL_API_ERROR"
	RateLimited     Fault = "RATE_LIMITED"
	InternalError   Fault = "INTERNAL_ERROR"
	Unavailable     Fault = "SERVICE_UNAVAILABLE"
)

// reasons maps the kinds to the reasons of package calendar.
var reasons = map[Fault]calendar.Reason{
	NotAuthorized: calendar.Forbidden, InvalidArgument: calendar.Invalid, APIError: calendar.Unsupported,
	RateLimited:   calendar.TooLarge,
	InternalError: calendar.Internal, Unavailable: calendar.Unavailable,
}

// Error is an error of reading mail.
type Error struct {
	Fault Fault
	// Status is the HTTP status of the account's server; 0 if it did not respond.
	Status int
	// After is the time to wait before a retry; 0 if unknown.
	After time.Duration
	// Why is a sentence for the user. It contains no mail text and no token.
	Why string
	// Unlinked is set when linking the account, or linking it again, solves the problem.
	Unlinked bool
	// trouble is set when the account's server is at fault, not the request.
	trouble bool
}

// Error implements error.
func (e *Error) Error() string { return e.Why }

// Unwrap returns the equivalent *calendar.Error.
func (e *Error) Unwrap() error { return calendar.Errorf(reasons[e.Fault], "", "%s", e.Why) }

func fault(f Fault, format string, args ...any) *Error {
	return &Error{Fault: f, Why: fmt.Sprintf(format, args...)}
}

// unlinked returns the error for a missing or unauthorized account.
func unlinked(why string) *Error { return &Error{Fault: NotAuthorized, Why: why, Unlinked: true} }

// The HTTP statuses that matter here.
const (
	forbidden = 403
	notFound  = 404
	tooMany   = 429
)

// meaning converts an error of a source to an *Error.
func meaning(ctx, within context.Context, err error) error {
	if _, own := errors.AsType[*Error](err); own || err == nil {
		return err
	}
	status := 0
	if answer, is := errors.AsType[Answer](err); is {
		status = answer.AnswerStatus()
	}
	later, busy := errors.AsType[*mirror.Later](err)
	refusal, refused := errors.AsType[*mirror.Refusal](err)
	_, house := errors.AsType[*calendar.Error](err)
	switch {
	case ctx.Err() != nil:
		return err // the caller has gone
	case within.Err() != nil:
		return &Error{
			trouble: true, Fault: RateLimited, After: pauseAfterTimeout,
			Why: fmt.Sprintf("Gmail took longer than %s; ask for less, with a narrower query", queryTime),
		}
	case errors.Is(err, mirror.ErrSignIn):
		return unlinked(mirror.Told(err))
	case busy && (status == tooMany || status == forbidden):
		return &Error{
			trouble: true, Fault: RateLimited, Status: status, After: later.After,
			Why: "Gmail asks us to wait, because of too many requests",
		}
	case busy:
		return &Error{
			trouble: true, Fault: APIError, Status: status, After: later.After,
			Why: "Gmail is unavailable: " + later.Error(),
		}
	case refused:
		return &Error{Fault: APIError, Status: status, Why: refusal.Why}
	case errors.Is(err, mirror.ErrGone):
		return &Error{Fault: APIError, Status: notFound, Why: "there is no such mail in the account"}
	case status != 0:
		return &Error{Fault: APIError, Status: status, Why: fmt.Sprintf("Gmail responded with status %d", status)}
	case house:
		return err
	}
	return &Error{trouble: true, Fault: APIError, Why: "Gmail sent an invalid response"}
}
