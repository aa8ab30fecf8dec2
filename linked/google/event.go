// Package google keeps a Google calendar in step: events in the form of Google's Calendar API v3 as iCalendar and back, and
// the requests that it takes. It is a mirror.Source.
package google

import (
	"encoding/json"
	"slices"

	"caldav-mcp-server/linked/rest"
)

// Event is an event as the API gives and takes it. What is not named here is kept in Rest, and sent back as it came.
type Event struct {
	// Those that only Google writes.
	Kind       string          `json:"kind,omitempty"`
	ETag       string          `json:"etag,omitempty"`
	ID         string          `json:"id,omitempty"`
	HTMLLink   string          `json:"htmlLink,omitempty"`
	Created    string          `json:"created,omitempty"`
	Updated    string          `json:"updated,omitempty"`
	Creator    json.RawMessage `json:"creator,omitempty"`
	Meet       string          `json:"hangoutLink,omitempty"`
	Locked     bool            `json:"locked,omitempty"`
	SeriesID   string          `json:"recurringEventId,omitempty"`
	UID        string          `json:"iCalUID,omitempty"`
	Sequence   int             `json:"sequence,omitempty"`
	Organizer  *Person         `json:"organizer,omitempty"`
	Omitted    bool            `json:"attendeesOmitted,omitempty"`
	Original   *Moment         `json:"originalStartTime,omitempty"`
	Conference json.RawMessage `json:"conferenceData,omitempty"`

	Status       string       `json:"status,omitempty"`
	Type         string       `json:"eventType,omitempty"`
	Summary      string       `json:"summary,omitempty"`
	Description  string       `json:"description,omitempty"`
	Location     string       `json:"location,omitempty"`
	Color        string       `json:"colorId,omitempty"`
	Start        *Moment      `json:"start,omitempty"`
	End          *Moment      `json:"end,omitempty"`
	Recurrence   []string     `json:"recurrence,omitempty"`
	Transparency string       `json:"transparency,omitempty"`
	Visibility   string       `json:"visibility,omitempty"`
	Attendees    []Attendee   `json:"attendees,omitempty"`
	Extended     *Extended    `json:"extendedProperties,omitempty"`
	Reminders    *Reminders   `json:"reminders,omitempty"`
	Source       *Link        `json:"source,omitempty"`
	Attachments  []Attachment `json:"attachments,omitempty"`

	Rest map[string]json.RawMessage `json:"-"`
}

// Moment is a day or a time.
type Moment struct {
	Date     string `json:"date,omitempty"`
	DateTime string `json:"dateTime,omitempty"`
	Zone     string `json:"timeZone,omitempty"`
}

// Person is who made an event.
type Person struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Name  string `json:"displayName,omitempty"`
	Self  bool   `json:"self,omitempty"`
}

// Attendee is a guest, or a room.
type Attendee struct {
	ID        string `json:"id,omitempty"`
	Email     string `json:"email,omitempty"`
	Name      string `json:"displayName,omitempty"`
	Organizer bool   `json:"organizer,omitempty"`
	Self      bool   `json:"self,omitempty"`
	Resource  bool   `json:"resource,omitempty"`
	Optional  bool   `json:"optional,omitempty"`
	Answer    string `json:"responseStatus,omitempty"`
	Comment   string `json:"comment,omitempty"`
	Guests    int    `json:"additionalGuests,omitempty"`
}

// Extended are the notes that programs leave at an event.
type Extended struct {
	Private map[string]string `json:"private,omitempty"`
	Shared  map[string]string `json:"shared,omitempty"`
}

// Reminders are an event's own, or those of its calendar.
type Reminders struct {
	Default   bool       `json:"useDefault"`
	Overrides []Reminder `json:"overrides,omitempty"`
}

// Reminder goes off so many minutes before the start, as a mail or on a screen.
type Reminder struct {
	Method  string `json:"method"`
	Minutes int    `json:"minutes"`
}

// Link is what an event was made of.
type Link struct {
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
}

// Attachment is a file that lies elsewhere.
type Attachment struct {
	URL    string `json:"fileUrl,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"mimeType,omitempty"`
	Icon   string `json:"iconLink,omitempty"`
	FileID string `json:"fileId,omitempty"`
}

// named are the fields that Event has.
var named = []string{
	"kind", "etag", "id", "htmlLink", "created", "updated", "creator", "hangoutLink", "locked", "recurringEventId",
	"iCalUID", "sequence", "organizer", "attendeesOmitted", "originalStartTime", "conferenceData", "status", "eventType", "summary",
	"description", "location", "colorId", "start", "end", "recurrence", "transparency", "visibility", "attendees",
	"extendedProperties", "reminders", "source", "attachments",
}

type plainEvent Event

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(data []byte) error {
	var plain plainEvent
	others, err := rest.Decode(data, &plain, isNamed)
	*e = Event(plain)
	e.Rest = others
	return err
}

func isNamed(name string, _ json.RawMessage) bool { return slices.Contains(named, name) }

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) { return rest.Encode(plainEvent(e), e.Rest) }

// Calendar is what an event does not say, because its calendar does.
type Calendar struct {
	// Zone is that of times without one.
	Zone string
	// Reminders are those of events that have none of their own.
	Reminders []Reminder
	// Self is the account's address.
	Self string
}

// Series is what is one object in iCalendar: an event, or a series with the instances that are unlike it. Only who is
// invited to single instances has no Master.
type Series struct {
	Master     *Event
	Exceptions []*Event
}

// Words of the API.
const (
	confirmed   = "confirmed"
	cancelled   = "cancelled"
	usualEvent  = "default"
	transparent = "transparent"
)

// ref is Google's name for the series.
func (s *Series) ref() string {
	if s.Master != nil {
		return s.Master.ID
	}
	return s.Exceptions[0].SeriesID
}

// first is the event that speaks for all.
func (s *Series) first() *Event {
	if s.Master != nil {
		return s.Master
	}
	return s.Exceptions[0]
}
