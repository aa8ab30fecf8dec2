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

// Object is one calendar object resource: an event with its overrides, a task or a journal entry. Data is exactly
// as the client sent it.
type Object struct {
	Calendar CalendarID
	Name     ObjectName
	ETag     ETag
	// Version is the object's latest change.
	Version Version
	// Own is set when a sharee gets the object because only their private part changed: the version of that part,
	// see [OwnPart].
	Own  Version
	Size int64
	// Data is nil if only the head was requested. A head's Derived has only the UID and the kind.
	Data              []byte
	Created, Modified time.Time
	// ScheduleTag is not part of a head; see SchedulingReader.ScheduleTags.
	ScheduleTag ScheduleTag
	// Deleted marks a tombstone: the object is gone, but its bytes can still be restored.
	Deleted bool
	Derived
}

// Derived holds the fields that the store indexes. It can be rebuilt from the bytes.
type Derived struct {
	UID     UID
	Kind    Kind
	Summary string
	// Search is the folded text for searches.
	Search string
	Span   Span
	// Recurrence narrows down when a recurring event takes place; nil means any time within the span.
	Recurrence *RecurrenceIndex
	// Recurring objects have more than one instance.
	Recurring bool
	// Status is STATUS in upper case, or "".
	Status string
	// Transparent objects do not count as busy.
	Transparent bool
}

// Span is the time from the start of an object's first instance to the end of its last, in Unix seconds. It may be
// wider than the truth, never narrower.
type Span struct {
	// Start is nil for an object without a time, such as a task without dates. End is nil for an object that never
	// ends.
	Start, End *int64
}

// Precondition is a client's condition on the current state (RFC 9110 §13.1).
type Precondition struct {
	// Match lists the allowed current entity tags (If-Match); MatchAny is If-Match: *.
	Match    []ETag
	MatchAny bool
	// NoneMatch lists the forbidden current entity tags (If-None-Match); NoneMatchAny is If-None-Match: *.
	NoneMatch    []ETag
	NoneMatchAny bool
	// ScheduleMatch is the required schedule tag (If-Schedule-Tag-Match); "" means any.
	ScheduleMatch ScheduleTag
}

// CheckObject returns a Stale error unless the object meets the precondition; nil means no object.
func (p Precondition) CheckObject(now *Object) error {
	var etag ETag
	var tag ScheduleTag
	if now != nil {
		etag, tag = now.ETag, now.ScheduleTag
	}
	if p.ScheduleMatch != "" && p.ScheduleMatch != tag {
		return Errorf(Stale, "", "the event has changed: its schedule tag does not match").
			Advising("read it again, then repeat your change")
	}
	return p.Check(etag)
}

// Check returns a Stale error unless the current tag meets the precondition; "" means no object.
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
	// Names selects these; nil means any.
	Names []ObjectName
	// Kinds selects these; nil means any.
	Kinds Kinds
	// From and Until select the objects whose span may overlap [From, Until), in Unix seconds.
	From, Until *int64
	// WithData requests whole objects instead of heads.
	WithData bool
	// WithSpan adds the span and the recurrence index to heads; whole objects always have them.
	WithSpan bool
	// Light leaves out the data of objects larger than [LargeObject], even with WithData. The caller requests them
	// by name once it has memory for them.
	Light bool
}

// Window returns the recurrence index of the requested time range. It is false if the range is open on one side,
// because every recurring event may meet it then.
func (q ObjectQuery) Window() (RecurrenceIndex, bool) {
	if q.From == nil || q.Until == nil || *q.Until < *q.From {
		return RecurrenceIndex{}, false
	}
	return RecurrenceOf(*q.From, *q.Until), true
}

// SearchQuery searches a Store's objects by words. The order is: objects in progress, future objects by their
// start, then past objects if Past is set, latest first.
type SearchQuery struct {
	Calendars []CalendarID
	Kind      Kind
	// Words are word prefixes as [content.Words] makes them; an object must have all of them.
	Words []string
	// Now separates past objects from the others; Past includes the past ones.
	Now   time.Time
	Past  bool
	Limit int
}

// Draft is an object to be stored.
type Draft struct {
	Name ObjectName
	Data []byte
	When Precondition
	// Telling selects the recipients of messages, if the object is an event with attendees.
	Telling Telling
	// Comment is for the recipients of cancellations, and for the organizer of a declined event.
	Comment string
	// Edited is set when the change was made to the stored text, so every difference is intended.
	Edited bool
	// Agreed is the calendar user address of the attendee who chose the new times: they have agreed to them.
	Agreed string
	// From is the UID of the object that this one is split from. Every sharee's private part is copied from there.
	From UID
	// Meter counts the cost of parsing it; nil for no limit.
	Meter *meter.Meter
	// Stored is set when the text was stored before. It then contains the owner's private part, even if another
	// user stores it.
	Stored bool
}

// Telling controls the messages to attendees about a change (RFC 6638).
type Telling uint8

// The modes. TellAll is the default for changes that users make. TellNobody sends no messages, at the caller's
// request. Attendees who are not told now are told with a later change. A change that attendees must hear of is
// refused, and deleting an invitation sends no answer. TellAgain is for undo: an attendee who is invited again was
// invited before, and has the answer in the text. Unscheduled is for imports and restores from the trash: objects
// are stored as they are. TellRooms is for a user who is about to be deleted: rooms are freed, and people are not told.
const (
	TellAll Telling = iota
	TellNobody
	TellAgain
	Unscheduled
	TellRooms
)

// Cancelled is the result of cancelling the meetings of a user.
type Cancelled struct {
	Meetings int
	Told     []Told
	// Mails counts the mails of the user that are not sent yet.
	Mails int
	// Given counts the calendars that another user got.
	Given int
}

// UserDeletion is how a user is deleted.
type UserDeletion struct {
	// Tell notifies the guests of the user's coming meetings, which are cancelled.
	Tell bool
	// Successor is the name of the user who gets the calendars; "" deletes them.
	Successor string
}

// Rooms counts the rooms and resources that were told.
func (c Cancelled) Rooms() (n int) {
	for _, t := range c.Told {
		if t.Room {
			n++
		}
	}
	return n
}

// Told is a recipient of a message about a change of an event with attendees.
type Told struct {
	// To is the recipient's mail address, or the calendar user address if they have none.
	To     string
	Method Method
	// Status is the SCHEDULE-STATUS (RFC 6638 §3.2.9); "" if nothing was sent because the event is over.
	Status string
	// By is the provider of a linked account that sends the message instead of this server; "" for this server.
	By string
	// Room is set if the recipient is a room or a resource.
	Room bool
}

// Reached reports whether the message was delivered, is queued as mail, or is left to a provider.
func (t Told) Reached() bool { return t.By != "" || strings.HasPrefix(t.Status, "1.") }

// People counts the recipients that were reached.
func People(told []Told) int {
	reached := map[string]bool{}
	for _, t := range told {
		if t.Reached() {
			reached[t.To] = true
		}
	}
	return len(reached)
}

// Audience is the number of people that a change would be sent to.
type Audience struct {
	People int
	// More is set when only part of the change was examined, so People is a minimum.
	More bool
}

// String returns the number in words.
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

// Saved is the result of storing a Draft.
type Saved struct {
	Object Object
	// Told are the recipients of messages.
	Told []Told
	// Created is set when the object is new.
	Created bool
	// Cleaned is set when the stored text differs from the client's: control characters were removed, or a sharee's
	// private part was moved to the end.
	Cleaned bool
	// Scheduled is set when the stored text differs because the server updated attendees and their answers.
	Scheduled bool
}

// Derivation is the version of the rules for Derived. A store with a lower version is reindexed. 2: words for
// searches. 3: the recurrence index. 4: its FirstHour.
const Derivation = 4

// Findable is the oldest version of these rules whose index finds everything that the current one finds, if more
// slowly. Objects indexed by older rules are reindexed before the server starts, others in the background.
const Findable = 2

// maxObjectName keeps names within the limits of every database's indexes.
const maxObjectName = 512

// Validate returns an error if an object may not have this name.
func (n ObjectName) Validate() error {
	if n == "" || len(n) > maxObjectName {
		return Errorf(Invalid, "", "an object's name has from 1 to %d bytes, this one %d", maxObjectName, len(n))
	}
	return nil
}

// LargeObject is the minimum size of an object whose data is read separately, once there is memory for it.
const LargeObject = 64 << 10

// Light reports whether the object's data was left out.
func (o *Object) Light() bool { return len(o.Data) == 0 && o.Size > 0 }

// ErrNoText is the error of CheckText. An iteration yields it with the object, and may continue.
var ErrNoText = errors.New("has no text")

// CheckText refuses an object without a text, unless it is a tombstone. The store calls it before each write, and
// for each live object that is read with data. Otherwise damaged rows would look, and be stored, as if everything
// in them were deleted.
func (o *Object) CheckText() error {
	if len(o.Data) > 0 || o.Deleted {
		return nil
	}
	if o.Calendar == "" {
		return fmt.Errorf("the message %q of an inbox %w at version %d", o.Name, ErrNoText, o.Version)
	}
	return fmt.Errorf("the object %q of the calendar %s %w at version %d, and %d bytes by its row", o.Name, o.Calendar,
		ErrNoText, o.Version, o.Size)
}
