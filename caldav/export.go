package caldav

import (
	"bufio"
	"log/slog"
	"mime"
	"net/http"
	"slices"

	"caldav-mcp-server/calendar"
)

// getCalendar answers GET of a calendar: all of it as one iCalendar text, which any
// calendar program can subscribe to or import.
func (x *exchange) getCalendar(r *resource) error {
	if err := x.caller.May(calendar.ReadObjects, r.calendar); err != nil {
		return err
	}
	token, err := r.token()
	if err != nil {
		return err
	}
	// The bytes are made anew each time, so that the tag is a weak one (RFC 9110 §8.8.1).
	tag := calendar.ETag(`"` + token + `"`)
	h := x.w.Header()
	h.Set("ETag", "W/"+string(tag))
	h.Set("Last-Modified", r.calendar.Modified.UTC().Format(http.TimeFormat))
	h.Set("Cache-Control", "private, no-cache")
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if when.NoneMatchAny || slices.Contains(when.NoneMatch, tag) {
		x.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": r.calendar.Name + ".ics"}))
	if x.r.Method == http.MethodHead {
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	out := bufio.NewWriterSize(streamed{x}, flushBytes)
	_, err = x.service.Export(x.r.Context(), x.caller, r.calendar, out, func(o calendar.Object, err error) {
		x.log.WarnContext(x.r.Context(), "an object is left out of its calendar's text",
			slog.String("calendar", string(o.Calendar)), slog.Any("error", err))
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// streamed is an answer that goes out in parts: once it has begun, an error cannot be told.
type streamed struct{ x *exchange }

func (s streamed) Write(p []byte) (int, error) {
	s.x.begun = true
	return s.x.w.Write(p)
}
