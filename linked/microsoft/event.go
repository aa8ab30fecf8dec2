// Package microsoft synchronizes calendars of Microsoft 365 and Outlook.com. It converts events of Microsoft Graph v1.0
// to iCalendar and back, and sends the requests. It implements mirror.Source.
package microsoft

import (
	"encoding/json"
	"slices"
	"strings"

	"caldav-mcp-server/linked/rest"
)

// Event is an event of Graph. Fields not declared here are kept in Rest and sent back unchanged.
type Event struct {
	// Only Microsoft writes these fields.
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

	Extensions []json.RawMessage `json:"extensions,omitempty"`

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
	// Comment is the account's message to the organizer, sent with its answer. Graph does not return it.
	Comment string `json:"-"`
	// Kept are content lines without a Graph field, from the open extension of the event or of its series.
	Kept string `json:"-"`
}

// Moment is a wall-clock time in a zone, by its IANA or Windows name.
type Moment struct {
	DateTime string `json:"dateTime"`
	Zone     string `json:"timeZone,omitempty"`
}

// Body is a description, as text or HTML.
type Body struct {
	Type    string `json:"contentType"`
	Content string `json:"content"`
}

// Person is the organizer of an event.
type Person struct {
	Address Address `json:"emailAddress"`
}

// Address is a mail address.
type Address struct {
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
}

// Attendee is an attendee or a room.
type Attendee struct {
	Type    string  `json:"type,omitempty"`
	Status  *Answer `json:"status,omitempty"`
	Address Address `json:"emailAddress"`
}

// Answer is an answer to an invitation, with its time.
type Answer struct {
	Response string `json:"response,omitempty"`
	Time     string `json:"time,omitempty"`
}

// Meeting is an online meeting.
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

// Pattern is the frequency.
type Pattern struct {
	Type       string   `json:"type"`
	Interval   int      `json:"interval"`
	Month      int      `json:"month,omitempty"`
	DayOfMonth int      `json:"dayOfMonth,omitempty"`
	Days       []string `json:"daysOfWeek,omitempty"`
	FirstDay   string   `json:"firstDayOfWeek,omitempty"`
	Index      string   `json:"index,omitempty"`
}

// Range is the start and the end.
type Range struct {
	Type  string `json:"type"`
	Start string `json:"startDate,omitempty"`
	End   string `json:"endDate,omitempty"`
	Zone  string `json:"recurrenceTimeZone,omitempty"`
	Count int    `json:"numberOfOccurrences,omitempty"`
}

// named are the declared fields of Event.
var named = []string{
	"@odata.etag", "id", "iCalUId", "createdDateTime", "lastModifiedDateTime", "type", "seriesMasterId",
	"originalStart",
	"originalStartTimeZone", "originalEndTimeZone", "cancelledOccurrences", "isCancelled", "isOrganizer", "organizer",
	"responseStatus",
	"onlineMeetingUrl", "onlineMeeting", "transactionId", "@removed", "hasAttachments", "webLink", "bodyPreview",
	"changeKey", "isDraft",
	"@odata.context", "occurrenceId", "subject", "body", "start", "end", "isAllDay", "sensitivity", "showAs",
	"importance", "categories",
	"location", "attendees", "isReminderOn", "reminderMinutesBeforeStart", "recurrence", "exceptionOccurrences",
	"extensions",
}

// usual are default values. Graph always includes them.
var usual = map[string]string{
	"allowNewTimeProposals": "true", "hideAttendees": "false", "isOnlineMeeting": "false", "locations": "[]",
	"onlineMeetingProvider": `"unknown"`, "responseRequested": "true",
}

type plainEvent Event

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(data []byte) error {
	var plain plainEvent
	others, err := rest.Decode(data, &plain, func(name string, value json.RawMessage) bool {
		// Graph includes most fields as null.
		return string(value) == usual[name] || slices.Contains(named, name) || strings.Contains(name, "@odata.") ||
			string(value) == "null"
	})
	*e = Event(plain)
	e.Rest = others
	if err != nil {
		return err
	}
	var all []json.RawMessage
	if json.Unmarshal(e.Rest["locations"], &all) == nil && len(all) < 2 {
		delete(e.Rest, "locations") // it is the location once more
	}
	e.Place, err = plainPlace(e.Place)
	return err
}

// plainPlace returns a location without the fields that Graph adds to a name, or nil if it is empty.
func plainPlace(place json.RawMessage) (json.RawMessage, error) {
	if len(place) == 0 || string(place) == "null" {
		return nil, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(place, &fields); err != nil {
		return nil, err
	}
	name, _ := fields["displayName"].(string)
	for field, value := range fields {
		object, isObject := value.(map[string]any)
		switch {
		case field == "displayName", isObject && len(object) == 0, value == nil, value == "":
		case field == "locationType" && value == "default", field == "uniqueId" && value == name:
		case field == "uniqueIdType" && (value == "private" || value == "unknown"):
		default:
			return place, nil
		}
	}
	if name == "" {
		return nil, nil
	}
	return rest.Text(map[string]string{"displayName": name})
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) { return rest.Encode(plainEvent(e), e.Rest) }

// Series is the equivalent of one iCalendar object: an event, or a series with its exceptions and the days of its
// cancelled instances. It has no Master if the account is invited only to single instances.
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

// ours is the prefix of the transaction ids of events created here. Graph keeps them in addition to its own UIDs.
const ours = "caldav:"

// uid returns the UID of an event: ours, if it was created here, or else Microsoft's.
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

// daysGone returns the days of a series' cancelled instances, which Graph's ids end with.
func daysGone(e *Event) (days []string) {
	for _, name := range e.Gone {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			days = append(days, name[dot+1:])
		}
	}
	return days
}
