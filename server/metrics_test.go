package server

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func TestExposition(t *testing.T) {
	t.Parallel()
	m := newCounters(`v1 "odd"`, time.Unix(0, 0))
	for range 4 {
		m.begin("caldav")
	}
	m.begin("mcp")
	m.end(&Record{door: "caldav", route: "/dav/calendars/{user}", method: "REPORT", report: "sync-collection"}, 207,
		time.Millisecond)
	put := &Record{door: "caldav", route: "/dav/calendars/{user}", method: "PUT"}
	m.end(put, 201, 2*time.Millisecond)
	m.end(put, 201, 40*time.Second)
	m.end(&Record{door: "mcp", route: "/mcp", method: "POST", scheme: "bearer"}, 401, time.Millisecond)
	m.panicked()
	var page bytes.Buffer
	m.write(&page)
	got := strings.ReplaceAll(page.String(), runtime.Version(), "goX")
	golden := filepath.Join("testdata", "metrics.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A 401 to who sent no credentials is the start of every session and no failure.
func TestAuthFailures(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		if r.URL.Path == "/throttled" {
			status = http.StatusTooManyRequests
		}
		w.WriteHeader(status)
	}, nil)
	s.ask(t, "GET", "/", nil)
	wrong := func(r *http.Request) { r.SetBasicAuth("ann", "wrong") }
	s.ask(t, "GET", "/", wrong)
	s.ask(t, "GET", "/throttled", wrong)
	if got := s.metrics.authFailures["caldav"]; got != 2 {
		t.Errorf("counted %d failures, want 2", got)
	}
}

// Every line of the page is one that Prometheus' text format knows.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	tools := NewToolMeter()
	s := open(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.MetricsAddr, c.Tools = "127.0.0.1:0", tools
	})
	s.ask(t, "GET", "/", nil)
	tools.Called("list_events", "ok", 1500*time.Millisecond)
	tools.Called("list_events", "not_found", 250*time.Millisecond)
	tools.Called("list_events", "ok", 250*time.Millisecond)
	res := s.send(t, "GET", "http://"+s.Addr("metrics")+"/metrics", nil, nil)
	if got := res.header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("the type is %q", got)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$`)
	for l := range strings.Lines(res.text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("not a line of the format: %q", l)
		}
	}
	for _, name := range []string{"go_goroutines", "go_gc_cycles_total", "process_start_time_seconds"} {
		if !strings.Contains(res.text, "\n"+name+" ") {
			t.Errorf("%s is missing", name)
		}
	}
	for _, line := range []string{
		`caldav_mcp_tool_calls_total{tool="list_events",outcome="not_found"} 1`,
		`caldav_mcp_tool_calls_total{tool="list_events",outcome="ok"} 2`,
		`caldav_mcp_tool_duration_seconds_sum{tool="list_events"} 2`,
		`caldav_mcp_tool_duration_seconds_bucket{tool="list_events",le="0.25"} 2`,
	} {
		if !strings.Contains(res.text, "\n"+line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	if res := s.send(t, "GET", s.base+"/metrics", nil, nil); res.status != http.StatusOK ||
		res.header.Get("Content-Type") != "" {
		t.Error("the door itself must not serve /metrics")
	}
	if res := s.send(t, "GET", "http://"+s.Addr("metrics")+"/dav/", nil, nil); res.status != http.StatusNotFound {
		t.Errorf("the metrics listener answered %d for something else", res.status)
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	ticks, pages := parseStat([]byte("42 (odd ) name) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 9 0 77 123456 321 99"))
	if ticks != 300 || pages != 321 {
		t.Errorf("read %v ticks and %v pages", ticks, pages)
	}
	if ticks, pages := parseStat(nil); ticks != 0 || pages != 0 {
		t.Errorf("nothing was read as %v and %v", ticks, pages)
	}
}
