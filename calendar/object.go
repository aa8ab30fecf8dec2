package calendar

import (
	"slices"
	"time"
)

// Object is one calendar object resource: an event with its overrides, a task, a journal
// entry. Data is exactly what the client sent.
type Object struct {
	Calendar CalendarID
	Name     ObjectName
	ETag     ETag
	// Version is that of the object's last change.
	Version Version
	Size    int64
	// Data is nil where only the head was asked for, which of Derived has the UID and the kind.
	Data              []byte
	Created, Modified time.Time
	// Deleted marks a tombstone: the object is gone, but its bytes can be restored.
	Deleted bool
	Derived
}

// Derived is what the store indexes of an object. It can be rebuilt from the bytes.
type Derived struct {
	UID     UID
	Kind    Kind
	Summary string
	// Search is the folded text that searches look through.
	Search string
	Span   Span
	// Recurring objects have more than one instance.
	Recurring bool
	// Status is STATUS in upper case, or "".
	Status string
	// Transparent objects do not count as busy.
	Transparent bool
}

// Span is the time from the start of an object's first instance to the end of its last,
// in Unix seconds. It may be wider than the truth, never narrower.
type Span struct {
	// Start is nil for what has no time at all (a task without dates), End for what never ends.
	Start, End *int64
}

// Precondition is what a client demands of the present state (RFC 9110 §13.1).
type Precondition struct {
	// Match lists entity tags of which the present one must be one (If-Match);
	// MatchAny is If-Match: *.
	Match    []ETag
	MatchAny bool
	// NoneMatch lists entity tags that the present one must not be (If-None-Match);
	// NoneMatchAny is If-None-Match: *.
	NoneMatch    []ETag
	NoneMatchAny bool
}

// Check tells whether the precondition holds when the object's tag is now ("" for none).
func (p Precondition) Check(now ETag) error {
	exists := now != ""
	switch {
	case p.MatchAny && !exists, len(p.Match) > 0 && !slices.Contains(p.Match, now):
		return stale("the object is not what you expect it to be", now)
	case p.NoneMatchAny && exists, exists && slices.Contains(p.NoneMatch, now):
		return stale("the object is there already", now)
	}
	return nil
}

func stale(message string, now ETag) error {
	e := Errorf(Stale, "", "%s: it does not exist", message)
	if now != "" {
		e.Message = message + ": its ETag is " + string(now)
	}
	e.Hint = "read it again, then repeat your change"
	return e
}

// ObjectQuery selects objects of one calendar. The zero query selects all live ones.
type ObjectQuery struct {
	// Names restricts to these; nil means any.
	Names []ObjectName
	// Kinds restricts to these; nil means any.
	Kinds Kinds
	// From and Until restrict to objects whose span may overlap [From, Until), Unix seconds.
	From, Until *int64
	// WithData asks for whole objects instead of their heads.
	WithData bool
	// Light leaves the data of what is larger than [LargeObject] out all the same: they are asked for by name, once
	// there is room for them.
	Light bool
}

// SearchQuery asks a Store for objects by their words. Those that are not over come first, by
// their start, what goes on already before all others; then, if they are wanted, those that
// are over, the latest first.
type SearchQuery struct {
	Calendars []CalendarID
	Kind      Kind
	// Words are beginnings of words as [content.Words] makes them; an object has them all.
	Words []string
	// Now parts what is over from what is not; Past tells whether the former is wanted.
	Now   time.Time
	Past  bool
	Limit int
}

// Draft is an object that a caller wants stored.
type Draft struct {
	Name ObjectName
	Data []byte
	When Precondition
}

// Saved is what came of a Draft.
type Saved struct {
	Object Object
	// Created tells a new object from a changed one.
	Created bool
	// Cleaned tells that control characters were taken out of the text, and so that it is not what the client has.
	Cleaned bool
}

// Derivation numbers the rules by which Derived is made. It grows when they change: a store
// whose number is lower is reindexed before it serves. 2: words for searches.
const Derivation = 2

// maxObjectName keeps names within what every engine can index.
const maxObjectName = 512

// Validate tells whether an object may have the name.
func (n ObjectName) Validate() error {
	if n == "" || len(n) > maxObjectName {
		return Errorf(Invalid, "", "an object's name has from 1 to %d bytes, this one %d", maxObjectName, len(n))
	}
	return nil
}

// LargeObject is the size of data from which on they are read by themselves, once there is room for them.
const LargeObject = 64 << 10

// Light tells whether the object's data are left out.
func (o *Object) Light() bool { return len(o.Data) == 0 && o.Size > 0 }
