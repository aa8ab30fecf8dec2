package content

import (
	"errors"
	"fmt"

	"caldav-mcp-server/ical"
)

// The rules of RFC 4791 §5.3.2.1 that an object's text alone can break.
const (
	RuleValidData     = "valid-calendar-data"
	RuleValidObject   = "valid-calendar-object-resource"
	RuleSupportedKind = "supported-calendar-component"
	RuleMaxSize       = "max-resource-size"
	RuleMinDate       = "min-date-time"
	RuleMaxDate       = "max-date-time"
	RuleMaxInstances  = "max-instances"
	RuleMaxAttendees  = "max-attendees-per-instance"
)

// RuleError reports the rule that an object breaks, in a sentence that a user can act on.
type RuleError struct {
	Rule    string
	Message string
	// Cause is the parser's error, if there is one.
	Cause error
}

// Error returns the sentence.
func (f *RuleError) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *RuleError) Unwrap() error { return f.Cause }

func fault(rule, format string, args ...any) error {
	return &RuleError{Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// syntaxFault converts a parser's error.
func syntaxFault(err error) error {
	var syntax *ical.SyntaxError
	if errors.As(err, &syntax) && syntax.Kind == ical.KindLimit {
		return &RuleError{RuleMaxSize, err.Error(), err}
	}
	return invalid(err)
}

// invalid converts the error of a property's value.
func invalid(err error) error { return &RuleError{RuleValidData, err.Error(), err} }
