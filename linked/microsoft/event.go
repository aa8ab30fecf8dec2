// Package microsoft keeps a calendar of Microsoft 365 or Outlook.com in step: events in the form of Microsoft Graph v1.0 as
// iCalendar and back, and the requests that it takes. It is a mirror.Source.
package microsoft

import (
	"encoding/json"
	"slices"
	"strings"

	"caldav-mcp-server/linked/rest"
)

// Event is an event as Graph gives and takes it. What is not named here is kept in Rest, and sent back as it came.
type Event struct {
	// Those that only Microsoft writes.
	ETag         string   `json:"@odata.etag,omitempty"`
	ID           string   `json:"id,omitempty"`
	UID          string   `json:"iCalUId,omitempty"`
	Created      string   `json:"createdDateTime,omitempty"`
	Modified     string   `json:"lastModifiedDateTime,omitempty"`
	Type         string   `json:"type,omitempty"`
	SeriesID     string   `json:"seriesMasterId,omitempty"`
	Original     string   `json:"originalStart,omitempty"`
	StartZone    string   `json:"originalStartTimeZone,omitempty"`
	EndZone      string   `json:"originalEndTimeZone,omitempty"`
	Gone         []string `json:"cancelledOccurrences,omitempty"`
	Cancelled    bool     `json:"isCancelled,omitempty"`
	IsOrganizer  bool     `json:"isOrganizer,omitempty"`
	Organizer    *Person  `json:"organizer,omitempty"`
	Answer       *Answer  `json:"responseStatus,omitempty"`
	MeetingURL   string   `json:"onlineMeetingUrl,omitempty"`
	Meeting      *Meeting `json:"onlineMeeting,omitempty"`
	Transaction  string   `json:"transactionId,omitempty"`
	Removed      any      `json:"@removed,omitempty"`
	HasFiles     bool     `json:"hasAttachments,omitempty"`
	WebLink      string   `json:"webLink,omitempty"`
	Preview      string   `json:"bodyPreview,omitempty"`
	ChangeKey    string   `json:"changeKey,omitempty"`
	Draft        bool     `json:"isDraft,omitempty"`
	Context      string   `json:"@odata.context,omitempty"`
	OccurrenceID string   `json:"occurrenceId,omitempty"`

	Subject     string          `json:"subject,omitempty"`
	Body        *Body           `json:"body,omitempty"`
	Start       *Moment         `json:"start,omitempty"`
	End         *Moment         `json:"end,omitempty"`
	AllDay      bool            `json:"isAllDay,omitempty"`
	Sensitivity string          `json:"sensitivity,omitempty"`
	ShowAs      string          `json:"showAs,omitempty"`
	Importance  string          `json:"importance,omitempty"`
	Categories  []string        `json:"categories,omitempty"`
	Place       json.RawMessage `json:"location,omitempty"`
	Attendees   []Attendee      `json:"attendees,omitempty"`
	ReminderOn  bool            `json:"isReminderOn,omitempty"`
	Minutes     int             `json:"reminderMinutesBeforeStart,omitempty"`
	Recurrence  *Recurrence     `json:"recurrence,omitempty"`

	Rest map[string]json.RawMessage `json:"-"`
}

// Moment is a time on the wall of a zone, by the name that IANA or Windows gives it.
type Moment struct {
	DateTime string `json:"dateTime"`
	Zone     string `json:"timeZone,omitempty"`
}

// Body is a description, as text or as HTML.
type Body struct {
	Type    string `json:"contentType"`
	Content string `json:"content"`
}

// Person is who made an event.
type Person struct {
	Address Address `json:"emailAddress"`
}

// Address is an address of mail.
type Address struct {
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
}

// Attendee is a guest, or a room.
type Attendee struct {
	Type    string  `json:"type,omitempty"`
	Status  *Answer `json:"status,omitempty"`
	Address Address `json:"emailAddress"`
}

// Answer is what somebody has said to an invitation, and when.
type Answer struct {
	Response string `json:"response,omitempty"`
	Time     string `json:"time,omitempty"`
}

// Meeting is a meeting over the network.
type Meeting struct {
	JoinURL      string `json:"joinUrl,omitempty"`
	ConferenceID string `json:"conferenceId,omitempty"`
	TollNumber   string `json:"tollNumber,omitempty"`
}

// Recurrence is the rule of a series.
type Recurrence struct {
	Pattern Pattern `json:"pattern"`
	Range   Range   `json:"range"`
}

// Pattern is how often.
type Pattern struct {
	Type       string   `json:"type"`
	Interval   int      `json:"interval"`
	Month      int      `json:"month,omitempty"`
	DayOfMonth int      `json:"dayOfMonth,omitempty"`
	Days       []string `json:"daysOfWeek,omitempty"`
	FirstDay   string   `json:"firstDayOfWeek,omitempty"`
	Index      string   `json:"index,omitempty"`
}

// Range is from when to when.
type Range struct {
	Type  string `json:"type"`
	Start string `json:"startDate,omitempty"`
	End   string `json:"endDate,omitempty"`
	Zone  string `json:"recurrenceTimeZone,omitempty"`
	Count int    `json:"numberOfOccurrences,omitempty"`
}

// named are the fields that Event has.
var named = []string{
	"@odata.etag", "id", "iCalUId", "createdDateTime", "lastModifiedDateTime", "type", "seriesMasterId", "originalStart",
	"originalStartTimeZone", "originalEndTimeZone", "cancelledOccurrences", "isCancelled", "isOrganizer", "organizer", "responseStatus",
	"onlineMeetingUrl", "onlineMeeting", "transactionId", "@removed", "hasAttachments", "webLink", "bodyPreview", "changeKey", "isDraft",
	"@odata.context", "occurrenceId", "subject", "body", "start", "end", "isAllDay", "sensitivity", "showAs", "importance", "categories",
	"location", "attendees", "isReminderOn", "reminderMinutesBeforeStart", "recurrence", "exceptionOccurrences",
}

// usual are values that say nothing, and nowhere is a place that is none. Graph writes them all the same.
var usual = map[string]string{
	"allowNewTimeProposals": "true", "hideAttendees": "false", "isOnlineMeeting": "false", "locations": "[]",
	"onlineMeetingProvider": `"unknown"`, "responseRequested": "true",
}

const nowhere = `{"displayName":"","locationType":"default","uniqueIdType":"unknown","address":{},"coordinates":{}}`

type plainEvent Event

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(data []byte) error {
	var plain plainEvent
	others, err := rest.Decode(data, &plain, func(name string, value json.RawMessage) bool {
		// Graph says of most fields that they are null.
		return string(value) == usual[name] || slices.Contains(named, name) || strings.Contains(name, "@odata.") || string(value) == "null"
	})
	*e = Event(plain)
	e.Rest = others
	if string(e.Place) == "null" || string(e.Place) == nowhere {
		e.Place = nil
	}
	return err
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) { return rest.Encode(plainEvent(e), e.Rest) }

// Series is what is one object in iCalendar: an event, or a series with the instances that are unlike it, and the days on which
// one is cancelled. Anyone who is invited to single instances has no Master.
type Series struct {
	Master     *Event
	Exceptions []*Event
	Cancelled  []string
}

func (s *Series) first() *Event {
	if s.Master != nil {
		return s.Master
	}
	return s.Exceptions[0]
}

// ours begins the names that we give events that are made here: Graph keeps them beside the UIDs that it makes itself.
const ours = "caldav:"

// uid is the UID of an event: the one that it was given here, or else Microsoft's.
func (e *Event) uid() string {
	if given, found := strings.CutPrefix(e.Transaction, ours[:len(ours)-1]); found {
		if n, uid, parted := strings.Cut(given, ":"); parted && uid != "" && len(n) <= 1 {
			return uid
		}
	}
	if e.UID != "" {
		return e.UID
	}
	return e.ID
}

// daysGone are the days of a series on which an instance is cancelled: the ends of the names that Graph lists.
func daysGone(e *Event) (days []string) {
	for _, name := range e.Gone {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			days = append(days, name[dot+1:])
		}
	}
	return days
}
