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

// ForLog is what of an error may stand in a log, which others read than the calendars' owners: where and
// what rule is broken, and nothing of what stands there. A person is told err itself.
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
