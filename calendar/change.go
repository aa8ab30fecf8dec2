package calendar

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of changes, as stored in the journal.
const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	// Accepted and Declined are answers to an invitation. They belong to the attendee; no other user can undo them.
	Accepted ChangeKind = "accepted"
	Declined ChangeKind = "declined"
)

// Answers reports whether the change is an answer to an invitation.
func (k ChangeKind) Answers() bool { return k == Accepted || k == Declined }

// Change is one journal entry. The journal is the audit trail, the history and the undo log in one. Subject says
// what kind of thing changed.
type Change struct {
	Calendar CalendarID
	Version  Version
	Object   ObjectName
	UID      UID
	Did      ChangeKind
	At       time.Time
	User     UserID
	Token    TokenID
	Agent    string
	// Assistant is set when the change was made through MCP.
	Assistant bool
	// For is the owner if User made the change as a delegate; empty otherwise.
	For UserID
	// Whom is the sharee, when the change is about a share of the calendar. Given is the access offered to them by
	// this change.
	Whom  UserID
	Given Access
	// Before is the state that the change replaced or removed: an object's bytes, a calendar's settings, or a
	// share's terms. It is nil when there was none, when the journal has forgotten it, and when it was not
	// requested. Size is its length, even when Before is nil.
	Before []byte
	Size   int64
	// Unreadable is set when Before was requested but could not be decoded, because the database is damaged.
	Unreadable bool
	// After is the state that the change left, in the same form. Only descriptions need it.
	After []byte
	// Scheduled is set when another user's change caused this one, as an invitation or an answer. It is not part of
	// that change's unit.
	Scheduled bool
	// Undoes are the changes of the same calendar that this one undoes.
	Undoes []Version

	// The fields below are not logged; the store adds them for lists.

	// UserName, WhomName and ForName are the names of User, Whom and For; empty when the user no longer exists.
	UserName, WhomName, ForName string
	// Kind and Summary describe the object as it is now, or as it was last; empty when nothing of it is stored any
	// more.
	Kind    Kind
	Summary string
	// Unit is the first of the changes that were made together with this one; it may be this change.
	Unit ChangeID
	// UndoneBy is the latest change that undid this one; 0 if none did.
	UndoneBy Version

	// In is the calendar as the caller sees it, InTrash is set when it is deleted. The store leaves both empty,
	// since it knows no caller.
	In      Calendar
	InTrash bool
}

// By names the author, and the owner if a delegate made the change. It is empty if the author no longer exists.
func (c Change) By() string {
	if c.For == "" {
		return c.UserName
	}
	return strings.TrimSpace(c.UserName + " as delegate of " + cmp.Or(c.ForName, "a deleted user"))
}

// Subject is the kind of thing that a change is about.
type Subject string

// The subjects.
const (
	AboutObject Subject = "object"
	// AboutCalendar is the calendar itself: its settings, its creation and its deletion.
	AboutCalendar Subject = "calendar"
	// AboutShare is one user's share of a calendar.
	AboutShare Subject = "share"
)

// Subject returns the subject of the change.
func (c Change) Subject() Subject {
	switch {
	case c.Whom != "":
		return AboutShare
	case c.Object == "":
		return AboutCalendar
	}
	return AboutObject
}

// ID returns the change's ID.
func (c Change) ID() ChangeID { return ChangeID{c.Calendar, c.Version} }

// Forgotten reports whether the change cannot be undone because the journal no longer has the bytes that it replaced.
func (c Change) Forgotten() bool {
	return c.Size == 0 && c.Did != Created && !c.Did.Answers()
}

// Siblings returns a query for the changes to the same object, calendar or share, starting at a version.
func (c Change) Siblings(from Version) JournalQuery {
	if c.Subject() == AboutShare {
		return JournalQuery{From: from, Whom: c.Whom}
	}
	return JournalQuery{From: from, Of: &c.UID}
}

// ChangeID identifies a change in the journal. Callers treat it as opaque.
type ChangeID struct {
	Calendar CalendarID
	Version  Version
}

// String returns the ID in the form that callers see.
func (id ChangeID) String() string { return string(id.Calendar) + "." + id.Version.String() }

// ParseChangeID parses the result of String. A malformed ID is reported as a change that does not exist.
func ParseChangeID(text string) (ChangeID, error) {
	dot := strings.LastIndexByte(text, '.')
	if dot <= 0 {
		return ChangeID{}, ErrNoChange(text)
	}
	v, err := strconv.ParseInt(text[dot+1:], 10, 64)
	if err != nil || v <= 0 {
		return ChangeID{}, ErrNoChange(text)
	}
	return ChangeID{CalendarID(text[:dot]), Version(v)}, nil
}

// ErrNoChange reports that the journal has no such change.
func ErrNoChange(id string) error {
	return Errorf(NotFound, "", "there is no change %q in the journal", id).
		Advising("take the id from a list of changes")
}
