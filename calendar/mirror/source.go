package mirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// Source is one account elsewhere, spoken to in its own protocol. The texts that it gives and takes are iCalendar
// objects: one series with its overridden instances, or one task, with the zones that they need.
//
// A Source keeps nothing between calls but what its account's secret holds, may be used by several goroutines, and ends
// when its context does. An error that is none of those below counts as [Later]: the account is asked again after a while.
type Source interface {
	// Calendars lists what the account holds.
	Calendars(ctx context.Context) ([]Remote, error)
	// Changes tells what changed in a calendar since a cursor; "" asks for everything. [ErrExpired] says that the cursor
	// is too old: everything is asked for then. [ErrGone] says that there is no such calendar any more.
	Changes(ctx context.Context, remote, cursor string) (Changes, error)
	// Put writes an object: a new one where o.Ref is empty, else over the version named; [ErrConflict] when it is another,
	// and for a new one when the source has an object with its UID already; [ErrGone] when there is none to write over. The
	// object returned is as the source now holds it, Data included: nil Data says that it holds what was written.
	Put(ctx context.Context, remote string, o Object) (Object, error)
	// Delete removes an object, of which Ref, Version and Quiet count; [ErrConflict] when it is of another version, [ErrGone]
	// when it is not there.
	Delete(ctx context.Context, remote string, o Object) error
}

// Remote is a calendar of an account.
type Remote struct {
	// ID is the source's own name for it.
	ID string
	// Name is what people call it; Color is "#RRGGBB" or "", Zone an IANA name or "".
	Name, Color, Zone, Description string
	// Kinds are what it takes; none says events.
	Kinds calendar.Kinds
	// Writable tells that the account may write there.
	Writable bool
	// Primary tells that it is the account's main one.
	Primary bool
}

// Object is an object of a calendar elsewhere.
type Object struct {
	// Ref is the source's own name for it. It stays while the object changes.
	Ref string
	// Version is the source's name for the state of it: its entity tag.
	Version string
	// UID is that of the text; where the text has none, one that the source makes of the object and that stays.
	UID string
	// Data is the text.
	Data []byte
	// Quiet asks a source that writes to guests to write to none, where it can.
	Quiet bool
	// Fault says why there is no text: the object is broken, or cannot be said in iCalendar. It is for the user.
	Fault string
}

// Changes are a page of what changed in a calendar.
type Changes struct {
	// Objects are those that are new or have another version. The same may be told again.
	Objects []Object
	// Kept are the refs of those that are there still, and as they were: a full answer may name them so.
	Kept []string
	// Gone are the refs of those that are there no more. A ref that nobody knows is no fault.
	Gone []string
	// Cursor is where to go on: with More it asks for the next page, else for what changes from now on.
	Cursor string
	// More tells that there are more pages.
	More bool
	// Whole tells that the pages from the first one to this one list everything that there is: it is set on the last page of a
	// full answer, and what no page of it told of is gone.
	Whole bool
	// Wait is how long the source wants not to be asked again; 0 leaves it to the mirror.
	Wait time.Duration
}

// What a Source may answer with. They may be wrapped.
var (
	// ErrExpired says that a cursor is too old.
	ErrExpired = errors.New("the source has forgotten where we were")
	// ErrConflict says that what is written over is not what it was taken for.
	ErrConflict = errors.New("it was changed at the source in the meantime")
	// ErrGone says that there is no such thing at the source.
	ErrGone = errors.New("the source has it no more")
	// ErrSignIn says that the account's key is good no more.
	ErrSignIn = errors.New("the account must be linked again")
	// ErrRenewed is what [Opening.Keep] answers with: what is kept is no longer what the account was opened with.
	ErrRenewed = errors.New("the account's secret was renewed in the meantime")
)

// Refusal says that a source will not hold something, or do it, however often it is asked.
type Refusal struct { //nolint:errname // what a source answers, of which being an error is the least
	// Why is a sentence for the user.
	Why string
	// Cause is what the source answered, if it did.
	Cause error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Why }

// Unwrap returns what the source answered.
func (r *Refusal) Unwrap() error { return r.Cause }

// Later says that a source is away or busy.
type Later struct { //nolint:errname // as above
	// After is how long it wants to be left alone; 0 leaves it to the mirror.
	After time.Duration
	// Why is for the user who looks at the account; "" says that it does not answer.
	Why string
	// Cause is for the log alone. It holds no token and no text of an event.
	Cause error
	// Unknown tells that a write may have been done all the same: its answer was lost.
	Unknown bool
}

// Error implements error.
func (l *Later) Error() string {
	if l.Why == "" {
		return "the source does not answer now"
	}
	return l.Why
}

// Unwrap returns what only the log is told.
func (l *Later) Unwrap() error { return l.Cause }

// Refusef makes a Refusal.
func Refusef(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }
