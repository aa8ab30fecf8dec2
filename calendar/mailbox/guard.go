package mailbox

import (
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// callsMost limits a user's requests per minute. At 40 units for the most expensive request, this is less than
	// half of Gmail's quota per user.
	callsMost = 60
	// sideMost limits a user's concurrent requests.
	sideMost = 2
	// After failuresMost failures in a row within failuresTime, requests are blocked for restTime.
	failuresMost = 5
	failuresTime = time.Minute
	restTime     = 30 * time.Second
	// keptUsers is the approximate number of users to remember.
	keptUsers = 10_000
)

// use is the recent use of a user's account.
type use struct {
	// since is the start of the current minute; calls counts the calls in it.
	since time.Time
	calls int
	side  int
	// failures counts the failures in a row since failing. Requests are blocked until rested.
	failures int
	failing  time.Time
	rested   time.Time
}

// guard limits the rate of requests to accounts, and pauses requests to accounts that fail. Each process has its
// own.
type guard struct {
	now func() time.Time
	mu  sync.Mutex
	of  map[calendar.UserID]*use
}

// begin admits a request, or returns an error that says when to retry.
func (g *guard) begin(user calendar.UserID) *Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if g.of == nil {
		g.of = map[calendar.UserID]*use{}
	}
	g.forget(now)
	u := g.of[user]
	if u == nil {
		u = &use{}
		g.of[user] = u
	}
	if now.Sub(u.since) >= time.Minute || now.Before(u.since) {
		u.since, u.calls = now, 0
	}
	switch {
	case now.Before(u.rested):
		return &Error{
			Fault: APIError, After: u.rested.Sub(now), Why: "Gmail has failed several times; try again in a moment",
		}
	case u.side >= sideMost:
		return &Error{
			Fault: RateLimited, After: time.Second,
			Why: "too many concurrent requests for this account; wait for the responses",
		}
	case u.calls >= callsMost:
		return &Error{
			Fault: RateLimited, After: u.since.Add(time.Minute).Sub(now),
			Why: "too many requests for this account in this minute",
		}
	}
	u.calls++
	u.side++
	return nil
}

// end records the outcome of a request.
func (g *guard) end(user calendar.UserID, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.of[user]
	if u == nil {
		return
	}
	u.side--
	now := g.now()
	switch {
	case !failed:
		u.failures, u.rested = 0, time.Time{}
		return
	case u.failures == 0 || now.Sub(u.failing) > failuresTime && u.failures < failuresMost:
		u.failures, u.failing = 0, now
	}
	// After a pause, a single failure starts the next pause.
	if u.failures++; u.failures >= failuresMost {
		u.rested = now.Add(restTime)
	}
}

// forget drops users without recent requests when there are many users.
func (g *guard) forget(now time.Time) {
	if len(g.of) < keptUsers {
		return
	}
	for id, u := range g.of {
		if u.side == 0 && now.Sub(u.since) >= time.Minute && !now.Before(u.rested) {
			delete(g.of, id)
		}
	}
}
