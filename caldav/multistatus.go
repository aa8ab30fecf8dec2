package caldav

import (
	"log/slog"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/service"
)

// multistatus is a multistatus response about resources, with the planned properties of each.
type multistatus struct {
	*dav.Multistatus
	x    *request
	plan plan
}

// multistatus begins a response. It sends nothing yet, so that an error can still be reported.
func (x *request) multistatus(p plan) *multistatus {
	return &multistatus{x.Multistatus(), x, p}
}

// add writes the planned properties of a resource.
func (ms *multistatus) add(r *resource) error {
	return ms.Add(func() error {
		if ms.plan.data && r.lost() {
			ms.unread(r)
			return nil
		}
		return ms.plan.Response(ms.Markup, &r.at, r)
	})
}

// lost reports whether the text of an object or message was read and turned out to be lost.
func (r *resource) lost() bool {
	return r.at.kind()&(atObject|atItem) != 0 && r.object.Data != nil && r.object.CheckText() != nil
}

// unread gives one lost object the status 500: a client with a copy keeps it, and gets all other objects. The log
// names the object.
func (ms *multistatus) unread(r *resource) {
	ms.x.Logger.LogAttrs(ms.x.R.Context(), slog.LevelError, "an object cannot be shown", slog.String("method", ms.x.R.Method),
		slog.String("error", service.ForLog(r.object.CheckText())))
	ms.Status(&r.at, http.StatusInternalServerError)
}
