// Package graphtest is a Microsoft Graph v1.0 for tests: calendars, events, series and delta queries. It follows the
// published reference, and accepts only the fields and values of the API's description.
// https://learn.microsoft.com/en-us/graph/api/resources/event
package graphtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/linked/rest/resttest"
)

// Event is an event in JSON form.
type Event = map[string]any

// Mail is a message to an attendee or an organizer.
type Mail struct{ To, Kind, Subject string }

// Server is the fake server. It has one calendar, "cal", of its owner.
type Server struct {
	resttest.Faults
	resttest.Writes

	// Good reports whether an access token is valid; nil accepts only "good".
	Good func(access string) bool
	// Now is the server's clock for events and for filters; nil uses one that ticks with each change.
	Now func() time.Time
	// Base is the server's address, for links in responses.
	Base string
	// PageSize is the largest number of events per page; 0 means the documented one.
	PageSize int
	// Owner is the account's address.
	Owner string
	// Instances keeps delta queries to the reference: they return no masters of series, of a deleted series only the
	// instances, and a changed master as removed if its own start is outside the range. Otherwise they return masters
	// as well, as the service has been seen to do.
	Instances bool

	schema schema
	zones  *zone.DB

	mu      sync.Mutex
	events  map[string]*entry
	version int
	made    int
	// rest are the rests of lists, and rounds the ends of delta queries, by token.
	rest   map[string]page
	rounds map[string]round
	mails  []Mail
}

// New makes a server with an empty calendar. It accepts the access token "good".
func New() *Server {
	return &Server{
		Owner: "owner@graph.test", schema: newSchema(), zones: zone.NewDB(), events: map[string]*entry{},
		rest: map[string]page{}, rounds: map[string]round{},
	}
}

// Has reports whether the API description has a field, such as event.subject, or a value, such as importance=high.
func (s *Server) Has(field string) bool { return s.schema[field] != "" }

// Mails returns the messages so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Forget expires all delta links.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.rounds)
}

// Events returns the existing events by id, with their bodies as stored. Series have their cancelledOccurrences.
func (s *Server) Events() map[string]Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]Event{}
	for id, e := range s.events {
		if !e.gone {
			v := s.view(e, preferences{zone: time.UTC, zoneName: "UTC"})
			v["body"], v["cancelledOccurrences"] = e.event["body"], e.cancellations()
			all[id] = copied(v)
		}
	}
	return all
}

// copied is a deep copy of an event in the types of JSON.
func copied(e Event) (copy Event) {
	data, err := json.Marshal(e)
	if err != nil || json.Unmarshal(data, &copy) != nil {
		panic(err)
	}
	return copy
}

// Set writes an event, as the owner does in Outlook.
func (s *Server) Set(e Event) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = copied(e)
	id, _ := e["id"].(string)
	old := s.events[id]
	if old == nil {
		old = &entry{id: s.id(), event: Event{}}
	}
	next := *old
	next.event = maps.Clone(old.event)
	maps.Copy(next.event, e)
	if p := s.normalize(&next, e, true); p != nil {
		panic(p.message)
	}
	s.store(&next)
	return next.id
}

// Except changes the instance of a day, as the owner does in Outlook.
func (s *Server) Except(series, day string, changes Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(series + "." + day); e != nil {
		next := *e
		next.event = maps.Clone(e.event)
		changes = copied(changes)
		maps.Copy(next.event, changes)
		if p := s.normalize(&next, changes, false); p != nil {
			panic(p.message)
		}
		s.store(&next)
	}
}

// Cancel cancels the instance of a day, as the owner does in Outlook. The series shows it only if the field
// cancelledOccurrences is requested.
func (s *Server) Cancel(series, day string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(series + "." + day); e != nil {
		s.drop(e)
	}
}

// Drop deletes an event, as the owner does in Outlook.
func (s *Server) Drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(id); e != nil {
		s.drop(e)
	}
}

// Extend writes an open extension of an event, as another program does.
func (s *Server) Extend(id string, x Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := *s.events[id]
	e.extensions = maps.Clone(e.extensions)
	if e.extensions == nil {
		e.extensions = map[string]Event{}
	}
	e.extensions[fmt.Sprint(x["extensionName"])] = extension(copied(x))
	s.store(&e)
}

// Extensions returns the open extensions of an event by name.
func (s *Server) Extensions(id string) map[string]Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.events[id].extensions)
}

func (s *Server) id() string {
	s.made++
	return fmt.Sprintf("AAMkAGI%05d=", s.made)
}

// Handler serves requests below /v1.0.
func (s *Server) Handler() http.Handler { return s.Before(http.HandlerFunc(s.serve)) }

// request is a request with its preferences, and the event that its path names.
type request struct {
	*http.Request
	query url.Values
	prefs preferences
	body  Event
	entry *entry
	name  string // of an extension or an action
}

// preferences are the values of a Prefer header.
// https://learn.microsoft.com/en-us/graph/api/event-get#request-headers
type preferences struct {
	zone     *time.Location
	zoneName string
	html     bool
	size     int
}

// routes are the methods and their paths below /v1.0, without a calendar. A name in braces is a part of the path.
var routes = []struct {
	verb, path string
	body       string // type of the body
	serve      func(*Server, *request) (int, any, *problem)
}{
	{"GET", "/me", "", (*Server).me},
	{"GET", "/me/calendars", "", (*Server).calendars},
	{"GET", "/me/calendar", "", (*Server).calendar},
	{"GET", "/me/calendars/cal", "", (*Server).calendar},
	{"GET", "/me/events", "", (*Server).list},
	{"POST", "/me/events", "event", (*Server).create},
	{"GET", "/me/calendarView", "", (*Server).calendarView},
	{"GET", "/me/calendarView/delta", "", (*Server).delta},
	{"GET", "/me/events/{id}", "", (*Server).get},
	{"PATCH", "/me/events/{id}", "event", (*Server).update},
	{"DELETE", "/me/events/{id}", "", (*Server).remove},
	{"GET", "/me/events/{id}/instances", "", (*Server).instances},
	{"GET", "/me/events/{id}/extensions", "", (*Server).listExtensions},
	{"POST", "/me/events/{id}/extensions", "extension", (*Server).createExtension},
	{"GET", "/me/events/{id}/extensions/{name}", "", (*Server).getExtension},
	{"PATCH", "/me/events/{id}/extensions/{name}", "extension", (*Server).updateExtension},
	{"DELETE", "/me/events/{id}/extensions/{name}", "", (*Server).removeExtension},
	{"POST", "/me/events/{id}/cancel", "cancel", (*Server).cancel},
	{"POST", "/me/events/{id}/forward", "forward", (*Server).forward},
	{"POST", "/me/events/{id}/{answer}", "answer", (*Server).respond},
}

var inCalendar = regexp.MustCompile(`^/me/(calendar|calendars/cal)/(events|calendarView)`)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, answer, p := s.run(w, r)
	if p != nil {
		p.write(w)
		return
	}
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json;odata.metadata=minimal")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) (int, any, *problem) {
	access, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || s.Good == nil && access != "good" || s.Good != nil && !s.Good(access) {
		return 0, nil, &problem{
			http.StatusUnauthorized, "InvalidAuthenticationToken", "Lifetime validation failed, the token is expired.",
		}
	}
	path, below := strings.CutPrefix(r.URL.EscapedPath(), "/v1.0")
	if decoded, err := url.PathUnescape(path); err == nil && !strings.Contains(path, "%2F") {
		path = decoded
	}
	path = inCalendar.ReplaceAllString(path, "/me/$2")
	q := &request{Request: r, query: r.URL.Query(), prefs: preferences{zone: time.UTC, zoneName: "UTC", html: true}}
	for _, route := range routes {
		parts := match(route.path, path)
		if !below || route.verb != r.Method || parts == nil {
			continue
		}
		if p := s.prefer(w, q); p != nil {
			return 0, nil, p
		}
		if id := parts["id"]; id != "" {
			if q.entry = s.find(id); q.entry == nil {
				return 0, nil, missing()
			}
		}
		q.name = parts["name"] + parts["answer"]
		if p := s.read(q, route.body); p != nil {
			return 0, nil, p
		}
		if p := s.precondition(q); p != nil {
			return 0, nil, p
		}
		return route.serve(s, q)
	}
	return 0, nil, &problem{http.StatusNotFound, "ResourceNotFound", "Resource not found for the segment."}
}

func match(pattern, path string) map[string]string {
	names, parts := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(names) != len(parts) {
		return nil
	}
	found := map[string]string{}
	for i, name := range names {
		if inner, variable := strings.CutPrefix(name, "{"); variable {
			found[strings.TrimSuffix(inner, "}")] = parts[i]
		} else if name != parts[i] {
			return nil
		}
	}
	return found
}

var preference = regexp.MustCompile(`([A-Za-z.-]+)\s*=\s*"?([^",]*)"?`)

func (s *Server) prefer(w http.ResponseWriter, q *request) *problem {
	for _, found := range preference.FindAllStringSubmatch(strings.Join(q.Header.Values("Prefer"), ","), -1) {
		switch value := found[2]; strings.ToLower(found[1]) {
		case "outlook.timezone":
			where, p := s.location(value)
			if p != nil {
				return p
			}
			q.prefs.zone, q.prefs.zoneName = where, value
		case "outlook.body-content-type":
			q.prefs.html = value != "text"
		case "odata.maxpagesize":
			q.prefs.size, _ = strconv.Atoi(value)
			continue
		default:
			continue
		}
		w.Header().Add("Preference-Applied", found[0])
	}
	return nil
}

func (s *Server) location(name string) (*time.Location, *problem) {
	found, err := s.zones.Lookup(name)
	if err != nil {
		return nil, bad("TimeZoneNotSupportedException", "A valid TimeZone value must be specified: %s", name)
	}
	return found.Location(), nil
}

func (s *Server) read(q *request, kind string) *problem {
	if kind == "" {
		return nil
	}
	if !strings.HasPrefix(q.Header.Get("Content-Type"), "application/json") && q.ContentLength != 0 {
		return &problem{http.StatusUnsupportedMediaType, "RequestBodyRead", "The content type is not supported."}
	}
	if err := json.NewDecoder(q.Body).Decode(&q.body); err != nil && q.ContentLength != 0 {
		return bad("BadRequest", "Unable to read JSON request payload.")
	}
	if kind == "extension" {
		return nil
	}
	return s.schema.check("graph."+kind, "", q.body)
}

func (s *Server) precondition(q *request) *problem {
	match := q.Header.Get("If-Match")
	if q.entry != nil && q.Method != http.MethodGet && match != "" && match != "*" && match != q.entry.etag() {
		return &problem{
			http.StatusPreconditionFailed, "ErrorIrresolvableConflict",
			"The change key passed in the request does not match the current change key for the item.",
		}
	}
	return nil
}

func (s *Server) me(*request) (int, any, *problem) {
	return http.StatusOK, map[string]any{"id": "me", "mail": s.Owner, "userPrincipalName": s.Owner}, nil
}

// theCalendar is the account's calendar.
// https://learn.microsoft.com/en-us/graph/api/resources/calendar
func (s *Server) theCalendar() map[string]any {
	return map[string]any{
		"id": "cal", "name": "Calendar", "color": "auto", "hexColor": "", "isDefaultCalendar": true, "changeKey": "1",
		"canShare": true, "canViewPrivateItems": true, "canEdit": true, "isTallyingResponses": true,
		"allowedOnlineMeetingProviders": []any{"teamsForBusiness"}, "defaultOnlineMeetingProvider": "teamsForBusiness",
		"isRemovable": false, "owner": map[string]any{"name": s.Owner, "address": s.Owner},
	}
}

func (s *Server) calendar(*request) (int, any, *problem) { return http.StatusOK, s.theCalendar(), nil }

func (s *Server) calendars(*request) (int, any, *problem) {
	return http.StatusOK, map[string]any{"value": []any{s.theCalendar()}}, nil
}
