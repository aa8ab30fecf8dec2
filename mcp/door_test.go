package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// noon is the time in tests, on a Sunday.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// house is a store with users and calendars, and doors to it.
type house struct {
	*housetest.House
	service *service.Service
	callers map[string]calendar.Caller // by bearer token
}

// eachHouse runs a test once per engine, in a house with an open door.
func eachHouse(t *testing.T, test func(t *testing.T, h *house, door string)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		test(t, h, h.open(t, h.config()))
	})
}

// newHouse opens a store with alice, who has the calendars Work and Home and a list of tasks,
// and bob, who has one calendar.
func newHouse(t testing.TB, url string) *house {
	t.Helper()
	clock := housetest.At(noon)
	clock.Form = "00000000-0000-4000-8000-%012d" // transcripts name what was made
	h := &house{House: housetest.Open(t, url, clock)}
	h.service = service.New(h.middle())
	alice := calendar.User{ID: "alice-id", Name: "alice", Timezone: "Europe/Berlin", Created: noon}
	bob := calendar.User{ID: "bob-id", Name: "bob", Created: noon}
	h.Admit(t, alice, bob)
	h.callers = map[string]calendar.Caller{
		"alice":       {User: alice, Scopes: calendar.ScopeAll, Token: "token-a"},
		"alice-other": {User: alice, Scopes: calendar.ScopeAll, Token: "token-b"},
		"alice-read":  {User: alice, Scopes: calendar.ScopeRead, Token: "token-c"},
		"alice-few": {
			User: alice, Scopes: calendar.ScopeRead, Token: "token-g",
			Tools: []calendar.ToolName{"get_event", "list_events", "delete_event"},
		},
		"alice-write": {User: alice, Scopes: calendar.ScopeWrite, Token: "token-d"},
		"alice-bound": {
			User: alice, Scopes: calendar.ScopeRead, Token: "token-f", Agent: "Claude \u202eon laptop",
			Expires:   noon.AddDate(0, 1, 0),
			Calendars: []calendar.CalendarID{"00000000-0000-4000-8000-000000000001"},
		},
		"proposer": {User: alice, Scopes: calendar.ScopeRead | calendar.ScopePropose, Token: "token-h"},
		"bob":      {User: bob, Scopes: calendar.ScopeAll, Token: "token-e"},
	}
	work, color, front := "Where the money comes from", "#FF5733", int64(1)
	h.calendar(t, "alice", calendar.Properties{
		Name: "Work", Timezone: "UTC", Order: &front, Description: &work,
		Kinds: calendar.Kinds{calendar.Event},
	})
	h.calendar(t, "alice", calendar.Properties{Name: "Home\u202e", Color: &color, Timezone: "America/New_York"})
	h.calendar(t, "alice", calendar.Properties{Name: "Tasks", Kinds: calendar.Kinds{calendar.Todo}})
	h.calendar(t, "bob", calendar.Properties{Name: "Secret plans"})
	return h
}

// homeIsDefault makes Home the default calendar of alice, so that Work may be deleted.
func (h *house) homeIsDefault(t *testing.T) {
	t.Helper()
	err := h.service.PatchScheduling(t.Context(), h.callers["alice"], func(s *calendar.Scheduling) error {
		s.Default = home
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// middle is the configuration of a service that can follow feeds.
func (h *house) middle() service.Config {
	c := h.Middle()
	c.Providers, c.Sealer = map[string]mirror.Provider{"ics": noticeBoards()}, unsealed{}
	return c
}

func (h *house) calendar(t testing.TB, token string, p calendar.Properties) {
	t.Helper()
	p.Timezone = cmp.Or(p.Timezone, "UTC")
	p.Color = cmp.Or(p.Color, new(calendar.DefaultColor))
	if _, err := h.service.CreateCalendar(t.Context(), h.callers[token],
		calendar.NewCalendar{Properties: p}); err != nil {
		t.Fatal(err)
	}
}

// config is a door's, for tests to change.
func (h *house) config() Config {
	return Config{
		Service: h.service, AllowedOrigins: []string{"https://app.example"}, BaseURL: "https://cal.example/dav",
		PagesURL:   "https://cal.example/dav",
		SessionKey: []byte("a key that all doors share"), Version: "0.1.0", Now: h.Now, NewID: h.NewID,
		Limits: Limits{BodyBytes: 64 << 10},
		WebhookSecret: func(_ context.Context, w calendar.Webhook) (string, error) {
			return fmt.Sprintf("whsec_%s-%d", w.ID, w.Number), nil
		},
		Bookings: h.bookings(new(unsent)), Logger: h.Logger(),
	}
}

// open serves the real tools over HTTP, and returns the address.
func (h *house) open(t *testing.T, c Config) string {
	t.Helper()
	return h.openWith(t, c, c.toolbox().tools()...)
}

func (h *house) openWith(t *testing.T, c Config, tools ...tool) string {
	t.Helper()
	return h.serve(t, newHandler(c, tools))
}

func (h *house) serve(t *testing.T, door *Handler) string {
	t.Helper()
	s := httptest.NewServer(door.Guard(h.authenticate(door)))
	t.Cleanup(func() {
		door.Close()
		s.Close()
	})
	return s.URL + "/mcp"
}

// authenticate stands where the program has package auth.
func (h *house) authenticate(door *Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, ok := h.callers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Request-Id", "request-1")
		door.ServeMCP(w, r, caller)
	})
}

// request makes a request of a client at 2025-11-25; header holds pairs that change it.
func request(t *testing.T, method, url, token, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	return r
}

// got is a response that was read.
type got struct {
	status int
	header http.Header
	body   string
}

func do(t *testing.T, r *http.Request) got {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if r.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		return got{resp.StatusCode, resp.Header, "a stream that never ends"}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got{resp.StatusCode, resp.Header, string(body)}
}

// initialize opens a session.
func initialize(t *testing.T, url, token, version string) string {
	t.Helper()
	g := do(t, request(t, "POST", url, token,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+
			`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
	id := g.header.Get(wire.SessionHeader)
	if g.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: status %d, session %q, body %s", g.status, id, g.body)
	}
	return id
}

const listCalls = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_calendars","arguments":{}}}`

// plain is a tool for tests: it takes nothing and needs the scope to read.
func plain(name string, run func(context.Context, *call) (answer, error)) tool {
	return tool{
		name: name, title: name, description: "A tool of the tests.", scope: calendar.ScopeRead,
		gives: struct{}{}, begin: func() job { return job{do: run} },
	}
}
