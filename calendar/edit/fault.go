package edit

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar/recur"
)

// Code says what kind of thing stood in an edit's way.
type Code string

// The codes there are.
const (
	// NoInstance: the series has no instance at that time.
	NoInstance Code = "no-instance"
	// NotSeries: an instance of something was asked for that takes place once.
	NotSeries Code = "not-a-series"
	// NoScope: it was not said how much of a series to change.
	NoScope Code = "no-scope"
	// BadField: a value that the field cannot have.
	BadField Code = "bad-field"
	// BadTime: start and end do not go together, or not with the event.
	BadTime Code = "bad-time"
	// RuleBound: the recurrence rule cannot follow the change.
	RuleBound Code = "rule-bound"
	// Unsupported: the object has something that we keep, but cannot calculate with.
	Unsupported Code = "unsupported"
	// TooExpensive: the recurrence could not be followed within the budget.
	TooExpensive Code = "too-expensive"
)

// Error says why an edit was refused, in a sentence that a person can act on.
type Error struct {
	Code    Code
	Message string
	// Hint says what to do instead, where that is not plain from the message.
	Hint string
}

// Error returns the message, and the hint behind it.
func (f *Error) Error() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

func fault(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (f *Error) hint(text string) *Error {
	f.Hint = text
	return f
}

// recurFault turns what the expansion says into a fault.
func recurFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, recur.ErrUnsupported):
		return fault(Unsupported, "the series cannot be calculated with: %v", err).hint("change the series as a whole")
	case errors.Is(err, recur.ErrBudget):
		return fault(TooExpensive, "the series cannot be followed so far: %v", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("follow the series: %w", err)
	default:
		return fault(Unsupported, "the series cannot be calculated with: %v", err)
	}
}
