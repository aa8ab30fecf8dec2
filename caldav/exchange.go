package caldav

import (
	"context"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// exchange is one request and its response.
type exchange struct {
	*Handler
	dav.Exchange
	caller calendar.Caller
	// at is the address in the request line, method its row in the table.
	at     place
	method *method
	// view describes the requested calendar data.
	view query.View
	// subject is the resource that a refusal is about, if it differs from at. needs is the privilege that was
	// missing, if it differs from the method's own.
	subject place
	needs   string
	// tags are the entity tags seen while a condition was found to be true.
	tags map[place]calendar.ETag
	// said caches the caller's scheduling settings: two properties show them.
	said *calendar.Scheduling
	// scheduleTags caches the schedule tags of each calendar's objects.
	scheduleTags map[calendar.CalendarID]map[calendar.ObjectName]calendar.ScheduleTag
	// shares caches the shares of each calendar.
	shares map[calendar.CalendarID][]calendar.Share
	// homeDead caches the dead properties of calendars, keepers the names of the objects that have any.
	homeDead map[calendar.CalendarID][]calendar.DeadProperty
	keepers  map[calendar.CalendarID]map[calendar.ObjectName]bool
	// granted are the calendars that the response may cover, with the caller's access to each. good, if set, verifies
	// again the credential that admitted the request.
	granted map[calendar.CalendarID]calendar.Access
	good    func(context.Context) error
	// home caches the state of the caller's home.
	home *calendar.HomeChanges
	// people caches the users whom the caller may see.
	people []calendar.User
	// quota caches the caller's quota.
	quota *quota
}

// errToolsOnly refuses a token limited to certain tools of assistants: CalDAV would give it more access than that.
var errToolsOnly = dav.Refuse(http.StatusForbidden, "this token only works for certain tools of an assistant: calendar apps need a password, or a token created without --tools")

// serve resolves the address and the method, and runs the method.
func (x *exchange) serve() error {
	if x.caller.Tools != nil {
		return errToolsOnly
	}
	if id, is := x.registrationAt(); is {
		return x.serveRegistration(id)
	}
	at, err := x.parse(dav.PathOf(x.R.URL))
	if err != nil {
		return err
	}
	x.at, x.subject = at, at
	if err := x.reach(at); err != nil {
		return err
	}
	m := x.methodNamed(x.R.Method)
	if m == nil {
		return dav.Refuse(http.StatusMethodNotAllowed, "this server does not support this method")
	}
	x.method = m
	if m.on&at.kind() == 0 {
		return m.refusal(at.kind())
	}
	if err := x.require(); err != nil {
		return err
	}
	if x.R.Header.Get(dontNotify) == "" {
		return m.serve(x)
	}
	return x.quietly(m.serve)
}

// once caches the result of ask for each calendar: a listing of objects would ask for every one of them.
func once[T any](x *exchange, known *map[calendar.CalendarID]T, cal calendar.Calendar, ask func(context.Context, calendar.Caller, calendar.Calendar) (T, error)) (T, error) {
	if answer, is := (*known)[cal.ID]; is {
		return answer, nil
	}
	answer, err := ask(x.R.Context(), x.caller, cal)
	if err == nil && *known == nil {
		*known = map[calendar.CalendarID]T{}
	}
	if err == nil {
		(*known)[cal.ID] = answer
	}
	return answer, err
}

// did reports the action of the request, for methods such as POST that have several.
func (x *exchange) did(what string) {
	if x.Did != nil {
		x.Did(x.R.Context(), what)
	}
}
