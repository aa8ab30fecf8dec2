package auth

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// momentAlong is how long a calendar that was asked for along counts as read just now.
const momentAlong = 100 * time.Millisecond

// Along is the calendar that a request's address names. Whose the request's credentials are is asked before anything else;
// a store that answers for the calendar along with that spares a question. The answer is of after the request came, so
// that whatever was taken away before it is; it counts once, and only for a moment.
type Along struct {
	// At is the address in the caller's home, Object the name of the object that the request writes, "" for none.
	At     calendar.Segment
	Object calendar.ObjectName

	mu    sync.Mutex
	there bool
	user  calendar.UserID
	cal   calendar.Calendar
	read  time.Time
	// over is what is to be written over.
	over     *Stored
	overRead time.Time
}

// Stored is what is to be written over: the calendar as its owner sees it, and the objects there that the store was asked for, as of
// one moment. Mark is the store's own, of when that was.
type Stored struct {
	Calendar calendar.Calendar
	Objects  []calendar.Object
	Mark     int64
}

type alongKey struct{}

// AskAlong names the calendar that the request will read, and the object that it will write.
func AskAlong(ctx context.Context, at calendar.Segment, object calendar.ObjectName) context.Context {
	return context.WithValue(ctx, alongKey{}, &Along{At: at, Object: object})
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

// AnswerOver keeps what is to be written over, which was read when the calendar was.
func (a *Along) AnswerOver(s Stored) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.overRead = &s, a.read
}

// TakeOver returns what is to be written over, if that was asked for along just now, and lies in this calendar; nil if not.
func (a *Along) TakeOver(id calendar.CalendarID, object calendar.ObjectName, now time.Time) *Stored {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	over := a.over
	a.over = nil
	if over == nil || over.Calendar.ID != id || a.Object != object || now.Sub(a.overRead) >= momentAlong {
		return nil
	}
	return over
}

// Forget drops the answer: what comes next may change it.
func (a *Along) Forget() {
	if a != nil {
		a.Take("", "", time.Time{})
	}
}
