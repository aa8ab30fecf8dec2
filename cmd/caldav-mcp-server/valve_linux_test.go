package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
)

// valve carries connections to a port of this machine, and can be shut.
type valve struct {
	port   int
	target string

	mu   sync.Mutex
	shut bool
	open map[net.Conn]bool
}

func newValve(t *testing.T, target int) *valve {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("a listener without a port")
	}
	v := &valve{port: addr.Port, target: fmt.Sprint("127.0.0.1:", target), open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		ctx := context.WithoutCancel(t.Context()) // valves are closed after what uses them has ended
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { v.carry(ctx, from) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		v.turn(true)
		all.Wait()
	})
	return v
}

// turn shuts the valve, which ends all connections, or opens it for new ones.
func (v *valve) turn(shut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = shut
	for c := range v.open {
		if shut {
			_ = c.Close()
		}
	}
}

func (v *valve) carry(ctx context.Context, from net.Conn) {
	defer from.Close()
	to, err := new(net.Dialer).DialContext(ctx, "tcp", v.target)
	if err != nil {
		return
	}
	defer to.Close()
	if !v.keep(from, to) {
		return
	}
	defer v.forget(from, to)
	var both sync.WaitGroup
	for _, pair := range [...][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = from.Close(), to.Close()
		})
	}
	both.Wait()
}

func (v *valve) keep(ends ...net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range ends {
		v.open[c] = true
	}
	return !v.shut
}

func (v *valve) forget(ends ...net.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range ends {
		delete(v.open, c)
	}
}
