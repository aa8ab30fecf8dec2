package query

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
)

const (
	// answerBytes is the default memory limit of all concurrent requests together.
	answerBytes = 72 << 20
	// roomWait is how long a request waits for memory, roomLine how many may wait.
	roomWait = 5 * time.Second
	roomLine = 256
)

func newPool(bytes int64, limits meter.Limits) *meter.Pool {
	return meter.NewPool(meter.Config{
		Bytes: cmp.Or(bytes, answerBytes), Turns: runtime.GOMAXPROCS(0), Limits: limits,
		Wait: roomWait, Line: roomLine, Refuse: overrun,
	})
}

// Meter returns the meter for a request of the caller. It ends with ctx, and the caller of Meter must close it. Its
// errors are *Error values that every server can pass on.
func (s *Queries) Meter(ctx context.Context, c calendar.Caller) *meter.Meter {
	return s.costs.Meter(ctx, string(c.Author().ID))
}

// MeterOf returns a meter that is charged to a budget of that name instead of a user's. A request of strangers must not
// slow the requests of the user whose calendars it reads.
func (s *Queries) MeterOf(ctx context.Context, budget string) *meter.Meter {
	return s.costs.Meter(ctx, "budget "+budget)
}

// overruns holds the errors for a request that exceeds a limit.
var overruns = [...]struct {
	reason        calendar.Reason
	rule          calendar.Rule
	message, hint string
}{
	meter.Held: {
		calendar.TooLarge, calendar.RuleTooManyMatches, "the answer takes more memory than one request may have",
		"ask for a shorter time or for fewer objects",
	},
	meter.Written: {
		calendar.TooLarge, calendar.RuleTooManyMatches, "the answer would be too large",
		"ask for a shorter time or for fewer objects",
	},
	meter.Instances: {
		calendar.TooLarge, calendar.RuleTooManyMatches, "the answer would have too many instances",
		"ask for a shorter time or for fewer objects",
	},
	meter.Steps: {
		calendar.TooLarge, calendar.RuleTooManyMatches, "the answer takes too much work",
		"ask for a shorter time, for fewer objects, or for less of them",
	},
	meter.Room: {calendar.Unavailable, "", "the server is busy", "try again in a few seconds"},
}

func overrun(o *meter.OverrunError) error {
	row := overruns[o.Of]
	e := calendar.Errorf(row.reason, row.rule, "%s", row.message)
	e.Hint, e.Cause = row.hint, o
	return e
}

// spent reports whether an error means that the request exceeds its limits. Callers use it if they tolerate other
// errors of single objects.
func spent(err error) bool {
	_, is := errors.AsType[*meter.OverrunError](err)
	return is
}

// tooCostly reports whether the request itself exceeds a limit, as opposed to a server that is busy with other
// requests.
func tooCostly(err error) bool {
	over, is := errors.AsType[*meter.OverrunError](err)
	return is && over.Of != meter.Room
}
