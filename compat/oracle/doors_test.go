package oracle_test

import (
	"encoding/json"
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
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp"
	"caldav-mcp-server/store"
)

// doors are both, over one store.
type doors struct {
	t       testing.TB
	dav     *caldav.Handler
	mcp     *mcp.Handler
	caller  calendar.Caller
	service *service.Service
	store   *store.Store
	session string
}

func open(t testing.TB) *doors {
	t.Helper()
	return openOn(t, testdb.SQLite(t))
}

// openOn opens them on a database.
func openOn(t testing.TB, url string) *doors {
	t.Helper()
	clock := func() time.Time { return opening }
	ids := 0
	newID := func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids) }
	housetest.Furnish(t, url)
	s, err := store.Open(t.Context(), url, store.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := &doors{t: t, store: s, caller: calendar.Caller{
		User:   calendar.User{ID: "ann-id", Name: "ann", Timezone: calendarZone, Created: opening},
		Scopes: calendar.ScopeAll, Token: "token",
	}}
	if err := s.InsertUser(t.Context(), d.caller.User, ""); err != nil {
		t.Fatal(err)
	}
	d.service = service.New(service.Config{
		Store: s, Limits: calendar.DefaultLimits(), Now: clock, NewID: newID, ImageBytes: 1 << 22,
	})
	log := slog.New(slog.DiscardHandler)
	if d.dav, err = caldav.New(
		caldav.Config{Service: d.service, Logger: log, Limits: caldav.DefaultLimits(), Now: clock},
	); err != nil {
		t.Fatal(err)
	}
	d.mcp = mcp.New(mcp.Config{
		Service: d.service, SessionKey: []byte("a key"), Version: "test", Now: clock, NewID: newID, Logger: log,
		Limits: mcp.Limits{Calls: 1 << 30},
	})
	t.Cleanup(d.mcp.Close)
	answer := d.post("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "t", "version": "1"},
	})
	d.session = answer.Header().Get("Mcp-Session-Id")
	return d
}

// calendar makes an empty one.
func (d *doors) calendar(name string) calendar.Calendar { return d.calendarIn(name, calendarZone) }

// calendarIn makes an empty one in a zone.
func (d *doors) calendarIn(name, zone string) calendar.Calendar {
	d.t.Helper()
	cal, err := d.service.CreateCalendar(d.t.Context(), d.caller, calendar.NewCalendar{
		Segment: calendar.Segment(name), Properties: calendar.Properties{Name: name, Timezone: zone},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return cal
}

// ask sends a request to the DAV door.
func (d *doors) ask(method, path, body string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), method, "/dav/calendars/ann/"+path, strings.NewReader(body))
	r.Header.Set("Depth", "1")
	w := httptest.NewRecorder()
	d.dav.ServeDAV(w, r, d.caller)
	return w
}

func (d *doors) post(method string, params any) *httptest.ResponseRecorder {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		d.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	if d.session != "" {
		r.Header.Set("Mcp-Session-Id", d.session)
	}
	w := httptest.NewRecorder()
	d.mcp.ServeMCP(w, r, d.caller)
	return w
}

// use calls a tool. A refusal is told by its text.
func (d *doors) use(tool string, args map[string]any, into any) (refusal string) {
	d.t.Helper()
	w := d.post("tools/call", map[string]any{"name": tool, "arguments": args})
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
		d.t.Fatalf("%s %v: %d %v %s", tool, args, w.Code, err, body)
	}
	switch {
	case answer.Error != nil:
		return answer.Error.Message
	case answer.Result.IsError:
		return answer.Result.Content[0].Text
	}
	if err := json.Unmarshal(answer.Result.StructuredContent, into); err != nil {
		d.t.Fatalf("%s %v: %v in %s", tool, args, err, body)
	}
	return ""
}
