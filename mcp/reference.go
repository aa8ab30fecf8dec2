package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// reference identifies an event, a task, or part of a series in a call.
type reference struct {
	eventID
	inZone
	scope edit.Scope
	match string
}

func (r *reference) refers() reference { return *r }

func (r *reference) names() calendar.CalendarID { return r.Calendar }

// takesEvent returns the parameters that identify an event.
func (r *reference) takesEvent() []field {
	return []field{takesCalendar(&r.Calendar).needed(), r.takesUID().needed()}
}

func (r *reference) takesUID() field {
	return uidTo(&r.UID, "event_uid")
}

// takesSeries returns the parameters that select instances of a series.
func (r *reference) takesSeries() []field {
	return []field{
		wordTo(&r.RecurrenceID, "recurrence_id", "Of a series."),
		textTo(&r.scope, "scope", "Of a series; ask.").
			oneOf(string(edit.This), string(edit.Following), string(edit.All)),
	}
}

func (r *reference) takesMatch() field {
	return wordTo(&r.match, "if_match", "Its etag.")
}

// when is the call's precondition. Models lose the quotes of etags.
func (r *reference) when() calendar.Precondition {
	if r.match == "" {
		return calendar.Precondition{}
	}
	return calendar.Precondition{Match: []calendar.ETag{calendar.ETag(`"` + strings.Trim(r.match, `"`) + `"`)}}
}

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
		return eventID{}, errArgument("%s is not an event id", wire.Quote(text)).
			Advising("copy it from search or list_events")
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

// recurrenceID parses a recurrence id. A local time is in the time zone of the series, not of the call.
func recurrenceID(value string) (ical.Time, error) {
	if strings.TrimSpace(value) == "" {
		return ical.Time{}, nil
	}
	t, err := timetext.Parse(value, nil)
	if err != nil {
		return t, errArgument(`"recurrence_id" cannot be read: %s`, wire.Quote(value)).
			Advising("copy it from the tool that listed the instance")
	}
	return t, nil
}

// longestName limits the length of a calendar's name.
const longestName = 200

// inCalendar holds the arguments of tools that work on one calendar.
type inCalendar struct{ calendar calendar.CalendarID }

func (in *inCalendar) takes() []field { return []field{takesCalendar(&in.calendar).needed()} }

func (in *inCalendar) names() calendar.CalendarID { return in.calendar }

func takesCalendar(into *calendar.CalendarID) field {
	return wordTo(into, "calendar_id", "Id or name.")
}

// takesOnly returns the parameter of tools that search all calendars unless one is given.
func takesOnly(into *calendar.CalendarID) field {
	return wordTo(into, "calendar_id", "Only this one.")
}

// within is doing for a tool that names a calendar.
func within[A any, P interface {
	*A
	takes() []field
	names() calendar.CalendarID
}](b toolbox, do func(context.Context, *call, calendar.Calendar, P) (answer, error)) func() job {
	return func() job {
		in := P(new(A))
		return job{in.takes(), func(ctx context.Context, c *call) (answer, error) {
			cal, err := b.calendarNamed(ctx, c, in.names())
			if err != nil {
				return answer{}, err
			}
			return do(ctx, c, cal, in)
		}}
	}
}

// calendarNamed finds the calendar that the call names, and records it in the call.
func (b toolbox) calendarNamed(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := b.calendarBy(ctx, c, id)
	if err == nil {
		c.calendar = cal.ID
	}
	return cal, err
}

// oneCalendar finds the calendar that a call names, or returns the zero calendar if it names none.
func (b toolbox) oneCalendar(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	if id == "" {
		return calendar.Calendar{}, nil
	}
	return b.calendarNamed(ctx, c, id)
}

// defaultCalendar returns the calendar that the user chose, or else the oldest one of their own that takes events.
// Names and order do not affect it, because programs change them by themselves; nor do calendars added later.
func (b toolbox) defaultCalendar(ctx context.Context, c *call, all []calendar.Calendar) (calendar.CalendarID, error) {
	said, err := b.service.Scheduling(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		// A token restricted to some calendars must not learn about others.
		return calendar.Scheduling{}.Reception(all), nil
	}
	return said.Default, err
}

// primary is the name that assistants use for the default calendar.
const primary = "primary"

// calendarBy finds a calendar by its id, by its name, or as the primary one. Another user's calendar goes by the name
// that lists show. A name shared by two calendars is refused.
func (b toolbox) calendarBy(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := b.service.Calendar(ctx, c.caller, id)
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		c.about(authorOf(c.caller, cal))
		return cal, err
	}
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return cal, b.errNoCalendar(ctx, c.caller, id) // a token without the read scope must not learn names
	}
	if err != nil {
		return cal, err
	}
	named := slices.DeleteFunc(slices.Clone(all), func(cal calendar.Calendar) bool { return !calls(cal, string(id)) })
	if strings.EqualFold(string(id), primary) &&
		!slices.ContainsFunc(named, func(cal calendar.Calendar) bool { return cal.Access == calendar.OwnerAccess }) {
		first, err := b.defaultCalendar(ctx, c, all)
		if err != nil {
			return cal, err
		}
		named = slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.ID != first })
	}
	switch len(named) {
	case 0:
		return cal, b.errNoCalendar(ctx, c.caller, id)
	case 1:
		c.about(authorOf(c.caller, named[0]))
		return named[0], nil
	}
	return cal, errArgument("%d calendars are called %s: %s", len(named), wire.Quote(string(id)), namesWithIDs(c.caller,
		named)).Advising("give the id in parentheses")
}

// calls reports whether a text is a calendar's name. The listed name of another user's calendar ends with its owner,
// because its own name could be anything.
func calls(cal calendar.Calendar, name string) bool {
	name = strings.TrimSpace(name)
	return name != "" && (strings.EqualFold(name, strings.TrimSpace(cal.Name)) || name == wire.Visible(cal.Name))
}

// maxNamed is the highest number of calendars that an error names.
const maxNamed = 10

// namesWithIDs names the first maxNamed calendars of a list, with their ids.
func namesWithIDs(who calendar.Caller, all []calendar.Calendar) string {
	names := each(all[:min(len(all), maxNamed)], func(cal calendar.Calendar) string {
		return fmt.Sprintf("%s (%s)%s", wire.Quote(defused(cal.Name)), cal.ID, authorOf(who, cal).mark())
	})
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// errNoCalendar lists the calendars that the caller has. It is the same for another user's calendar and for one that
// never existed.
func (b toolbox) errNoCalendar(ctx context.Context, caller calendar.Caller, asked calendar.CalendarID) error {
	e := calendar.Errorf(calendar.NotFound, "", "no calendar %s", wire.Quote(string(asked)))
	all, err := b.service.Calendars(ctx, caller)
	switch {
	case calendar.ReasonOf(err) == calendar.Forbidden && err != nil:
		return e // a token without the read scope must not learn names
	case err != nil:
		return err
	case len(all) == 0:
		e.Message += ": you have none"
		return e
	}
	e.Message += ": yours are " + namesWithIDs(caller, all)
	e.Hint = "give the id in parentheses"
	return e
}
