// Package googletest is a small Google Calendar API v3 for tests: calendars, events, sync tokens and ETags as in the
// published API description. It accepts no parameter and no field that the description does not have.
package googletest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

// fieldsText is an extract of the discovery document.
//
//go:embed fields.txt
var fieldsText string

// Event is an event in JSON form.
type Event = map[string]any

// Calendar is a calendar with its events.
type Calendar struct {
	ID, Summary, Zone, Role string
	events                  map[string]*stored
}

type stored struct {
	event   Event
	changed int
}

// Server is the fake server.
type Server struct {
	resttest.Faults
	resttest.Writes

	// Good reports whether an access token is valid; nil accepts the allowed ones.
	Good func(access string) bool
	// Now is the server's clock for events; nil uses one that ticks with each change.
	Now func() time.Time
	// PageSize is the number of events per page.
	PageSize int
	// Unlisted leaves cancelled instances out of lists by UID.
	Unlisted bool
	// Twice repeats the last event of a page on the next one.
	Twice bool

	mu        sync.Mutex
	calendars map[string]*Calendar
	clock     int
	forgotten int
	tokens    map[string]bool
	fields    map[string]bool
}

// New makes a server without calendars. It accepts the access token "good".
func New() *Server {
	s := &Server{
		PageSize: 3, calendars: map[string]*Calendar{}, tokens: map[string]bool{"good": true},
		fields: map[string]bool{},
	}
	for line := range strings.Lines(fieldsText) {
		words := strings.Fields(line)
		if len(words) > 1 && !strings.HasPrefix(line, "#") {
			s.fields[words[0]] = true
			if words[0] == "parameter" {
				s.fields[words[1]+"?"+words[2]] = true
			}
		}
	}
	return s
}

// Has reports whether the API description has a field, such as Event.summary.
func (s *Server) Has(field string) bool { return s.fields[field] }

// Add creates a calendar.
func (s *Server) Add(id, zone string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calendars[id] = &Calendar{
		ID: id, Summary: "Calendar " + id, Zone: zone, Role: "owner", events: map[string]*stored{},
	}
}

// Allow replaces the accepted access tokens.
func (s *Server) Allow(tokens ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = map[string]bool{}
	for _, t := range tokens {
		s.tokens[t] = true
	}
}

// Forget expires all sync tokens.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = s.clock
}

// Set writes an event, as the owner does in the browser.
func (s *Server) Set(calendar string, e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.calendars[calendar], e)
}

// Drop deletes an event, as the owner does in the browser.
func (s *Server) Drop(calendar, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calendars[calendar]
	if one := c.events[id]; one != nil {
		s.drop(c, one.event)
	}
}

// Cancel cancels the instance with an original start, as the owner does in the browser.
func (s *Server) Cancel(calendar, series, original string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calendars[calendar]
	if e, err := s.instance(c, series+"_"+key(original)); err == nil && e["status"] != "cancelled" {
		s.drop(c, e)
	}
}

// Events returns the existing events by id.
func (s *Server) Events(calendar string) map[string]Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Event{}
	for id, one := range s.calendars[calendar].events {
		if one.event["status"] != "cancelled" || one.event["recurringEventId"] != nil {
			out[id] = maps.Clone(one.event)
		}
	}
	return out
}

// put stores an event in its next state.
func (s *Server) put(c *Calendar, e Event) Event {
	s.clock++
	e = maps.Clone(e)
	if e["id"] == nil {
		e["id"] = fmt.Sprintf("ev%06d", s.clock)
	}
	if e["iCalUID"] == nil && (e["status"] != "cancelled" || e["recurringEventId"] == nil) {
		e["iCalUID"] = fmt.Sprint(e["id"], "@google.com")
	}
	at := time.Date(2026, 1, 1, 0, 0, s.clock, 0, time.UTC).Format(time.RFC3339)
	if s.Now != nil {
		at = s.Now().UTC().Format(time.RFC3339)
	}
	if e["created"] == nil {
		e["created"] = at
	}
	c.fill(e)
	e["kind"], e["updated"], e["etag"] = "calendar#event", at, strconv.Quote(strconv.Itoa(s.clock))
	c.events[fmt.Sprint(e["id"])] = &stored{event: e, changed: s.clock}
	return e
}

// Handler serves requests below /calendar/v3.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	const base = "/calendar/v3"
	mux.HandleFunc("GET "+base+"/users/me/calendarList", s.guarded("calendarList.list", s.calendarList))
	mux.HandleFunc("GET "+base+"/users/me/calendarList/{calendar}", s.guarded("calendarList.get", s.calendarEntry))
	mux.HandleFunc("GET "+base+"/calendars/{calendar}/events", s.guarded("events.list", s.list))
	mux.HandleFunc("POST "+base+"/calendars/{calendar}/events", s.guarded("events.insert", s.insert))
	mux.HandleFunc("POST "+base+"/calendars/{calendar}/events/import", s.guarded("events.import", s.insert))
	mux.HandleFunc("GET "+base+"/calendars/{calendar}/events/{event}", s.guarded("events.get", s.get))
	mux.HandleFunc("PATCH "+base+"/calendars/{calendar}/events/{event}", s.guarded("events.patch", s.patch))
	mux.HandleFunc("PUT "+base+"/calendars/{calendar}/events/{event}", s.guarded("events.update", s.replace))
	mux.HandleFunc("DELETE "+base+"/calendars/{calendar}/events/{event}", s.guarded("events.delete", s.remove))
	mux.HandleFunc("GET "+base+"/calendars/{calendar}/events/{event}/instances",
		s.guarded("events.instances", s.instances))
	return s.Before(mux)
}

// failure is an error response.
type failure struct {
	status         int
	reason, detail string
}

func (f *failure) Error() string { return f.reason + ": " + f.detail }

func no(status int, reason, detail string) error { return &failure{status, reason, detail} }

// guarded serves one method, and rejects requests that do not conform to the API description.
func (s *Server) guarded(method string, answer func(r *http.Request, c *Calendar) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, err := s.answer(method, r, answer)
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		if f, failed := err.(*failure); failed {
			w.WriteHeader(f.status)
			body = map[string]any{"error": map[string]any{
				"code": f.status, "message": f.detail,
				"errors": []any{map[string]any{"domain": "global", "reason": f.reason, "message": f.detail}},
			}}
		}
		if body == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (s *Server) answer(method string, r *http.Request,
	answer func(*http.Request, *Calendar) (any, error),
) (any, error) {
	access, good := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), s.Good
	if good == nil {
		good = func(access string) bool { return s.tokens[access] }
	}
	if !good(access) {
		return nil, no(http.StatusUnauthorized, "authError", "Invalid Credentials")
	}
	for name := range r.URL.Query() {
		if !s.fields[method+"?"+name] {
			return nil, no(http.StatusBadRequest, "invalidParameter", method+" has no parameter "+name)
		}
	}
	var c *Calendar
	if id := r.PathValue("calendar"); id != "" {
		if c = s.calendars[id]; c == nil {
			return nil, no(http.StatusNotFound, "notFound", "Not Found")
		}
	}
	return answer(r, c)
}

func (s *Server) entry(c *Calendar) map[string]any {
	return map[string]any{
		"kind": "calendar#calendarListEntry", "id": c.ID, "summary": c.Summary, "timeZone": c.Zone,
		"accessRole":      c.Role,
		"backgroundColor": "#9fe1e7", "defaultReminders": []any{map[string]any{"method": "popup", "minutes": 10}},
		"primary": strings.Contains(c.ID, "@"),
	}
}

func (s *Server) calendarList(*http.Request, *Calendar) (any, error) {
	var items []any
	for _, id := range slices.Sorted(maps.Keys(s.calendars)) {
		items = append(items, s.entry(s.calendars[id]))
	}
	return map[string]any{"kind": "calendar#calendarList", "items": items}, nil
}

func (s *Server) calendarEntry(_ *http.Request, c *Calendar) (any, error) { return s.entry(c), nil }
