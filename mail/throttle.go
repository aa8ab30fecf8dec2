package mail

import (
	"sync"
	"time"
)

// throttle counts actions per person and hour. It is not safe for concurrent use. One process at a time sends mail, and
// the counts are in its memory: a restart resets them.
type throttle struct {
	most  int
	begun map[string]hour
}

// hour is a counting period and its start.
type hour struct {
	at   time.Time
	done int
}

// throttledMost limits the number of tracked people; a forgotten one starts again at zero.
const throttledMost = 100_000

// take counts one action. If the limit is reached, it returns when the next one is allowed.
func (t *throttle) take(who string, now time.Time) (again time.Time, ok bool) {
	h := t.begun[who]
	if now.Before(h.at) || !now.Before(h.at.Add(time.Hour)) { // restart the hour after the clock was set back
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

// shared is a throttle for concurrent use.
type shared struct {
	mu sync.Mutex
	throttle
}

// allows counts one action, unless the limit for this hour is reached.
func (t *shared) allows(most int, who string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = most
	_, ok := t.take(who, now)
	return ok
}
