package calendar

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// NoticeName is the last part of a notice's address.
type NoticeName string

// Notice is a word to a user about a share, as a Store keeps it.
type Notice struct {
	Name NoticeName
	// Version is that of its box, of its latest change.
	Version Version
	Created time.Time
	// Waits tells that it is about an invitation that waits for an answer.
	Waits bool
	// Gone tells that there is none of that name any more; Data is empty then.
	Gone bool
	Data []byte
}

// Latest implements [BoxItem].
func (n Notice) Latest() (Version, bool) { return n.Version, n.Gone }

// NoticeReader is the part of a Store that knows what users were told.
type NoticeReader interface {
	// Notices returns what a user was told; the zero box where that is nothing.
	Notices(ctx context.Context, user UserID) (Box[Notice], error)
	// NoticeState is Notices without what there is in the box.
	NoticeState(ctx context.Context, user UserID) (Box[Notice], error)
}

// NoticeKeeper is the part of a Tx that tells users something. A writer that locks several boxes does
// so in the order of their users' ids, and calendars before them.
type NoticeKeeper interface {
	// PutNotice tells a user something, in place of what was told under that name. The store sets
	// Version.
	PutNotice(ctx context.Context, user UserID, n Notice) error
	// DropNotice takes it back, if it is there.
	DropNotice(ctx context.Context, user UserID, name NoticeName) error
}

// Person is the person that a notification is from or about.
type Person struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Email string `json:"email,omitempty"`
}

// PersonOf is what others are told of a user.
func PersonOf(u User) Person { return Person{u.Name, u.Title(), u.Email} }

// Notification is a notice, understood: of an invitation to its sharee, or of a reply to its
// owner. The names in JSON are stored: they do not change.
type Notification struct {
	Name    NoticeName `json:"-"`
	Version Version    `json:"-"`
	Created time.Time  `json:"-"`
	ETag    ETag       `json:"-"`
	// Gone tells that there is none of that name any more; nothing else is known of it then.
	Gone bool `json:"-"`

	// Reply tells that the sharee has answered; else it is the sharee who is told.
	Reply      bool         `json:"reply,omitempty"`
	Invitation InvitationID `json:"invitation"`
	Calendar   CalendarID   `json:"calendar"`
	// Owner is whose calendar it is, Segment its address in the owner's home.
	Owner   Person  `json:"owner"`
	Segment Segment `json:"segment"`
	Sharee  Person  `json:"sharee"`
	Access  Access  `json:"access"`
	// Status is what the share came to be.
	Status ShareStatus `json:"status"`
	// Title is what the owner calls the calendar towards the sharee or, in a reply, what the
	// sharee calls it.
	Title string `json:"title,omitempty"`
	Kinds Kinds  `json:"kinds,omitempty"`
}

// Latest implements [BoxItem].
func (n Notification) Latest() (Version, bool) { return n.Version, n.Gone }

// Notices are the names under which the sharee and the owner are told of a share.
func (s Share) Notices() (sharees, owners NoticeName) {
	return s.Invitation().Notice(), s.Invitation().Reply()
}

// Notice is the name under which the sharee is told of the invitation.
func (id InvitationID) Notice() NoticeName { return NoticeName(id + ".xml") }

// Reply is the name under which the owner is told of the answer.
func (id InvitationID) Reply() NoticeName { return NoticeName(id + "-reply.xml") }

// Encode makes a notice of it.
func (n Notification) Encode(now time.Time) Notice {
	data, err := json.Marshal(n)
	if err != nil {
		// Texts and numbers; there is nothing in them that JSON cannot hold.
		panic(fmt.Sprintf("encoding a notification: %v", err))
	}
	return Notice{Name: n.Name, Created: now, Waits: n.Status == SharePending, Data: data}
}

// Decode reads a notice back.
func (n Notice) Decode() (Notification, error) {
	out := Notification{Gone: n.Gone}
	if n.Gone {
		n.Data = []byte("{}")
	}
	if err := json.Unmarshal(n.Data, &out); err != nil {
		return out, fmt.Errorf("reading the notice %s: %w", n.Name, err)
	}
	out.Name, out.Version, out.Created = n.Name, n.Version, n.Created
	out.ETag = ETagOf(append(n.Created.UTC().AppendFormat(nil, time.RFC3339), n.Data...))
	return out, nil
}

// About is what there is to say of a share to either side.
func (s Share) About(cal Calendar) Notification {
	return Notification{
		Invitation: s.Invitation(), Calendar: cal.ID, Owner: Person{Name: cal.OwnerName}, Segment: cal.Segment,
		Sharee: PersonOf(s.User), Access: s.Access, Status: s.Status, Kinds: cal.Kinds,
	}
}
