package caldav

import (
	"context"
	"net/http"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/query"
)

// exchange is one request and its answer.
type exchange struct {
	*Handler
	w      http.ResponseWriter
	r      *http.Request
	caller calendar.Caller
	// at is what the request line names, method its row.
	at     place
	method *method
	// begun is set once a part of a streamed answer has gone out.
	begun bool
	// guard stands before the decoder of the body that is read.
	guard *guard
	// view is the shape in which the request wants calendar data.
	view query.View
	// meter counts what the answer costs.
	meter *meter.Meter
	// subject is what a refusal is about where that is not what the request line names, and
	// needs the privilege that it takes where that is not the method's own.
	subject place
	needs   string
	// tags are those of objects by which a condition was found to be true.
	tags map[place]calendar.ETag
	// said is how the caller wants to be scheduled with, once looked up: two properties tell of it.
	said *calendar.Scheduling
	// scheduleTags are those of the objects of calendars, once looked up.
	scheduleTags map[calendar.CalendarID]map[calendar.ObjectName]calendar.ScheduleTag
	// shares are the shares of each calendar, once looked up.
	shares map[calendar.CalendarID][]calendar.Share
	// homeDead and keepers are what keeps properties that are not understood, once looked up.
	homeDead map[calendar.CalendarID][]calendar.DeadProperty
	keepers  map[calendar.CalendarID]map[calendar.ObjectName]bool
	// granted are the calendars that the answer may be of, with what the caller may do there; good,
	// where there is one, looks again at what the request was let in by.
	granted map[calendar.CalendarID]calendar.Access
	good    func(context.Context) error
	// home is the caller's home, once something asked what changed in it.
	home *calendar.HomeChanges
	// people are the users whom the caller sees, once looked up.
	people []calendar.User
	// quota is the caller's, once looked up.
	quota *quota
}

// errToolsOnly refuses a token that is for certain tools of assistants: this door would give it more.
var errToolsOnly = refuseWith(http.StatusForbidden, "this token is for certain tools of an assistant, and for nothing else: calendar apps need a password, or a token made without --tools")

// serve finds the address, then the method, and lets it answer.
func (x *exchange) serve() error {
	if x.caller.Tools != nil {
		return errToolsOnly
	}
	if id, is := x.registrationAt(); is {
		return x.serveRegistration(id)
	}
	at, err := x.parse(pathOf(x.r.URL))
	if err != nil {
		return err
	}
	x.at, x.subject = at, at
	if err := x.reach(at); err != nil {
		return err
	}
	m := x.methodNamed(x.r.Method)
	if m == nil {
		return refuseWith(http.StatusMethodNotAllowed, "this server does not speak this method")
	}
	x.method = m
	if m.on&at.kind() == 0 {
		return m.refusal(at.kind())
	}
	if err := x.require(); err != nil {
		return err
	}
	if x.r.Header.Get(dontNotify) == "" {
		return m.serve(x)
	}
	return x.quietly(m.serve)
}

// once asks something about a calendar, and remembers it: a listing of objects would ask for every one of them.
func once[T any](x *exchange, known *map[calendar.CalendarID]T, cal calendar.Calendar, ask func(context.Context, calendar.Caller, calendar.Calendar) (T, error)) (T, error) {
	if answer, is := (*known)[cal.ID]; is {
		return answer, nil
	}
	answer, err := ask(x.r.Context(), x.caller, cal)
	if err == nil && *known == nil {
		*known = map[calendar.CalendarID]T{}
	}
	if err == nil {
		(*known)[cal.ID] = answer
	}
	return answer, err
}

// did says what the request does, where a POST may be one of several things.
func (x *exchange) did(what string) {
	if x.Did != nil {
		x.Did(x.r.Context(), what)
	}
}

// depth is the Depth header of RFC 4918 §10.2.
type depth uint8

const (
	depthMissing depth = iota
	depthZero
	depthOne
	depthInfinity
)

var depths = map[string]depth{"": depthMissing, "0": depthZero, "1": depthOne, "infinity": depthInfinity}

func (x *exchange) depth() (depth, error) {
	d, ok := depths[strings.ToLower(strings.TrimSpace(x.r.Header.Get("Depth")))]
	if !ok {
		return d, refuseWith(http.StatusBadRequest, "Depth is 0, 1 or infinity")
	}
	return d, nil
}
