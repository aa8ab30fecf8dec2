package auth

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// useEvery is how fine the time of a token's last use is kept.
	useEvery = time.Minute
	// usesWaiting bounds the uses that wait to be written; what is beyond is dropped, since the
	// next use comes soon.
	usesWaiting = 256
	// useTimeout bounds the writing of one, so that a store which hangs does not hold up the end.
	useTimeout = 5 * time.Second
)

// uses notes when tokens are used, out of the request's way.
type uses struct {
	mu     sync.Mutex
	noted  *lru[calendar.TokenID, time.Time]
	queued chan use
}

type use struct {
	token calendar.TokenID
	at    time.Time
}

func newUses(size int) *uses {
	return &uses{noted: newLRU[calendar.TokenID, time.Time](size), queued: make(chan use, usesWaiting)}
}

func (u *uses) note(token calendar.TokenID, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.noted.get(token); ok && now.Sub(last) < useEvery && !now.Before(last) {
		return
	}
	select {
	case u.queued <- use{token, now}:
		u.noted.put(token, now)
	default:
	}
}

// Run writes down when tokens were last used, until ctx ends; then it writes what is left and
// returns. Without it everything works but that time.
func (s *Service) Run(ctx context.Context) {
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

func (s *Service) touchRest(ctx context.Context) {
	for {
		select {
		case u := <-s.uses.queued:
			s.touch(ctx, u)
		default:
			return
		}
	}
}

func (s *Service) touch(ctx context.Context, u use) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTimeout)
	defer cancel()
	if err := s.store.TouchToken(ctx, u.token, u.at.Truncate(time.Second)); err != nil {
		s.log.WarnContext(ctx, "the token's last use was not written down", "token", u.token, "error", err)
	}
}
