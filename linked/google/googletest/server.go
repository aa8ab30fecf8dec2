// Package googletest is a Google Calendar API v3 for tests. It follows the published reference and guides, and accepts
// no parameter and no field that the API's discovery document does not have.
// https://developers.google.com/workspace/calendar/api/v3/reference
package googletest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

//go:embed fields.txt
var fields string

// Event is an event in JSON form.
type Event = map[string]any

// Calendar is a calendar with its events.
type Calendar struct {
	ID, Summary, Zone, Role string

	zone   *time.Location
	events map[string]*entry
}

// entry is a stored event. Its version is the server's counter at the last change; updated ignores reminders.
type entry struct {
	event            Event
	version          int
	created, updated time.Time
}

// Mail is a notification of a guest or an organizer.
type Mail struct{ To, Summary string }

// Server is the fake server.
type Server struct {
	resttest.Faults
	resttest.Writes

	// Good reports whether an access token is valid; nil accepts the allowed ones.
	Good func(access string) bool
	// Now is the server's clock for events; nil uses one that ticks with each change.
	Now func() time.Time
	// PageSize is the largest number of events per page; 0 means the documented one.
	PageSize int
	// Unlisted leaves cancelled instances out of lists by UID.
	Unlisted bool
	// Twice repeats the last event of a page on the next one.
	Twice bool

	api *resttest.Discovery

	mu        sync.Mutex
	calendars []*Calendar
	allowed   map[string]bool
	version   int
	// oldest is the version of the oldest valid sync token.
	oldest int
	mails  []Mail
	pages  map[string]page
}

// New makes a server without calendars. It accepts the access token "good".
func New() *Server {
	return &Server{api: resttest.ReadDiscovery(fields), allowed: map[string]bool{"good": true}}
}

// Busy is the answer to too many requests.
// https://developers.google.com/workspace/calendar/api/guides/errors#403_rate_limit_exceeded
func Busy() resttest.Fault {
	return resttest.Fault{Status: http.StatusForbidden, Body: `{"error":{"errors":[{"domain":"usageLimits",` +
		`"reason":"rateLimitExceeded","message":"Rate Limit Exceeded"}],"code":403,"message":"Rate Limit Exceeded"}}`}
}

// Allow replaces the accepted access tokens.
func (s *Server) Allow(tokens ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.allowed)
	for _, token := range tokens {
		s.allowed[token] = true
	}
}

// Add creates a calendar that the account owns. The first one is its primary calendar.
func (s *Server) Add(id, zone string) { s.Share(id, zone, "owner") }

// Share creates a calendar that the account has a role in, such as reader.
func (s *Server) Share(id, zone, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	where, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	s.calendars = append(s.calendars, &Calendar{id, "Calendar " + id, zone, role, where, map[string]*entry{}})
}

// Has reports whether the API description has a field, such as Event.summary.
func (s *Server) Has(field string) bool { return s.api.Has(field) }

// Forget expires all sync tokens.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.oldest = s.version
}

// Mails returns the notifications so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// owned runs a change of the owner in the browser.
func (s *Server) owned(calendar string, change func(*Calendar) *resttest.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, p := s.calendar(calendar)
	if p == nil {
		p = change(c)
	}
	if p != nil {
		panic(p.Message)
	}
}

// Events returns the existing events by id, with cancelled instances.
func (s *Server) Events(calendar string) map[string]Event {
	all := map[string]Event{}
	s.owned(calendar, func(c *Calendar) *resttest.Problem {
		for id, e := range c.events {
			if !e.deleted() {
				all[id] = c.view(e, c.zone)
			}
		}
		return nil
	})
	return all
}

// Set writes an event, as the owner does in the browser.
func (s *Server) Set(calendar string, e Event) {
	data, err := json.Marshal(e)
	if e = nil; err != nil || json.Unmarshal(data, &e) != nil {
		panic(err)
	}
	s.owned(calendar, func(c *Calendar) *resttest.Problem {
		id, _ := e["id"].(string)
		if id == "" {
			e["id"] = fmt.Sprintf("set%d", s.version)
		}
		d := &draft{Server: s, cal: c, body: e, browser: true}
		if d.old = c.events[id]; d.old == nil {
			d.old, _ = c.instance(id)
		}
		return d.write(e)
	})
}

// Drop deletes an event, as the owner does in the browser.
func (s *Server) Drop(calendar, id string) {
	s.owned(calendar, func(c *Calendar) *resttest.Problem {
		if e := c.events[id]; e != nil && !e.deleted() {
			s.drop(c, e)
		}
		return nil
	})
}

// Cancel cancels the instance with an original start, as the owner does in the browser.
func (s *Server) Cancel(calendar, series, original string) {
	s.owned(calendar, func(c *Calendar) *resttest.Problem {
		at, err := time.Parse(time.RFC3339, original)
		if err != nil {
			panic(err)
		}
		e, p := c.instance(series + "_" + at.UTC().Format(instantForm))
		if p == nil {
			s.drop(c, e)
		}
		return p
	})
}

// Handler serves requests below /calendar/v3.
func (s *Server) Handler() http.Handler { return s.Before(http.HandlerFunc(s.serve)) }

var verbs = map[string]func(*Server, *request) (any, *resttest.Problem){
	"calendarList.list": (*Server).calendarList, "calendarList.get": (*Server).calendarEntry,
	"events.list": (*Server).list, "events.instances": (*Server).list, "events.get": (*Server).get,
	"events.insert": (*Server).insert, "events.import": (*Server).insert,
	"events.patch": (*Server).change, "events.update": (*Server).change, "events.delete": (*Server).remove,
}

// request is a call and its calendar.
type request struct {
	*resttest.Call
	http  *http.Request
	cal   *Calendar
	entry *entry
}

func (q *request) is(parameter string) bool {
	value := q.Query.Get(parameter)
	return value == "true" || value == "1"
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	access, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	good := s.Good
	if good == nil {
		good = func(access string) bool { return s.allowed[access] }
	}
	var answer any
	call, p := s.api.Read(r)
	if !bearer || !good(access) {
		p = &resttest.Problem{
			Code: http.StatusUnauthorized, Domain: "global", Reason: "authError", Message: "Invalid Credentials",
		}
	}
	if p == nil {
		answer, p = s.run(&request{Call: call, http: r})
	}
	if p == nil && answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if p == nil {
		if e, is := answer.(Event); is && e["etag"] != nil {
			w.Header().Set("ETag", fmt.Sprint(e["etag"]))
			// https://developers.google.com/workspace/calendar/api/guides/version-resources#conditional_retrieval
			if call.Verb == http.MethodGet && r.Header.Get("If-None-Match") == e["etag"] {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		p = s.api.Send(w, call, answer)
	}
	if p != nil {
		p.Write(w)
	}
}

// run finds the calendar and the event of a call, checks the role and the condition, and does it.
func (s *Server) run(q *request) (any, *resttest.Problem) {
	var p *resttest.Problem
	if id := q.Path["calendarId"]; id != "" {
		if q.cal, p = s.calendar(id); p != nil {
			return nil, p
		}
	}
	if q.Verb != http.MethodGet && q.cal.Role != "owner" && q.cal.Role != "writer" {
		return nil, &resttest.Problem{
			Code: http.StatusForbidden, Domain: "calendar", Reason: "requiredAccessLevel",
			Message: "You need to have writer access to this calendar.",
		}
	}
	if id := q.Path["eventId"]; id != "" {
		if q.entry = q.cal.events[id]; q.entry == nil {
			if q.entry, p = q.cal.instance(id); p != nil {
				return nil, p
			}
		}
		// https://developers.google.com/workspace/calendar/api/guides/version-resources#conditional_modification
		match := q.http.Header.Get("If-Match")
		if q.Verb != http.MethodGet && match != "" && match != "*" && match != q.entry.etag() {
			return nil, &resttest.Problem{
				Code: http.StatusPreconditionFailed, Domain: "global", Reason: "conditionNotMet",
				Message: "Precondition Failed",
			}
		}
	}
	return verbs[q.Name](s, q)
}

func missing() *resttest.Problem {
	return &resttest.Problem{Code: http.StatusNotFound, Domain: "global", Reason: "notFound", Message: "Not Found"}
}

func (s *Server) calendar(id string) (*Calendar, *resttest.Problem) {
	for i, c := range s.calendars {
		if c.ID == id || id == "primary" && i == 0 {
			return c, nil
		}
	}
	return nil, missing()
}

func (s *Server) calendarEntry(q *request) (any, *resttest.Problem) { return s.listed(q.cal), nil }

// listed is a calendar in the list of the account's calendars.
// https://developers.google.com/workspace/calendar/api/v3/reference/calendarList
func (s *Server) listed(c *Calendar) map[string]any {
	e := map[string]any{
		"kind": "calendar#calendarListEntry", "etag": `"1"`, "id": c.ID, "summary": c.Summary, "timeZone": c.Zone,
		"colorId": "15", "backgroundColor": "#9FE1E7", "foregroundColor": "#000000", "selected": true,
		"accessRole": c.Role, "defaultReminders": defaultReminders,
		"conferenceProperties": map[string]any{"allowedConferenceSolutionTypes": []any{"hangoutsMeet"}},
	}
	if c == s.calendars[0] {
		e["primary"] = true
	}
	return e
}

var defaultReminders = []any{map[string]any{"method": "popup", "minutes": 10}}

func (s *Server) calendarList(q *request) (any, *resttest.Problem) {
	roles := []string{"freeBusyReader", "reader", "writerWithoutPrivateAccess", "writer", "owner"}
	items := []any{}
	for _, c := range s.calendars {
		if indexOf(roles, c.Role) >= indexOf(roles, q.Query.Get("minAccessRole")) {
			items = append(items, s.listed(c))
		}
	}
	from, p := pageAt(q.Query.Get("pageToken"), len(items))
	if p != nil {
		return nil, p
	}
	until := min(len(items), from+limited(q.Query.Get("maxResults"), 100, 250))
	answer := map[string]any{"kind": "calendar#calendarList", "etag": `"1"`, "items": items[from:until]}
	if until < len(items) {
		answer["nextPageToken"] = fmt.Sprint("p", until)
	} else {
		answer["nextSyncToken"] = fmt.Sprint("c", s.version)
	}
	return answer, nil
}
