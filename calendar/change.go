package calendar

import (
	"strconv"
	"strings"
	"time"
)

// ChangeKind says what a change did.
type ChangeKind string

// The kinds of change, in the words of the journal.
const (
	Created  ChangeKind = "created"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	// Accepted and Declined are answers to an invitation. They are the guest's own, and nobody
	// else takes them back.
	Accepted ChangeKind = "accepted"
	Declined ChangeKind = "declined"
)

// Answers tells whether it is an answer to an invitation.
func (k ChangeKind) Answers() bool { return k == Accepted || k == Declined }

// Change is one line of a calendar's journal, which is the audit trail, the history and the undo
// at once. Its Subject is what it is about, and Describe says what happened.
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
	// Whom is set where the change is about a share of the calendar: the user whose share it is.
	// Given is what they then were offered.
	Whom  UserID
	Given Access
	// Before are the bytes that the change replaced or removed, of a calendar its settings, of a
	// share what was offered; nil when there were none, when the journal has forgotten them, and
	// when nobody asked for them. Size is how many there are, also then.
	Before []byte
	Size   int64
	// Unreadable tells that Before was asked for, and is there in a form that nothing can be made of: the database was damaged.
	Unreadable bool
	// After are those that it left, likewise; only what Describe needs has them.
	After []byte
	// Scheduled tells that somebody else's change brought this one about, as an invitation or an answer. It is no part
	// of that change's unit.
	Scheduled bool
	// Undoes are the changes of the same calendar that this one takes back.
	Undoes []Version

	// What follows is not logged: the store knows it beside the line, and gives it to lists.

	// UserName and WhomName are the names of User and Whom; empty when there is no such user any more.
	UserName, WhomName string
	// Kind and Summary are those of the object as it is now, or was in the end; empty when
	// nothing is left of it.
	Kind    Kind
	Summary string
	// Unit is the first of the changes that were made together with this one, and may be itself.
	Unit ChangeID
	// UndoneBy is the latest change that took this one back, 0 for none.
	UndoneBy Version

	// In is the calendar as the caller sees it, InTrash tells that it is deleted. The store, which
	// knows no caller, leaves both out.
	In      Calendar
	InTrash bool
}

// Subject is what a change is about.
type Subject string

// The subjects there are.
const (
	AboutObject Subject = "object"
	// AboutCalendar is a calendar itself: its settings, and that it was made or deleted.
	AboutCalendar Subject = "calendar"
	// AboutShare is what one user has of a calendar.
	AboutShare Subject = "share"
)

// Subject returns what the change is about.
func (c Change) Subject() Subject {
	switch {
	case c.Whom != "":
		return AboutShare
	case c.Object == "":
		return AboutCalendar
	}
	return AboutObject
}

// ID returns what the change is known by.
func (c Change) ID() ChangeID { return ChangeID{c.Calendar, c.Version} }

// Forgotten tells that the change cannot be taken back since the journal no longer has the bytes
// that were there before.
func (c Change) Forgotten() bool {
	return c.Size == 0 && c.Did != Created && !c.Did.Answers()
}

// Siblings asks for the changes of what this one is about, from a version on.
func (c Change) Siblings(from Version) JournalQuery {
	if c.Subject() == AboutShare {
		return JournalQuery{From: from, Whom: c.Whom}
	}
	return JournalQuery{From: from, Of: &c.UID}
}

// ChangeID names a change in the journal. To callers it is opaque.
type ChangeID struct {
	Calendar CalendarID
	Version  Version
}

// String returns the id as callers have it.
func (id ChangeID) String() string { return string(id.Calendar) + "." + id.Version.String() }

// ParseChangeID reads it back. A text that cannot be one names no change.
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

// ErrNoChange says that the journal has no such change.
func ErrNoChange(id string) error {
	return Errorf(NotFound, "", "there is no change %q in the journal", id).Advising("take the id from a list of changes")
}
