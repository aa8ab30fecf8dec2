package calendar_test

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// What an error is known by elsewhere has no advice that one of its callers gave.
func TestAdvising(t *testing.T) {
	t.Parallel()
	known := calendar.Errorf(calendar.Invalid, "", "no")
	if told := known.Advising("do this"); told.Hint != "do this" || known.Hint != "" {
		t.Errorf("%+v, %+v", told, known)
	}
}
