package access_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/mcp"
	"caldav-mcp-server/web"
)

// server is one with all its doors, in this process. Each request brings its own credentials.
type server struct {
	testing.TB
	*housetest.House
	service *service.Service
	auth    *auth.Service
	first   http.Handler // CalDAV, public links and the pages
	second  http.Handler // MCP
}

func newServer(t testing.TB, url string, asks bool) *server {
	t.Helper()
	clock := housetest.At(time.Date(2027, 1, 4, 8, 0, 0, 0, time.UTC))
	clock.Form = "00000000-0000-4000-8000-%012d"
	s := &server{TB: t, House: housetest.Open(t, url, clock)}
	middle := s.Middle()
	middle.NeedAcceptance, middle.OpenDirectory = asks, true
	s.service, s.auth = service.New(middle), auth.New(s.Login())
	log := slog.New(slog.DiscardHandler)
	from := func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") }

	pages, err := web.New(web.Config{
		Auth: s.auth, Service: s.service, Now: s.Now, Version: "test", Logger: log, MCPURL: "http://127.0.0.1:5233/mcp",
		LinkPath: caldav.LinkPath, ClientAddr: from, NewUser: s.auth.CreateUser, ChangeUser: s.auth.ChangeUser,
	})
	s.must(err)
	dav, err := caldav.New(caldav.Config{Service: s.service, Logger: log, Limits: caldav.DefaultLimits(), Now: s.Now})
	s.must(err)
	door := auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Realm: "Calendars", ClientAddr: from, Refuse: auth.RefuseText,
	}
	s.first = pages.Before(dav.Public(dav.Links(s.auth.VerifyLink, s.auth.Require(door, dav.ServeDAV))))

	tools := mcp.New(mcp.Config{
		Service: s.service, SessionKey: []byte("a key"), Version: "test", Now: s.Now, NewID: s.NewID, Logger: log,
		Good:   s.auth.StillGood,
		Limits: mcp.Limits{Calls: 1 << 30},
	})
	t.Cleanup(tools.Close)
	door = auth.Door{Schemes: []auth.Scheme{auth.Bearer}, Realm: "Calendars", ClientAddr: from, Refuse: auth.RefuseJSON}
	s.second = tools.Guard(s.auth.Require(door, tools.ServeMCP))
	return s
}

func (s *server) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) done() bool { return a.status >= 200 && a.status < 300 }

func (s *server) send(door http.Handler, r *http.Request) answer {
	s.Helper()
	r.Host = "localhost"
	w := httptest.NewRecorder()
	door.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	s.must(err)
	if w.Code >= 500 {
		s.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, body)
	}
	return answer{w.Code, w.Header(), string(body)}
}

// dav sends a request to the CalDAV server.
func (c *credential) dav(method, path, body string) answer {
	c.world.Helper()
	r := httptest.NewRequestWithContext(c.world.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Depth", "1")
	if body != "" {
		r.Header.Set("Content-Type",
			map[bool]string{true: "text/calendar", false: "application/xml"}[method == http.MethodPut])
	}
	return c.world.send(c.world.first, c.signed(r))
}

// signed adds the credential to a request.
func (c *credential) signed(r *http.Request) *http.Request {
	if c.token {
		r.Header.Set("Authorization", "Bearer "+c.secret)
	} else {
		r.SetBasicAuth(c.who.name, c.secret)
	}
	return r
}

// tool calls a tool of the MCP server. Its answer is done where the tool did not refuse.
func (c *credential) tool(name string, args map[string]any) answer {
	c.world.Helper()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args},
	})
	c.world.must(err)
	r := httptest.NewRequestWithContext(c.world.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.secret)
	if c.session == "" {
		c.session = c.initialize()
	}
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	r.Header.Set("Mcp-Session-Id", c.session)
	a := c.world.send(c.world.second, r)
	if strings.Contains(a.body, "no such session") {
		c.session = "" // it was too old
		return c.tool(name, args)
	}
	if strings.Contains(a.body, `"isError":true`) || strings.Contains(a.body, `"error":{`) {
		a.status = http.StatusForbidden
	}
	return a
}

func (c *credential) initialize() string {
	c.world.Helper()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	r := httptest.NewRequestWithContext(c.world.Context(), http.MethodPost, "/mcp", strings.NewReader(hello))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.secret)
	return c.world.send(c.world.second, r).header.Get("Mcp-Session-Id")
}

// page opens a page, or sends a form if there are fields.
func (p *person) page(path string, fields ...string) answer {
	p.world.Helper()
	r := httptest.NewRequestWithContext(p.world.Context(), http.MethodGet, "/account/"+path, nil)
	if fields != nil {
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Add(fields[i], fields[i+1])
		}
		r = httptest.NewRequestWithContext(p.world.Context(), http.MethodPost, "/account/"+path,
			strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "Mozilla/5.0 Firefox/140.0")
	r.Header.Set("Accept", "text/html")
	for _, cookie := range p.cookies {
		r.AddCookie(cookie)
	}
	a := p.world.send(p.world.first, r)
	for _, cookie := range (&http.Response{Header: a.header}).Cookies() {
		p.cookies[cookie.Name] = cookie
	}
	return a
}

// signIn gets a session on the pages, and reports whether it was given.
func (p *person) signIn() bool {
	p.world.Helper()
	p.cookies = map[string]*http.Cookie{}
	return p.page("sign-in", "name", p.name, "password", password).status == http.StatusSeeOther
}

const password = "correct horse battery"

func event(uid, title string) string {
	return fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:%s\r\n"+
		"DTSTAMP:20270101T000000Z\r\n"+
		"DTSTART:20270105T100000Z\r\nDTEND:20270105T110000Z\r\nSUMMARY:%s\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", uid,
		title)
}
