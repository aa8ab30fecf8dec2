package calendar

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// NoticeName is the last path segment of a notice's URL.
type NoticeName string

// Notice is a notification to a user about a share, as stored.
type Notice struct {
	Name NoticeName
	// Version is the box's version of the latest change of the notice.
	Version Version
	Created time.Time
	// Waits is set while the notice is about an invitation without an answer.
	Waits bool
	// Gone is set when the notice was deleted; Data is empty then.
	Gone bool
	Data []byte
}

// Latest implements [BoxItem].
func (n Notice) Latest() (Version, bool) { return n.Version, n.Gone }

// NoticeReader is the part of a Store that reads notices.
type NoticeReader interface {
	// Notices returns a user's notices; the zero box if there are none.
	Notices(ctx context.Context, user UserID) (Box[Notice], error)
	// NoticeState is Notices without the items.
	NoticeState(ctx context.Context, user UserID) (Box[Notice], error)
}

// NoticeKeeper is the part of a Tx that writes notices. A writer locks calendars first, then boxes in the order of
// their users' IDs.
type NoticeKeeper interface {
	// PutNotice stores a notice, in place of one with the same name. The store sets Version.
	PutNotice(ctx context.Context, user UserID, n Notice) error
	// DropNotice deletes a notice if it exists.
	DropNotice(ctx context.Context, user UserID, name NoticeName) error
}

// Person is the sender or the subject of a notification.
type Person struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Email string `json:"email,omitempty"`
}

// PersonOf returns the details of a user that others see.
func PersonOf(u User) Person { return Person{u.Name, u.Title(), u.Email} }

// Notification is a decoded notice: of an invitation to its sharee, or of a reply to the calendar's owner. The JSON
// names are stored and must not change.
type Notification struct {
	Name    NoticeName `json:"-"`
	Version Version    `json:"-"`
	Created time.Time  `json:"-"`
	ETag    ETag       `json:"-"`
	// Gone is set when the notice was deleted; no other field is known then.
	Gone bool `json:"-"`

	// Reply is set when it tells the owner about the sharee's answer. Otherwise it invites the sharee.
	Reply      bool         `json:"reply,omitempty"`
	Invitation InvitationID `json:"invitation"`
	Calendar   CalendarID   `json:"calendar"`
	// Owner owns the calendar; Segment is its address in the owner's home.
	Owner   Person  `json:"owner"`
	Segment Segment `json:"segment"`
	Sharee  Person  `json:"sharee"`
	Access  Access  `json:"access"`
	// Status is the resulting status of the share.
	Status ShareStatus `json:"status"`
	// Title is the owner's name for the calendar as shown to the sharee, or in a reply the sharee's name for it.
	Title string `json:"title,omitempty"`
	Kinds Kinds  `json:"kinds,omitempty"`
}

// Latest implements [BoxItem].
func (n Notification) Latest() (Version, bool) { return n.Version, n.Gone }

// Notices returns the names of the sharee's and the owner's notices about the share.
func (s Share) Notices() (sharees, owners NoticeName) {
	return s.Invitation().Notice(), s.Invitation().Reply()
}

// Notice returns the name of the sharee's notice.
func (id InvitationID) Notice() NoticeName { return NoticeName(id + ".xml") }

// Reply returns the name of the owner's notice.
func (id InvitationID) Reply() NoticeName { return NoticeName(id + "-reply.xml") }

// Encode returns the notice to store.
func (n Notification) Encode(now time.Time) Notice {
	data, err := json.Marshal(n)
	if err != nil {
		// Texts and numbers: JSON can encode all of them.
		panic(fmt.Sprintf("encoding a notification: %v", err))
	}
	return Notice{Name: n.Name, Created: now, Waits: n.Status == SharePending, Data: data}
}

// Decode decodes a notice.
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

// About returns the fields of a notification that are the same for both sides.
func (s Share) About(cal Calendar) Notification {
	return Notification{
		Invitation: s.Invitation(), Calendar: cal.ID, Owner: Person{Name: cal.OwnerName}, Segment: cal.Segment,
		Sharee: PersonOf(s.User), Access: s.Access, Status: s.Status, Kinds: cal.Kinds,
	}
}
