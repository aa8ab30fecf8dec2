package mailbox

import (
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// callsMost is how often in a minute a user's account is asked: at 40 units for the dearest question that is less than half of
	// what Gmail grants a user.
	callsMost = 60
	// sideMost is how many questions of one user are under way at once.
	sideMost = 2
	// failuresMost within failuresTime, one after another, have nobody ask for restTime.
	failuresMost = 5
	failuresTime = time.Minute
	restTime     = 30 * time.Second
	// keptUsers is about how many users are remembered.
	keptUsers = 10_000
)

// use is how a user's account has been asked lately.
type use struct {
	// since is when the minute began in which calls were made.
	since time.Time
	calls int
	side  int
	// failures have come one after another since failing; until rested, nobody asks.
	failures int
	failing  time.Time
	rested   time.Time
}

// guard bounds how often accounts are asked, and leaves those alone that fail. It is this process's own.
type guard struct {
	now func() time.Time
	mu  sync.Mutex
	of  map[calendar.UserID]*use
}

// begin lets a question pass, or says when to come again.
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
		return &Error{Fault: APIError, After: u.rested.Sub(now), Why: "Gmail has failed several times, and is left alone for a moment"}
	case u.side >= sideMost:
		return &Error{Fault: RateLimited, After: time.Second, Why: "the account is asked too much at once; wait for the answers"}
	case u.calls >= callsMost:
		return &Error{Fault: RateLimited, After: u.since.Add(time.Minute).Sub(now), Why: "the account was asked too often in this minute"}
	}
	u.calls++
	u.side++
	return nil
}

// end notes what became of a question.
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
	// Once it has rested, one more failure has it rest again.
	if u.failures++; u.failures >= failuresMost {
		u.rested = now.Add(restTime)
	}
}

// forget drops users who have not asked for a while, where there are many.
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
