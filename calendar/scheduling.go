package calendar

import (
	"bytes"
	"cmp"
	"context"
	"time"
)

// ScheduleTag is the tag of a scheduling object (RFC 6638 §3.2.10). It stays the same for changes that do not
// matter to the object's editor. Its format is that of an ETag; all other objects have "".
type ScheduleTag string

// Scheduling holds a user's scheduling settings.
type Scheduling struct {
	// Default is the calendar for new invitations; "" means the first that accepts them.
	Default CalendarID
	// Availability is a VCALENDAR with the user's available times (RFC 7953); nil when never set.
	Availability *string
}

// InboxItem is a scheduling message in a user's inbox (RFC 6638 §2.2).
type InboxItem struct {
	Name ObjectName
	// Version is the inbox's version of the item's latest change.
	Version Version
	Created time.Time
	// Method is the iTIP method. It is "" in items that an earlier version stored, except for proposals of a new
	// time.
	Method Method
	// Gone is set when the item was deleted; Data is empty then.
	Gone bool
	Data []byte
}

// Latest implements [BoxItem].
func (i InboxItem) Latest() (Version, bool) { return i.Version, i.Gone }

// CheckText is [Object.CheckText] for the message.
func (i InboxItem) CheckText() error {
	o := i.Object()
	return o.CheckText()
}

// InboxNote describes a message without its text.
type InboxNote struct {
	Name ObjectName
	Size int64
	// Removed is set when the user has removed it from the inbox. A proposal still waits for a decision then.
	Removed bool
}

// Object returns the item in the form of a calendar object.
func (i InboxItem) Object() Object {
	return Object{
		Name: i.Name, ETag: ETagOf(i.Data), Version: i.Version, Size: int64(len(i.Data)), Data: i.Data,
		Created: i.Created, Modified: i.Created, Deleted: i.Gone, Derived: Derived{Kind: kindOf(i.Data)},
	}
}

// kindMarks are the kinds of components that messages have.
var kindMarks = [...]Kind{Event, Todo, FreeBusy}

// kindOf returns the kind of a message's component.
func kindOf(data []byte) Kind {
	for _, k := range kindMarks {
		if bytes.Contains(data, []byte("\nBEGIN:"+k)) {
			return k
		}
	}
	return ""
}

// Receives reports whether the calendar, as its owner sees it, can receive invitations.
func (c Calendar) Receives() bool {
	return c.Access == OwnerAccess && c.Kinds.Has(Event) && !c.Origin.Mirrors()
}

// Reception returns the calendar for a user's new invitations, given all of the user's calendars. It is the chosen
// calendar, or else the oldest that accepts events. Calendars created in the same second sort by address. "" if
// there is none.
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

// SchedulingReader is the part of a Store that reads scheduling settings and inboxes.
type SchedulingReader interface {
	// Scheduling returns a user's settings; the zero value when never set.
	Scheduling(ctx context.Context, user UserID) (Scheduling, error)
	// Inbox returns a user's inbox; the zero box if it was never used.
	Inbox(ctx context.Context, user UserID) (Box[InboxItem], error)
	// InboxState is Inbox without the items.
	InboxState(ctx context.Context, user UserID) (Box[InboxItem], error)
	// InboxItem returns one message, or NotFound. A message whose text is lost is returned with ErrNoText.
	InboxItem(ctx context.Context, user UserID, name ObjectName) (InboxItem, error)
	// Proposals returns the latest messages of MethodCounter without their texts, oldest first, up to most. It
	// includes messages that were removed from the inbox.
	Proposals(ctx context.Context, user UserID, most int) ([]InboxNote, error)
	// Proposal returns one proposal, with the errors of InboxItem.
	Proposal(ctx context.Context, user UserID, name ObjectName) (InboxItem, error)
	// ScheduleTags returns the tags of a calendar's objects that have one.
	ScheduleTags(ctx context.Context, cal CalendarID) (map[ObjectName]ScheduleTag, error)
	// UsersAt returns the users who have one of the mail addresses (in lower case) or names, each with the matching
	// text. An address that several users have matches none of them.
	UsersAt(ctx context.Context, mails, names []string) ([]UserAt, error)
	// Mails returns the lower-case mail addresses under which a user can be invited, primary address first.
	Mails(ctx context.Context, user UserID) ([]string, error)
}

// SchedulingKeeper is the part of a Tx that writes scheduling data. Lock order: calendars, notice boxes, then
// inboxes in the order of their users.
type SchedulingKeeper interface {
	// UsersAt is SchedulingReader.UsersAt within the transaction.
	UsersAt(ctx context.Context, mails, names []string) ([]UserAt, error)
	// Appointments returns the live objects with a UID in live calendars of these users, sorted by calendar. They
	// have their data unless it is larger than [LargeObject].
	Appointments(ctx context.Context, users []UserID, uid UID) ([]Appointment, error)
	// Receptions returns, for each user, the live calendar that receives new objects of a kind: the chosen one, or
	// else the oldest that accepts the kind. It leaves out users without such a calendar.
	Receptions(ctx context.Context, users []UserID, kind Kind) (map[UserID]CalendarID, error)
	// PutInboxItems adds messages to users' inboxes in the given order; the oldest messages make room for them. It
	// skips users that no longer exist. The inbox sets Version.
	PutInboxItems(ctx context.Context, items []InboxEntry) error
	// CountProposals counts the proposals to a user but one, and their bytes. It includes removed messages.
	CountProposals(ctx context.Context, user UserID, but ObjectName) (count, bytes int64, err error)
	// DropInboxItem deletes a message if it exists, including a proposal that was removed from the inbox. If seen
	// is not 0, it is Stale if the message has another version or is gone.
	DropInboxItem(ctx context.Context, user UserID, name ObjectName, seen Version) error
	// HideInboxItem removes a message from the inbox in the same way, but Proposals and Proposal still return a
	// proposal.
	HideInboxItem(ctx context.Context, user UserID, name ObjectName, seen Version) error
	// SetScheduling stores a user's scheduling settings.
	SetScheduling(ctx context.Context, user UserID, s Scheduling) error
}

// InboxEntry is a message to be added to a user's inbox.
type InboxEntry struct {
	To UserID
	InboxItem
}

// UserAt is a user and the mail address or name that matched.
type UserAt struct {
	Text string
	User
}

// Appointment is a user's copy of an event.
type Appointment struct {
	Owner UserID
	Object
}

// ToldEventKeeper is the part of a Tx that stores events as outside organizers last sent them. Attendees may have
// changed their own copies since.
type ToldEventKeeper interface {
	// ToldEvent returns an event as its organizer last sent it to a user; nil if none is stored.
	ToldEvent(ctx context.Context, user UserID, uid UID) ([]byte, error)
	PutToldEvent(ctx context.Context, user UserID, uid UID, data []byte) error
}
