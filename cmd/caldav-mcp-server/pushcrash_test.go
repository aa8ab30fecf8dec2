package main

import (
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/webpush/pushtest"
)

// tellingEnv is how a server is started that may ask a service on this machine, whose certificate it believes.
func tellingEnv(t *testing.T, database string, s *pushtest.Service) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return append(on(database), "BASE_URL=https://cal.example.org", "FETCH_ALLOW=127.0.0.0/8", "SSL_CERT_FILE="+file)
}

// registerDevice has a program told of the personal calendar, as DAVx⁵ asks for it: with neither a trigger nor an encoding.
func (c client) registerDevice(t *testing.T, s *pushtest.Service, path string) {
	t.Helper()
	p := s.Subscribe(path)
	c.must(t, http.StatusNoContent, http.MethodPost, personal, `<?xml version='1.0' encoding='UTF-8' ?>
		<push-register xmlns="https://bitfire.at/webdav-push" xmlns:D="DAV:"><subscription><web-push-subscription>
		<push-resource>`+s.Endpoint(p)+`</push-resource><subscription-public-key type="p256dh">`+p.PublicKey()+`</subscription-public-key>
		<auth-secret>`+p.Auth()+`</auth-secret></web-push-subscription></subscription></push-register>`, "Content-Type", "application/xml; charset=UTF-8")
}

// A server that is killed between a change that it acknowledged and the message about it tells of it afterwards. It is killed
// at once after the answer: most times nothing was told before, and never is anything told more than twice.
func TestKillBeforeTelling(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers, whose leases are waited for")
	testdb.EachBlank(t, func(t *testing.T, database string) {
		s := pushtest.NewService(t, time.Now)
		env := tellingEnv(t, database, s)
		c := firstClient(t, serve(t, env))
		c.registerDevice(t, s, "/phone")
		for round := range 3 {
			uid := string(rune('a' + round))
			c.must(t, http.StatusCreated, http.MethodPut, personal+uid+".ics", event(uid, "made before the end"))
			if err := c.kill(); err != nil {
				t.Fatal(err)
			}
			told := len(s.Got())
			c = c.at(serve(t, env))
			until(t, "the change is told", func() bool {
				told += len(s.Got())
				return told > 0
			})
			time.Sleep(5 * time.Second) //nolint:forbidigo // that nothing more comes is seen by waiting for two looks
			if told += len(s.Got()); told > 2 || s.Wrong() != nil {
				t.Errorf("round %d: told %d times, %v", round, told, s.Wrong())
			}
		}
	})
}

// A server that is killed while the push service has its message, and has not said so yet, tells it once more, and not a
// third time.
func TestKillWhileTelling(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers, whose leases are waited for")
	testdb.EachBlank(t, func(t *testing.T, database string) {
		s := pushtest.NewService(t, time.Now)
		env := tellingEnv(t, database, s)
		c := firstClient(t, serve(t, env))
		c.registerDevice(t, s, "/phone")
		killed := make(chan error, 1)
		s.Answer = func(string) int {
			select {
			case killed <- c.kill():
			default:
			}
			return http.StatusCreated
		}
		c.must(t, http.StatusCreated, http.MethodPut, personal+"a.ics", event("a", "told twice"))
		<-s.Arrived()
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
		s.Got()
		s.Answer = nil
		again := c.at(serve(t, env))
		until(t, "it is told again", func() bool { return len(s.Got()) == 1 })
		time.Sleep(5 * time.Second) //nolint:forbidigo // likewise
		if more := s.Got(); len(more) > 0 || s.Wrong() != nil {
			t.Errorf("told %d times more, %v", len(more), s.Wrong())
		}
		again.must(t, http.StatusCreated, http.MethodPut, personal+"b.ics", event("b", "told once"))
		until(t, "the next is told", func() bool { return len(s.Got()) == 1 })
	})
}
