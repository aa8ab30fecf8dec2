package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// Fault says what kind of thing went wrong.
type Fault string

// The kinds there are, in the words that programs know them by.
const (
	NotAuthorized   Fault = "NOT_AUTHORIZED"
	InvalidArgument Fault = "INVALID_ARGUMENT"
	APIError        Fault = "GMAIL_API_ERROR"
	RateLimited     Fault = "RATE_LIMITED"
	InternalError   Fault = "INTERNAL_ERROR"
	Unavailable     Fault = "SERVICE_UNAVAILABLE"
)

// reasons are those that the rest of the house has for a fault.
var reasons = map[Fault]calendar.Reason{
	NotAuthorized: calendar.Forbidden, InvalidArgument: calendar.Invalid, APIError: calendar.Unsupported, RateLimited: calendar.TooLarge,
	InternalError: calendar.Internal, Unavailable: calendar.Unavailable,
}

// Error is why mail was not read.
type Error struct {
	Fault Fault
	// Status is what the account's server answered, 0 where it did not.
	Status int
	// After is when it is worth another try; 0 where nobody said.
	After time.Duration
	// Why is a sentence for the user. Nothing of a mail and of a key is in it.
	Why string
	// Unlinked tells that linking the account, or linking it anew, mends it.
	Unlinked bool
	// trouble tells that the account's server is at fault, and not the question.
	trouble bool
}

// Error implements error.
func (e *Error) Error() string { return e.Why }

// Unwrap is the same in the words of the house.
func (e *Error) Unwrap() error { return calendar.Errorf(reasons[e.Fault], "", "%s", e.Why) }

func fault(f Fault, format string, args ...any) *Error {
	return &Error{Fault: f, Why: fmt.Sprintf(format, args...)}
}

// unlinked refuses whoever has no account that lets us in.
func unlinked(why string) *Error { return &Error{Fault: NotAuthorized, Why: why, Unlinked: true} }

// The statuses of answers that mean something here.
const (
	forbidden = 403
	notFound  = 404
	tooMany   = 429
)

// meaning says an error of a source in our words.
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
		return err // whoever asked has gone
	case within.Err() != nil:
		return &Error{trouble: true, Fault: RateLimited, After: pauseAfterTimeout, Why: fmt.Sprintf("Gmail took longer than %s; ask for less, with a narrower query", queryTime)}
	case errors.Is(err, mirror.ErrSignIn):
		return unlinked(mirror.Told(err))
	case busy && (status == tooMany || status == forbidden):
		return &Error{trouble: true, Fault: RateLimited, Status: status, After: later.After, Why: "Gmail asks us to wait, since we ask too often"}
	case busy:
		return &Error{trouble: true, Fault: APIError, Status: status, After: later.After, Why: "Gmail cannot be asked now: " + later.Error()}
	case refused:
		return &Error{Fault: APIError, Status: status, Why: refusal.Why}
	case errors.Is(err, mirror.ErrGone):
		return &Error{Fault: APIError, Status: notFound, Why: "there is no such mail in the account"}
	case status != 0:
		return &Error{Fault: APIError, Status: status, Why: fmt.Sprintf("Gmail answers %d", status)}
	case house:
		return err
	}
	return &Error{trouble: true, Fault: APIError, Why: "Gmail did not answer in a way that is understood"}
}
