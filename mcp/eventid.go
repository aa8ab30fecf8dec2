package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// eventID packs the identity of an event or instance into one opaque word, for tools that take a single id.
type eventID struct {
	Calendar     calendar.CalendarID
	UID          calendar.UID
	RecurrenceID string
}

// separator cannot occur in a part of an id: RFC 5545 §3.1 allows no control characters in a UID.
const separator = "\x00"

// String encodes the id in characters that are safe in URLs and file names.
func (id eventID) String() string {
	parts := []string{string(id.Calendar), string(id.UID)}
	if id.RecurrenceID != "" {
		parts = append(parts, id.RecurrenceID)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, separator)))
}

// parseEventID decodes an id. It does not check whether the event exists.
func parseEventID(text string) (eventID, error) {
	packed, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	parts := strings.Split(string(packed), separator)
	if err != nil || len(parts) < 2 || len(parts) > 3 {
		return eventID{}, errArgument("%s is not an event id", wire.Quote(text)).Advising("copy it from search or list_events")
	}
	id := eventID{Calendar: calendar.CalendarID(parts[0]), UID: calendar.UID(parts[1])}
	if len(parts) == 3 {
		id.RecurrenceID = parts[2]
	}
	return id, nil
}

// named fills in the reference from an event_id, or checks that it was given in full.
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

// eventIDName is the parameter that takes an id. Every tool that names an event accepts it instead of calendar_id and
// event_uid, although few document it: models that have an id use it.
const eventIDName = "event_id"

// unpackEvent replaces an event_id argument by the arguments that it encodes.
func (c *call) unpackEvent(takes []field) error {
	has := func(name string) bool {
		return slices.ContainsFunc(takes, func(f field) bool { return f.name == name })
	}
	raw, given := c.asked[eventIDName]
	if !given || has(eventIDName) || !has("calendar_id") || !has("event_uid") {
		return nil
	}
	sent := maps.Clone(c.asked)
	delete(sent, eventIDName)
	if isGiven(raw) {
		text, _ := readText(raw)
		id, err := parseEventID(text)
		if err != nil {
			return err
		}
		if isGiven(sent["calendar_id"]) || isGiven(sent["event_uid"]) {
			return errArgument(`give "event_id", or "calendar_id" and "event_uid", not both`)
		}
		sent["calendar_id"], sent["event_uid"] = asJSON(string(id.Calendar)), asJSON(string(id.UID))
		if id.RecurrenceID != "" && has("recurrence_id") && !isGiven(sent["recurrence_id"]) {
			sent["recurrence_id"] = asJSON(id.RecurrenceID)
		}
	}
	c.asked = sent
	return nil
}

func asJSON(text string) json.RawMessage {
	data, _ := json.Marshal(text) // strings always marshal
	return data
}

// orID handles a call that gives an id in place of a uid. A uid can look like anything, so callers try this only for an
// unknown uid. The id must be of the same calendar.
func (r reference) orID(in calendar.CalendarID) (reference, bool) {
	id, err := parseEventID(string(r.UID))
	if err != nil || id.Calendar != in {
		return r, false
	}
	id.RecurrenceID = cmp.Or(r.RecurrenceID, id.RecurrenceID)
	r.eventID = id
	return r, true
}
