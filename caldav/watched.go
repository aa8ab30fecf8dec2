package caldav

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// askAgain is how long an answer goes out before it is asked again what its reader may see. Objects
// are read from the store as a client takes them, so that one who reads slowly would see what was
// written after a share was taken away.
const askAgain = 10 * time.Second

// watched is an answer that goes on for as long as its reader may see the calendars it is of. Where
// that ends, the connection breaks, so that no client takes what it got for the whole.
type watched struct {
	http.ResponseWriter
	x *exchange
	// asked is when the rights were looked at last.
	asked time.Time
}

// watch makes the answer of an exchange one that is watched.
func (x *exchange) watch() { x.w = &watched{x.w, x, x.Now()} }

func (w *watched) Write(p []byte) (int, error) {
	now := w.x.Now()
	if now.Sub(w.asked) >= askAgain {
		err := w.x.stillMay()
		switch {
		case err == nil:
			w.asked = now
		case errors.Is(err, auth.ErrUnauthorized), calendar.ReasonOf(err) == calendar.NotFound, calendar.ReasonOf(err) == calendar.Forbidden:
			w.x.Logger.LogAttrs(w.x.r.Context(), slog.LevelInfo, "the answer breaks off: its reader may not see this any more",
				slog.String("method", w.x.r.Method), slog.String("user", w.x.caller.User.Name))
			panic(http.ErrAbortHandler)
		}
		// What the store cannot tell just now is asked with the next piece.
	}
	return w.ResponseWriter.Write(p)
}

// relies notes a calendar that the answer may be of, with what the caller may do there.
func (x *exchange) relies(cal calendar.Calendar) {
	if x.granted == nil {
		x.granted = make(map[calendar.CalendarID]calendar.Access, 1)
	}
	x.granted[cal.ID] = cal.Access
}

// stillMay asks again what the answer so far was granted by.
func (x *exchange) stillMay() error {
	ctx := x.r.Context()
	if x.good != nil {
		if err := x.good(ctx); err != nil {
			return err
		}
	}
	for id, access := range x.granted {
		cal, err := x.Service.Calendar(ctx, x.caller, id)
		if err != nil {
			return err
		}
		if cal.Access < access {
			return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "the calendar is shared for less by now")
		}
	}
	return nil
}
