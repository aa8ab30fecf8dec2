package caldav

import (
	"net/http"
	"strings"
)

// davClasses is the DAV header (RFC 4918 §10.1): what works, and nothing else. Class 2
// would be locks.
const davClasses = "1, 3, access-control, calendar-access, calendar-auto-schedule, calendar-availability, extended-mkcol, calendarserver-sharing, calendarserver-principal-property-search, calendarserver-principal-search, calendarserver-subscribed, calendarserver-home-sync"

// method is a row of the methods table.
type method struct {
	name string
	on   kind
	// needs is the privilege that a refusal names (RFC 3744, appendix B).
	needs string
	serve func(*exchange) error
	// elsewhere is what other kinds of resource say.
	elsewhere *failure
	// source is where the method is defined.
	source string
}

var (
	errNotAllowed = refuseWith(http.StatusMethodNotAllowed, "this method does not work on this kind of resource")
	errNoCopy     = refuseWith(http.StatusForbidden, "objects are copied one by one, collections are not")
	// RFC 4918 §9.3.1: 405 would say that there is something at the address already.
	errNoCollection = refuseWith(http.StatusForbidden, "collections are made in one's calendar home, and are calendars")
	// RFC 4791 §5.3.1.1: calendars stand in a calendar home and nowhere else, in particular not
	// in each other.
	errWrongLocation = breach("c:calendar-collection-location-ok", "calendars are made in one's calendar home")
)

// methods is what this door speaks. Allow, supported-method-set and 405 come from it.
func methods() []method {
	return []method{
		{"OPTIONS", everything, "d:read", (*exchange).options, nil, "RFC 9110 §9.3.7, RFC 4918 §10.1"},
		{"GET", everything, "d:read", (*exchange).get, nil, "RFC 9110 §9.3.1"},
		{"HEAD", everything, "d:read", (*exchange).get, nil, "RFC 9110 §9.3.2"},
		{"PUT", atObject, "d:write-content", (*exchange).put, errNotAllowed, "RFC 9110 §9.3.4, RFC 4791 §5.3.2"},
		{"DELETE", atCalendar | leaves, "d:unbind", (*exchange).delete, errNotAllowed, "RFC 9110 §9.3.5, RFC 4918 §9.6"},
		{"PROPFIND", everything, "d:read", (*exchange).propfind, nil, "RFC 4918 §9.1"},
		{"PROPPATCH", everything, "d:write-properties", (*exchange).proppatch, nil, "RFC 4918 §9.2"},
		{"COPY", atObject, "d:read", (*exchange).copy, errNoCopy, "RFC 4918 §9.8"},
		{"MOVE", atCalendar | atObject, "d:unbind", (*exchange).move, errNotAllowed, "RFC 4918 §9.9"},
		{"MKCOL", atCalendar, "d:bind", (*exchange).mkcol, errNotAllowed, "RFC 5689 §3"},
		{"MKCALENDAR", atCalendar, "d:bind", (*exchange).mkcalendar, errWrongLocation, "RFC 4791 §5.3.1"},
		{"POST", atHome | atCalendar | atOutbox, "d:bind", (*exchange).post, errNotAllowed, "RFC 5995 §3, caldav-sharing §5.3.2, §5.4.1, RFC 6638 §5"},
		{"ACL", everything, "d:write-acl", (*exchange).acl, nil, "RFC 3744 §8.1"},
		{"REPORT", everything, "d:read", (*exchange).report, nil, "RFC 3253 §3.6"},
	}
}

// refusal is what a kind of resource says on which the method does not work.
func (m *method) refusal(k kind) *failure {
	if m.name == "MKCOL" && k&leaves != 0 {
		return errNoCollection
	}
	return m.elsewhere
}

// makes tells whether the method works only where there is nothing yet.
func (m *method) makes() bool { return strings.HasPrefix(m.name, "MK") }

func (h *Handler) methodNamed(name string) *method {
	for i := range h.methods {
		if h.methods[i].name == name {
			return &h.methods[i]
		}
	}
	return nil
}

// allowed lists those of some methods that work on a kind, as the Allow header has them.
func allowed(methods []method, k kind) string {
	var names []string
	for _, m := range methods {
		if m.on&k != 0 {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

// options says what may be done here. Whether there is something here is not looked up:
// clients ask this before they make a calendar, too.
func (x *exchange) options() error {
	x.w.Header().Set("Allow", allowed(x.methods, x.at.kind()))
	return x.blank(http.StatusOK)
}
