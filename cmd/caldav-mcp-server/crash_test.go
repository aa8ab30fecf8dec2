package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
)

// changesToLive is how many acknowledged changes a server lives for before it is killed.
const changesToLive = 40

// A server that is killed in the midst of a stream of PUTs has lost none that it acknowledged,
// has numbered the changes without a gap, and tells a client with an old sync token exactly what
// changed.
func TestKillDuringPuts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		c := firstClient(t, serve(t, on(database)))
		state := crashState{objects: map[string]string{}, token: c.sync(t, "").token}
		for round := range slowtest.Rounds(t, slowtest.Crash, 2, 8) {
			sent := c.putUntilKilled(t, round, state.counter)
			c = c.at(serve(t, on(database)))
			state.check(t, c, sent)
			if t.Failed() {
				t.Fatalf("in round %d", round)
			}
		}
	})
}

// crashState is a synchronizing client's view of the calendar.
type crashState struct {
	token string
	// objects are the live objects' texts by name; counter is the text of the object that is changed repeatedly.
	objects map[string]string
	counter int
}

// sentPuts are the requests sent to a server before its end.
type sentPuts struct {
	mu sync.Mutex
	// acknowledged and unanswered are the texts by name: the second may have been stored or not.
	acknowledged, unanswered map[string]string
	// counted is the highest number acknowledged for the counter.
	counted int
}

const counterName = "counter.ics"

func counterText(n int) string { return event("counter", "number "+strconv.Itoa(n)) }

// putUntilKilled lets three writers make objects and one change the same object again and again,
// until enough was acknowledged; then the server is killed under their hands.
func (c client) putUntilKilled(t *testing.T, round, counter int) *sentPuts {
	t.Helper()
	sent := &sentPuts{acknowledged: map[string]string{}, unanswered: map[string]string{}, counted: counter}
	enough := make(chan struct{}, 1)
	var all sync.WaitGroup
	for writer := range 3 {
		all.Go(func() {
			for i := 0; ; i++ {
				uid := fmt.Sprintf("r%d-w%d-%d", round, writer, i)
				if !c.putOne(t.Context(), sent, uid+".ics", event(uid, "made in round "+strconv.Itoa(round)), enough,
					"If-None-Match", "*") {
					return
				}
			}
		})
	}
	all.Go(func() {
		for n := counter + 1; c.putOne(t.Context(), sent, counterName, counterText(n), enough); n++ {
			sent.mu.Lock()
			sent.counted = n
			sent.mu.Unlock()
		}
	})
	select {
	case <-enough:
	case <-time.After(patience):
		t.Error("the server acknowledges too little")
	}
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	return sent
}

// putOne puts an object and records the result. It returns false once the server is gone.
func (c client) putOne(ctx context.Context, sent *sentPuts, name, text string, enough chan<- struct{},
	headers ...string,
) bool {
	a, err := c.dav(ctx, http.MethodPut, personal+name, text, headers...)
	sent.mu.Lock()
	defer sent.mu.Unlock()
	if err != nil || a.status >= 300 {
		sent.unanswered[name] = text
		return false
	}
	sent.acknowledged[name] = text
	if len(sent.acknowledged) >= changesToLive {
		select {
		case enough <- struct{}{}:
		default:
		}
	}
	return true
}

// check compares the server's state after a restart with the acknowledged writes.
func (s *crashState) check(t *testing.T, c client, sent *sentPuts) {
	t.Helper()
	changed := c.sync(t, s.token)
	made := 0
	for name, status := range changed.names {
		got := c.must(t, http.StatusOK, http.MethodGet, personal+name, "").body
		if status != http.StatusOK || got == s.objects[name] {
			t.Errorf("%s is reported with %d, but did not change", name, status)
		}
		if name != counterName {
			made++
			s.checkMade(t, sent, name, got)
		}
		s.objects[name] = got
	}
	for name := range sent.acknowledged {
		if _, reported := changed.names[name]; !reported {
			t.Errorf("%s was acknowledged and is not among the changes", name)
		}
	}
	counted := s.checkCounter(t, sent)
	// Each change took one version, so their number is how far the versions have moved.
	if moved := versionOf(t, changed.token) - versionOf(t, s.token); moved != made+counted {
		t.Errorf("%d objects and %d numbers were stored, but the version moved by %d", made, counted, moved)
	}
	t.Logf("%d objects and %d numbers were stored, %d answers never came", made, counted, len(sent.unanswered))
	s.token = changed.token
	if all := c.sync(t, ""); len(all.names) != len(s.objects) {
		t.Errorf("a client that begins anew sees %d objects, one that went along %d", len(all.names), len(s.objects))
	}
}

func (s *crashState) checkMade(t *testing.T, sent *sentPuts, name, got string) {
	t.Helper()
	want, acknowledged := sent.acknowledged[name]
	if !acknowledged {
		want = sent.unanswered[name]
	}
	if got != want {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// checkCounter returns how many numbers were stored. The last may be one more than was
// acknowledged: the server died between the storing and the answer.
func (s *crashState) checkCounter(t *testing.T, sent *sentPuts) int {
	t.Helper()
	now := s.counter
	for _, n := range []int{sent.counted, sent.counted + 1} {
		if s.objects[counterName] == counterText(n) {
			now = n
		}
	}
	if now < sent.counted {
		t.Errorf("the number %d was acknowledged, but there is\n%s", sent.counted, s.objects[counterName])
	}
	counted := now - s.counter
	s.counter = now
	return counted
}

// versionOf reads the version at the end of a sync token.
func versionOf(t *testing.T, token string) int {
	t.Helper()
	version, err := strconv.Atoi(token[strings.LastIndexByte(token, ':')+1:])
	if err != nil {
		t.Fatalf("the sync token %q ends in no version", token)
	}
	return version
}
