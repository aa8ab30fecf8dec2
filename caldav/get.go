package caldav

import (
	"bytes"
	"net/http"
)

// page is shown to a user who opens one of the upper collections in a browser. It reveals nothing about the content.
const page = "This is a CalDAV server, and it works. Give this address to a calendar program.\n"

// serveGet answers GET and HEAD.
func serveGet(x *request) error {
	r, err := x.find(x.at)
	if err != nil {
		return err
	}
	return r.node().get(x, r)
}

func getPage(x *request, _ *resource) error {
	x.Reply(http.StatusOK, "text/plain; charset=utf-8", []byte(page))
	return nil
}

// getObject answers with an object, or with a message from an inbox.
func getObject(x *request, r *resource) error {
	if r.object.ScheduleTag != "" {
		x.W.Header().Set("Schedule-Tag", string(r.object.ScheduleTag))
	}
	h := x.W.Header()
	h.Set("ETag", string(r.object.ETag))
	h.Set("Content-Type", mediaTypeOf(r.object))
	// Text from a stranger's invitation must never run as a page of this host.
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment")
	// Without this, RFC 9111 §4.2.2 lets a client derive a freshness lifetime from Last-Modified.
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(x.W, x.R, "", r.object.Modified, bytes.NewReader(r.object.Data))
	return nil
}
