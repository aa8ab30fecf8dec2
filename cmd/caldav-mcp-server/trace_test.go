package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/internal/testdb"
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

// named returns the spans of a name, of which there must be some.
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

// A collector is told of both doors' requests and their parts, of nothing that anybody wrote, and by no stranger's wish.
func TestTraces(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, database string) {
		var seen tracesSeen
		collector := httptest.NewServer(&seen)
		defer collector.Close()
		r := serve(t, append(on(database), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL+"/", "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b"))
		c := firstClient(t, r)
		const stranger = "4bf92f3577b34da6a3ce929d0e0e4736"
		c.must(t, http.StatusCreated, "PUT", personal+"dentist.ics", event("dentist", "Dentist"), "Traceparent", "00-"+stranger+"-00f067aa0ba902b7-01")
		c.call(t, "list_calendars", struct{}{})
		if err := r.interrupt(); err != nil {
			t.Fatal(err)
		}
		const route = "/dav/calendars/{user}/{calendar}/{object}"
		put := seen.named(t, "PUT "+route)[0]
		if put.attribute("http.route") != route || put.attribute("http.response.status_code") != "201" || put.attribute("caldav_mcp.door") != caldavDoor || put.TraceID == stranger {
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

// A collector that is away, or malformed, costs no request.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, database string) {
		r := serve(t, append(on(database), "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces"))
		c := firstClient(t, r)
		c.must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0")
		if err := r.interrupt(); err != nil || !strings.Contains(r.log.String(), "the collector of traces took none of them") {
			t.Errorf("%v, the log is\n%s", err, r.log.String())
		}
	})
}
