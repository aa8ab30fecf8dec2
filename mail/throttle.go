package mail

import (
	"sync"
	"time"
)

// throttle counts how often something was done in an hour, by each person. It is for one goroutine. One process at a
// time sends mail, and it counts from its start: a restart forgives an hour.
type throttle struct {
	most  int
	begun map[string]hour
}

// hour is one that began at a time.
type hour struct {
	at   time.Time
	done int
}

// throttledMost bounds how many people are counted at once; one who is forgotten may do as much again.
const throttledMost = 100_000

// take counts one more. Where that is too many it tells when there may be another.
func (t *throttle) take(who string, now time.Time) (again time.Time, ok bool) {
	h := t.begun[who]
	if now.Before(h.at) || !now.Before(h.at.Add(time.Hour)) { // a clock that was set back must shut nobody out
		h = hour{at: now}
	}
	if h.done >= t.most {
		return h.at.Add(time.Hour), false
	}
	h.done++
	if t.begun == nil || len(t.begun) >= throttledMost {
		t.begun = map[string]hour{}
	}
	t.begun[who] = h
	return time.Time{}, true
}

// shared is a throttle for many goroutines.
type shared struct {
	mu sync.Mutex
	throttle
}

// allows counts one more, unless it would be more than so many in this hour.
func (t *shared) allows(most int, who string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = most
	_, ok := t.take(who, now)
	return ok
}
