package server

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// exhausted is a listener that has no file descriptors left for a while.
type exhausted struct {
	net.Listener
	left int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.left--; e.left >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return e.Listener.Accept()
}

// That nobody gets in for lack of descriptors is in the log, and is over when there are some again.
func TestExhaustionIsLogged(t *testing.T) {
	t.Parallel()
	lines := new(lines)
	s := New(testConfig(lines, nil))
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.listeners[0].net = &exhausted{s.listeners[0].net, 2}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr("caldav"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("nobody gets in afterwards: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := strings.Count(lines.String(), `"level":"ERROR"`); got != 2 ||
		!strings.Contains(lines.String(), "too many open files") {
		t.Errorf("%d errors in\n%s", got, lines.String())
	}
}
