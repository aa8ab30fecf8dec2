package edit

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar/recur"
)

// Code is the kind of a refusal.
type Code string

// The codes.
const (
	// NoInstance: the series has no instance at that time.
	NoInstance Code = "no-instance"
	// NotSeries: the request names an instance of an object without recurrence.
	NotSeries Code = "not-a-series"
	// NoScope: the request does not say how much of a series to change.
	NoScope Code = "no-scope"
	// BadField: the field cannot have this value.
	BadField Code = "bad-field"
	// BadTime: start and end are inconsistent, or do not fit the event.
	BadTime Code = "bad-time"
	// RuleBound: no recurrence rule expresses the change.
	RuleBound Code = "rule-bound"
	// Unsupported: we store this part of the object, but cannot calculate with it.
	Unsupported Code = "unsupported"
	// TooExpensive: the expansion exceeds its budget.
	TooExpensive Code = "too-expensive"
)

// Error explains to the user why an edit was refused.
type Error struct {
	Code    Code
	Message string
	// Format and Args made the message.
	Format string
	Args   []any
	// Hint says what to do instead, if the message does not make it clear.
	Hint string
}

// Error returns the message, followed by the hint.
func (f *Error) Error() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

func fault(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Format: format, Args: args}
}

func (f *Error) hint(text string) *Error {
	f.Hint = text
	return f
}

// recurFault turns an error of the expansion into a refusal.
func recurFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, recur.ErrUnsupported):
		return fault(Unsupported, "the series cannot be expanded: %v", err).hint("change the series as a whole")
	case errors.Is(err, recur.ErrBudget):
		return fault(TooExpensive, "the series cannot be expanded that far: %v", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("follow the series: %w", err)
	default:
		return fault(Unsupported, "the series cannot be expanded: %v", err)
	}
}
