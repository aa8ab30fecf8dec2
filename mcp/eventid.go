package mcp

import (
	"cmp"
	"encoding/base64"
	"strings"

	"caldav-mcp-server/calendar"
)

// eventID names an event, or an instance of one, in a single word for the tools that take no
// more. To its readers it means nothing.
type eventID struct {
	Calendar     calendar.CalendarID
	UID          calendar.UID
	RecurrenceID string
}

// separator is in no part of an id: RFC 5545 §3.1 has no control characters in a UID.
const separator = "\x00"

// String packs the id, in characters that survive URLs and file names.
func (id eventID) String() string {
	parts := []string{string(id.Calendar), string(id.UID)}
	if id.RecurrenceID != "" {
		parts = append(parts, id.RecurrenceID)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, separator)))
}

// parseEventID unpacks an id. Whether there is such an event is another question.
func parseEventID(text string) (eventID, error) {
	packed, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	parts := strings.Split(string(packed), separator)
	if err != nil || len(parts) < 2 || len(parts) > 3 {
		e := errArgument("%s is no id of an event", quote(text))
		e.Hint = "copy it from search or list_events"
		return eventID{}, e
	}
	id := eventID{Calendar: calendar.CalendarID(parts[0]), UID: calendar.UID(parts[1])}
	if len(parts) == 3 {
		id.RecurrenceID = parts[2]
	}
	return id, nil
}

// named is the event that a call names, by an event_id or in full.
func (r *reference) named(id string) error {
	switch {
	case id == "" && r.Calendar == "":
		return errArgument(`"calendar_id" is missing: give "event_id", or "calendar_id" and "event_uid"`)
	case id == "" && strings.TrimSpace(string(r.UID)) == "":
		return errArgument(`"event_uid" is missing: give "event_id", or "calendar_id" and "event_uid"`)
	case id == "":
		return nil
	case r.Calendar != "" || r.UID != "":
		return errArgument(`give "event_id", or "calendar_id" and "event_uid", not both`)
	}
	found, err := parseEventID(id)
	found.RecurrenceID = cmp.Or(r.RecurrenceID, found.RecurrenceID)
	r.eventID = found
	return err
}
