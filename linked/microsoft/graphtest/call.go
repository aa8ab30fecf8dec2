package graphtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// create makes an event, and invites its attendees.
// https://learn.microsoft.com/en-us/graph/api/user-post-events
func (s *Server) create(q *request) (int, any, *problem) {
	sent := maps.Clone(q.body)
	for _, e := range s.events {
		if id := text(sent, "transactionId"); id != "" && !e.gone && e.master == "" && e.event["transactionId"] == id {
			return 0, nil, &problem{
				http.StatusConflict, "ErrorDuplicateTransactionId",
				"Your request can't be completed. The TransactionId was used to create another event.",
			}
		}
	}
	e := &entry{event: q.body, extensions: map[string]Event{}}
	for _, x := range objects(sent, "extensions") {
		if p := extend(e, x); p != nil {
			return 0, nil, p
		}
	}
	for _, name := range readOnly {
		delete(e.event, name)
	}
	for _, guest := range objects(e.event, "attendees") {
		delete(guest, "status")
	}
	e.id = s.id()
	if p := s.normalize(e, q.body, false); p != nil {
		return 0, nil, p
	}
	s.store(e)
	s.mail(e, "invitation", nil)
	s.Took(q.Method, e.id, sent)
	v, p := s.shown(q, e)
	return http.StatusCreated, v, p
}

// update changes the properties that a request contains.
// https://learn.microsoft.com/en-us/graph/api/event-update
func (s *Server) update(q *request) (int, any, *problem) {
	sent := maps.Clone(q.body)
	for _, name := range append([]string{"transactionId"}, readOnly...) {
		delete(q.body, name)
	}
	next := *q.entry
	next.event = maps.Clone(q.entry.event)
	known := map[string]any{}
	for _, guest := range objects(next.event, "attendees") {
		known[text(object(guest, "emailAddress"), "address")] = guest["status"]
	}
	for _, guest := range objects(q.body, "attendees") {
		delete(guest, "status")
		if status := known[text(object(guest, "emailAddress"), "address")]; status != nil {
			guest["status"] = status
		}
	}
	maps.Copy(next.event, q.body)
	if p := s.normalize(&next, q.body, false); p != nil {
		return 0, nil, p
	}
	if next.master != "" {
		if p := s.boundary(&next); p != nil {
			return 0, nil, p
		}
	}
	s.store(&next)
	if _, guests := q.body["attendees"]; !guests || len(q.body) > 1 {
		known = nil
	}
	s.mail(&next, "update", known)
	s.Took(q.Method, next.id, sent)
	v, p := s.shown(q, &next)
	return http.StatusOK, v, p
}

// remove deletes an event. The attendees of an organizer get a cancellation.
// https://learn.microsoft.com/en-us/graph/api/event-delete
func (s *Server) remove(q *request) (int, any, *problem) {
	s.mail(q.entry, "cancellation", nil)
	s.drop(q.entry)
	s.Took(q.Method, q.entry.id, nil)
	return http.StatusNoContent, nil, nil
}

// mail writes to the attendees of an organizer's event, except the known ones.
func (s *Server) mail(e *entry, kind string, known map[string]any) {
	for _, guest := range objects(e.event, "attendees") {
		to := text(object(guest, "emailAddress"), "address")
		if known[to] == nil && e.organized() && to != s.Owner {
			s.mails = append(s.mails, Mail{to, kind, text(e.event, "subject")})
		}
	}
}

// respond answers an invitation, and tells the organizer unless sendResponse is false.
// https://learn.microsoft.com/en-us/graph/api/event-accept
func (s *Server) respond(q *request) (int, any, *problem) {
	answer := map[string]string{
		"accept": "accepted", "decline": "declined", "tentativelyAccept": "tentativelyAccepted",
	}[q.name]
	switch {
	case answer == "":
		return 0, nil, bad("RequestBroker--ParseUri", "Resource not found for the segment '%s'.", q.name)
	case q.entry.organized():
		return 0, nil, bad("ErrorInvalidRequest",
			"Your request can't be completed. You can't respond to this meeting because you're the meeting organizer.")
	case q.body["proposedNewTime"] != nil && (q.name == "accept" || q.body["sendResponse"] == false ||
		q.entry.event["allowNewTimeProposals"] == false):
		return 0, nil, bad("ErrorInvalidRequest", "A new time cannot be proposed with this response.")
	}
	next := *q.entry
	next.event = maps.Clone(next.event)
	status := map[string]any{"response": answer, "time": s.now().Format(time.RFC3339)}
	next.event["responseStatus"] = status
	guests := []any{}
	for _, guest := range objects(next.event, "attendees") {
		guest = maps.Clone(guest)
		if text(object(guest, "emailAddress"), "address") == s.Owner {
			guest["status"] = status
		}
		guests = append(guests, guest)
	}
	next.event["attendees"] = guests
	s.store(&next)
	if q.body["sendResponse"] != false {
		to := text(object(object(next.event, "organizer"), "emailAddress"), "address")
		s.mails = append(s.mails, Mail{to, answer, text(next.event, "subject")})
	}
	s.Took("POST "+answer, next.id, q.body)
	return http.StatusAccepted, nil, nil
}

// cancel sends a cancellation and deletes the event; only its organizer can.
// https://learn.microsoft.com/en-us/graph/api/event-cancel
func (s *Server) cancel(q *request) (int, any, *problem) {
	if !q.entry.organized() {
		return 0, nil, bad("ErrorAccessDenied", "Only the organizer can cancel a meeting.")
	}
	s.mail(q.entry, "cancellation", nil)
	s.drop(q.entry)
	s.Took("POST cancel", q.entry.id, q.body)
	return http.StatusAccepted, nil, nil
}

// forward sends the invitation to others, and tells the organizer.
// https://learn.microsoft.com/en-us/graph/api/event-forward
func (s *Server) forward(q *request) (int, any, *problem) {
	to := objects(q.body, "toRecipients")
	if len(to) == 0 {
		return 0, nil, bad("ErrorInvalidRecipients", "At least one recipient is required.")
	}
	for _, one := range to {
		address := text(object(one, "emailAddress"), "address")
		s.mails = append(s.mails, Mail{address, "forward", text(q.entry.event, "subject")})
	}
	s.Took("POST forward", q.entry.id, q.body)
	return http.StatusAccepted, nil, nil
}

func (s *Server) get(q *request) (int, any, *problem) {
	v, p := s.shown(q, q.entry)
	return http.StatusOK, v, p
}

// options are the query parameters of OData that the fake supports.
// https://learn.microsoft.com/en-us/graph/query-parameters
var options = []string{
	"$select", "$expand", "$top", "$orderby", "$filter", "$skip", "startDateTime", "endDateTime", "startdatetime",
	"enddatetime",
}

// shown is an event with the selected properties and expanded relations.
func (s *Server) shown(q *request, e *entry) (Event, *problem) {
	for name := range q.query {
		if !slices.Contains(options, name) {
			return nil, bad("BadRequest", "The query parameter '%s' is not supported.", name)
		}
	}
	v := s.view(e, q.prefs)
	if selected := q.query.Get("$select"); selected != "" {
		kept := Event{"@odata.etag": v["@odata.etag"], "id": v["id"]}
		for name := range strings.SplitSeq(selected, ",") {
			name = strings.TrimSpace(name)
			value, known := v[name]
			switch {
			case name == "cancelledOccurrences" && e.recurring():
				value = e.cancellations()
			case name == "occurrenceId" && e.master != "":
				value = "OID." + e.master + "." + e.day
			case !known && s.schema.field("event", name) == "" && name != "occurrenceId":
				return nil, bad("RequestBroker--ParseUri",
					"Could not find a property named '%s' on type 'microsoft.graph.event'.", name)
			}
			kept[name] = value
		}
		v = kept
	}
	for _, expand := range split(q.query.Get("$expand")) {
		name, inner, _ := strings.Cut(strings.TrimSuffix(expand, ")"), "(")
		switch {
		case strings.EqualFold(name, "extensions"):
			found := []any{}
			for _, known := range slices.Sorted(maps.Keys(e.extensions)) {
				_, id, filtered := strings.Cut(inner, "id eq ")
				if id = strings.Trim(id, "'"); !filtered || id == known || id == prefix+known {
					found = append(found, e.extensions[known])
				}
			}
			if len(found) > 0 {
				v["extensions"] = found
			}
		case name == "exceptionOccurrences" && e.recurring():
			found := []any{}
			for _, id := range slices.Sorted(maps.Keys(s.events)) {
				if one := s.events[id]; one.master == e.id && !one.gone {
					found = append(found, s.view(one, q.prefs))
				}
			}
			v["exceptionOccurrences"] = found
		case name == "exceptionOccurrences", name == "singleValueExtendedProperties", name == "attachments":
		default:
			return nil, bad("RequestBroker--ParseUri", "The relation '%s' cannot be expanded.", name)
		}
	}
	return v, nil
}

// split splits a list at its commas outside of brackets.
func split(text string) (all []string) {
	depth, from := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			if one := strings.TrimSpace(text[from:i]); one != "" {
				all = append(all, one)
			}
			from = i + 1
		}
	}
	return all
}

// page is the rest of a list. A delta query ends with the link of its round.
type page struct {
	items []any
	round string
}

// round is the end of a delta query: the version, and the events that it returned.
type round struct {
	version     int
	from, until time.Time
	returned    map[string]int
}

// answer returns a page of a list, of a size that the request, a preference or the documentation decides.
// https://learn.microsoft.com/en-us/graph/paging
func (s *Server) answer(q *request, all page) (int, any, *problem) {
	size := 10
	if all.round != "" {
		size = 100
	}
	if top := q.query.Get("$top"); top != "" {
		n, err := strconv.Atoi(top)
		if err != nil || n < 1 || n > 1000 {
			return 0, nil, bad("ErrorInvalidUrlQuery", "The value of $top must be between 1 and 1000.")
		}
		size = n
	}
	if q.prefs.size > 0 && all.round != "" {
		size = min(q.prefs.size, 1000)
	}
	if s.PageSize > 0 {
		size = min(size, s.PageSize)
	}
	answer := map[string]any{"value": all.items[:min(size, len(all.items))]}
	link := s.Base + q.URL.EscapedPath() + "?"
	switch {
	case len(all.items) > size && all.round != "":
		token := fmt.Sprint("s", len(s.rest))
		s.rest[token] = page{all.items[size:], all.round}
		answer["@odata.nextLink"] = link + url.Values{"$skiptoken": {token}}.Encode()
	case len(all.items) > size:
		skip, _ := strconv.Atoi(q.query.Get("$skip"))
		keep := q.query
		keep.Set("$skip", strconv.Itoa(skip+size))
		answer["@odata.nextLink"] = link + keep.Encode()
	case all.round != "":
		answer["@odata.deltaLink"] = link + "$deltatoken=" + all.round
	}
	return http.StatusOK, answer, nil
}

// next is the page of a skip token of a delta query.
func (s *Server) next(q *request) (page, bool, *problem) {
	token := q.query.Get("$skiptoken")
	if token == "" {
		return page{}, false, nil
	}
	rest, ok := s.rest[token]
	if !ok {
		return page{}, false, bad("ErrorInvalidUrlQuery", "The skip token is not valid.")
	}
	return rest, true, nil
}

// listed answers a list of events. Its pages are numbered: if an event is deleted meanwhile, later events move.
// https://learn.microsoft.com/en-us/graph/query-parameters#skip
func (s *Server) listed(q *request, entries []*entry) (int, any, *problem) {
	all := page{items: []any{}}
	for _, e := range entries {
		fits, p := s.matches(e, q.query.Get("$filter"))
		if p != nil {
			return 0, nil, p
		}
		v, p := s.shown(q, e)
		if p != nil {
			return 0, nil, p
		}
		if fits {
			all.items = append(all.items, v)
		}
	}
	skip, err := strconv.Atoi(cmp.Or(q.query.Get("$skip"), "0"))
	if err != nil || skip < 0 {
		return 0, nil, bad("ErrorInvalidUrlQuery", "The value of $skip must be a number.")
	}
	all.items = all.items[min(skip, len(all.items)):]
	return s.answer(q, all)
}

// list returns the single instances and the masters of series.
// https://learn.microsoft.com/en-us/graph/api/user-list-events
func (s *Server) list(q *request) (int, any, *problem) {
	var all []*entry
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		if e := s.events[id]; !e.gone && e.master == "" {
			all = append(all, e)
		}
	}
	by, direction, _ := strings.Cut(q.query.Get("$orderby"), " ")
	if by != "" {
		slices.SortStableFunc(all, func(a, b *entry) int {
			order := strings.Compare(s.property(a, by), s.property(b, by))
			if direction == "desc" {
				return -order
			}
			return order
		})
	}
	return s.listed(q, all)
}

// property is the text of a property, such as start/dateTime, for filters and orders.
func (s *Server) property(e *entry, name string) string {
	outer, inner, nested := strings.Cut(name, "/")
	value := s.view(e, preferences{zone: time.UTC, zoneName: "UTC"})[outer]
	if of, is := value.(map[string]any); is && nested {
		value = of[inner]
	}
	return fmt.Sprint(value)
}

// anyExtension selects the events with an extension.
// https://learn.microsoft.com/en-us/graph/api/opentypeextension-get
var anyExtension = regexp.MustCompile(`(?i)^\s*extensions/any\(f:\s*f/id eq '([^']*)'\)\s*$`)

// matches evaluates comparisons such as lastModifiedDateTime ge 2026-03-01T00:00:00Z, joined by and.
// https://learn.microsoft.com/en-us/graph/filter-query-parameter
func (s *Server) matches(e *entry, filter string) (bool, *problem) {
	if filter == "" {
		return true, nil
	}
	fits := true
	for term := range strings.SplitSeq(filter, " and ") {
		if found := anyExtension.FindStringSubmatch(term); found != nil {
			fits = fits && e.extensions[strings.TrimPrefix(found[1], prefix)] != nil
			continue
		}
		words := strings.SplitN(strings.TrimSpace(term), " ", 3)
		if len(words) != 3 {
			return false, bad("ErrorInvalidUrlQueryFilter", "The query filter contains one or more invalid nodes.")
		}
		name, _, _ := strings.Cut(words[0], "/")
		if s.schema.field("event", name) == "" && name != "id" {
			return false, bad("ErrorInvalidUrlQueryFilter", "The property '%s' does not exist.", name)
		}
		order := strings.Compare(s.property(e, words[0]), strings.Trim(words[2], "'"))
		a, aBad := time.Parse(time.RFC3339, s.property(e, words[0]))
		b, bBad := time.Parse(time.RFC3339, words[2])
		if aBad == nil && bBad == nil {
			order = a.Compare(b)
		}
		is, known := map[string]bool{
			"eq": order == 0, "ne": order != 0, "ge": order >= 0, "gt": order > 0, "le": order <= 0, "lt": order < 0,
		}[words[1]]
		if !known {
			return false, bad("ErrorInvalidUrlQueryFilter", "The operator '%s' is not supported.", words[1])
		}
		fits = fits && is
	}
	return fits, nil
}

// window is the required range of a calendar view.
func window(q *request) (from, until time.Time, p *problem) {
	var times [2]time.Time
	for i, name := range []string{"startDateTime", "endDateTime"} {
		given := q.query.Get(name) + q.query.Get(strings.ToLower(name))
		at, err := time.Parse(time.RFC3339, given)
		if err != nil {
			at, err = time.Parse("2006-01-02T15:04:05", given)
		}
		if err != nil {
			return from, until, bad("ErrorInvalidParameter", "This request requires a time window specified by the "+
				"query string parameters startDateTime and endDateTime.")
		}
		times[i] = at
	}
	if !times[0].Before(times[1]) {
		return from, until, bad("ErrorInvalidParameter", "The end of the time window is not after its start.")
	}
	return times[0], times[1], nil
}

// within are the events of a calendar view: single instances, occurrences and exceptions.
// https://learn.microsoft.com/en-us/graph/api/calendar-list-calendarview
func (s *Server) within(from, until time.Time) (all []*entry) {
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		e := s.events[id]
		if e.gone || e.master != "" {
			continue
		}
		all = append(all, s.overlapping(e, from, until)...)
	}
	return all
}

func (s *Server) overlapping(e *entry, from, until time.Time) (all []*entry) {
	candidates := []*entry{e}
	if e.recurring() {
		candidates = s.occurrences(e, from.AddDate(0, 0, -40), until.AddDate(0, 0, 40))
	}
	for _, one := range candidates {
		if one.overlaps(from, until) {
			all = append(all, one)
		}
	}
	return all
}

func (e *entry) overlaps(from, until time.Time) bool {
	start, end := e.time("start"), e.time("end")
	return start.Before(until) && (end.After(from) || start.Equal(end) && !start.Before(from))
}

func (s *Server) calendarView(q *request) (int, any, *problem) {
	from, until, p := window(q)
	if p != nil {
		return 0, nil, p
	}
	return s.listed(q, s.within(from, until))
}

func (s *Server) instances(q *request) (int, any, *problem) {
	from, until, p := window(q)
	if p != nil {
		return 0, nil, p
	}
	if !q.entry.recurring() {
		return 0, nil, bad("ErrorInvalidRequest", "The event is not a recurring master.")
	}
	return s.listed(q, s.overlapping(q.entry, from, until))
}

// delta returns the changes of a calendar view since a delta link.
// https://learn.microsoft.com/en-us/graph/api/event-delta
func (s *Server) delta(q *request) (int, any, *problem) {
	for name := range q.query {
		if strings.HasPrefix(name, "$") && name != "$deltatoken" && name != "$skiptoken" {
			return 0, nil, bad("ErrorInvalidUrlQuery", "The delta function does not support %s.", name)
		}
	}
	rest, more, p := s.next(q)
	if p != nil {
		return 0, nil, p
	}
	if more {
		return s.answer(q, rest)
	}
	last, incremental := s.rounds[q.query.Get("$deltatoken")]
	if !incremental {
		if q.query.Has("$deltatoken") {
			return 0, nil, &problem{http.StatusGone, "SyncStateNotFound", "The sync state generation is not found."}
		}
		if last.from, last.until, p = window(q); p != nil {
			return 0, nil, p
		}
	}
	now := round{s.version, last.from, last.until, map[string]int{}}
	all := page{items: []any{}, round: fmt.Sprint("d", len(s.rounds), "-", s.version)}
	for _, e := range s.tracked(last.from, last.until) {
		now.returned[e.id] = e.version
		if last.returned[e.id] != e.version {
			all.items = append(all.items, s.changed(e, q.prefs))
		}
	}
	// Events that were deleted, or that changed outside of the range.
	removed := map[string]bool{}
	for id := range last.returned {
		removed[id] = true
	}
	for id, e := range s.events {
		outside := !s.Instances || !e.recurring() || !e.gone && !e.overlaps(last.from, last.until)
		removed[id] = removed[id] || incremental && e.version > last.version && outside
	}
	for _, id := range slices.Sorted(maps.Keys(removed)) {
		if _, here := now.returned[id]; removed[id] && !here {
			all.items = append(all.items, Event{"id": id, "@removed": map[string]any{"reason": "deleted"}})
		}
	}
	s.rounds[all.round] = now
	return s.answer(q, all)
}

// changed is an event in a delta query. Occurrences have only their times and the id of their series.
// https://github.com/microsoftgraph/microsoft-graph-docs-contrib/issues/34
func (s *Server) changed(e *entry, prefs preferences) Event {
	v := s.view(e, prefs)
	if v["type"] == "occurrence" {
		v = Event{
			"@odata.etag": v["@odata.etag"], "id": v["id"], "type": v["type"], "seriesMasterId": v["seriesMasterId"],
			"start": v["start"], "end": v["end"],
		}
	}
	v["@odata.type"] = "#microsoft.graph.event"
	return v
}

// tracked are the events that a delta query returns.
func (s *Server) tracked(from, until time.Time) []*entry {
	all := s.within(from, until)
	seen := map[string]bool{}
	for _, e := range all {
		if master := s.events[e.master]; master != nil && !seen[e.master] && !s.Instances {
			all, seen[e.master] = append(all, master), true
		}
	}
	return all
}

const prefix = "Microsoft.OutlookServices.OpenTypeExtension."

// extension completes an open extension.
// https://learn.microsoft.com/en-us/graph/api/resources/opentypeextension
func extension(x Event) Event {
	x = maps.Clone(x)
	x["@odata.type"], x["id"] = "#microsoft.graph.openTypeExtension", prefix+text(x, "extensionName")
	return x
}

// extend adds an open extension to an event.
// https://learn.microsoft.com/en-us/graph/api/opentypeextension-post-opentypeextension
func extend(e *entry, x Event) *problem {
	name := text(x, "extensionName")
	kind := strings.TrimPrefix(text(x, "@odata.type"), "#")
	switch {
	case name == "", !strings.EqualFold(kind, "microsoft.graph.openTypeExtension"):
		return bad("BadRequest", "An open extension needs an @odata.type and an extensionName.")
	case e.extensions[name] != nil:
		return &problem{http.StatusConflict, "ErrorItemSave", "An extension with this name exists."}
	}
	e.extensions[name] = extension(x)
	return nil
}

// extended is the event of a request with changeable extensions.
func (q *request) extended() *entry {
	next := *q.entry
	next.extensions = map[string]Event{}
	maps.Copy(next.extensions, q.entry.extensions)
	return &next
}

func (s *Server) listExtensions(q *request) (int, any, *problem) {
	all := []any{}
	for _, name := range slices.Sorted(maps.Keys(q.entry.extensions)) {
		all = append(all, q.entry.extensions[name])
	}
	return http.StatusOK, map[string]any{"value": all}, nil
}

func (s *Server) createExtension(q *request) (int, any, *problem) {
	next := q.extended()
	if p := extend(next, q.body); p != nil {
		return 0, nil, p
	}
	s.store(next)
	s.Took(q.Method, next.id, q.body)
	return http.StatusCreated, next.extensions[text(q.body, "extensionName")], nil
}

func (s *Server) getExtension(q *request) (int, any, *problem) {
	x := q.entry.extensions[strings.TrimPrefix(q.name, prefix)]
	if x == nil {
		return 0, nil, missing()
	}
	return http.StatusOK, x, nil
}

// updateExtension changes the properties that a request contains; null removes one.
// https://learn.microsoft.com/en-us/graph/api/opentypeextension-update
func (s *Server) updateExtension(q *request) (int, any, *problem) {
	next, name := q.extended(), strings.TrimPrefix(q.name, prefix)
	if next.extensions[name] == nil {
		return 0, nil, missing()
	}
	x := maps.Clone(next.extensions[name])
	for field, value := range q.body {
		if value == nil {
			delete(x, field)
		} else {
			x[field] = value
		}
	}
	x["extensionName"] = name
	next.extensions[name] = extension(x)
	s.store(next)
	s.Took(q.Method, next.id, q.body)
	return http.StatusOK, next.extensions[name], nil
}

func (s *Server) removeExtension(q *request) (int, any, *problem) {
	next, name := q.extended(), strings.TrimPrefix(q.name, prefix)
	if next.extensions[name] == nil {
		return 0, nil, missing()
	}
	delete(next.extensions, name)
	s.store(next)
	s.Took(q.Method, next.id, nil)
	return http.StatusNoContent, nil, nil
}
