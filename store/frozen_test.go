package store_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// valve passes on a database's answers until it is shut.
type valve struct{ sync.RWMutex }

func (v *valve) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		v.RLock()
		_, failed := to.Write(buffer[:n])
		v.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// through returns the address at which a database is reached through a valve.
func through(t *testing.T, address string, v *valve) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		t.Skipf("the database has no address to come between: %v", err)
	}
	database := u.Host
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(t.Context(), "tcp", database)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() { v.pass(client, server); _ = client.Close() }()
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

// TestFrozenPostgres: a stopped database, or one on the far side of a dead network, does not block callers
// forever on an open connection (security L17).
func TestFrozenPostgres(t *testing.T) {
	t.Parallel()
	address := testdb.Postgres(t)
	prepare(t, open(t, address, store.Options{}))
	var v valve
	s := open(t, through(t, address, &v), store.Options{StatementTimeout: 600 * time.Millisecond, MaxConns: 1})
	version(t, s)
	v.Lock()
	_, err := s.Object(t.Context(), theCalendar, "a")
	refused(t, "a read", err)
	_, err = put(t.Context(), s, "a")
	refused(t, "a write", err)
	v.Unlock()
	version(t, s)
}
