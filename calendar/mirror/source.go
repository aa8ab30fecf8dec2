package mirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// Source is one remote account, accessed by its own protocol. It exchanges iCalendar objects: one series with its
// overrides, or one task, with the zones that they need.
//
// Between calls, a Source keeps no state but its account's secret. It is safe for concurrent use and ends with its
// context. An error other than those below counts as [Later]: the account is tried again after a while.
type Source interface {
	// Calendars lists the account's calendars.
	Calendars(ctx context.Context) ([]Remote, error)
	// Changes returns the changes of a calendar since a cursor; "" means everything. [ErrExpired] means that the cursor
	// is too old; the caller then asks for everything. [ErrGone] means that the calendar no longer exists.
	Changes(ctx context.Context, remote, cursor string) (Changes, error)
	// Put writes an object. If o.Ref is empty, it creates one; otherwise it replaces version o.Version. It returns
	// [ErrConflict] if the version differs or an object to create has an existing UID, and [ErrGone] if the object to
	// replace does not exist. The returned object is the source's version. Its Data is nil if the source stored ours
	// unchanged.
	Put(ctx context.Context, remote string, o Object) (Object, error)
	// Delete removes an object; only Ref, Version and Quiet matter. It returns [ErrConflict] if the version differs and
	// [ErrGone] if the object does not exist.
	Delete(ctx context.Context, remote string, o Object) error
}

// Remote is a calendar of an account.
type Remote struct {
	// ID is the source's identifier for it.
	ID string
	// Name is the display name; Color is "#RRGGBB" or "", Zone an IANA name or "".
	Name, Color, Zone, Description string
	// Kinds lists the kinds of objects that it accepts; empty means events.
	Kinds calendar.Kinds
	// Writable is set if the account may write to it.
	Writable bool
	// Primary is set for the account's main calendar.
	Primary bool
	// Address is the mail address that organizes events created in it; "" if it is unknown.
	Address string
	// Own is set if the source vouches that Address belongs to the account. An address that a server of the user's
	// choice names is not proven.
	Own bool
}

// Object is an object of a remote calendar.
type Object struct {
	// Ref is the source's identifier for it. It stays the same when the object changes.
	Ref string
	// Version is the source's identifier for its state: its ETag.
	Version string
	// UID is the UID in the text. If the text has none, the source derives a stable one.
	UID string
	// Data is the iCalendar text.
	Data []byte
	// Quiet asks the source to send no mail to attendees, if it can.
	Quiet bool
	// Fault explains to the user why there is no text: the object is broken, or iCalendar cannot express it.
	Fault string
}

// Changes is a page of changes in a calendar.
type Changes struct {
	// Objects are new or have another version. Repetitions are allowed.
	Objects []Object
	// Kept lists the refs of unchanged objects; a full listing may use it instead of Objects.
	Kept []string
	// Gone lists the refs of deleted objects. An unknown ref is no error.
	Gone []string
	// Cursor is the position to continue from: the next page if More is set, later changes otherwise.
	Cursor string
	// More is set if there are more pages.
	More bool
	// Whole is set on the last page of a full listing: the pages up to this one contain everything. Objects on none of
	// them are gone.
	Whole bool
	// Bytes is the size of the data that was read from a feed, also next to an error.
	Bytes int64
	// Wait is how long the source wants to be left alone; 0 leaves it to the mirror.
	Wait time.Duration
}

// Errors that a Source may return, possibly wrapped.
var (
	// ErrExpired means that a cursor is too old.
	ErrExpired = errors.New("the source has forgotten where we were")
	// ErrConflict means that the object at the source has another version than expected.
	ErrConflict = errors.New("it was changed at the source in the meantime")
	// ErrGone means that the object or calendar does not exist at the source.
	ErrGone = errors.New("it no longer exists at the source")
	// ErrFull means that the source has no room left.
	ErrFull = errors.New("there is no room left at the source")
	// ErrSignIn means that the source no longer accepts the account's key.
	ErrSignIn = errors.New("the account must be linked again")
	// ErrRenewed is returned by [Opening.Keep] if the stored secret has changed since the account was opened.
	ErrRenewed = errors.New("the account's secret was renewed in the meantime")
)

// Refusal means that a source refuses an object or an operation for good.
type Refusal struct { //nolint:errname // primarily a response of a source, an error only in passing
	// Why is a sentence for the user. Format and Args made it.
	Why    string
	Format string
	Args   []any
	// Cause is the source's response, if there is one.
	Cause error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Why }

// Unwrap returns the source's response.
func (r *Refusal) Unwrap() error { return r.Cause }

// Later means that a source is away or busy.
type Later struct { //nolint:errname // as above
	// After is how long the source wants to be left alone; 0 leaves it to the mirror.
	After time.Duration
	// Why is for the user who looks at the account; "" means that the source does not answer.
	Why string
	// Cause is for the log only. It contains no token and no text of an event.
	Cause error
	// Unknown is set if the outcome of a write is unknown, because its response was lost.
	Unknown bool
}

// Error implements error.
func (l *Later) Error() string {
	if l.Why == "" {
		return "the source does not answer now"
	}
	return l.Why
}

// Unwrap returns the cause, which is only for the log.
func (l *Later) Unwrap() error { return l.Cause }

// Refusef returns a Refusal. Package describe needs a text for its format.
func Refusef(format string, args ...any) *Refusal {
	return &Refusal{Why: fmt.Sprintf(format, args...), Format: format, Args: args}
}
