package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// maxPaced is the number of entries that triggers the removal of idle tokens.
const maxPaced = 4096

// pace is a rate limit per token: a burst of calls, refilled within a minute.
type pace struct {
	calls int
	every time.Duration
	now   func() time.Time

	mu sync.Mutex
	// rested is when each owner may make a full burst again.
	rested map[Owner]time.Time
}

func newPace(calls int, now func() time.Time) *pace {
	return &pace{
		calls: calls, every: time.Minute / time.Duration(max(calls, 1)), now: now,
		rested: make(map[Owner]time.Time),
	}
}

// limit answers a request that came too early. A tool call gets a result, because models see no HTTP errors. All other
// requests get 429.
func (e *Endpoint) limit(w http.ResponseWriter, x *Exchange, wait time.Duration) {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	why := fmt.Sprintf("this token has made more than %d requests in a minute", e.pace.calls)
	if x.Message.Method != string(mcpgo.MethodToolsCall) {
		sendError(w, http.StatusTooManyRequests, x.Message.id, Errorf(CodeRequest, "%s: wait %d seconds", why, seconds))
		return
	}
	refusal := e.content.Limited(x.Version, why, seconds)
	if refusal.Err != nil {
		sendError(w, http.StatusOK, x.Message.id, refusal.Err)
		return
	}
	e.send(w, x, refusal.Result)
}

// take counts a request. If there were too many, it returns the time to wait; refused requests do not count.
func (p *pace) take(o Owner) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	all := time.Duration(p.calls) * p.every
	rested := p.rested[o]
	// If the clock was set back, the old time must not block the token until then.
	if rested.Before(now) || rested.After(now.Add(all)) {
		rested = now
	}
	next := rested.Add(p.every)
	if wait := next.Sub(now) - all; wait > 0 {
		return wait
	}
	p.forget(now)
	p.rested[o] = next
	return 0
}

// forget removes tokens that may make a full burst; they need no entry.
func (p *pace) forget(now time.Time) {
	if len(p.rested) < maxPaced {
		return
	}
	for o, rested := range p.rested {
		if !rested.After(now) {
			delete(p.rested, o)
		}
	}
}
