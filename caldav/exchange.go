package caldav

import (
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// exchange is one request and its response.
type exchange struct {
	*reader
	conditions
	// method is the row of the request's method.
	method *method
	// subject is the resource that a refusal is about, if it differs from at. needs is the privilege that was
	// missing, if it differs from the method's own.
	subject place
	needs   string
}

// exchange begins an exchange.
func (h *Handler) exchange(w http.ResponseWriter, r *http.Request, caller calendar.Caller) *exchange {
	x := &exchange{reader: &reader{Handler: h, Exchange: h.webdav.Exchange(w, r), caller: caller}}
	x.conditions.on = x.reader
	x.watch()
	return x
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

// did reports the action of the request, for methods such as POST that have several.
func (x *reader) did(what string) {
	if x.Did != nil {
		x.Did(x.R.Context(), what)
	}
}
