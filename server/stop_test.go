package server

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	inside, goOn := make(chan struct{}), make(chan struct{})
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		close(inside)
		<-goOn
		if err != nil || r.Context().Err() != nil {
			t.Errorf("the request was disturbed: %v, %v", err, r.Context().Err())
		}
		_, _ = w.Write(body)
	}, nil)
	stopped := make(chan error)
	go func() {
		<-inside
		go func() { stopped <- s.stop() }()
		<-s.stopping.Done()
		close(goOn)
	}()
	res := s.send(t, "PUT", s.base, strings.NewReader("kept"), nil)
	if res.text != "kept" {
		t.Errorf("the answer is %q", res.text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultTransport.RoundTrip(r); err == nil {
		res.Body.Close()
		t.Error("a stopped server answered")
	}
}

func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, "data: hello\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, func(c *Config) { c.Timeouts.Drain = time.Hour })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	if line, err := stream.ReadString('\n'); err != nil || line != "data: hello\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(stream); err != nil || string(rest) != "\n" {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}

// A stream that answers a POST may be work, so its door says which are not.
func TestStopAsksTheDoor(t *testing.T) {
	t.Parallel()
	told := make(chan struct{})
	s := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-told
		_, _ = io.WriteString(w, "data: bye\n\n")
	}, func(c *Config) {
		c.Timeouts.Drain = time.Hour
		c.Doors[0].Stop = func() { close(told) }
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if all, err := io.ReadAll(res.Body); err != nil || string(all) != "data: bye\n\n" {
		t.Errorf("the stream ended with %q, %v", all, err)
	}
}

func TestStopTellsWhatItCut(t *testing.T) {
	t.Parallel()
	inside := make(chan struct{})
	s := open(t, func(_ http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done() // until the connection is closed
	}, func(c *Config) { c.Timeouts.Drain = time.Millisecond })
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if res, err := http.DefaultTransport.RoundTrip(r); err == nil {
			res.Body.Close()
		}
	}()
	<-inside
	if err := s.stop(); err == nil || !strings.Contains(err.Error(), "did not end in time") {
		t.Errorf("got %v", err)
	}
}
