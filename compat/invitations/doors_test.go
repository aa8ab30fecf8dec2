package invitations_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/mcp"
)

// opening is what the clock shows first.
var opening = time.Date(2027, 1, 4, 8, 0, 0, 0, time.UTC)

// server is one with both doors and its mail, all in this process.
type server struct {
	testing.TB
	*housetest.Clock
	house   *housetest.House
	service *service.Service
	dav     *caldav.Handler
	mcp     *mcp.Handler
	people  int
	taken   map[string]int // steps, by their kind
}

func newServer(t testing.TB, url string) *server {
	t.Helper()
	clock := housetest.At(opening)
	clock.Form = "00000000-0000-4000-8000-%012d"
	s := &server{TB: t, Clock: clock, house: housetest.Open(t, url, clock), taken: map[string]int{}}
	middle := s.house.Middle()
	middle.Mailed = true
	s.service = service.New(middle)
	log := slog.New(slog.DiscardHandler)
	var err error
	s.dav, err = caldav.New(caldav.Config{Service: s.service, Logger: log, Limits: caldav.DefaultLimits(), Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.mcp = mcp.New(mcp.Config{
		Service: s.service, SessionKey: []byte("a key"), Version: "test", Now: s.Now, NewID: s.NewID, Logger: log,
		Limits: mcp.Limits{Calls: 1 << 30},
	})
	t.Cleanup(s.mcp.Close)
	return s
}

// person is a user of the server, with one calendar.
type person struct {
	*server
	caller   calendar.Caller
	calendar string // its id, which is its address as well
	path     string
	session  string
}

func (s *server) admit(name string) *person {
	s.Helper()
	s.people++
	name = fmt.Sprintf("%s%d", name, s.people)
	user := calendar.User{
		ID: calendar.UserID(name + "-id"), Name: name, Email: name + "@example.org", Timezone: "Europe/Berlin",
	}
	user.Created = s.Now()
	s.house.Admit(s, user)
	p := &person{
		server: s, caller: calendar.Caller{User: user, Scopes: calendar.ScopeAll, Token: calendar.TokenID(name)},
	}
	cal, err := s.service.CreateCalendar(s.Context(), p.caller, calendar.NewCalendar{
		Segment: "cal", Properties: calendar.Properties{Name: "cal", Timezone: "Europe/Berlin"},
	})
	if err != nil {
		s.Fatal(err)
	}
	p.calendar, p.path = string(cal.ID), "/dav/calendars/"+name+"/cal/"
	w := p.post("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "t", "version": "1"},
	})
	p.session = w.Header().Get("Mcp-Session-Id")
	return p
}

func (p *person) address() string { return p.caller.User.Email }

// dav asks the CalDAV door.
func (p *person) ask(method, path, body string, header ...string) (w *httptest.ResponseRecorder) {
	p.Helper()
	r := httptest.NewRequestWithContext(p.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Depth", "1")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if method == http.MethodPut {
		r.Header.Set("Content-Type", "text/calendar; charset=utf-8")
	}
	w = httptest.NewRecorder()
	defer func() {
		if panicked := recover(); panicked != nil { // as the listener does
			w.Code = http.StatusInternalServerError
			_, _ = fmt.Fprint(w.Body, "a handler panicked: ", panicked)
		}
	}()
	p.server.dav.ServeDAV(w, r, p.caller)
	return w
}

// stored is an object as CalDAV shows it.
type stored struct {
	path, etag string
	*document
}

const everything = `<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
	`xmlns:D="DAV:"><D:prop><D:getetag/><C:calendar-data/></D:prop>` +
	`<C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>`

// objects are all of a collection, by UID.
func (p *person) objects(path string) map[string][]stored {
	p.Helper()
	w := p.ask("REPORT", path, everything)
	var read struct {
		Responses []struct {
			Href string `xml:"DAV: href"`
			ETag string `xml:"propstat>prop>getetag"`
			Data string `xml:"propstat>prop>calendar-data"`
		} `xml:"DAV: response"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &read); err != nil || w.Code != http.StatusMultiStatus {
		p.Fatalf("REPORT %s: %d %v: %s", path, w.Code, err, w.Body)
	}
	all := map[string][]stored{}
	for _, r := range read.Responses {
		// XML reads a line's end as one character.
		text := strings.ReplaceAll(strings.ReplaceAll(r.Data, "\r\n", "\n"), "\n", "\r\n")
		o := stored{path: r.Href, etag: r.ETag, document: parse(text)}
		all[o.uid()] = append(all[o.uid()], o)
	}
	return all
}

// event is the person's copy of an event, if there is one.
func (p *person) event(uid string) (stored, bool) {
	p.Helper()
	all := p.objects(p.path)[uid]
	if len(all) > 1 {
		p.Fatalf("%s has %d copies of %s", p.caller.User.Name, len(all), uid)
	}
	if len(all) == 0 {
		return stored{}, false
	}
	return all[0], true
}

// messages are those in the person's inbox about an event.
func (p *person) messages(uid string) []stored {
	p.Helper()
	return p.objects("/dav/calendars/" + p.caller.User.Name + "/inbox/")[uid]
}

func (p *person) put(path string, d *document) *httptest.ResponseRecorder {
	p.Helper()
	return p.ask(http.MethodPut, path, d.String())
}

func (p *person) post(method string, params any) *httptest.ResponseRecorder {
	p.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		p.Fatal(err)
	}
	r := httptest.NewRequestWithContext(p.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	if p.session != "" {
		r.Header.Set("Mcp-Session-Id", p.session)
	}
	w := httptest.NewRecorder()
	p.server.mcp.ServeMCP(w, r, p.caller)
	return w
}

// args are the arguments of a tool.
type args map[string]any

// use calls a tool. A refusal is told by its text.
func (p *person) use(tool string, a args, into any) (refusal string) {
	p.Helper()
	w := p.post("tools/call", map[string]any{"name": tool, "arguments": a})
	body := w.Body.String()
	if i := strings.Index(body, "data: {"); i >= 0 {
		body = body[i+len("data: "):]
	}
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || w.Code != http.StatusOK {
		p.Fatalf("%s %v: %d %v %s", tool, a, w.Code, err, body)
	}
	switch {
	case answer.Error != nil:
		return answer.Error.Message
	case answer.Result.IsError:
		return answer.Result.Content[0].Text
	case into == nil:
		return ""
	}
	if err := json.Unmarshal(answer.Result.StructuredContent, into); err != nil {
		p.Fatalf("%s %v: %v in %s", tool, a, err, body)
	}
	return ""
}

// latest is the last line of the journal about an event.
func (p *person) latest(uid string) string {
	p.Helper()
	var page struct {
		Changes []struct {
			ID string `json:"change_id"`
		}
	}
	if refused := p.use("list_changes", args{"event_uid": uid, "limit": 1}, &page); refused != "" {
		p.Fatal(refused)
	}
	if len(page.Changes) == 0 {
		return ""
	}
	return page.Changes[0].ID
}

// mail is a scheduling message by mail, out of the server.
type mail struct {
	from, to string
	*document
}

// sent takes all letters out of the outbox, as if each was mailed.
func (s *server) sent() []mail {
	s.Helper()
	var list []mail
	for {
		letters, err := s.house.Store.TakeLetters(s.Context(), s.Now().Add(time.Hour), s.Now().Add(2*time.Hour), 100)
		if err != nil {
			s.Fatal(err)
		}
		if len(letters) == 0 {
			return list
		}
		for _, l := range letters {
			list = append(list, mail{string(l.From), string(l.To), parse(string(l.Data))})
			l.Status = "1.1"
			if err := s.house.Store.SettleLetter(s.Context(), l); err != nil {
				s.Fatal(err)
			}
			if err := s.service.Delivered(s.Context(), l); err != nil {
				s.Fatal(err)
			}
			if err := s.house.Store.ConcludeLetter(s.Context(), l, true, s.Now(), 1<<20); err != nil {
				s.Fatal(err)
			}
		}
	}
}

// receive hands in a mail, whose sender is proven.
func (s *server) receive(m mail) error {
	return s.service.Receive(s.Context(), calendar.Inbound{
		From: calendar.MailAddress(m.from), To: []calendar.MailAddress{calendar.MailAddress(m.to)},
		Method: calendar.Method(m.method()), Data: []byte(m.String()),
	})
}
