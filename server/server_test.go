package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// story is a server with one door on a free port, and what it logged.
type story struct {
	*Server
	log  *lines
	base string
	stop func() error
}

// lines is a log that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testConfig is a server whose ids count upwards, and whose log has no times in it.
func testConfig(log io.Writer, h http.HandlerFunc) Config {
	count := 0
	var mu sync.Mutex
	return Config{
		Doors: []Door{{
			Name: "caldav", Addr: "127.0.0.1:0", Handler: h, MaxBody: 1000,
			Routes: []string{"/dav/calendars/{user}", "/stream"},
		}},
		Ready:    func(context.Context) error { return nil },
		Timeouts: DefaultTimeouts(),
		Version:  "v1.2.3",
		Now:      time.Now,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			count++
			return "id-" + strconv.Itoa(count)
		},
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{
			Level: slog.LevelInfo,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == "took" || a.Key == "stack" {
					return slog.Attr{}
				}
				return a
			},
		})),
	}
}

// open starts a server; change may alter its configuration first.
func open(t *testing.T, h http.HandlerFunc, change func(*Config)) *story {
	t.Helper()
	log := new(lines)
	c := testConfig(log, h)
	if change != nil {
		change(&c)
	}
	s := New(c)
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return &story{Server: s, log: log, base: "http://" + s.Addr("caldav"), stop: stop}
}

// answer is an answer, read to its end.
type answer struct {
	status int
	header http.Header
	text   string
}

// ask sends a request without a body to the door.
func (s *story) ask(t *testing.T, method, path string, change func(*http.Request)) answer {
	t.Helper()
	return s.send(t, method, s.base+path, nil, change)
}

func (s *story) send(t *testing.T, method, url string, body io.Reader, change func(*http.Request)) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

func TestLogLineNamesNoPath(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		RecordOf(r.Context()).User = "ann"
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "seven b")
	}, nil)
	res := s.ask(t, "BREW", "/dav/calendars/private-name/?token=private", func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer private")
		r.Header.Set(RequestIDHeader, "forged")
	})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if got := res.header.Get(RequestIDHeader); got != "id-1" {
		t.Errorf("the answer's id is %q, want one of ours", got)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(firstLine(s.log.String())), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"level": "INFO", "msg": "request", "id": "id-1", "door": "caldav", "client": "127.0.0.1", "user": "ann",
		"method": "OTHER", "route": "/dav/calendars/{user}", "status": 418.0, "bytes": 7.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(s.log.String(), "private") {
		t.Errorf("the log has what nobody should read:\n%s", s.log)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func TestTrustedProxyNamesRequestAndClient(t *testing.T) {
	t.Parallel()
	var seen string
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get(RequestIDHeader) + " " + ClientAddr(r).String() + " " + r.Host
	}, func(c *Config) { c.Proxies, _ = ParseProxies("127.0.0.1") })
	res := s.ask(t, "GET", "/", func(r *http.Request) {
		r.Header.Set(RequestIDHeader, "proxy-7")
		r.Header.Set(forwardedFor, "198.51.100.1")
		r.Header.Set(forwardedHost, "cal.example")
	})
	if want := "proxy-7 198.51.100.1 cal.example"; seen != want {
		t.Errorf("the door saw %q, want %q", seen, want)
	}
	if got := res.header.Get(RequestIDHeader); got != "proxy-7" {
		t.Errorf("the answer's id is %q", got)
	}
	for _, bad := range []string{"two words", strings.Repeat("x", 129)} {
		res := s.ask(t, "GET", "/", func(r *http.Request) { r.Header.Set(RequestIDHeader, bad) })
		if got := res.header.Get(RequestIDHeader); !strings.HasPrefix(got, "id-") {
			t.Errorf("the id %q was taken", got)
		}
	}
}

func TestPanicBecomes500(t *testing.T) {
	t.Parallel()
	s := open(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			panic("SUMMARY:Doctor")
		}
		_ = []int{1, 2}[len(r.Method)]
	}, nil)
	res := s.ask(t, "GET", "/", nil)
	if res.status != http.StatusInternalServerError || !strings.Contains(res.text, "id-1") {
		t.Errorf("answered %d with %q", res.status, res.text)
	}
	s.ask(t, "GET", "/stream", nil)
	if s.metrics.panics != 2 {
		t.Errorf("counted %d panics, want 2", s.metrics.panics)
	}
	log := s.log.String()
	if !strings.Contains(log, "index out of range") || strings.Contains(log, "Doctor") {
		t.Errorf("the log should tell the runtime's errors and no value of anybody else's:\n%s", log)
	}
}

func TestPanicInMidAnswerCutsTheConnection(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("half ", 2000))
		panic("later")
	}, nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("half an answer looked like a whole one")
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	}, nil)
	long := strings.Repeat("x", 1001)
	for name, body := range map[string]io.Reader{
		"told ahead": strings.NewReader(long),
		"chunked":    io.MultiReader(strings.NewReader(long)), // a reader of unknown length
	} {
		res := s.send(t, "PUT", s.base, body, nil)
		if res.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: answered %d", name, res.status)
		}
	}
	if res := s.send(t, "PUT", s.base, strings.NewReader(long[1:]), nil); res.status != http.StatusOK {
		t.Errorf("the largest body allowed: answered %d", res.status)
	}
}

func TestHeaderLimit(t *testing.T) {
	t.Parallel()
	s := open(t, func(http.ResponseWriter, *http.Request) {}, nil)
	res := s.ask(t, "GET", "/", func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", 80<<10)) })
	if res.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("answered %d", res.status)
	}
}

// TestRebinding: no door, and not that of the metrics, answers to a name that was made to point at this machine
// (security L15).
func TestRebinding(t *testing.T) {
	t.Parallel()
	s := open(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.Hosts, c.MetricsAddr = []string{"cal.example"}, "127.0.0.1:0"
	})
	for host, want := range map[string]int{
		"127.0.0.1:5232": 200, "localhost:5232": 200, "LOCALHOST": 200, "[::1]:5232": 200, "cal.example": 200,
		"cal.example.:443": 200, "app.localhost": 200,
		"[::1": 421, "localhost:x": 421, "user@localhost": 421, "localhost/x": 421, "::1": 421, "127.0.0.1]": 421,
		"evil.example": 421, "evil.example:5232": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
	} {
		for _, url := range []string{s.base + "/", "http://" + s.Addr("metrics") + "/metrics"} {
			res := s.send(t, "GET", url, nil, func(r *http.Request) { r.Host = host })
			if res.status != want {
				t.Errorf("%s asked as %s: answered %d, want %d", url, host, res.status, want)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	var away error
	var later, asked atomic.Int64 // how far the clock has moved; how often the store was asked
	begin := time.Now()
	s := open(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, func(c *Config) {
		c.Ready = func(context.Context) error { asked.Add(1); return away }
		c.Now = func() time.Time { return begin.Add(time.Duration(later.Load())) }
	})
	tests := []struct {
		method, path string
		away         error
		status       int
		text         string
	}{
		{"GET", "/healthz", nil, 200, "alive\n"},
		{"GET", "/readyz", nil, 200, "ready\n"},
		{"HEAD", "/readyz", nil, 200, ""},
		{"GET", "/healthz", errors.New("the database is away"), 200, "alive\n"},
		{"GET", "/readyz", errors.New("the database is away"), 503, "not ready: the database is away\n"},
		{"GET", "/readyz", ImpairedError{Why: "the disk is full"}, 200, "ready, but the disk is full\n"},
		{"GET", "/readyz", nil, 200, "ready\n"},
		{"POST", "/readyz", nil, 405, "only GET and HEAD\n"},
		{"GET", "/readyz/", nil, 418, ""},
	}
	for _, test := range tests {
		away = test.away
		later.Add(int64(readyFor))
		res := s.ask(t, test.method, test.path, nil)
		if res.status != test.status || res.text != test.text {
			t.Errorf("%s %s: answered %d with %q", test.method, test.path, res.status, res.text)
		}
		if (res.header.Get("Retry-After") != "") != (test.status == 503) {
			t.Errorf("%s %s: Retry-After is %q", test.method, test.path, res.header.Get("Retry-After"))
		}
	}
	later.Add(int64(readyFor))
	before := asked.Load()
	for range 50 {
		s.ask(t, "GET", "/readyz", nil)
	}
	if n := asked.Load() - before; n != 1 {
		t.Errorf("the store was asked %d times within a second", n)
	}
}

func TestListenTakesAllOrNone(t *testing.T) {
	t.Parallel()
	taken := open(t, func(http.ResponseWriter, *http.Request) {}, nil)
	c := testConfig(io.Discard, nil)
	c.Doors = append(c.Doors, Door{Name: "mcp", Addr: taken.Addr("caldav")})
	s := New(c)
	err := s.Listen(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the mcp door cannot listen") {
		t.Fatalf("got %v", err)
	}
	// The first door's port is free again: another server can have it.
	c.Doors = []Door{{Name: "again", Addr: s.Addr("caldav")}}
	again := New(c)
	if err := again.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := again.shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
