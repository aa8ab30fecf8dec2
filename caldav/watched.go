package caldav

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// askAgain is the interval between access checks of a long response. Objects are read from the store as fast as the
// client takes them, so a slow reader would otherwise see changes made after its access was revoked.
const askAgain = 10 * time.Second

// watched is a response that continues only while its reader may see the calendars in it. Otherwise it aborts the
// connection, so that no client takes the truncated response for a complete one.
type watched struct {
	http.ResponseWriter
	x *request
	// asked is the time of the last check.
	asked time.Time
}

func (w *watched) Write(p []byte) (int, error) {
	now := w.x.Now()
	if now.Sub(w.asked) >= askAgain {
		err := w.x.stillMay()
		switch {
		case err == nil:
			w.asked = now
		case errors.Is(err, auth.ErrUnauthorized), calendar.ReasonOf(err) == calendar.NotFound,
			calendar.ReasonOf(err) == calendar.Forbidden:
			w.x.Logger.LogAttrs(w.x.R.Context(), slog.LevelInfo, "the response breaks off: its reader has lost access",
				slog.String("method", w.x.R.Method), slog.String("user", w.x.self.User.Name))
			panic(http.ErrAbortHandler)
		}
		// If the store is unavailable, the next write checks again.
	}
	return w.ResponseWriter.Write(p)
}

// relies records a calendar that the response may include, with the caller's access.
func (x *request) relies(cal calendar.Calendar) {
	if cal.Proposed() {
		return // it depends on the credential alone
	}
	if x.granted == nil {
		x.granted = make(map[calendar.CalendarID]calendar.Access, 1)
	}
	x.granted[cal.ID] = cal.Access
}

// stillMay checks again the access that the response relies on.
func (x *request) stillMay() error {
	ctx := x.R.Context()
	if x.good != nil {
		if err := x.good(ctx); err != nil {
			return err
		}
	}
	if err := x.stillActs(); err != nil {
		return err
	}
	for id, access := range x.granted {
		cal, err := x.Service.Calendar(ctx, x.caller, id)
		if err != nil {
			return err
		}
		if cal.Access < access {
			return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
				"access to the calendar has been reduced")
		}
	}
	return nil
}

// watch wraps the response writer of a request in a watched one.
func (x *request) watch() { x.W = &watched{x.W, x, x.Now()} }
