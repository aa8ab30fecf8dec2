package caldav

import (
	"net/http"
	"strings"
)

// davClasses is the DAV header (RFC 4918 §10.1): what works, and nothing else. Class 2
// would be locks.
const davClasses = "1, 3, access-control, calendar-access, extended-mkcol"

// method is a row of the methods table.
type method struct {
	name string
	on   kind
	// needs is the privilege that a refusal names (RFC 3744, appendix B).
	needs string
	serve func(*exchange) error
	// elsewhere is what other kinds of resource say.
	elsewhere *failure
}

var (
	errNotAllowed = refuseWith(http.StatusMethodNotAllowed, "this method does not work on this kind of resource")
	// RFC 4791 §5.3.1.1: calendars stand in a calendar home and nowhere else, in particular not
	// in each other.
	errWrongLocation = breach("c:calendar-collection-location-ok", "calendars are made in one's calendar home")
)

// methods is what this door speaks. Allow, supported-method-set and 405 come from it.
func methods() []method {
	return []method{
		// RFC 9110
		{"OPTIONS", everything, "d:read", (*exchange).options, nil},
		{"GET", everything, "d:read", (*exchange).get, nil},
		{"HEAD", everything, "d:read", (*exchange).get, nil},
		{"PUT", atObject, "d:write-content", (*exchange).put, errNotAllowed},
		{"DELETE", atCalendar | atObject, "d:unbind", (*exchange).delete, errNotAllowed},
		// RFC 4918
		{"PROPFIND", everything, "d:read", (*exchange).propfind, nil},
		{"PROPPATCH", everything, "d:write-properties", (*exchange).proppatch, nil},
		{"COPY", atObject, "d:read", (*exchange).copy, errNotAllowed},
		{"MOVE", atCalendar | atObject, "d:unbind", (*exchange).move, errNotAllowed},
		{"MKCOL", atCalendar, "d:bind", (*exchange).mkcol, errNotAllowed},
		// RFC 4791
		{"MKCALENDAR", atCalendar, "d:bind", (*exchange).mkcalendar, errWrongLocation},
		// RFC 5995
		{"POST", atCalendar, "d:bind", (*exchange).post, errNotAllowed},
		// RFC 3744 §8.1
		{"ACL", everything, "d:write-acl", (*exchange).acl, nil},
		// RFC 3253
		{"REPORT", everything, "d:read", (*exchange).report, nil},
	}
}

func (h *Handler) methodNamed(name string) *method {
	for i := range h.methods {
		if h.methods[i].name == name {
			return &h.methods[i]
		}
	}
	return nil
}

// allowed lists the methods of a kind, as the Allow header has them.
func (h *Handler) allowed(k kind) string {
	var names []string
	for _, m := range h.methods {
		if m.on&k != 0 {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

// options says what may be done here. Whether there is something here is not looked up:
// clients ask this before they make a calendar, too.
func (x *exchange) options() error {
	x.w.Header().Set("Allow", x.allowed(x.at.kind()))
	x.w.Header().Set("Content-Length", "0")
	x.w.WriteHeader(http.StatusOK)
	return nil
}
