package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A server that has taken its addresses says what it is at until its doors are opened.
func TestListensBeforeItsDoorsOpen(t *testing.T) {
	t.Parallel()
	doing := errors.New("rebuilding the index: 10 of 20 objects")
	s := open(t, nil, func(c *Config) {
		c.Doors[0].Handler = nil
		c.Ready = func(context.Context) error { return doing }
	})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/healthz": {200, "alive"}, "/readyz": {503, "not ready: " + doing.Error()},
		"/dav/calendars/ann": {503, "not ready: " + doing.Error()},
	} {
		res := s.send(t, "GET", s.base+path, nil, nil)
		if res.status != want.status || strings.TrimSpace(res.text) != want.text {
			t.Errorf("%s: %d %q, want %+v", path, res.status, res.text, want)
		}
		if res.status == 503 && res.header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come back", path)
		}
	}
	s.Open(Door{Name: "caldav", MaxBody: 100, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "here")
	})})
	if res := s.send(t, "GET", s.base+"/dav/calendars/ann", nil, nil); res.text != "here" {
		t.Errorf("once it is open: %d %q", res.status, res.text)
	}
}

// A server that was told to stop answers for a while, and says that it is stopping.
func TestLeavesBeforeItStops(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") },
		func(c *Config) { c.Timeouts.Leave = time.Millisecond })
	s.leaving.Store(true)
	if res := s.send(t, "GET", s.base+"/readyz", nil, nil); res.status != 503 ||
		!strings.Contains(res.text, "stopping") {
		t.Errorf("readyz: %d %q", res.status, res.text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/dav/calendars/ann", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("a request: %d, closed: %v", res.StatusCode, res.Close)
	}
	if err := s.stop(); err != nil || !strings.Contains(s.log.String(), `"leaving"`) {
		t.Errorf("%v\n%s", err, s.log.String())
	}
}
