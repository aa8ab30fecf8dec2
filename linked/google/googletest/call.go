package googletest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

// answer is the response with an event.
func (q *request) answer(e *entry) (any, *resttest.Problem) {
	zone, p := q.zone()
	if p != nil {
		return nil, p
	}
	return q.crowd(q.cal.view(e, zone)), nil
}

func (q *request) zone() (*time.Location, *resttest.Problem) {
	name := q.Query.Get("timeZone")
	if name == "" {
		return q.cal.zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, resttest.Invalid("timeZone", "Invalid time zone: %s", name)
	}
	return zone, nil
}

// crowd leaves out the guests of an event with more than maxAttendees, except the account itself.
func (q *request) crowd(v Event) Event {
	guests := asList(v["attendees"])
	if most, err := strconv.Atoi(q.Query.Get("maxAttendees")); err == nil && len(guests) > most {
		v["attendees"] = slices.DeleteFunc(slices.Clone(guests), func(guest any) bool {
			one, _ := guest.(map[string]any)
			return one["self"] != true
		})
		v["attendeesOmitted"] = true
	}
	return v
}

func (s *Server) get(q *request) (any, *resttest.Problem) { return q.answer(q.entry) }

// ignored removes the fields of a body that its parameters do not enable, and the read-only ones.
func (q *request) ignored() {
	for _, name := range append([]string{"creator"}, readOnly...) {
		delete(q.Body, name)
	}
	for name, enabled := range map[string]bool{
		"conferenceData": q.Query.Get("conferenceDataVersion") == "1", "attachments": q.is("supportsAttachments"),
		"eventLabelId": q.Query.Get("eventLabelVersion") == "1", "colorId": q.Query.Get("eventLabelVersion") != "1",
		"organizer": q.Name == "events.import",
	} {
		if !enabled {
			delete(q.Body, name)
		}
	}
}

// insert creates an event; import creates a private copy of one that has an organizer elsewhere.
// https://developers.google.com/workspace/calendar/api/v3/reference/events/insert
func (s *Server) insert(q *request) (any, *resttest.Problem) {
	sent := maps.Clone(q.Body)
	q.ignored()
	next := q.Body
	maps.DeleteFunc(next, func(_ string, value any) bool { return value == nil })
	delete(next, "recurringEventId")
	delete(next, "originalStartTime")
	id, uid := text(next, "id"), text(next, "iCalUID")
	imports := q.Name == "events.import"
	switch {
	case imports && uid == "":
		return nil, &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "global", Reason: "required", Message: "Missing iCalUID.",
		}
	case imports && text(next, "eventType") != "" && next["eventType"] != "default":
		return nil, resttest.Invalid("eventType", "Only events of type default can be imported.")
	case id != "" && uid != "" && !imports:
		return nil, resttest.Invalid("iCalUID", "Only one of id and iCalUID can be supplied.")
	case id != "" && !validID(id):
		return nil, resttest.Invalid("id", "Invalid resource id value.")
	case id == "":
		id = fmt.Sprintf("ev%022d", s.version)
	}
	d := &draft{Server: s, cal: q.cal, body: sent, query: q.Query}
	for at, e := range q.cal.events {
		same := uid != "" && e.event["iCalUID"] == uid && e.series() == ""
		if same && imports && e.deleted() {
			id, d.old = at, e
		} else if same || at == id {
			return nil, &resttest.Problem{
				Code: http.StatusConflict, Domain: "global", Reason: "duplicate",
				Message: "The requested identifier already exists.",
			}
		}
	}
	next["id"] = id
	if p := d.write(next); p != nil {
		return nil, p
	}
	s.Took(q.Verb, id, sent)
	return q.answer(q.cal.events[id])
}

// kept are the fields that an update cannot change.
var kept = []string{"id", "iCalUID", "recurringEventId", "originalStartTime", "organizer", "creator", "eventType"}

// change is an update, which replaces an event, or a patch, which merges fields. Arrays are replaced in both.
// https://developers.google.com/workspace/calendar/api/guides/performance#patch
func (s *Server) change(q *request) (any, *resttest.Problem) {
	old, sent := q.entry.event, maps.Clone(q.Body)
	for _, name := range kept {
		value, plain := q.Body[name].(string)
		if plain && value != old[name] {
			return nil, resttest.Invalid(name, "The field %s cannot be changed.", name)
		}
		delete(q.Body, name)
	}
	q.ignored()
	next := Event{}
	if q.Verb == http.MethodPatch {
		next = merged(old, q.Body)
	} else {
		for _, name := range kept {
			next[name] = old[name]
		}
		for _, name := range []string{"conferenceData", "attachments", "eventLabelId"} {
			if _, ok := sent[name]; !ok || q.Body[name] == nil && sent[name] != nil {
				next[name] = old[name]
			}
		}
		maps.Copy(next, q.Body)
	}
	maps.DeleteFunc(next, func(_ string, value any) bool { return value == nil })
	d := &draft{Server: s, cal: q.cal, body: sent, old: q.entry, query: q.Query}
	if p := d.write(next); p != nil {
		return nil, p
	}
	id := text(old, "id")
	s.Took(q.Verb, id, sent)
	return q.answer(q.cal.events[id])
}

// merged applies a patch: objects are merged, and null removes a field.
func merged(old, patch map[string]any) map[string]any {
	next := maps.Clone(old)
	if next == nil {
		next = map[string]any{}
	}
	for name, value := range patch {
		switch inner, is := value.(map[string]any); {
		case value == nil:
			delete(next, name)
		case is:
			next[name] = merged(object(next, name), inner)
		default:
			next[name] = value
		}
	}
	return next
}

func (s *Server) remove(q *request) (any, *resttest.Problem) {
	if q.entry.cancelled() {
		return nil, &resttest.Problem{
			Code: http.StatusGone, Domain: "global", Reason: "deleted", Message: "Resource has been deleted",
		}
	}
	d := &draft{Server: s, cal: q.cal, query: q.Query}
	d.notify(nil, q.entry.event)
	s.drop(q.cal, q.entry)
	s.Took(q.Verb, text(q.entry.event, "id"), nil)
	return nil, nil
}

// single are the parameters that cannot be used with a sync token.
// https://developers.google.com/workspace/calendar/api/v3/reference/events/list#syncToken
var single = []string{
	"iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
}

// search is a list request. since is the version of its sync token, or -1.
type search struct {
	*request
	filter            url.Values
	since             int
	singles, unlisted bool
}

// page is the rest of a list; its token is valid for the version of the list's beginning.
type page struct {
	items []Event
	sync  string
}

// list lists events, or the instances of one.
func (s *Server) list(q *request) (any, *resttest.Problem) {
	rest, p := s.remaining(q)
	if p != nil {
		return nil, p
	}
	size := limited(q.Query.Get("maxResults"), 250, 2500)
	if s.PageSize > 0 {
		size = min(size, s.PageSize)
	}
	answer := map[string]any{
		"kind": "calendar#events", "etag": fmt.Sprintf(`"%d"`, s.version), "summary": q.cal.Summary,
		"timeZone": q.cal.Zone, "accessRole": q.cal.Role, "defaultReminders": defaultReminders,
		"updated": time.Unix(0, 0).UTC().Format(stampForm), "items": rest.items[:min(size, len(rest.items))],
	}
	if len(rest.items) <= size {
		if rest.sync != "" && q.Name == "events.list" {
			answer["nextSyncToken"] = rest.sync
		}
		return answer, nil
	}
	from := size
	if s.Twice && size > 1 {
		from--
	}
	token := fmt.Sprint("p", len(s.pages))
	if s.pages == nil {
		s.pages = map[string]page{}
	}
	s.pages[token] = page{rest.items[from:], rest.sync}
	answer["nextPageToken"] = token
	return answer, nil
}

func limited(given string, usual, most int) int {
	if n, err := strconv.Atoi(given); err == nil {
		return min(n, most)
	}
	return usual
}

func pageAt(token string, most int) (int, *resttest.Problem) {
	at, err := strconv.Atoi(strings.TrimPrefix(token, "p"))
	if token != "" && (err != nil || at > most) {
		return 0, resttest.Invalid("pageToken", "Invalid page token value.")
	}
	return at, nil
}

// remaining is the page of a token, or the whole result of a new list.
func (s *Server) remaining(q *request) (page, *resttest.Problem) {
	if token := q.Query.Get("pageToken"); token != "" {
		found, ok := s.pages[token]
		if !ok {
			return page{}, resttest.Invalid("pageToken", "Invalid page token value.")
		}
		return found, nil
	}
	f, p := s.begin(q)
	if p != nil {
		return page{}, p
	}
	zone, p := q.zone()
	if p != nil {
		return page{}, p
	}
	found := page{items: []Event{}}
	for _, e := range f.entries() {
		v := q.crowd(q.cal.view(e, zone))
		// Incremental syncs with showDeleted=false return no details of deleted events.
		if e.deleted() && !f.is("showDeleted") {
			v = Event{"kind": v["kind"], "etag": v["etag"], "id": v["id"], "status": v["status"]}
		}
		found.items = append(found.items, v)
	}
	narrowing := []string{"iCalUID", "orderBy", "q", "updatedMin", "privateExtendedProperty"}
	if slices.ContainsFunc(narrowing, f.filter.Has) {
		return found, nil
	}
	found.sync = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(s.version) + "?" + f.filter.Encode()))
	return found, nil
}

// begin validates the parameters of a list.
func (s *Server) begin(q *request) (*search, *resttest.Problem) {
	f := &search{request: q, filter: maps.Clone(q.Query), since: -1, unlisted: s.Unlisted}
	for _, name := range []string{
		"syncToken", "maxResults", "maxAttendees", "timeZone", "fields", "alt", "prettyPrint", "alwaysIncludeEmail",
	} {
		f.filter.Del(name)
	}
	if token := q.Query.Get("syncToken"); token != "" {
		known, err := base64.RawURLEncoding.DecodeString(token)
		version, filter, ok := strings.Cut(string(known), "?")
		since, wrong := strconv.Atoi(version)
		if err != nil || !ok || wrong != nil {
			return nil, resttest.Invalid("syncToken", "Invalid sync token value.")
		}
		if since < s.oldest {
			return nil, &resttest.Problem{
				Code: http.StatusGone, Domain: "calendar", Reason: "fullSyncRequired", Location: "syncToken",
				Message: "Sync token is no longer valid, a full sync is required.",
			}
		}
		for _, name := range single {
			if q.Query.Has(name) || q.Query.Get("showDeleted") == "false" {
				return nil, &resttest.Problem{
					Code: http.StatusBadRequest, Domain: "global", Reason: "syncTokenWithRequestRestrictions",
					Location: name, Message: "Sync token cannot be used with other request restrictions.",
				}
			}
		}
		first, _ := url.ParseQuery(filter)
		for _, name := range []string{"singleEvents", "showDeleted", "eventTypes", "showHiddenInvitations"} {
			if !slices.Equal(first[name], f.filter[name]) {
				return nil, resttest.Invalid(name, "The parameter %s differs from the initial synchronization.", name)
			}
		}
		f.since, f.filter = since, first
	}
	f.singles = q.is("singleEvents") || q.Name == "events.instances"
	if q.Query.Get("orderBy") == "startTime" && !f.singles {
		return nil, &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "requestedOrderingNotAvailable",
			Location: "orderBy", Message: "The requested ordering is not available for the particular query.",
		}
	}
	if from, until := f.time("timeMin"), f.time("timeMax"); !until.IsZero() && !from.Before(until) {
		return nil, &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "timeRangeEmpty", Location: "timeMax",
			Message: "The specified time range is empty.",
		}
	}
	return f, nil
}

func (f *search) time(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, f.filter.Get(name))
	return at
}

// entries are the events of a list, in its order.
func (f *search) entries() (all []*entry) {
	for _, id := range slices.Sorted(maps.Keys(f.cal.events)) {
		e := f.cal.events[id]
		if f.Name == "events.instances" && id != text(f.entry.event, "id") && e.series() != text(f.entry.event, "id") {
			continue
		}
		for _, one := range f.expanded(e) {
			if f.matches(one) {
				all = append(all, one)
			}
		}
	}
	less := map[string]func(a, b *entry) int{
		"startTime": func(a, b *entry) int { return f.start(a).Compare(f.start(b)) },
		"updated":   func(a, b *entry) int { return a.updated.Compare(b.updated) },
	}[f.filter.Get("orderBy")]
	if less != nil {
		slices.SortStableFunc(all, less)
	}
	return all
}

func (f *search) start(e *entry) time.Time { return begin(object(e.event, "start"), f.cal.zone) }

// expanded is an event, or the instances of a series that are not exceptions.
func (f *search) expanded(e *entry) (all []*entry) {
	if !f.singles || e.event["recurrence"] == nil {
		return []*entry{e}
	}
	series := f.cal.starts(e.event)
	length := begin(object(e.event, "end"), f.cal.zone).Sub(f.start(e))
	from := f.time("timeMin")
	if !from.IsZero() {
		from = from.Add(-length - 24*time.Hour)
	}
	for _, at := range series.Starts(from, f.time("timeMax"), 750) {
		if one := e.at(at); f.cal.events[text(one.event, "id")] == nil {
			all = append(all, one)
		}
	}
	return all
}

// matches reports whether a list contains an event.
func (f *search) matches(e *entry) bool {
	updated := f.filter.Get("updatedMin") != ""
	changes := f.since >= 0 || updated
	if e.version <= f.since || updated && e.updated.Before(f.time("updatedMin")) {
		return false
	}
	if e.cancelled() && !changes && !f.is("showDeleted") && (e.deleted() || f.singles) {
		return false
	}
	for name, field := range map[string]string{"iCalUID": "iCalUID", "eventTypes": "eventType"} {
		if f.filter.Has(name) && !slices.Contains(f.filter[name], text(e.event, field)) {
			return false
		}
	}
	if f.unlisted && e.cancelled() && e.series() != "" && f.filter.Has("iCalUID") || !f.found(e) {
		return false
	}
	if original := f.filter.Get("originalStart"); original != "" {
		at, err := time.Parse(time.RFC3339, original)
		side := object(e.event, "originalStartTime")
		if side["date"] != original && (err != nil || !begin(side, f.cal.zone).Equal(at)) {
			return false
		}
	}
	return e.cancelled() && e.event["start"] == nil || f.within(e)
}

// within reports whether an event, or an instance of a series, overlaps the time of the list.
func (f *search) within(e *entry) bool {
	from, until := f.time("timeMin"), f.time("timeMax")
	if from.IsZero() && until.IsZero() {
		return true
	}
	start, end := f.start(e), begin(object(e.event, "end"), f.cal.zone)
	if series := f.cal.starts(e.event); series != nil {
		if !from.IsZero() {
			from = from.Add(start.Sub(end))
		}
		return len(series.Starts(from, until, 1)) > 0
	}
	return (until.IsZero() || start.Before(until)) && (from.IsZero() || end.After(from))
}

// found reports whether the event has the terms and extended properties of the list.
func (f *search) found(e *entry) bool {
	content := fmt.Sprint(e.event["summary"], e.event["description"], e.event["location"], e.event["attendees"],
		e.event["organizer"], e.event["workingLocationProperties"])
	for term := range strings.FieldsSeq(strings.ToLower(f.filter.Get("q"))) {
		if !strings.Contains(strings.ToLower(content), term) {
			return false
		}
	}
	for _, kind := range []string{"private", "shared"} {
		for _, constraint := range f.filter[kind+"ExtendedProperty"] {
			name, value, _ := strings.Cut(constraint, "=")
			if object(object(e.event, "extendedProperties"), kind)[name] != value {
				return false
			}
		}
	}
	return true
}
