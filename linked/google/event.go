// Package google synchronizes Google calendars. It converts events of the Google Calendar API v3 to iCalendar and back,
// and sends the requests. It implements mirror.Source.
package google

import (
	"encoding/json"
	"slices"

	"caldav-mcp-server/linked/rest"
)

// Event is an event of the API. Fields not declared here are kept in Rest and sent back unchanged.
type Event struct {
	// Only Google writes these fields.
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

// Moment is a date or a time.
type Moment struct {
	Date     string `json:"date,omitempty"`
	DateTime string `json:"dateTime,omitempty"`
	Zone     string `json:"timeZone,omitempty"`
}

// Person is the creator or organizer of an event.
type Person struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Name  string `json:"displayName,omitempty"`
	Self  bool   `json:"self,omitempty"`
}

// Attendee is an attendee or a room.
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

// Extended holds the extended properties that programs attach to an event.
type Extended struct {
	Private map[string]string `json:"private,omitempty"`
	Shared  map[string]string `json:"shared,omitempty"`
}

// Reminders are the event's own, or say that the calendar's apply.
type Reminders struct {
	Default   bool       `json:"useDefault"`
	Overrides []Reminder `json:"overrides,omitempty"`
}

// Reminder fires so many minutes before the start, as a mail or a popup.
type Reminder struct {
	Method  string `json:"method"`
	Minutes int    `json:"minutes"`
}

// Link is the source that an event was created from.
type Link struct {
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
}

// Attachment is a file stored elsewhere.
type Attachment struct {
	URL    string `json:"fileUrl,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"mimeType,omitempty"`
	Icon   string `json:"iconLink,omitempty"`
	FileID string `json:"fileId,omitempty"`
}

// named are the declared fields of Event.
var named = []string{
	"kind", "etag", "id", "htmlLink", "created", "updated", "creator", "hangoutLink", "locked", "recurringEventId",
	"iCalUID", "sequence", "organizer", "attendeesOmitted", "originalStartTime", "conferenceData", "status",
	"eventType", "summary",
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

// Calendar holds calendar properties that apply to its events.
type Calendar struct {
	// Zone is the zone of times without one.
	Zone string
	// Reminders are the default reminders.
	Reminders []Reminder
	// Self is the account's address.
	Self string
	// Primary is set for the account's main calendar, the only one that takes focus time and the like.
	Primary bool
}

// Series is the equivalent of one iCalendar object: an event, or a series with its exceptions. It has no Master if the
// account is invited only to single instances.
type Series struct {
	Master     *Event
	Exceptions []*Event
}

// Values of the API.
const (
	confirmed   = "confirmed"
	cancelled   = "cancelled"
	usualEvent  = "default"
	transparent = "transparent"
)

// ref returns Google's id of the series.
func (s *Series) ref() string {
	if s.Master != nil {
		return s.Master.ID
	}
	return s.Exceptions[0].SeriesID
}

// first returns the master, or else the first exception.
func (s *Series) first() *Event {
	if s.Master != nil {
		return s.Master
	}
	return s.Exceptions[0]
}
