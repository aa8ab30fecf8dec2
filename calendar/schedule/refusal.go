package schedule

import "fmt"

// Rule names the violated rule, in the terms of RFC 6638 §3.2.4.
type Rule string

// The rules.
const (
	SameOrganizer      Rule = "same-organizer-in-all-components"
	OrganizerMayChange Rule = "allowed-organizer-scheduling-object-change"
	AttendeeMayChange  Rule = "allowed-attendee-scheduling-object-change"
)

// RefusalError is the error for a change that the person may not make to the event.
type RefusalError struct {
	Rule    Rule
	Message string
	// Format and Args made the message.
	Format string
	Args   []any
}

// Error returns the message.
func (e *RefusalError) Error() string { return e.Message }

func refuse(rule Rule, format string, args ...any) error {
	return &RefusalError{rule, fmt.Sprintf(format, args...), format, args}
}
