package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/webpush/pushtest"
)

// tracesSeen is a collector of OpenTelemetry, as far as these tests look.
type tracesSeen struct {
	mu    sync.Mutex
	raw   strings.Builder
	spans []spanSeen
}

type spanSeen struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

func (s spanSeen) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

func (c *tracesSeen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var said struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []spanSeen }
		}
	}
	if err != nil || r.URL.Path != "/v1/traces" || json.Unmarshal(body, &said) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, all := range said.ResourceSpans {
		for _, one := range all.ScopeSpans {
			c.spans = append(c.spans, one.Spans...)
		}
	}
}

// named returns the spans of a name; there must be some.
func (c *tracesSeen) named(t *testing.T, name string) (all []spanSeen) {
	t.Helper()
	for _, s := range c.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		t.Errorf("no span is called %q among %v", name, c.spans)
		return make([]spanSeen, 1)
	}
	return all
}

// A collector is told of both doors' requests and their parts, of nothing that anybody wrote, and by no stranger's
// wish.
func TestTraces(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		var seen tracesSeen
		collector := httptest.NewServer(&seen)
		defer collector.Close()
		r := serve(t, append(on(database), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL+"/",
			"OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b"))
		c := firstClient(t, r)
		const stranger = "4bf92f3577b34da6a3ce929d0e0e4736"
		c.must(t, http.StatusCreated, "PUT", personal+"dentist.ics", event("dentist", "Dentist"), "Traceparent",
			"00-"+stranger+"-00f067aa0ba902b7-01")
		c.call(t, "list_calendars", struct{}{})
		if err := r.interrupt(); err != nil {
			t.Fatal(err)
		}
		const route = "/dav/calendars/{user}/{calendar}/{object}"
		put := seen.named(t, "PUT "+route)[0]
		if put.attribute("http.route") != route || put.attribute("http.response.status_code") != "201" ||
			put.attribute("caldav_mcp.door") != caldavDoor || put.TraceID == stranger {
			t.Errorf("the span of a PUT is %+v", put)
		}
		written := false
		for _, one := range seen.named(t, "transaction") {
			written = written || one.TraceID == put.TraceID && one.ParentSpanID != ""
		}
		if !written {
			t.Error("the PUT has no transaction")
		}
		called := false
		for _, one := range seen.named(t, "POST /mcp") {
			called = called || one.attribute("caldav_mcp.tool") == "list_calendars"
		}
		if !called {
			t.Error("no span tells which tool was called")
		}
		for _, secret := range []string{"Dentist", "dentist", c.user, c.pass, "personal", "127.0.0.1"} {
			if strings.Contains(seen.raw.String(), secret) {
				t.Errorf("the collector was told %q", secret)
			}
		}
	})
}

// root returns the root spans of a name; there must be some.
func (c *tracesSeen) root(t *testing.T, name string) (all []spanSeen) {
	t.Helper()
	all = slices.DeleteFunc(c.named(t, name), func(s spanSeen) bool { return s.ParentSpanID != "" })
	if len(all) == 0 {
		t.Errorf("no span %q is a root", name)
		return make([]spanSeen, 1)
	}
	return all
}

// has reports whether a span has a child of a name.
func (c *tracesSeen) has(root spanSeen, name string) bool {
	return slices.ContainsFunc(c.spans, func(s spanSeen) bool {
		return s.TraceID == root.TraceID && s.ParentSpanID != "" && s.Name == name
	})
}

// feeding is a server that has a feed at a secret address, and takes no webhook.
func feeding(t *testing.T) (feed, hook string) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/s3cret.ics" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, event("fed", "Zebra crossing"))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/s3cret.ics", s.URL + "/h00k"
}

// The collector gets background tasks too, each as a trace of its own with its children, and without user data.
func TestTasksAreTraced(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, database string) {
		var seen tracesSeen
		collector := httptest.NewServer(&seen)
		defer collector.Close()
		w, service := newTown(t), pushtest.NewService(t, time.Now)
		feed, hook := feeding(t)
		env := append(tellingEnv(t, database, service), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL,
			"DATA_DIR="+t.TempDir(),
			"SMTP_URL=smtp://"+w.addr, "MAIL_FROM=calendar@home.example", "LMTP_ADDR=127.0.0.1:0")
		first := serve(t, env)
		c := firstClient(t, first)
		call(t, env, "", "set-user", "--email", "ann@home.example", "admin")
		call(t, env, "", "link-calendar", "--user", "admin", "--ics", feed)
		call(t, env, "", "add-webhook", "--user", "admin", "--url", hook)
		if err := first.interrupt(); err != nil {
			t.Fatal(err)
		}
		(&linkWalk{T: t, database: database}).inDatabase("UPDATE linked_accounts SET due = 0")
		r := serve(t, env)
		c = c.at(r)
		c.registerDevice(t, service, personal, phone)
		c.must(t, http.StatusCreated, "PUT", personal+"plan.ics", strings.NewReplacer("20260310", "20360310", "alice@a",
			"ann@home", "bob@b", "bob@elsewhere").Replace(planned))
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addrs["lmtp"])
		if err != nil {
			t.Fatal(err)
		}
		line := smtp.NewClientLMTP(conn)
		defer func() { _ = line.Close() }()
		if err := line.SendMail("bob@elsewhere.example", []string{"ann@home.example"},
			strings.NewReader("From: bob@elsewhere.example\r\nSubject: Hello Ann\r\n\r\nLunch?\r\n")); err != nil {
			t.Fatal(err)
		}
		until(t, "all is told", func() bool {
			for _, name := range []string{"linked account", "mail out", "mail in", "push message", "webhook message"} {
				seen.mu.Lock()
				found := slices.ContainsFunc(seen.spans, func(s spanSeen) bool { return s.Name == name })
				seen.mu.Unlock()
				if !found {
					return false
				}
			}
			return true
		})
		if err := r.interrupt(); err != nil {
			t.Fatal(err)
		}
		seen.judge(t, feed, hook, w.addr, c.user, c.pass)
	})
}

func (c *tracesSeen) judge(t *testing.T, secrets ...string) {
	t.Helper()
	for name, want := range map[string]struct{ part, fact, value string }{
		"linked account":  {"GET", "caldav_mcp.provider", "ics"},
		"mail out":        {"transaction", "caldav_mcp.method", "REQUEST"},
		"mail in":         {"", "caldav_mcp.verdict", "no scheduling message"},
		"push message":    {"POST", "", ""},
		"webhook message": {"POST", "", ""},
		"webhook news":    {"transaction", "caldav_mcp.calendars", ""},
		"prune":           {"transaction", "caldav_mcp.bodies", "0"},
		"migrate":         {"transaction", "", ""},
	} {
		one := c.root(t, name)[0]
		if want.part != "" && !c.has(one, want.part) || want.value != "" && one.attribute(want.fact) != want.value {
			t.Errorf("the task is %+v, want it to have %+v", one, want)
		}
	}
	for _, whom := range []string{"linked", "push"} {
		if !slices.ContainsFunc(c.spans, func(s spanSeen) bool { return s.attribute("caldav_mcp.whom") == whom }) {
			t.Errorf("no request says that it went to %q", whom)
		}
	}
	for _, secret := range append(secrets, "Zebra", "s3cret", "h00k", phone, "127.0.0.1", "example", "Plan", "Lunch",
		"Hello", "ann", "bob", "personal") {
		if strings.Contains(c.raw.String(), secret) {
			t.Errorf("the collector was told %q", secret)
		}
	}
}

// A collector that is away, or malformed, costs no request.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		r := serve(t, append(on(database), "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces"))
		c := firstClient(t, r)
		c.must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0")
		if err := r.interrupt(); err != nil ||
			!strings.Contains(r.log.String(), "the collector of traces took none of them") {
			t.Errorf("%v, the log is\n%s", err, r.log.String())
		}
	})
}
