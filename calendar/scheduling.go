package calendar

import (
	"bytes"
	"cmp"
	"context"
	"time"
)

// ScheduleTag is the tag of an object with which people are invited (RFC 6638 §3.2.10). It stays where a change was
// of no consequence to its editor. It is written as an ETag is; "" is that of all other objects.
type ScheduleTag string

// Scheduling is how a user wants to be scheduled with.
type Scheduling struct {
	// Default is the calendar in which invitations are put; "" is the first that takes them.
	Default CalendarID
	// Availability is a VCALENDAR with the times at which the user can be had (RFC 7953); nil when never set.
	Availability *string
}

// InboxItem is a scheduling message as it came to a user (RFC 6638 §2.2).
type InboxItem struct {
	Name ObjectName
	// Version is the inbox's, of the item's latest change.
	Version Version
	Created time.Time
	// Method is what it is for; "" in what an earlier version has kept, unless it proposes another time.
	Method Method
	// Gone tells that there is none of that name any more; Data is empty then.
	Gone bool
	Data []byte
}

// Latest implements [BoxItem].
func (i InboxItem) Latest() (Version, bool) { return i.Version, i.Gone }

// CheckText is [Object.CheckText] of the message.
func (i InboxItem) CheckText() error {
	o := i.Object()
	return o.CheckText()
}

// InboxNote is what is known of a message whose text was not read.
type InboxNote struct {
	Name ObjectName
	Size int64
	// Removed reports whether the user has removed it from the inbox. A proposal waits for a decision all the same.
	Removed bool
}

// Object is the item as an object of a calendar is.
func (i InboxItem) Object() Object {
	return Object{
		Name: i.Name, ETag: ETagOf(i.Data), Version: i.Version, Size: int64(len(i.Data)), Data: i.Data,
		Created: i.Created, Modified: i.Created, Deleted: i.Gone, Derived: Derived{Kind: kindOf(i.Data)},
	}
}

// kindMarks are how the components begin of which messages are.
var kindMarks = [...]Kind{Event, Todo, FreeBusy}

// kindOf tells what a message is about.
func kindOf(data []byte) Kind {
	for _, k := range kindMarks {
		if bytes.Contains(data, []byte("\nBEGIN:"+k)) {
			return k
		}
	}
	return ""
}

// Receives reports whether invitations may be put into the calendar, as its owner sees it.
func (c Calendar) Receives() bool {
	return c.Access == OwnerAccess && c.Kinds.Has(Event) && !c.Origin.Mirrors()
}

// Reception is the calendar into which the invitations of a user with these calendars are put: the chosen one, or else
// the oldest that takes events, of those that a program made in one second the first by address; "" for none.
func (s Scheduling) Reception(all []Calendar) CalendarID {
	var oldest *Calendar
	for i := range all {
		cal := &all[i]
		if !cal.Receives() {
			continue
		}
		if cal.ID == s.Default {
			return cal.ID
		}
		if oldest == nil || cmp.Or(cal.Created.Compare(oldest.Created), cmp.Compare(cal.Segment, oldest.Segment)) < 0 {
			oldest = cal
		}
	}
	if oldest == nil {
		return ""
	}
	return oldest.ID
}

// SchedulingReader is the part of a Store that knows how users are scheduled with.
type SchedulingReader interface {
	// Scheduling returns how a user wants to be scheduled with; the zero value when they never said.
	Scheduling(ctx context.Context, user UserID) (Scheduling, error)
	// Inbox returns what came to a user; the zero inbox where that is nothing.
	Inbox(ctx context.Context, user UserID) (Box[InboxItem], error)
	// InboxState is Inbox without what there is in it.
	InboxState(ctx context.Context, user UserID) (Box[InboxItem], error)
	// InboxItem returns one message that is there; NotFound where it is not. One whose text is lost comes with its ErrNoText.
	InboxItem(ctx context.Context, user UserID, name ObjectName) (InboxItem, error)
	// Proposals returns the latest messages of MethodCounter, at most so many, the oldest first; without their texts. It returns those
	// that were removed from the inbox as well.
	Proposals(ctx context.Context, user UserID, most int) ([]InboxNote, error)
	// Proposal returns one of them, as InboxItem does.
	Proposal(ctx context.Context, user UserID, name ObjectName) (InboxItem, error)
	// ScheduleTags returns the tags of a calendar's objects that have one.
	ScheduleTags(ctx context.Context, cal CalendarID) (map[ObjectName]ScheduleTag, error)
	// UsersAt returns the users who have one of the mail addresses, in lower case, or one of the names, each with what it
	// was found by. An address that several have is nobody's.
	UsersAt(ctx context.Context, mails, names []string) ([]UserAt, error)
	// Mails returns the mail addresses under which a user is invited, in lower case, the first one before all others.
	Mails(ctx context.Context, user UserID) ([]string, error)
}

// SchedulingKeeper is the part of a Tx that schedules. Calendars and boxes of notices are locked before inboxes, and
// these in the order of their users.
type SchedulingKeeper interface {
	// UsersAt is SchedulingReader.UsersAt within the transaction.
	UsersAt(ctx context.Context, mails, names []string) ([]UserAt, error)
	// Appointments returns the live objects with a UID in live calendars of these users, with the data of
	// what is no larger than [LargeObject], by
	// calendar.
	Appointments(ctx context.Context, users []UserID, uid UID) ([]Appointment, error)
	// Receptions returns, for each of the users, the live calendar of theirs in which an object of a kind is put that
	// comes to them: the one they chose, or else the oldest that takes it. A user who has none is left out.
	Receptions(ctx context.Context, users []UserID, kind Kind) (map[UserID]CalendarID, error)
	// PutInboxItems puts messages into users' inboxes, in their order, where the oldest make room for them. Anyone who is gone
	// gets none. The inbox sets Version.
	PutInboxItems(ctx context.Context, items []InboxEntry) error
	// DropInboxItem deletes a message, if it is there, and a proposal that was removed from the inbox. Where the caller has seen
	// one version of it, it is Stale to find another, or none; 0 is whatever is there.
	DropInboxItem(ctx context.Context, user UserID, name ObjectName, seen Version) error
	// HideInboxItem removes a message from the inbox in the same way, but Proposals and Proposal still return it if it is one.
	HideInboxItem(ctx context.Context, user UserID, name ObjectName, seen Version) error
	// SetScheduling writes how a user wants to be scheduled with.
	SetScheduling(ctx context.Context, user UserID, s Scheduling) error
}

// InboxEntry is a message on its way into a user's inbox.
type InboxEntry struct {
	To UserID
	InboxItem
}

// UserAt is a user, found by a mail address or a name.
type UserAt struct {
	Text string
	User
}

// Appointment is a user's copy of an event.
type Appointment struct {
	Owner UserID
	Object
}

// ToldEventKeeper is the part of a Tx that keeps events as organizers elsewhere last told them, apart from the copies
// that their attendees change.
type ToldEventKeeper interface {
	// ToldEvent returns an event as its organizer last told it to a user; nil if nothing is kept.
	ToldEvent(ctx context.Context, user UserID, uid UID) ([]byte, error)
	PutToldEvent(ctx context.Context, user UserID, uid UID, data []byte) error
}
