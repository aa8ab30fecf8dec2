package refuse

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// refusal is a statement that fails as LISTEN does on a server without it.
const refusal = "DO 'BEGIN RAISE feature_not_supported; END'"

// mostMessage is the size of the largest message that clients send in tests.
const mostMessage = 1 << 30

// errMessage reports a message that the protocol does not have.
var errMessage = errors.New("refuse: a message of this length is no message of the protocol")

// proxy stands in front of a Postgres and replaces LISTEN by a refusal. Rights cannot do that: Postgres lets each role
// listen.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	ended bool
	open  map[net.Conn]bool
	all   sync.WaitGroup
}

func listen(ctx context.Context, to string) (*proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("refuse: %w", err)
	}
	p := &proxy{listener: listener, to: to, open: make(map[net.Conn]bool)}
	p.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(client) })
		}
	})
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// close ends all connections.
func (p *proxy) close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.ended = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
	return err
}

// keep remembers a connection until forget closes it, and reports whether it may be used.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
	return !p.ended
}

func (p *proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}

// serve passes on a connection in both directions.
func (p *proxy) serve(client net.Conn) {
	defer p.forget(client)
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer p.forget(server)
	if !p.keep(client) || !p.keep(server) {
		return
	}
	p.all.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	_ = requests(client, server)
}

// requests passes on a client's messages. The first has no type.
func requests(client io.Reader, server io.Writer) error {
	for first := true; ; first = false {
		var head [5]byte
		at := head[:]
		if first {
			at = head[1:]
		}
		if _, err := io.ReadFull(client, at); err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(head[1:])
		if size < 4 || size > mostMessage {
			return errMessage
		}
		body := make([]byte, size-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if head[0] == 'Q' && bytes.HasPrefix(bytes.ToUpper(body), []byte("LISTEN")) {
			body = append([]byte(refusal), 0)
			binary.BigEndian.PutUint32(head[1:], uint32(len(body)+4))
		}
		if _, err := server.Write(append(at, body...)); err != nil {
			return err
		}
	}
}
