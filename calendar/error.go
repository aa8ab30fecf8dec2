package calendar

import (
	"errors"
	"fmt"
	"time"
)

// Reason classifies an error. Each protocol has one table that maps reasons to its own responses.
type Reason uint8

// The reasons. Internal is the reason of every error that is not an *Error.
const (
	Internal Reason = iota
	NotFound
	Exists
	Invalid
	Forbidden
	Stale
	TooLarge
	Unsupported
	Unavailable
)

var reasonNames = [...]string{
	Internal: "internal", NotFound: "not_found", Exists: "exists", Invalid: "invalid", Forbidden: "forbidden",
	Stale: "stale", TooLarge: "too_large", Unsupported: "unsupported", Unavailable: "unavailable",
}

// String returns the reason as a stable, machine-readable word.
func (r Reason) String() string { return reasonNames[r] }

// Rule names the broken rule. Most are names of preconditions from the RFCs.
type Rule string

// The rules. The preconditions of RFC 4791 §5.3.2.1 come first.
const (
	RuleValidData         Rule = "valid-calendar-data"
	RuleValidObject       Rule = "valid-calendar-object-resource"
	RuleSupportedData     Rule = "supported-calendar-data"
	RuleSupportedKind     Rule = "supported-calendar-component"
	RuleUIDConflict       Rule = "no-uid-conflict"
	RuleMaxSize           Rule = "max-resource-size"
	RuleMinDate           Rule = "min-date-time"
	RuleMaxDate           Rule = "max-date-time"
	RuleMaxInstances      Rule = "max-instances"
	RuleMaxAttendees      Rule = "max-attendees-per-instance"
	RuleValidTimezone     Rule = "valid-timezone"        // RFC 7809 §3.1.5
	RuleResourceMustBeNil Rule = "resource-must-be-null" // RFC 4918 §9.3.1, RFC 4791 §5.3.1.1
	// The rules of RFC 6638 §3.2.4.
	RuleUniqueScheduling  Rule = "unique-scheduling-object-resource"
	RuleSameOrganizer     Rule = "same-organizer-in-all-components"
	RuleOrganizerChange   Rule = "allowed-organizer-scheduling-object-change"
	RuleAttendeeChange    Rule = "allowed-attendee-scheduling-object-change"
	RuleValidMessage      Rule = "valid-scheduling-message" // RFC 6638 §5
	RuleValidOrganizer    Rule = "valid-organizer"
	RuleDefaultCalendar   Rule = "valid-schedule-default-calendar-URL" // RFC 6638 §9.2
	RuleDefaultNeeded     Rule = "default-calendar-needed"             // RFC 6638 §4.3
	RuleSyncToken         Rule = "valid-sync-token"                    // RFC 6578 §3.2
	RulePrivileges        Rule = "need-privileges"                     // RFC 3744 §7.1.1
	RuleCalendarsOnlyHere Rule = "calendar-collection-location-ok"     // RFC 4791 §5.3.1.1
	RuleDiskSpace         Rule = "sufficient-disk-space"               // RFC 4331 §6, with Unavailable
	RuleQuota             Rule = "quota-not-exceeded"                  // RFC 4331 §6
	RuleCollation         Rule = "supported-collation"                 // RFC 4791 §7.5
	RuleTooManyMatches    Rule = "number-of-matches-within-limits"     // RFC 4791 §7.10
)

// Error is the error type of this package and its users: a reason, the rule if there is one, and a sentence that a
// user can act on. It never contains anything that the caller may not see.
type Error struct {
	Reason  Reason
	Rule    Rule
	Message string
	// Format and Args made the message. Pages find its translation by the format.
	Format string
	Args   []any
	// Hint says what to do next, if the message does not make it obvious.
	Hint string
	// Conflict is the conflicting object (RuleUIDConflict, RuleUniqueScheduling). ConflictIn is its calendar, if
	// that is a different one.
	Conflict   ObjectName
	ConflictIn CalendarID
	// Left are the changes that prevent an undo, if that is the error.
	Left []UndoConflict
	// Again is how long to wait before another attempt; 0 if that is unknown.
	Again time.Duration
	// Cause is for the log only.
	Cause error
}

// Error returns the message followed by the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an error with a reason, a rule (or "") and a message.
func Errorf(reason Reason, rule Rule, format string, args ...any) *Error {
	return &Error{
		Reason: reason, Rule: rule, Message: fmt.Sprintf(format, args...), Format: format, Args: args,
	}
}

// Advising returns a copy of e with a hint about what to do next.
func (e *Error) Advising(hint string) *Error {
	told := *e
	told.Hint = hint
	return &told
}

// ReasonOf returns the reason of err; Internal if err is not an *Error.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return Internal
}

// RuleOf returns the rule that err breaks, or "".
func RuleOf(err error) Rule {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Rule
	}
	return ""
}

// AgainIn returns how long to wait before another attempt after err; 0 if that is unknown.
func AgainIn(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Again
	}
	return 0
}
