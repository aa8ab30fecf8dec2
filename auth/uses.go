package auth

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// useEvery is the resolution of the last-use time.
	useEvery = time.Minute
	// usesWaiting limits the queue of unwritten uses. When it is full, further uses are dropped: the next use comes
	// soon.
	usesWaiting = 256
	// useTimeout limits one write, so that a hanging store does not delay the shutdown.
	useTimeout = 5 * time.Second
)

// uses records the last use of tokens, links and sessions in the background.
type uses struct {
	mu     sync.Mutex
	noted  *lru[used, time.Time]
	queued chan use
}

// used identifies a used token, link or session.
type used struct {
	token   calendar.TokenID
	link    LinkID
	session SessionID
}

type use struct {
	used
	at time.Time
}

func newUses(size int) *uses {
	return &uses{noted: newLRU[used, time.Time](size), queued: make(chan use, usesWaiting)}
}

func (u *uses) note(what used, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.noted.get(what); ok && now.Sub(last) < useEvery && !now.Before(last) {
		return
	}
	select {
	case u.queued <- use{what, now}:
		u.noted.put(what, now)
	default:
	}
}

// Run writes the last-use times of tokens, links and sessions until ctx ends. Then it writes the queued ones and
// returns. Without Run, everything works except these times.
func (s *Verifier) Run(ctx context.Context) {
	for {
		select {
		case u := <-s.uses.queued:
			s.touch(ctx, u)
		case <-ctx.Done():
			s.touchRest(ctx)
			return
		}
	}
}

func (s *Verifier) touchRest(ctx context.Context) {
	for {
		select {
		case u := <-s.uses.queued:
			s.touch(ctx, u)
		default:
			return
		}
	}
}

func (s *Verifier) touch(ctx context.Context, u use) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTimeout)
	defer cancel()
	at := u.at.Truncate(time.Second)
	var err error
	switch {
	case u.link != "":
		err = s.store.TouchLink(ctx, u.link, at)
	case u.session != "":
		err = s.store.TouchSession(ctx, u.session, at)
	default:
		err = s.store.TouchToken(ctx, u.token, at)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a last use was not written down", "token", u.token, "link", u.link, "session",
			u.session, "error", err)
	}
}
