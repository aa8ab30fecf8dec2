package caldav

import (
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
)

// davClasses is the DAV header (RFC 4918 §10.1). It names only what works; class 2 would be locks.
const davClasses = "1, 3, access-control, calendar-access, calendar-auto-schedule, calendar-availability, " +
	"calendar-proxy, extended-mkcol, calendarserver-sharing, calendarserver-principal-property-search, " +
	"calendarserver-principal-search, calendarserver-subscribed, calendarserver-home-sync"

// method is a row of the methods table.
type method struct {
	name string
	on   kind
	// needs is the privilege that a refusal names (RFC 3744, appendix B).
	needs string
	serve func(*request) error
	// elsewhere is the refusal for other kinds of resources.
	elsewhere *dav.StatusError
	// source is the section that defines the method.
	source string
}

var (
	errNotAllowed = dav.Refuse(http.StatusMethodNotAllowed, "this method does not work on this kind of resource")
	errNoCopy     = dav.Refuse(http.StatusForbidden, "only single objects can be copied, not collections")
	// RFC 4918 §9.3.1: 405 would mean that the address is taken.
	errNoCollection = dav.Refuse(http.StatusForbidden,
		"the only collections that can be created are calendars in your calendar home")
	// RFC 4791 §5.3.1.1: calendars lie directly in a calendar home, never inside one another.
	errWrongLocation = dav.Breach("c:calendar-collection-location-ok",
		"calendars can only be created in your calendar home")
)

// refusal returns the refusal for a kind of resource that does not support the method.
func (m *method) refusal(k kind) *dav.StatusError {
	if m.name == "MKCOL" && k&leaves != 0 {
		return errNoCollection
	}
	return m.elsewhere
}

// makes reports whether the method needs a free address.
func (m *method) makes() bool { return strings.HasPrefix(m.name, "MK") }

func (h *Handler) methodNamed(name string) *method {
	for i := range h.methods {
		if h.methods[i].name == name {
			return &h.methods[i]
		}
	}
	return nil
}

// allowed lists the methods that work on a kind, as an Allow header.
func allowed(methods []method, k kind) string {
	var names []string
	for _, m := range methods {
		if m.on&k != 0 {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

// serveOptions lists the methods for the address, whether or not a resource exists there: clients also ask before they
// create a calendar.
func serveOptions(x *request) error {
	x.W.Header().Set("Allow", allowed(x.methods, x.at.kind()))
	return x.Blank(http.StatusOK)
}
