package graphtest

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

// delta reports the changes since a link, page by page. For a series it reports an occurrence or an exception, as Graph
// does.
func (s *Server) delta(r *http.Request) (any, error) {
	q := r.URL.Query()
	for _, name := range []string{"$select", "$expand", "$filter", "$orderby", "$search"} {
		if q.Has(name) {
			return nil, no(http.StatusBadRequest, "ErrorInvalidUrlQuery", name+" is not supported by delta queries.")
		}
	}
	since := -1
	if token := q.Get("$deltatoken"); token != "" {
		at, err := strconv.Atoi(token)
		if err != nil || at < s.forgotten {
			return nil, no(http.StatusGone, "SyncStateNotFound", "The sync state generation is not found.")
		}
		since = at
	} else if q.Get("$skiptoken") == "" && (q.Get("startDateTime") == "" || q.Get("endDateTime") == "") {
		return nil, no(http.StatusBadRequest, "ErrorInvalidParameter", "startDateTime and endDateTime are required")
	} else if q.Get("$skiptoken") == "" {
		var err error
		if s.from, s.to, err = window(r); err != nil {
			return nil, err
		}
	}
	from := 0
	if token := q.Get("$skiptoken"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &since, &from); err != nil {
			return nil, no(http.StatusBadRequest, "ErrorInvalidParameter", "bad skip token")
		}
	}
	var found []*stored
	for _, one := range s.events {
		if one.changed > since && (since >= 0 || !one.gone && s.within(one.event, s.from, s.to)) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *stored) int {
		return cmp.Or(cmp.Compare(a.changed, b.changed),
			strings.Compare(fmt.Sprint(a.event["id"]), fmt.Sprint(b.event["id"])))
	})
	end := min(from+s.PageSize, len(found))
	value := []any{}
	for _, one := range found[min(from, len(found)):end] {
		value = append(value, s.row(one)...)
	}
	out := map[string]any{"value": value}
	link := s.Base + "/v1.0/me/calendars/cal/calendarView/delta?"
	if end < len(found) {
		out["@odata.nextLink"] = link + "$skiptoken=" + fmt.Sprintf("%d-%d", since, end)
	} else {
		out["@odata.deltaLink"] = link + "$deltatoken=" + strconv.Itoa(s.clock)
	}
	return out, nil
}

// window parses a request's time range.
func window(r *http.Request) (from, to time.Time, err error) {
	q := r.URL.Query()
	from, err = time.Parse(time.RFC3339, q.Get("startDateTime"))
	if err == nil {
		to, err = time.Parse(time.RFC3339, q.Get("endDateTime"))
	}
	if err != nil {
		err = no(http.StatusBadRequest, "ErrorInvalidParameter", "startDateTime and endDateTime are required")
	}
	return from, to, err
}

// within reports whether an event begins in a window. A series counts as being in every window.
func (s *Server) within(e Event, from, to time.Time) bool {
	at := clockOf(e["start"])
	return e["type"] == "seriesMaster" || !at.Before(from) && at.Before(to)
}

func (s *Server) row(one *stored) []any {
	id := one.event["id"]
	switch {
	case !one.gone && !s.within(one.event, s.from, s.to):
		// Graph also reports events that are outside the window now as removed.
		return []any{map[string]any{"id": id, "@removed": map[string]any{"reason": "deleted"}}}
	case one.gone:
		return []any{map[string]any{"id": id, "@removed": map[string]any{"reason": "deleted"}}}
	case one.event["type"] == "seriesMaster":
		occurrence := map[string]any{
			"id": fmt.Sprint(id, "-o1"), "seriesMasterId": id, "type": "occurrence", "start": one.event["start"],
			"end": one.event["end"],
		}
		return []any{one.event, occurrence}
	}
	return []any{one.event}
}

// view lists the events that begin in a window, and one occurrence per series. Occurrences have no transaction id.
func (s *Server) view(r *http.Request) (any, error) {
	from, to, err := window(r)
	if err != nil {
		return nil, err
	}
	value := []any{}
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		e := s.events[id].event
		switch {
		case s.events[id].gone || !s.within(e, from, to):
		case e["type"] == "seriesMaster":
			occurrence := map[string]any{
				"id": id + "-o1", "seriesMasterId": id, "type": "occurrence",
				"iCalUId": fmt.Sprint(e["iCalUId"], "-o1"), "start": e["start"], "end": e["end"],
			}
			value = append(value, occurrence)
		default:
			value = append(value, e)
		}
	}
	return s.paged(r, value), nil
}

// list lists single events and series of any time, or those changed since a moment.
func (s *Server) list(r *http.Request) (any, error) {
	since, extension := "", ""
	filter := r.URL.Query().Get("$filter")
	if name, of := strings.CutPrefix(filter, "extensions/any(f:f/id eq '"); of {
		extension = strings.TrimPrefix(strings.TrimSuffix(name, "')"), fullName)
	} else if filter != "" {
		name, at, _ := strings.Cut(filter, " ge ")
		if _, err := time.Parse(time.RFC3339, at); err != nil || name != "lastModifiedDateTime" {
			return nil, no(http.StatusBadRequest, "ErrorInvalidUrlQueryFilter", "The filter is not understood.")
		}
		since = at
	}
	value := []any{}
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		e := s.events[id].event
		changed, _ := e["lastModifiedDateTime"].(string)
		if s.events[id].gone || e["seriesMasterId"] != nil || changed < since ||
			extension != "" && s.extensions[id][extension] == nil {
			continue
		}
		shown, err := s.expanded(r, e)
		if err != nil {
			return nil, err
		}
		value = append(value, shown)
	}
	return s.paged(r, value), nil
}

func (s *Server) get(r *http.Request) (any, error) {
	one := s.events[r.PathValue("event")]
	if one == nil || one.gone {
		return nil, errNotFound
	}
	return s.expanded(r, one.event)
}

// words are the enumerations of fields.
var words = map[string]string{"showAs": "freeBusyStatus", "sensitivity": "sensitivity", "importance": "importance"}

// body reads an event and rejects fields and values that the API description does not have.
func (s *Server) body(r *http.Request) (Event, error) {
	var e Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		return nil, no(http.StatusBadRequest, "BadRequest", "Unable to read JSON request payload.")
	}
	for name, value := range e {
		if name == "extensions" {
			continue // insert reads it
		}
		if !s.fields["event."+name] && !s.fields["outlookItem."+name] {
			return nil, no(http.StatusBadRequest, "RequestBodyRead", "event has no property "+name)
		}
		if of := words[name]; of != "" && !s.fields[of+"="+fmt.Sprint(value)] {
			return nil, no(http.StatusBadRequest, "RequestBodyRead", of+" has no word "+fmt.Sprint(value))
		}
	}
	if rec, _ := e["recurrence"].(map[string]any); rec != nil {
		pattern, _ := rec["pattern"].(map[string]any)
		span, _ := rec["range"].(map[string]any)
		if !s.fields["recurrencePatternType="+fmt.Sprint(pattern["type"])] ||
			!s.fields["recurrenceRangeType="+fmt.Sprint(span["type"])] {
			return nil, no(http.StatusBadRequest, "ErrorPropertyValidationFailure", "bad recurrence")
		}
		for name := range pattern {
			if !s.fields["recurrencePattern."+name] {
				return nil, no(http.StatusBadRequest, "RequestBodyRead", "recurrencePattern has no property "+name)
			}
		}
	}
	return e, nil
}

func (s *Server) insert(r *http.Request) (any, error) {
	e, err := s.body(r)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprint(e["transactionId"])
	if s.names[name] {
		return nil, no(http.StatusConflict, "ErrorDuplicateTransactionId",
			"Your request can't be completed. An item with the same transaction id exists.")
	}
	if err := timed(e); err != nil {
		return nil, err
	}
	if err := ruled(e); err != nil {
		return nil, err
	}
	var extensions []Event
	list, _ := e["extensions"].([]any)
	for _, sent := range list {
		x, err := s.extension(sent)
		if err != nil {
			return nil, err
		}
		extensions = append(extensions, x)
	}
	delete(e, "extensions")
	s.names[name] = true
	made := s.take(r, e, e)
	for _, x := range extensions {
		s.attach(fmt.Sprint(made["id"]), x)
	}
	if len(extensions) != 0 {
		made = maps.Clone(made)
		made["extensions"] = extensions
	}
	return made, nil
}

// take stores the event of a write request.
func (s *Server) take(r *http.Request, e, sent Event) Event {
	made := s.put(e)
	s.Took(r.Method, fmt.Sprint(made["id"]), sent)
	return made
}

// found returns the event of a request and checks the If-Match header. It derives an unmodified occurrence from its
// series.
func (s *Server) found(r *http.Request) (Event, error) {
	id := r.PathValue("event")
	if one := s.events[id]; one != nil && !one.gone {
		if match := r.Header.Get("If-Match"); match != "" && match != one.event["@odata.etag"] {
			return nil, no(http.StatusPreconditionFailed, "ErrorIrresolvableConflict", "The change key does not match.")
		}
		return maps.Clone(one.event), nil
	}
	series, day, parted := strings.Cut(id, "-d")
	one := s.events[series]
	if !parted || one == nil || one.gone {
		return nil, errNotFound
	}
	return s.occurrence(one.event, day)
}

// occurrence creates the instance of a day. The fake's days are the UTC days when instances begin.
func (s *Server) occurrence(series Event, day string) (Event, error) {
	at := clockOf(series["start"])
	on, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, errNotFound
	}
	z, err := time.LoadLocation(fmt.Sprint(series["originalStartTimeZone"]))
	if err != nil || series["isAllDay"] == true {
		z = time.UTC
	}
	local := at.In(z)
	begin := time.Date(on.Year(), on.Month(), on.Day(), local.Hour(), local.Minute(), local.Second(), 0, z).UTC()
	e := maps.Clone(series)
	for _, name := range []string{"recurrence", "transactionId", "@odata.etag", "cancelledOccurrences"} {
		delete(e, name)
	}
	e["id"], e["type"], e["seriesMasterId"] = fmt.Sprint(series["id"], "-d", day), "exception", series["id"]
	e["originalStart"], e["iCalUId"] = begin.Format(time.RFC3339), fmt.Sprint(series["iCalUId"], "-", day)
	e["start"] = map[string]any{"dateTime": begin.Format("2006-01-02T15:04:05"), "timeZone": "UTC"}
	e["end"] = map[string]any{
		"dateTime": begin.Add(clockOf(series["end"]).Sub(at)).Format("2006-01-02T15:04:05"), "timeZone": "UTC",
	}
	return e, nil
}

func clockOf(side any) time.Time {
	m, _ := side.(map[string]any)
	text, _ := m["dateTime"].(string)
	text, _, _ = strings.Cut(text, ".")
	at, _ := time.Parse("2006-01-02T15:04:05", text)
	return at
}

// instances lists the days of a window. The fake treats every day as an instance.
func (s *Server) instances(r *http.Request) (any, error) {
	one := s.events[r.PathValue("event")]
	if one == nil || one.gone || one.event["type"] != "seriesMaster" {
		return nil, errNotFound
	}
	from, err := time.Parse(time.RFC3339, r.URL.Query().Get("startDateTime"))
	if err != nil {
		return nil, no(http.StatusBadRequest, "ErrorInvalidParameter", "startDateTime is required")
	}
	value := []any{}
	for n := range 4 {
		day := from.AddDate(0, 0, n).Format(time.DateOnly)
		e, err := s.occurrence(one.event, day)
		if err != nil {
			return nil, err
		}
		if there := s.events[fmt.Sprint(e["id"])]; there != nil {
			if there.gone {
				continue
			}
			e = there.event
		} else {
			e["type"] = "occurrence"
		}
		value = append(value, e)
	}
	return map[string]any{"value": value}, nil
}

func (s *Server) patch(r *http.Request) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	changes, err := s.body(r)
	if err != nil {
		return nil, err
	}
	if changes["transactionId"] != nil {
		return nil, invalid("The transactionId cannot be changed.")
	}
	if err := s.changeable(e, changes); err != nil {
		return nil, err
	}
	if changes["recurrence"] != nil || changes["start"] != nil && e["type"] == "seriesMaster" {
		s.reset(e)
	}
	maps.Copy(e, changes)
	maps.DeleteFunc(e, func(_ string, value any) bool { return value == nil })
	return s.take(r, e, changes), nil
}

// replies are the answers that an attendee can give, and the responses that they become.
var replies = map[string]string{
	"accept": "accepted", "decline": "declined", "tentativelyAccept": "tentativelyAccepted",
}

// reply serves an attendee's answer.
func (s *Server) reply(r *http.Request, response string) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	if e["isOrganizer"] == true {
		return nil, no(http.StatusBadRequest, "ErrorInvalidRequest", "You can't respond to your own meeting.")
	}
	var sent Event
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, no(http.StatusBadRequest, "ErrorInvalidRequest", "the body is no JSON")
	}
	status := map[string]any{"response": response, "time": s.at()}
	e["responseStatus"] = status
	guests, _ := e["attendees"].([]any)
	answered := make([]any, 0, len(guests))
	for _, g := range guests {
		guest, _ := g.(map[string]any)
		guest = maps.Clone(guest)
		if at, _ := guest["emailAddress"].(map[string]any); strings.EqualFold(fmt.Sprint(at["address"]), s.Owner) {
			guest["status"] = status
		}
		answered = append(answered, guest)
	}
	e["attendees"] = answered
	s.put(e)
	s.Took(r.Method+" "+response, fmt.Sprint(e["id"]), sent)
	return nil, nil // as Graph, which answers 202 without a body
}

// changeable rejects changes that would leave an event with impossible times or rules.
func (s *Server) changeable(now, changes Event) error {
	next := maps.Clone(now)
	maps.Copy(next, changes)
	if err := timed(next); err != nil {
		return err
	}
	if series := s.events[fmt.Sprint(now["seriesMasterId"])]; series != nil {
		return crossing(series.event, next)
	}
	if changes["start"] == nil && changes["recurrence"] == nil {
		return nil
	}
	if changes["start"] == nil {
		next["start"] = zoned(now["start"], now["originalStartTimeZone"])
	}
	return ruled(next)
}

// zoned returns a time in another zone.
func zoned(side, zone any) any {
	z, err := time.LoadLocation(fmt.Sprint(zone))
	if err != nil {
		return side
	}
	return map[string]any{"dateTime": inZone(side).In(z).Format("2006-01-02T15:04:05"), "timeZone": zone}
}

// reset drops all exceptions of a series, as a change of its rule does.
func (s *Server) reset(series Event) {
	for id, one := range s.events {
		if one.event["seriesMasterId"] == series["id"] {
			delete(s.events, id)
		}
	}
	delete(series, "cancelledOccurrences")
}

func (s *Server) remove(r *http.Request) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	s.drop(e)
	s.Took(r.Method, fmt.Sprint(e["id"]), nil)
	return nil, nil // a deletion has no response body
}

func (s *Server) drop(e Event) {
	id := fmt.Sprint(e["id"])
	if series := s.events[fmt.Sprint(e["seriesMasterId"])]; series != nil {
		master := maps.Clone(series.event)
		list, _ := master["cancelledOccurrences"].([]any)
		_, day, _ := strings.Cut(id, "-d")
		master["cancelledOccurrences"] = append(slices.Clone(list), fmt.Sprint("OID.", master["id"], ".", day))
		s.put(master)
	}
	s.clock++
	s.events[id] = &stored{event: e, changed: s.clock, gone: true}
	for _, one := range s.events {
		if one.event["seriesMasterId"] == e["id"] {
			one.gone, one.changed = true, s.clock
		}
	}
}
