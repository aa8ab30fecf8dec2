package caldav_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
)

// house is a CalDAV server with the service and a real store.
type house struct {
	*housetest.House
	service *service.Service
	// middle holds the parts of the service.
	middle  service.Config
	handler *caldav.Handler
	users   map[string]calendar.User
	auth    *auth.Service
	// link is the last public link, secret its secret.
	link   auth.Link
	secret auth.Secret
	// door replaces the login that trusts the header As, if set.
	door http.Handler
}

// now is the current time in all tests of this package.
var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// people are the users of every house.
var people = []calendar.User{
	{ID: "u-alice", Name: "alice", DisplayName: "Alice Árnadóttir", Email: "alice@example.com", Created: now},
	{ID: "u-bob", Name: "bob", Created: now},
	{ID: "u-odd", Name: "o&d@example.com", Created: now},
}

func newHouse(t testing.TB, database string, change func(*caldav.Config)) *house {
	t.Helper()
	h := &house{House: housetest.Open(t, database, housetest.At(now)), users: map[string]calendar.User{}}
	h.Admit(t, people...)
	for _, u := range people {
		h.users[u.Name] = u
	}
	h.middle = h.Middle()
	h.middle.ImageBytes = 1 << 20
	h.auth = auth.New(h.Login())
	h.remake(t, change)
	return h
}

// remake makes a new service and CalDAV server.
func (h *house) remake(t testing.TB, change func(*caldav.Config)) {
	t.Helper()
	h.service = service.New(h.middle)
	config := caldav.Config{Service: h.service, Limits: caldav.DefaultLimits(), Logger: h.Logger(), Now: h.Now}
	if change != nil {
		change(&config)
	}
	var err error
	if h.handler, err = caldav.New(config); err != nil {
		t.Fatal(err)
	}
}

// scopes are the words with which a test limits its caller's scopes.
var scopes = map[string]calendar.Scope{
	"read": calendar.ScopeRead, "write": calendar.ScopeWrite, "delete": calendar.ScopeDelete,
}

// ServeHTTP answers a request with a login that trusts the header As: "alice", "alice read,write" for a token with
// these scopes, "alice none" for one without scopes, "alice bound" for one limited to another calendar, and "alice
// tools" for one limited to certain tools.
func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.handler.Public(h.handler.Links(h.auth.VerifyLink, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.door != nil {
			h.door.ServeHTTP(w, r)
			return
		}
		name, words, limited := strings.Cut(r.Header.Get("As"), " ")
		if name == "" {
			name = "alice"
		}
		if name == "nobody" {
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		caller := calendar.Caller{User: h.users[name], Scopes: calendar.ScopeAll, Agent: "test", ForOthers: true}
		if limited {
			caller.Scopes, caller.ForOthers = 0, false
			for word := range strings.SplitSeq(words, ",") {
				caller.Scopes |= scopes[word]
			}
			if words == "tools" {
				caller.Scopes, caller.Tools = calendar.ScopeAll, []calendar.ToolName{"list_events", "create_event"}
			}
			if words == "bound" {
				caller.Scopes, caller.Calendars = calendar.ScopeAll, []calendar.CalendarID{"another"}
			}
		}
		h.handler.ServeDAV(w, r, caller)
	}))).ServeHTTP(w, r)
}

// reply is a response with its body.
type reply struct {
	status int
	header http.Header
	body   string
}

// send parses a request as a server would, and answers it.
func (h *house) send(t testing.TB, head, body string) reply {
	t.Helper()
	line, headers, _ := strings.Cut(strings.TrimSpace(head), "\n")
	text := line + " HTTP/1.1\r\nHost: cal.example.com\r\n"
	if body != "" && !strings.Contains(headers, "Content-Length:") {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	if headers != "" {
		text += strings.ReplaceAll(headers, "\n", "\r\n") + "\r\n"
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text + "\r\n" + body)))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return h.do(t, r)
}

// do answers a request.
func (h *house) do(t testing.TB, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(t.Context()))
	return reply{w.Code, w.Header(), w.Body.String()}
}

// publish makes a public link to a calendar of alice's.
func (h *house) publish(t testing.TB, at calendar.Segment, access calendar.Access) {
	t.Helper()
	alice := calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll}
	cal, err := h.service.CalendarAt(t.Context(), alice, at)
	if err == nil {
		h.link, h.secret, err = h.auth.CreateLink(t.Context(), alice, cal, auth.LinkSpec{Access: access})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// must is send for requests that must succeed.
func (h *house) must(t testing.TB, head, body string) reply {
	t.Helper()
	r := h.send(t, head, body)
	if r.status/100 != 2 {
		t.Fatalf("%s: %d %s", head, r.status, r.body)
	}
	return r
}

func event(uid, summary string) string {
	return strings.ReplaceAll(fmt.Sprintf(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:%s
DTSTAMP:20261120T100000Z
DTSTART:20261124T090000Z
DTEND:20261124T100000Z
SUMMARY:%s
END:VEVENT
END:VCALENDAR
`, uid, summary), "\n", "\r\n")
}
