// Package graphtest is a small Microsoft Graph v1.0 for tests: calendars, events, series and delta links. It accepts
// only the fields and values of the published API description.
package graphtest

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

// fieldsText is an extract of the published CSDL.
//
//go:embed fields.txt
var fieldsText string

// Event is an event in JSON form.
type Event = map[string]any

type stored struct {
	event   Event
	changed int
	gone    bool
}

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
	// PageSize is the number of events per page.
	PageSize int
	// Owner is the account's address.
	Owner string

	mu     sync.Mutex
	events map[string]*stored
	names  map[string]bool
	// extensions are the open extensions of each event, by name.
	extensions map[string]map[string]Event
	clock      int
	forgotten  int
	fields     map[string]bool
	// from and to are the last requested window.
	from, to time.Time
}

// New makes a server with an empty calendar. It accepts the access token "good".
func New() *Server {
	s := &Server{
		PageSize: 3, Owner: "alice@example.com",
		events: map[string]*stored{}, names: map[string]bool{}, fields: map[string]bool{},
		extensions: map[string]map[string]Event{},
	}
	for line := range strings.Lines(fieldsText) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			s.fields[words[0]] = true
		}
	}
	return s
}

// Has reports whether the API description has a field, such as event.subject, or a value, such as importance=high.
func (s *Server) Has(field string) bool { return s.fields[field] }

// Forget expires all delta links.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = s.clock
}

// Set writes an event, as the owner does in Outlook.
func (s *Server) Set(e Event) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = s.put(e)
	return fmt.Sprint(e["id"])
}

// Drop deletes an event, as the owner does in Outlook.
func (s *Server) Drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.events[id]; one != nil && !one.gone {
		s.drop(one.event)
	}
}

// Cancel cancels the instance of a day, as the owner does in Outlook. The series shows it only if the field is
// requested.
func (s *Server) Cancel(series, day string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.events[series]
	if one == nil || one.gone {
		return
	}
	changed, id := one.changed, series+"-d"+day
	e, err := s.occurrence(one.event, day)
	if there := s.events[id]; there != nil && !there.gone {
		e = there.event
	} else if err != nil || there != nil {
		return
	}
	s.drop(e)
	s.events[series].changed = changed
}

// Except changes the instance of a day, as the owner does in Outlook.
func (s *Server) Except(series, day string, changes Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.events[series]
	if one == nil || one.gone || s.events[series+"-d"+day] != nil {
		return
	}
	if e, err := s.occurrence(one.event, day); err == nil {
		maps.Copy(e, changes)
		s.put(e)
	}
}

// Events returns the existing events by id.
func (s *Server) Events() map[string]Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Event{}
	for id, one := range s.events {
		if !one.gone {
			out[id] = maps.Clone(one.event)
		}
	}
	return out
}

// put stores an event in its next state. Missing fields get Graph's defaults.
func (s *Server) put(from Event) Event {
	s.clock++
	e := defaults(s.Owner)
	maps.Copy(e, from)
	e["body"] = asHTML(e["body"])
	place(e)
	invite(e)
	if e["id"] == nil {
		e["id"] = fmt.Sprintf("AAMk%06d", s.clock)
		e["iCalUId"] = fmt.Sprintf("04000000%06d", s.clock)
		e["createdDateTime"] = s.at()
	}
	if e["type"] == nil || e["type"] == "singleInstance" || e["type"] == "seriesMaster" {
		e["type"] = "singleInstance"
		if e["recurrence"] != nil {
			e["type"] = "seriesMaster"
		}
	}
	e["lastModifiedDateTime"], e["changeKey"], e["@odata.etag"] = s.at(), strconv.Itoa(s.clock), fmt.Sprintf("W/%q",
		strconv.Itoa(s.clock))
	for _, side := range []string{"start", "end"} {
		s.inUTC(e, side)
	}
	repeat(e)
	s.events[fmt.Sprint(e["id"])] = &stored{event: e, changed: s.clock}
	return e
}

func (s *Server) at() string {
	if s.Now != nil {
		return s.Now().UTC().Format(time.RFC3339)
	}
	return time.Date(2026, 1, 1, 0, 0, s.clock, 0, time.UTC).Format(time.RFC3339)
}

// inUTC converts times to UTC, as the Prefer header asks, and adds the original zone.
func (s *Server) inUTC(e Event, side string) {
	m, _ := e[side].(map[string]any)
	name, _ := m["timeZone"].(string)
	text, _ := m["dateTime"].(string)
	text, _, _ = strings.Cut(text, ".")
	z, err := time.LoadLocation(name)
	if err != nil {
		z = time.UTC
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", text, z)
	if err != nil {
		return
	}
	zone := "original" + strings.ToUpper(side[:1]) + side[1:] + "TimeZone"
	if name != "UTC" || e[zone] == nil {
		e[zone] = name
	}
	e[side] = map[string]any{"dateTime": at.UTC().Format("2006-01-02T15:04:05") + ".0000000", "timeZone": "UTC"}
}

// Handler serves requests below /v1.0.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	const base = "/v1.0/me"
	mux.HandleFunc("GET "+base+"/calendars", s.guarded(s.calendars))
	mux.HandleFunc("GET "+base+"/calendars/cal", s.guarded(s.calendar))
	mux.HandleFunc("GET "+base+"/calendars/cal/calendarView/delta", s.guarded(s.delta))
	mux.HandleFunc("GET "+base+"/calendars/cal/calendarView", s.guarded(s.view))
	mux.HandleFunc("GET "+base+"/calendars/cal/events", s.guarded(s.list))
	mux.HandleFunc("POST "+base+"/calendars/cal/events", s.guarded(s.insert))
	mux.HandleFunc("GET "+base+"/events/{event}", s.guarded(s.get))
	mux.HandleFunc("PATCH "+base+"/events/{event}", s.guarded(s.patch))
	mux.HandleFunc("DELETE "+base+"/events/{event}", s.guarded(s.remove))
	mux.HandleFunc("GET "+base+"/events/{event}/instances", s.guarded(s.instances))
	for name, response := range replies {
		mux.HandleFunc("POST "+base+"/events/{event}/"+name,
			s.guarded(func(r *http.Request) (any, error) { return s.reply(r, response) }))
	}
	mux.HandleFunc("POST "+base+"/events/{event}/extensions", s.guarded(s.extend))
	mux.HandleFunc("PATCH "+base+"/events/{event}/extensions/{extension}", s.guarded(s.replace))
	mux.HandleFunc("DELETE "+base+"/events/{event}/extensions/{extension}", s.guarded(s.detach))
	return s.Before(mux)
}

// failure is an error response.
type failure struct {
	status       int
	code, detail string
}

func (f *failure) Error() string { return f.code + ": " + f.detail }

func no(status int, code, detail string) error { return &failure{status, code, detail} }

var errNotFound = &failure{http.StatusNotFound, "ErrorItemNotFound", "The specified object was not found in the store."}

func (s *Server) guarded(answer func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, err := any(nil), error(nil)
		good := s.Good
		if good == nil {
			good = func(access string) bool { return access == "good" }
		}
		switch {
		case !good(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")):
			err = no(http.StatusUnauthorized, "InvalidAuthenticationToken",
				"Access token has expired or is not yet valid.")
		case !slices.Contains(r.Header.Values("Prefer"), `IdType="ImmutableId"`):
			err = no(http.StatusBadRequest, "ErrorInvalidRequest", "the test wants immutable ids")
		default:
			body, err = answer(r)
			body = inForm(r, body)
		}
		w.Header().Set("Content-Type", "application/json")
		if f, failed := err.(*failure); failed {
			w.WriteHeader(f.status)
			body = map[string]any{"error": map[string]any{
				"code": f.code, "message": f.detail, "innerError": map[string]any{
					"date": "2026-03-01T00:00:00", "request-id": "r1", "client-request-id": "r1",
				},
			}}
		} else if body != nil && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		if body == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (s *Server) calendar(*http.Request) (any, error) {
	return map[string]any{
		"id": "cal", "name": "Calendar", "hexColor": "", "canEdit": true, "isDefaultCalendar": true,
		"owner": map[string]any{"name": "Alice", "address": s.Owner},
	}, nil
}

func (s *Server) calendars(r *http.Request) (any, error) {
	c, err := s.calendar(r)
	return map[string]any{"value": []any{c}}, err
}
