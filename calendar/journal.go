package calendar

import (
	"context"
	"iter"
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
	// Accepted and Declined are answers to an invitation. They are of who was asked, and nobody
	// else takes them back.
	Accepted ChangeKind = "accepted"
	Declined ChangeKind = "declined"
)

// Answers tells whether it is an answer to an invitation.
func (k ChangeKind) Answers() bool { return k == Accepted || k == Declined }

// Entry is one line of a calendar's journal: the audit trail, the history and the undo at
// once. Its Subject is what it is about.
type Entry struct {
	Calendar CalendarID
	Version  Version
	Object   ObjectName
	UID      UID
	Change   ChangeKind
	At       time.Time
	User     UserID
	Token    TokenID
	Agent    string
	// Whom is set where the change is about who has the calendar: the user whose share it is.
	// Given is what they then were offered.
	Whom  UserID
	Given Access
	// Before are the bytes that the change replaced or removed, of a calendar its settings, of a
	// share what was offered; nil when there were none, and when the journal has forgotten them.
	Before []byte
	// Undoes are the changes of the same calendar that this one takes back. Only Log minds them.
	Undoes []Version
}

// Subject is what a line of the journal is about.
type Subject string

// The subjects there are.
const (
	AboutObject Subject = "object"
	// AboutCalendar is a calendar itself: its settings, and that it was made or deleted.
	AboutCalendar Subject = "calendar"
	// AboutShare is what one user has of a calendar.
	AboutShare Subject = "share"
)

// Subject returns what the line is about.
func (e Entry) Subject() Subject {
	switch {
	case e.Whom != "":
		return AboutShare
	case e.Object == "":
		return AboutCalendar
	}
	return AboutObject
}

// ID returns what the change is known by.
func (e Entry) ID() ChangeID { return ChangeID{e.Calendar, e.Version} }

// ChangeID names a change in the journal. To callers it is opaque.
type ChangeID struct {
	Calendar CalendarID
	Version  Version
}

// String returns the id as callers have it.
func (id ChangeID) String() string { return string(id.Calendar) + "." + id.Version.String() }

// ParseChangeID reads it back. What cannot be one names no change.
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
	e := Errorf(NotFound, "", "there is no change %q in the journal", id)
	e.Hint = "take the id from a list of changes"
	return e
}

// EntryQuery selects entries of one calendar's journal. The zero query selects all of them.
type EntryQuery struct {
	// From and Until bound the versions, both included; 0 is no bound.
	From, Until Version
	// NotAfter is the latest time; the zero time is no bound.
	NotAfter time.Time
	// Of restricts to what concerns one UID, where the empty one stands for the calendar's
	// settings; Whom to what concerns one user's share.
	Of   *UID
	Whom UserID
	// Token and User restrict to what they did; empty is anybody.
	Token TokenID
	User  UserID
}

// Line is an entry as lists show it: without Before, and with what the store knows beside it.
type Line struct {
	Entry
	// Kept tells that the journal has the bytes before.
	Kept bool
	// By is the user's name; empty when there is no such user any more.
	By string
	// With is the name of Whom, likewise.
	With string
	// Kind and Summary are those of the object as it is now, or was in the end; empty when
	// nothing is left of it.
	Kind    Kind
	Summary string
	// Unit is the first of the changes that were made together with this one, and may be itself.
	Unit ChangeID
	// UndoneBy is the latest change that took this one back, 0 for none.
	UndoneBy Version
}

// JournalReader is the part of a Store that reads the journal.
type JournalReader interface {
	// Entries yields the entries that match, the latest first, with their bytes.
	Entries(ctx context.Context, cal CalendarID, q EntryQuery) iter.Seq2[Entry, error]
	// Lines yields the same as lists show them, with their Undoes.
	Lines(ctx context.Context, cal CalendarID, q EntryQuery) iter.Seq2[Line, error]
	// Unit returns the changes that were made in the same transaction or joined to it, the first
	// one first.
	// NotFound when there is no such change.
	Unit(ctx context.Context, id ChangeID) ([]ChangeID, error)
	// Actors returns the tokens that are in a calendar's journal, in byte order, each with every
	// name under which it is there. Of changes of shares only those of the user's own count,
	// unless the user is empty.
	Actors(ctx context.Context, cal CalendarID, user UserID) ([]Actor, error)
}

// Actor is a token that changed something, and what it or the program with it was called then.
type Actor struct {
	Token TokenID
	Agent string
}

// SeesEntry tells whether a change is the caller's to know: who else has a calendar, its owner
// alone is told.
func (c Caller) SeesEntry(cal Calendar, e Entry) bool {
	return e.Subject() != AboutShare || e.Whom == c.User.ID || cal.Access == OwnerAccess
}

// Visible leaves out the changes that are not the caller's to know.
func (c Caller) Visible(cal Calendar, lines iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			if (err != nil || c.SeesEntry(cal, line.Entry)) && !yield(line, err) {
				return
			}
		}
	}
}

// Siblings asks for the changes of what a change is about, from a version on.
func (e Entry) Siblings(from Version) EntryQuery {
	if e.Subject() == AboutShare {
		return EntryQuery{From: from, Whom: e.Whom}
	}
	return EntryQuery{From: from, Of: &e.UID}
}
