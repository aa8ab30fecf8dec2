package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are in memory, so that time in the tests is a matter
// of agreement (testing/synctest) and a minute costs nothing.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv6loopback} }

// dial opens a server with h behind it and returns the client's end of a connection.
func dial(t *testing.T, h http.HandlerFunc) net.Conn {
	t.Helper()
	s := New(testConfig(io.Discard, nil))
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	d := Door{Name: "caldav", Handler: h, MaxBody: 1 << 20}
	s.listeners = []*listener{{name: d.Name, net: l, http: s.httpServer(d.Name, s.handler(d))}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	client, server := net.Pipe()
	l.conns <- server
	t.Cleanup(func() {
		_ = client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return client
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Error(err)
	}
}

func TestSlowHeadIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, func(http.ResponseWriter, *http.Request) { t.Error("half a head came through") })
		begin := time.Now()
		write(t, c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
		_, _ = io.ReadAll(c)
		if took := time.Since(begin); took != DefaultTimeouts().Header {
			t.Errorf("the connection was cut after %s", took)
		}
	})
}

func TestStalledBodyIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		c := dial(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			failed <- err
		})
		begin := time.Now()
		write(t, c, "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nfirst ")
		<-time.After(20 * time.Second)
		write(t, c, "second ")
		if err := <-failed; err == nil {
			t.Error("the body was taken for whole")
		}
		if took := time.Since(begin); took != 20*time.Second+DefaultTimeouts().Stall {
			t.Errorf("the body was given up after %s", took)
		}
	})
}

func TestTricklingBodyIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		c := dial(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			failed <- err
		})
		begin := time.Now()
		write(t, c, "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
		var client sync.WaitGroup
		client.Go(func() {
			for {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				<-time.After(time.Second)
			}
		})
		client.Go(func() { _, _ = io.Copy(io.Discard, c) })
		if err := <-failed; err == nil {
			t.Error("the body was taken for whole")
		}
		if took := time.Since(begin); took != DefaultTimeouts().Body {
			t.Errorf("the body was given up after %s", took)
		}
		_ = c.Close()
		client.Wait()
	})
}

func TestClientThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		c := dial(t, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 10_000)); err != nil {
					failed <- err
					return
				}
			}
		})
		begin := time.Now()
		write(t, c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err := <-failed; err == nil {
			t.Error("an endless answer ended")
		}
		if took := time.Since(begin); took != DefaultTimeouts().Stall {
			t.Errorf("the answer was given up after %s", took)
		}
	})
}

// A stream in which nothing happens for an hour is not a slow client. Neither the deadline of the
// request's body nor that of the last write may end it.
func TestQuietStreamLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 3 {
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					t.Errorf("the stream was ended: %v", context.Cause(r.Context()))
					return
				}
				_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
				_ = http.NewResponseController(w).Flush()
			}
		})
		write(t, c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if want := "data: 0\n\ndata: 1\n\ndata: 2\n\n"; string(text) != want || err != nil {
			t.Errorf("read %q, %v", text, err)
		}
	})
}

// After an answer the next request on the connection has its own time.
func TestKeepAliveAfterABody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) })
		answers := bufio.NewReader(c)
		for range 3 {
			go write(t, c, "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
			res, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			<-time.After(DefaultTimeouts().Idle - time.Second)
		}
	})
}

// Who uploads what is refused is heard out before they are answered, within bounds: a connection that is closed with
// bytes unread takes the answer with it.
func TestRefusedUploadIsHeardOut(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		length, sent int
		expect       string
		took         time.Duration
	}{
		"a large one":                 {900_000, 900_000, "", 0},
		"one beyond the door's bound": {4 << 20, 4 << 20, "", 0},
		"one that stops":              {900_000, 10, "", drainFor},
		"one that waits for a word":   {900_000, 0, "Expect: 100-continue\r\n", 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn := dial(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) })
				begin, sent := time.Now(), make(chan error, 1)
				go func() {
					_, err := fmt.Fprintf(conn, "PUT / HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s",
						c.expect, c.length, strings.Repeat("x", c.sent))
					sent <- err
				}()
				if err := <-sent; err != nil {
					t.Fatalf("the upload was cut off: %v", err)
				}
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				want := http.StatusConflict
				if c.length > 1<<20 {
					want = http.StatusRequestEntityTooLarge
				}
				if took := time.Since(begin); answer.StatusCode != want || took != c.took {
					t.Errorf("answered %s after %s", answer.Status, took)
				}
			})
		})
	}
}
