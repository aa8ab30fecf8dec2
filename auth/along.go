package auth

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// momentAlong is how long a calendar that was asked for along counts as read just now.
const momentAlong = 100 * time.Millisecond

// Along is the calendar that a request's address names. Whose the request's credentials are is asked before anything
// else; a store that answers for the calendar along with that spares a question. The answer is of after the request
// came, so that whatever was taken away before it is; it counts once, and only for a moment.
type Along struct {
	// At is the address in the caller's home.
	At calendar.Segment

	mu    sync.Mutex
	there bool
	user  calendar.UserID
	cal   calendar.Calendar
	read  time.Time
}

type alongKey struct{}

// AskAlong names the calendar that the request will read.
func AskAlong(ctx context.Context, at calendar.Segment) context.Context {
	return context.WithValue(ctx, alongKey{}, &Along{At: at})
}

// AlongOf is what was said so, nil for nothing.
func AlongOf(ctx context.Context) *Along {
	a, _ := ctx.Value(alongKey{}).(*Along)
	return a
}

// Answer keeps the calendar as its owner sees it, read at a time.
func (a *Along) Answer(user calendar.UserID, cal calendar.Calendar, read time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.there, a.user, a.cal, a.read = true, user, cal, read
}

// Take returns the calendar, if it was asked for along with the credentials of this user and for this address just now.
func (a *Along) Take(user calendar.UserID, at calendar.Segment, now time.Time) (calendar.Calendar, bool) {
	if a == nil {
		return calendar.Calendar{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	good := a.there && a.user == user && a.At == at && now.Sub(a.read) < momentAlong
	cal := a.cal
	a.there, a.cal = false, calendar.Calendar{}
	return cal, good
}

// Forget drops the answer: what comes next may change it.
func (a *Along) Forget() {
	if a != nil {
		a.Take("", "", time.Time{})
	}
}
