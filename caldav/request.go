package caldav

import (
	"context"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// request is a request of a caller. Its methods look up resources as the caller sees them; the functions of the
// methods and reports answer it.
type request struct {
	*Handler
	*dav.Exchange
	// caller is the user whose calendars the request is about, self the user who sent it. They differ if self is a
	// delegate of the other one.
	caller, self calendar.Caller
	// at is the address in the request line, method the row of its method.
	at     place
	method *method
	// view describes the requested calendar data.
	view   query.View
	cached cache
	// tags are the entity tags seen while a condition was found to be true.
	tags map[place]calendar.ETag
	// granted are the calendars that the response may cover, with the caller's access to each. good, if set, verifies
	// again the credential that admitted the request.
	granted map[calendar.CalendarID]calendar.Access
	good    func(context.Context) error
}

// cache holds answers that several properties or resources of a response need.
type cache struct {
	// scheduling has the caller's scheduling settings.
	scheduling *calendar.Scheduling
	// scheduleTags has the schedule tags of each calendar's objects.
	scheduleTags map[calendar.CalendarID]map[calendar.ObjectName]calendar.ScheduleTag
	// shares has the shares of each calendar.
	shares map[calendar.CalendarID][]calendar.Share
	// homeDead has the dead properties of calendars, keepers the names of the objects that have any.
	homeDead map[calendar.CalendarID][]calendar.DeadProperty
	keepers  map[calendar.CalendarID]map[calendar.ObjectName]bool
	// home is the state of the caller's home.
	home *calendar.HomeChanges
	// people are the users whom the caller may see.
	people []calendar.User
	// delegations are the caller's from other users, delegates those to other users.
	delegations, delegates *[]calendar.Delegation
	quota                  *quota
}

// once caches the result of ask for each calendar: a listing of objects would ask for every one of them.
func once[T any](
	x *request, known *map[calendar.CalendarID]T, cal calendar.Calendar,
	ask func(context.Context, calendar.Caller, calendar.Calendar) (T, error),
) (T, error) {
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
func (x *request) did(what string) { x.audit(what) }

// audit reports the action of the request, "" for its method, and the names of the other users that it
// concerns.
func (x *request) audit(what string, whom ...string) {
	if x.Did != nil {
		x.Did(x.R.Context(), what, strings.Join(whom, " "))
	}
}

// quota is the caller's usage and limits, read once per request.
type quota struct {
	used calendar.Usage
	may  calendar.Quota
}
