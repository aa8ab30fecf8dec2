package graphtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// never is the time of answers that were not given.
const never = "0001-01-01T00:00:00Z"

// defaults are the fields that Graph returns of each event, though no program has set them.
func defaults(owner string) Event {
	alice := map[string]any{"name": "Alice", "address": owner}
	return Event{
		"isAllDay": false, "sensitivity": "normal", "showAs": "busy", "importance": "normal", "categories": []any{},
		"isReminderOn": true, "reminderMinutesBeforeStart": 15, "responseRequested": true,
		"allowNewTimeProposals": true, "hideAttendees": false, "isCancelled": false, "isDraft": false,
		"isOnlineMeeting": false, "onlineMeetingProvider": "unknown", "onlineMeetingUrl": nil, "onlineMeeting": nil,
		"hasAttachments": false, "seriesMasterId": nil, "recurrence": nil, "isOrganizer": true, "subject": "",
		"webLink":        "https://outlook.office365.com/owa/?itemid=1&exvsurl=1&path=/calendar/item",
		"responseStatus": map[string]any{"response": "organizer", "time": never},
		"organizer":      map[string]any{"emailAddress": alice},
		"attendees":      []any{},
	}
}

// place returns the location and the locations of an event, which always correspond.
func place(e Event) {
	sent, _ := e["location"].(map[string]any)
	name := fmt.Sprint(sent["displayName"])
	if sent == nil || sent["displayName"] == nil || name == "" {
		e["location"] = map[string]any{
			"displayName": "", "locationType": "default", "uniqueIdType": "unknown", "address": map[string]any{},
			"coordinates": map[string]any{},
		}
		e["locations"] = []any{}
		return
	}
	full := map[string]any{"locationType": "default", "uniqueId": name, "uniqueIdType": "private"}
	maps.Copy(full, sent)
	e["location"] = full
	if list, _ := e["locations"].([]any); len(list) < 2 {
		e["locations"] = []any{full}
	}
}

// invite gives attendees a name, a type and an answer.
func invite(e Event) {
	list, _ := e["attendees"].([]any)
	full := make([]any, 0, len(list))
	for _, one := range list {
		sent, _ := one.(map[string]any)
		mail, _ := sent["emailAddress"].(map[string]any)
		mail = maps.Clone(mail)
		if mail["name"] == nil || mail["name"] == "" {
			mail["name"] = mail["address"]
		}
		a := map[string]any{"type": "required", "status": map[string]any{"response": "none", "time": never}}
		maps.Copy(a, sent)
		a["emailAddress"] = mail
		full = append(full, a)
	}
	e["attendees"] = full
}

// repeat fills a rule: Graph returns the fields of all patterns and ranges.
func repeat(e Event) {
	sent, _ := e["recurrence"].(map[string]any)
	if sent == nil {
		return
	}
	pattern := map[string]any{"month": 0, "dayOfMonth": 0, "firstDayOfWeek": "sunday", "index": "first"}
	span := map[string]any{
		"endDate": "0001-01-01", "numberOfOccurrences": 0, "recurrenceTimeZone": e["originalStartTimeZone"],
	}
	if p, ok := sent["pattern"].(map[string]any); ok {
		maps.Copy(pattern, p)
	}
	if r, ok := sent["range"].(map[string]any); ok {
		maps.Copy(span, r)
	}
	e["recurrence"] = map[string]any{"pattern": pattern, "range": span}
}

// required lists the fields that a pattern needs.
var required = map[string][]string{
	"daily": {"interval"}, "weekly": {"interval", "daysOfWeek", "firstDayOfWeek"},
	"absoluteMonthly": {"interval", "dayOfMonth"}, "relativeMonthly": {"interval", "daysOfWeek"},
	"absoluteYearly": {"interval", "dayOfMonth", "month"}, "relativeYearly": {"interval", "daysOfWeek", "month"},
}

// ruled rejects a rule that lacks a field, or that does not begin on the day of its event.
func ruled(e Event) error {
	rule, _ := e["recurrence"].(map[string]any)
	if rule == nil {
		return nil
	}
	pattern, _ := rule["pattern"].(map[string]any)
	span, _ := rule["range"].(map[string]any)
	for _, name := range required[fmt.Sprint(pattern["type"])] {
		if pattern[name] == nil {
			return invalid("The recurrence pattern needs " + name + ".")
		}
	}
	switch span["type"] {
	case "numbered":
		if n, _ := span["numberOfOccurrences"].(float64); n < 1 {
			return invalid("The recurrence range needs numberOfOccurrences.")
		}
	case "endDate":
		if end, _ := span["endDate"].(string); end == "" || end < fmt.Sprint(span["startDate"]) {
			return invalid("The recurrence range needs an endDate after its start.")
		}
	}
	if start, _ := e["start"].(map[string]any); !strings.HasPrefix(fmt.Sprint(start["dateTime"]),
		fmt.Sprint(span["startDate"])) {
		return invalid("The startDate of the recurrence range is not the day of the event's start.")
	}
	return nil
}

// timed rejects impossible times.
func timed(e Event) error {
	start, end := e["start"], e["end"]
	if start == nil || end == nil {
		return invalid("start and end are required")
	}
	if inZone(end).Before(inZone(start)) {
		return invalid("The end is before the start.")
	}
	if e["isAllDay"] != true {
		return nil
	}
	from, _ := start.(map[string]any)
	to, _ := end.(map[string]any)
	at, until := clockOf(start), clockOf(end)
	if from["timeZone"] != to["timeZone"] || !at.Equal(at.Truncate(24*time.Hour)) ||
		!until.Equal(until.Truncate(24*time.Hour)) || !until.After(at) {
		return invalid("The times of an all-day event need to be set to midnight, in one time zone.")
	}
	return nil
}

// inZone returns the instant of a time.
func inZone(side any) time.Time {
	m, _ := side.(map[string]any)
	z, err := time.LoadLocation(fmt.Sprint(m["timeZone"]))
	if err != nil {
		z = time.UTC
	}
	at := clockOf(side)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, z)
}

func invalid(detail string) error {
	return no(http.StatusBadRequest, "ErrorPropertyValidationFailure", detail)
}

// crossing rejects an instance that reaches the day of the one before or after it. It knows daily rules only.
func crossing(series, instance Event) error {
	rule, _ := series["recurrence"].(map[string]any)
	pattern, _ := rule["pattern"].(map[string]any)
	if pattern["type"] != "daily" {
		return nil
	}
	original, err := time.Parse(time.RFC3339, fmt.Sprint(instance["originalStart"]))
	if err != nil {
		return err
	}
	every, _ := pattern["interval"].(float64)
	day := 24 * time.Hour
	apart := clockOf(instance["start"]).Truncate(day).Sub(original.Truncate(day)).Abs()
	if apart >= time.Duration(max(every, 1))*day {
		return no(http.StatusBadRequest, "ErrorOccurrenceCrossingBoundary",
			"Modified occurrence is crossing or overlapping adjacent occurrence.")
	}
	return nil
}

// paged returns a page of a list, and the link to the next one.
func (s *Server) paged(r *http.Request, all []any) map[string]any {
	q := r.URL.Query()
	from := 0
	_, _ = fmt.Sscanf(q.Get("$skip"), "%d", &from)
	end := min(from+s.PageSize, len(all))
	out := map[string]any{"value": slices.Clone(all[min(from, end):end])}
	if end < len(all) {
		q.Set("$skip", fmt.Sprint(end))
		out["@odata.nextLink"] = s.Base + r.URL.Path + "?" + q.Encode()
	}
	return out
}
