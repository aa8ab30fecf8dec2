//go:build unix

package store

import (
	"net"
	"testing"
	"time"
)

// TestAliveBesideReader: whether a connection is there is found out while somebody waits for what comes on it, as the driver may leave one behind.
func TestAliveBesideReader(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	far := make(chan net.Conn, 1)
	go func() {
		conn, _ := l.Accept()
		far <- conn
	}()
	near, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other := <-far
	raw, err := near.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	waits, read := make(chan struct{}), make(chan struct{})
	go func() {
		first := true
		_ = raw.Read(func(uintptr) bool {
			if first {
				close(waits)
			}
			first = !first
			return first
		})
		close(read)
	}()
	<-waits
	told := make(chan bool, 2)
	go func() { told <- alive(near) }()
	select {
	case is := <-told:
		if !is {
			t.Error("a connection that is there is taken for gone")
		}
	case <-time.After(10 * time.Second):
		t.Error("it is waited for what comes")
	}
	_ = other.Close()
	<-read
	if alive(near) {
		t.Error("a connection that is gone is taken for one that is there")
	}
	_ = near.Close()
}
