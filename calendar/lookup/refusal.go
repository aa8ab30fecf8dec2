package lookup

import (
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
)

// editReasons maps the error codes of package edit to reasons.
var editReasons = map[edit.Code]calendar.Reason{
	edit.NoInstance: calendar.NotFound, edit.NotSeries: calendar.Invalid, edit.NoScope: calendar.Invalid,
	edit.BadField: calendar.Invalid, edit.BadTime: calendar.Invalid,
	edit.RuleBound: calendar.Unsupported, edit.Unsupported: calendar.Unsupported, edit.TooExpensive: calendar.TooLarge,
}

// Refusal converts an error of package edit. It returns other errors unchanged.
func Refusal(err error) error {
	refused, ok := errors.AsType[*edit.Error](err)
	if !ok {
		return err
	}
	e := calendar.Errorf(editReasons[refused.Code], "", "%s", refused.Message)
	e.Format, e.Args = refused.Format, refused.Args
	e.Hint, e.Cause = refused.Hint, refused
	if refused.Code == edit.TooExpensive {
		e.Rule = calendar.RuleMaxInstances
	}
	return e
}
