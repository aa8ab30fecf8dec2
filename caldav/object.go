package caldav

import (
	"bytes"
	"net/http"
	"strings"

	"caldav-mcp-server/calendar"
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

// serveDelete answers DELETE.
func serveDelete(x *request) error { return x.nodes[x.at.form].remove(x) }

// deleteCalendar moves a calendar with all of its objects to the trash; it evaluates no precondition. Its meetings
// are cancelled or declined (RFC 6638 §3.2.3.2). If another user owns the calendar, it leaves the caller's home only.
func deleteCalendar(x *request) error {
	cal, err := x.calendarAt(x.at)
	if err == nil {
		err = unlessProposed(cal)
	}
	if err != nil {
		return err
	}
	if cal.Access != calendar.OwnerAccess {
		err = x.Service.Leave(x.R.Context(), x.caller, cal.ID)
	} else {
		_, err = x.Service.DeleteCalendarTelling(x.R.Context(), x.caller, cal.ID, tellingOf(x))
	}
	if err != nil {
		return err
	}
	return x.Done(false)
}

func deleteObject(x *request) error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if cal.Proposed() {
		return declineProposed(x)
	}
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if err := x.Service.DeleteTelling(x.R.Context(), x.caller, cal, x.at.object, when, tellingOf(x)); err != nil {
		return unlessStale(x, err, cal)
	}
	return x.Done(false)
}

// tellingOf reads Schedule-Reply (RFC 6638 §8.1): deleting an invitation declines it, unless the client asks not to
// send the decline.
func tellingOf(x *request) calendar.Telling {
	if strings.EqualFold(strings.TrimSpace(x.R.Header.Get("Schedule-Reply")), "F") {
		return calendar.TellNobody
	}
	return calendar.TellAll
}
