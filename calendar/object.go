package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/meter"
)

// Object is one calendar object resource: an event with its overrides, a task, a journal
// entry. Data is exactly what the client sent.
type Object struct {
	Calendar CalendarID
	Name     ObjectName
	ETag     ETag
	// Version is that of the object's last change.
	Version Version
	// Own is set where a sharee is told of an object that has not changed, but for what they have of it for themselves:
	// the version of that, see [OwnPart].
	Own  Version
	Size int64
	// Data is nil where only the head was asked for, which of Derived has the UID and the kind.
	Data              []byte
	Created, Modified time.Time
	// ScheduleTag is not told with heads: see SchedulingReader.ScheduleTags.
	ScheduleTag ScheduleTag
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
	// Rhythm tells more exactly when a series of events takes place; nil is anywhere within the span.
	Rhythm *Rhythm
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
	// ScheduleMatch is the schedule tag that the object must have (If-Schedule-Tag-Match); "" is no demand.
	ScheduleMatch ScheduleTag
}

// CheckObject tells whether the precondition holds of an object, nil for none.
func (p Precondition) CheckObject(now *Object) error {
	var etag ETag
	var tag ScheduleTag
	if now != nil {
		etag, tag = now.ETag, now.ScheduleTag
	}
	if p.ScheduleMatch != "" && p.ScheduleMatch != tag {
		return Errorf(Stale, "", "the event has changed: its schedule tag is not the one that you name").Advising("read it again, then repeat your change")
	}
	return p.Check(etag)
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
	// WithSpan asks for the span and the rhythm beside a head; whole objects have them anyway.
	WithSpan bool
	// Light leaves the data of what is larger than [LargeObject] out all the same: they are asked for by name, once
	// there is room for them.
	Light bool
}

// Window is the pattern of the time that is asked for; false where that has no end on one side, so that every series meets it.
func (q ObjectQuery) Window() (Rhythm, bool) {
	if q.From == nil || q.Until == nil || *q.Until < *q.From {
		return Rhythm{}, false
	}
	return RhythmOf(*q.From, *q.Until), true
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
	// Telling says which people hear of it, where it is an event with guests.
	Telling Telling
	// Edited is set when the change was made to the stored text, so that every difference to it is meant.
	Edited bool
	// From is the object that this one is split off: all who have the calendar have the same of it for themselves.
	From UID
	// Meter counts what it costs to read it, nil for nobody.
	Meter *meter.Meter
	// Stored tells that the text was stored before, so that the owner's own part is in it, even if another user stores it.
	Stored bool
}

// Telling says which people hear of a change of an event with guests (RFC 6638).
type Telling uint8

// The ways there are. TellAll is how a change is that a person makes. TellNobody is that of a caller who asks for it:
// others tell a guest who was not told yet, and a change that the guests must hear of is refused; an invitation
// that is thrown away is not answered. TellAgain is that of an undo: a guest who is told anew was told before, and
// answered as the text says. Unscheduled is for objects from elsewhere or out of the trash: these are stored as is.
const (
	TellAll Telling = iota
	TellNobody
	TellAgain
	Unscheduled
)

// Told is somebody to whom a change of an event with guests was written.
type Told struct {
	// To is their mail address, or what the event has instead of one.
	To     string
	Method Method
	// Status is what came of it (SCHEDULE-STATUS, RFC 6638 §3.2.9); "" where nothing was sent, since all is past.
	Status string
}

// Reached tells whether the message is with them, or on its way by mail.
func (t Told) Reached() bool { return strings.HasPrefix(t.Status, "1.") }

// People counts the people whom messages reached.
func People(told []Told) int {
	reached := map[string]bool{}
	for _, t := range told {
		if t.Reached() {
			reached[t.To] = true
		}
	}
	return len(reached)
}

// Audience is the people whom a change would be written to.
type Audience struct {
	People int
	// More is set where only a part of the change was looked at: there are at least so many.
	More bool
}

// String says how many they are.
func (a Audience) String() string {
	text := strconv.Itoa(a.People) + " people"
	if a.People == 1 {
		text = "one person"
	}
	if a.More {
		text = "at least " + text
	}
	return text
}

// Saved is what came of a Draft.
type Saved struct {
	Object Object
	// Told are those who were written to.
	Told []Told
	// Created tells a new object from a changed one.
	Created bool
	// Cleaned tells that the text is not what the client has: control characters were taken out of it, or what is a sharee's own
	// was moved to its end.
	Cleaned bool
	// Scheduled tells the same of what the server notes of guests and their answers.
	Scheduled bool
}

// Derivation numbers the rules by which Derived is made. It grows when they change: a store whose number is lower is reindexed.
// 2: words for searches. 3: the rhythm of series. 4: its beat.
const Derivation = 4

// Findable is the first of these rules by which everything is found that the present ones find, if less quickly. What is made by
// older ones is reindexed before the store serves, all else meanwhile.
const Findable = 2

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

// ErrNoText is what CheckText has against an object. Who goes through many gets it with the object, and may go on.
var ErrNoText = errors.New("has no text")

// CheckText is what a store asks of an object before it takes it, and of a live one that it was asked for with its data: nothing without
// a text is one. Who took it for one would show everybody, and store, that all of it was deleted.
func (o *Object) CheckText() error {
	if len(o.Data) > 0 || o.Deleted {
		return nil
	}
	if o.Calendar == "" {
		return fmt.Errorf("the message %q of an inbox %w at version %d", o.Name, ErrNoText, o.Version)
	}
	return fmt.Errorf("the object %q of the calendar %s %w at version %d, and %d bytes by its row", o.Name, o.Calendar, ErrNoText, o.Version, o.Size)
}
