package service

import (
	"errors"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// ForLog returns an error text for logs, whose readers may not see the calendars. It contains the line and the
// broken rule, but no calendar data. Show err itself to users.
func ForLog(err error) string {
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		return forLog(e)
	}
	if e, ok := errors.AsType[*ical.SyntaxError](err); ok {
		return fmt.Sprintf("line %d of an object cannot be read (%s)", e.Line, e.Kind)
	}
	if e, ok := errors.AsType[*content.RuleError](err); ok {
		return "an object breaks the rule " + e.Rule
	}
	if errors.Is(err, recur.ErrUnsupported) {
		return "an object " + recur.ErrUnsupported.Error()
	}
	return err.Error()
}

func forLog(e *calendar.Error) string {
	parts := []string{e.Reason.String()}
	if e.Rule != "" {
		parts = append(parts, string(e.Rule))
	}
	if e.Cause != nil {
		parts = append(parts, ForLog(e.Cause))
	}
	return strings.Join(parts, ": ")
}
