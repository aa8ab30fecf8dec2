package push_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/push"
	"caldav-mcp-server/webpush"
)

// hanging answers no message to the host hang.example, except on the path /answers, until a number of messages
// arrived elsewhere.
type hanging struct {
	mu      sync.Mutex
	wanted  int
	arrived []string
	release chan struct{}
	// late is set if a message reached its timeout first.
	late bool
}

// begin waits for this number of messages.
func (s *hanging) begin(wanted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted, s.arrived, s.release = wanted, nil, make(chan struct{})
}

func (s *hanging) send(r *http.Request) (push.Answer, error) {
	release, hangs := s.receive(r)
	if !hangs {
		return push.Answer{Status: http.StatusCreated}, nil
	}
	select {
	case <-release:
	case <-r.Context().Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.late = true
	}
	return push.Answer{}, errors.New("no answer")
}

func (s *hanging) receive(r *http.Request) (release chan struct{}, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Host == "hang.example" && r.URL.Path != "/answers" {
		return s.release, true
	}
	if s.arrived = append(s.arrived, r.URL.String()); len(s.arrived) == s.wanted {
		close(s.release)
	}
	return nil, false
}

// TestAHostThatHangsDelaysNoOther: 40 devices and webhooks of as many users wait for a host that does not answer. All
// were registered before bob's.
func TestAHostThatHangsDelaysNoOther(t *testing.T) {
	each(t, func(h *house) {
		s := new(hanging)
		h.courier = h.sending(h.Store, s.send)
		h.share(calendar.ReadAccess)
		people := []calendar.Caller{}
		for i := range 40 {
			name := fmt.Sprintf("user%02d", i)
			u := calendar.User{ID: calendar.UserID("u-" + name), Name: name, Created: start}
			h.must(h.Store.InsertUser(h.t.Context(), u, "a hash"))
			_, err := h.service.Reshare(h.t.Context(), h.alice, h.work.ID,
				[]calendar.ShareEdit{{With: u, Access: calendar.ReadAccess}})
			h.must(err)
			people = append(people, calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"})
		}
		for i, c := range people {
			if i%2 == 0 {
				h.registerAt(c, fmt.Sprintf("https://hang.example/%d", i))
				continue
			}
			_, err := h.service.AddWebhook(h.t.Context(), c, watch.WebhookSpec{URL: "https://hang.example/hook"})
			h.must(err)
		}
		h.registerAt(h.bob, "https://push.example/bob")
		h.registerAt(h.bob, "https://hang.example/answers")
		_, err := h.service.AddWebhook(h.t.Context(), h.bob, watch.WebhookSpec{URL: "https://hooks.example/bob"})
		h.must(err)
		for _, c := range []struct {
			what   string
			wanted int
		}{{"at other hosts", 2}, {"also at that host, when the others are known to fail", 3}} {
			s.begin(c.wanted)
			h.put(c.what[:4])
			h.round()
			if len(s.arrived) != 3 || s.late {
				h.t.Fatalf("%s: %v arrived; after a timeout: %t", c.what, s.arrived, s.late)
			}
			h.Pass(10 * time.Minute)
		}
	})
}

// registerAt registers a program with an address that only a fake sender reaches.
func (h *house) registerAt(c calendar.Caller, endpoint string) {
	h.t.Helper()
	p := h.devices.Subscribe(endpoint)
	s, err := webpush.Parse(endpoint, p.PublicKey(), p.Auth())
	h.must(err)
	_, err = h.service.RegisterPush(h.t.Context(), c, calendar.PushSubscription{
		Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth, Calendar: h.work.ID,
	})
	h.must(err)
}
