package caldav

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// getCalendar answers GET of a calendar with a single iCalendar text, which any calendar program can subscribe to or
// import.
func getCalendar(x *request, r *resource) error {
	if r.calendar.Proposed() {
		return getPage(x, r) // suggestions are no data to export
	}
	if r.calendar.Subscribed() {
		return getNote(x, r)
	}
	token, err := r.token()
	if err != nil {
		return err
	}
	modified := r.calendar.Modified
	if x.caller.SeesBusyAlone(r.calendar) {
		modified = time.Time{} // the date would reveal changes that the caller may not see
	}
	t := calendarText{textTag(token), modified, r.calendar.Name + ".ics", func(to io.Writer) error {
		_, err := x.Service.Export(x.R.Context(), x.Meter, x.caller, r.calendar, nil, to, x.leftOut)
		return err
	}}
	return serveText(x, t)
}

// getNote answers GET of a subscription with an empty calendar: apps fetch the feed themselves, even if the server
// fetches it too. The tag is a hash of the text, because the calendar's version counts the server's fetches.
func getNote(x *request, r *resource) error {
	var text bytes.Buffer
	if err := x.Service.ExportHeader(r.calendar, &text); err != nil {
		return err
	}
	write := func(to io.Writer) error {
		_, err := text.WriteTo(to)
		return err
	}
	return serveText(x, calendarText{tag: calendar.ETagOf(text.Bytes()), file: r.calendar.Name + ".ics", write: write})
}

// textTag is the tag of a calendar's text. It changes with the token.
func textTag(token string) calendar.ETag { return calendar.ETag(`"` + token + `"`) }

// calendarText is a calendar as one iCalendar text.
type calendarText struct {
	// tag changes whenever the text may have changed.
	tag calendar.ETag
	// modified is zero if the reader must not learn it.
	modified time.Time
	// file is the suggested file name.
	file  string
	write func(io.Writer) error
}

// serveText answers with a calendar's text, or with 304 if the client has it already.
func serveText(x *request, t calendarText) error {
	h := x.W.Header()
	// The text is generated for each request, so the tag is a weak one (RFC 9110 §8.8.1).
	h.Set("ETag", "W/"+string(t.tag))
	if !t.modified.IsZero() {
		h.Set("Last-Modified", t.modified.UTC().Format(http.TimeFormat))
	}
	// A 304 is cheap, and a user who has lost access must learn that at once: clients revalidate each time.
	h.Set("Cache-Control", "private, no-cache")
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if when.NoneMatchAny || slices.Contains(when.NoneMatch, t.tag) {
		x.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.file}))
	if x.R.Method == http.MethodHead {
		x.W.WriteHeader(http.StatusOK)
		return nil
	}
	out := bufio.NewWriterSize(x.Stream(), dav.FlushBytes)
	if err := t.write(out); err != nil {
		return err
	}
	return out.Flush()
}

// leftOut logs an object that is missing from the text of its calendar.
func (x *request) leftOut(o calendar.Object, err error) {
	x.Logger.WarnContext(x.R.Context(), "an object is left out of its calendar's text",
		slog.String("calendar", string(o.Calendar)), slog.String("error", service.ForLog(err)))
}
