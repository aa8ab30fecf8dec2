package main

import (
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
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

// registerDevice has a program told of a calendar, as DAVx⁵ asks for it: with neither a trigger nor an encoding.
func (c client) registerDevice(t *testing.T, s *pushtest.Service, cal, path string) {
	t.Helper()
	p := s.Subscribe(path)
	c.must(t, http.StatusNoContent, http.MethodPost, cal, `<?xml version='1.0' encoding='UTF-8' ?>
		<push-register xmlns="https://bitfire.at/webdav-push" xmlns:D="DAV:"><subscription><web-push-subscription>
		<push-resource>`+s.Endpoint(p)+`</push-resource><subscription-public-key type="p256dh">`+p.PublicKey()+
		`</subscription-public-key>
		<auth-secret>`+p.Auth()+`</auth-secret></web-push-subscription></subscription></push-register>`, "Content-Type",
		"application/xml; charset=UTF-8")
}

// ticking is a calendar beside the personal one, clock the device that is told of it.
const ticking, clock = "/dav/calendars/admin/ticking/", "/clock"

// registerClock creates a calendar and a device that show when the server has checked for due messages.
func (c client) registerClock(t *testing.T, s *pushtest.Service) {
	t.Helper()
	c.must(t, http.StatusCreated, "MKCALENDAR", ticking, "")
	c.registerDevice(t, s, ticking, clock)
}

// phone is the device whose messages are counted.
const phone = "/phone"

// heard takes the messages, and returns how often the phone got one and whether the clock did.
func heard(s *pushtest.Service) (times int, tick bool) {
	for _, m := range s.Got() {
		if m.Path == phone {
			times++
		}
		tick = tick || m.Path == clock
	}
	return times, tick
}

// twoLooks returns how often the phone got a message until the server has checked twice for due ones.
func (c client) twoLooks(t *testing.T, s *pushtest.Service, round string) (times int) {
	t.Helper()
	for _, look := range []string{"one", "two"} {
		uid := round + look
		c.must(t, http.StatusCreated, http.MethodPut, ticking+uid+".ics", event(uid, "a look"))
		until(t, "the clock is told", func() bool {
			more, tick := heard(s)
			times += more
			return tick
		})
	}
	return times
}

// eachKilled runs a test on each engine, with a server that notifies the phone and the clock; again restarts it.
func eachKilled(t *testing.T, test func(t *testing.T, s *pushtest.Service, c client, again func() client)) {
	t.Helper()
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers, whose leases are waited for")
	each(t, func(t *testing.T, database string) {
		s := pushtest.NewService(t, time.Now)
		env := tellingEnv(t, database, s)
		c := firstClient(t, serve(t, env))
		c.registerDevice(t, s, personal, phone)
		c.registerClock(t, s)
		test(t, s, c, func() client { return c.at(serve(t, env)) })
	})
}

// A server that is killed between acknowledging a change and sending the message sends it after the restart. It is
// killed right after the response: usually no message was sent before, and none is ever sent more than twice.
func TestKillBeforeTelling(t *testing.T) {
	eachKilled(t, func(t *testing.T, s *pushtest.Service, c client, again func() client) {
		for _, uid := range []string{"a", "b", "c"} {
			c.must(t, http.StatusCreated, http.MethodPut, personal+uid+".ics", event(uid, "made before the end"))
			if err := c.kill(); err != nil {
				t.Fatal(err)
			}
			c = again()
			told := 0
			until(t, "the change is told", func() bool {
				more, _ := heard(s)
				told += more
				return told > 0
			})
			if told += c.twoLooks(t, s, uid); told > 2 || s.Wrong() != nil {
				t.Errorf("%s: told %d times, %v", uid, told, s.Wrong())
			}
		}
	})
}

// A server that is killed while the push service has its message, and has not said so yet, tells it once more, and not
// a third time.
func TestKillWhileTelling(t *testing.T) {
	eachKilled(t, func(t *testing.T, s *pushtest.Service, c client, again func() client) {
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
		c = again()
		once := func() bool {
			times, _ := heard(s)
			return times == 1
		}
		until(t, "it is told again", once)
		if more := c.twoLooks(t, s, "a"); more > 0 || s.Wrong() != nil {
			t.Errorf("told %d times more, %v", more, s.Wrong())
		}
		c.must(t, http.StatusCreated, http.MethodPut, personal+"b.ics", event("b", "told once"))
		until(t, "the next is told", once)
	})
}
