package googletest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// list serves events.list: all events, the events with one UID, or the changes since a token.
func (s *Server) list(r *http.Request, c *Calendar) (any, error) {
	q := r.URL.Query()
	since := -1
	if token := q.Get("syncToken"); token != "" {
		if q.Has("iCalUID") {
			return nil, no(http.StatusBadRequest, "invalid", "A sync token is not to be combined with iCalUID")
		}
		at, err := strconv.Atoi(strings.TrimPrefix(token, "sync"))
		if err != nil || at < s.forgotten {
			return nil,
				no(http.StatusGone, "fullSyncRequired", "Sync token is no longer valid, a full sync is required.")
		}
		since = at
	}
	var found []*stored
	for _, one := range c.events {
		if one.changed > since && (q.Get("iCalUID") == "" || s.uid(c, one.event) == q.Get("iCalUID")) &&
			(since >= 0 || shown(one, q.Get("showDeleted"))) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *stored) int { return cmp.Compare(a.changed, b.changed) })
	return s.page(q.Get("pageToken"), c, found), nil
}

// uid returns the UID of an event, or of the series of a cancelled instance.
func (s *Server) uid(c *Calendar, e Event) any {
	if series := c.events[fmt.Sprint(e["recurringEventId"])]; e["iCalUID"] == nil && series != nil && !s.Unlisted {
		return series.event["iCalUID"]
	}
	return e["iCalUID"]
}

// shown reports whether a list contains an event: deleted ones only on request, cancelled instances always.
func shown(one *stored, deleted string) bool {
	return one.event["status"] != "cancelled" || deleted == "true" || one.event["recurringEventId"] != nil
}

func (s *Server) page(token string, c *Calendar, found []*stored) map[string]any {
	from, _ := strconv.Atoi(token)
	end := min(from+s.PageSize, len(found))
	first := from
	if s.Twice && from > 0 {
		first--
	}
	items := []any{}
	for _, one := range found[min(first, len(found)):end] {
		items = append(items, one.event)
	}
	out := s.entry(c)
	maps.DeleteFunc(out, func(name string, _ any) bool { return !s.fields["Events."+name] })
	out["kind"], out["items"] = "calendar#events", items
	if end < len(found) {
		out["nextPageToken"] = strconv.Itoa(end)
	} else {
		out["nextSyncToken"] = fmt.Sprint("sync", s.clock)
	}
	return out
}

func (s *Server) get(r *http.Request, c *Calendar) (any, error) {
	one := c.events[r.PathValue("event")]
	if one == nil {
		return nil, no(http.StatusNotFound, "notFound", "Not Found")
	}
	return one.event, nil
}

// body reads an event and rejects fields that the API description does not have.
func (s *Server) body(r *http.Request) (Event, error) {
	var e Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		return nil, no(http.StatusBadRequest, "parseError", "Parse Error")
	}
	check := func(of string, value any) error {
		object, _ := value.(map[string]any)
		for name := range object {
			if !s.fields[of+"."+name] {
				return no(http.StatusBadRequest, "invalid", of+" has no field "+name)
			}
		}
		return nil
	}
	parts := map[string][]any{
		"Event": {e}, "EventDateTime": {e["start"], e["end"], e["originalStartTime"]},
		"ConferenceData": {e["conferenceData"]},
	}
	for name, schema := range map[string]string{"attendees": "EventAttendee", "attachments": "EventAttachment"} {
		list, _ := e[name].([]any)
		parts[schema] = append(parts[schema], list...)
	}
	for schema, values := range parts {
		for _, value := range values {
			if err := check(schema, value); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

// sane rejects what Google rejects.
func sane(e Event) error {
	if err := bounded(e); err != nil {
		return err
	}
	for _, name := range []string{"start", "end"} {
		at, _ := e[name].(map[string]any)
		if (at["date"] == nil) == (at["dateTime"] == nil) {
			return no(http.StatusBadRequest, "invalid", "Either a date or a dateTime must be given: "+name)
		}
		if e["recurrence"] != nil && at["dateTime"] != nil && at["timeZone"] == nil {
			return no(http.StatusBadRequest, "required", "Missing time zone definition for "+name)
		}
		if text, timed := at["dateTime"].(string); timed {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return no(http.StatusBadRequest, "invalid", "Bad time "+text)
			}
		}
	}
	return nil
}

func (s *Server) insert(r *http.Request, c *Calendar) (any, error) {
	e, err := s.body(r)
	if err != nil {
		return nil, err
	}
	if err := sane(e); err != nil {
		return nil, err
	}
	for _, one := range c.events {
		if one.event["iCalUID"] == e["iCalUID"] && e["iCalUID"] != nil {
			return nil, no(http.StatusConflict, "duplicate", "The requested identifier already exists.")
		}
	}
	delete(e, "id")
	sent := maps.Clone(e)
	if !strings.HasSuffix(r.URL.Path, "/import") {
		e["organizer"] = map[string]any{"email": c.ID, "self": true}
	}
	return s.take(r, c, e, sent), nil
}

// take stores the event of a write request.
func (s *Server) take(r *http.Request, c *Calendar, e, sent Event) Event {
	made := s.put(c, e)
	s.Took(r.Method, fmt.Sprint(made["id"]), sent)
	return made
}

// found returns the event of a request and checks the If-Match header. It derives an unmodified instance from its
// series.
func (s *Server) found(r *http.Request, c *Calendar) (Event, error) {
	id := r.PathValue("event")
	one := c.events[id]
	if one == nil {
		e, err := s.instance(c, id)
		if err != nil {
			return nil, err
		}
		one = &stored{event: e}
	}
	if match := r.Header.Get("If-Match"); match != "" && match != one.event["etag"] {
		return nil, no(http.StatusPreconditionFailed, "conditionNotMet", "Precondition Failed")
	}
	return maps.Clone(one.event), nil
}

func (s *Server) patch(r *http.Request, c *Calendar) (any, error) {
	e, err := s.found(r, c)
	if err != nil {
		return nil, err
	}
	changes, err := s.body(r)
	if err != nil {
		return nil, err
	}
	next := merged(e, changes)
	if err := sane(next); err != nil {
		return nil, err
	}
	if err := sequenced(e, next); err != nil {
		return nil, err
	}
	if rescheduled(e, next) && changes["sequence"] == nil {
		next["sequence"] = number(e["sequence"]) + 1
	}
	e = next
	return s.take(r, c, e, changes), nil
}

// merged applies a JSON merge patch (RFC 7386), as PATCH does.
func merged(into, changes Event) Event {
	into = maps.Clone(into)
	if into == nil {
		into = Event{}
	}
	for name, value := range changes {
		switch value := value.(type) {
		case nil:
			delete(into, name)
		case map[string]any:
			before, _ := into[name].(map[string]any)
			into[name] = merged(before, value)
		default:
			into[name] = value
		}
	}
	return into
}

func (s *Server) replace(r *http.Request, c *Calendar) (any, error) {
	now, err := s.found(r, c)
	if err != nil {
		return nil, err
	}
	e, err := s.body(r)
	if err != nil {
		return nil, err
	}
	if err := sane(e); err != nil {
		return nil, err
	}
	if err := sequenced(now, e); err != nil {
		return nil, err
	}
	e["id"], e["iCalUID"], e["created"] = now["id"], now["iCalUID"], now["created"]
	return s.take(r, c, e, e), nil
}

// remove deletes an event, and with a series its exceptions.
func (s *Server) remove(r *http.Request, c *Calendar) (any, error) {
	e, err := s.found(r, c)
	if err != nil {
		return nil, err
	}
	if e["status"] == "cancelled" {
		return nil, no(http.StatusGone, "deleted", "Resource has been deleted")
	}
	s.drop(c, e)
	s.Took(r.Method, fmt.Sprint(e["id"]), nil)
	return nil, nil // a deletion has no response body
}

func (s *Server) drop(c *Calendar, e Event) {
	if e["recurringEventId"] == nil {
		for id, one := range c.events {
			if one.event["recurringEventId"] == e["id"] {
				delete(c.events, id)
			}
		}
	}
	// On the organizer's calendar, deleted events keep their details, so that they can be restored.
	kept := maps.Clone(e)
	kept["status"] = "cancelled"
	if e["recurringEventId"] != nil {
		// Google fills no other field of a cancelled instance for sure.
		kept = Event{
			"id": e["id"], "status": "cancelled", "recurringEventId": e["recurringEventId"],
			"originalStartTime": e["originalStartTime"],
		}
	}
	s.put(c, kept)
}

// instances finds one instance by its original start.
func (s *Server) instances(r *http.Request, c *Calendar) (any, error) {
	series := r.PathValue("event")
	master := c.events[series]
	if master == nil || master.event["recurrence"] == nil {
		return nil, no(http.StatusNotFound, "notFound", "Not Found")
	}
	id := series + "_" + key(r.URL.Query().Get("originalStart"))
	e, err := s.instance(c, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"kind": "calendar#events", "items": []any{e}}, nil
}

// key is the end of an instance's id.
func key(start string) string {
	if at, err := time.Parse(time.RFC3339, start); err == nil {
		return at.UTC().Format("20060102T150405Z")
	}
	return strings.ReplaceAll(start, "-", "")
}

// instance creates an instance from its id and its series.
func (s *Server) instance(c *Calendar, id string) (Event, error) {
	if one := c.events[id]; one != nil {
		return one.event, nil
	}
	series, suffix, _ := strings.Cut(id, "_")
	master := c.events[series]
	if master == nil || master.event["recurrence"] == nil {
		return nil, no(http.StatusNotFound, "notFound", "Not Found")
	}
	e := maps.Clone(master.event)
	delete(e, "recurrence")
	start, _ := e["start"].(map[string]any)
	end, _ := e["end"].(map[string]any)
	if start["date"] != nil {
		day, err := time.Parse("20060102", suffix)
		if err != nil {
			return nil, no(http.StatusBadRequest, "invalid", "Bad original start")
		}
		from, to := parsed(start), parsed(end)
		e["start"] = map[string]any{"date": day.Format(time.DateOnly)}
		e["end"] = map[string]any{"date": day.Add(to.Sub(from)).Format(time.DateOnly)}
	} else {
		at, err := time.Parse("20060102T150405Z", suffix)
		if err != nil {
			return nil, no(http.StatusBadRequest, "invalid", "Bad original start")
		}
		from, to := parsed(start), parsed(end)
		e["start"] = map[string]any{"dateTime": at.Format(time.RFC3339), "timeZone": start["timeZone"]}
		e["end"] = map[string]any{"dateTime": at.Add(to.Sub(from)).Format(time.RFC3339), "timeZone": end["timeZone"]}
	}
	e["id"], e["recurringEventId"], e["originalStartTime"], e["etag"] = id, series, e["start"], fmt.Sprintf("%q",
		"i"+fmt.Sprint(master.changed))
	return e, nil
}

func parsed(m map[string]any) time.Time {
	text, _ := m["dateTime"].(string)
	if text == "" {
		text, _ = m["date"].(string)
		at, _ := time.Parse(time.DateOnly, text)
		return at
	}
	at, _ := time.Parse(time.RFC3339, text)
	return at
}
