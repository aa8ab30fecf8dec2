package auth

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"caldav-mcp-server/calendar"
)

// SessionID is the public half of a session's secret, in lower-case hexadecimal.
type SessionID string

// Way is how somebody signed in.
type Way string

// The ways there are.
const (
	ByPassword Way = "password"
	ByCode     Way = "password and code"
	ByRecovery Way = "password and recovery code"
	ByPasskey  Way = "passkey"
	ByIdentity Way = "another service"
)

const (
	// sessionIdle is after how long without a request a session ends.
	sessionIdle = 30 * 24 * time.Hour
	// provenFor is for how long somebody who proved their identity may do what hands out power.
	provenFor = 15 * time.Minute
	// maxBrowser is what of a browser's name for itself is kept: what tells browsers apart stands at its end.
	maxBrowser = 300
	// maxSessions is in how many browsers a user is signed in: one more ends that which was not seen for longest.
	maxSessions = 100
)

// Session is a browser that is signed in: all that may be known of it but its secret.
type Session struct {
	ID   SessionID
	User calendar.User
	Way  Way
	// Agent is the browser's name for itself.
	Agent         string
	Created, Seen time.Time
	// Proven is when the person last proved their identity.
	Proven time.Time
}

// Caller returns the session's user, as the journal names them.
func (s Session) Caller() calendar.Caller {
	return calendar.Caller{User: s.User, Scopes: calendar.ScopeAll, Agent: "web"}
}

// Fresh tells whether the person proved their identity so lately that they need not do so again for what
// hands out power.
func (s Session) Fresh(now time.Time) bool {
	return !now.Before(s.Proven) && now.Sub(s.Proven) < provenFor
}

func (s Session) valid(now time.Time) bool { return s.User.GetsIn() && now.Sub(s.Seen) < sessionIdle }

// SessionStore is the part of a [Store] that keeps sessions.
type SessionStore interface {
	// SessionByID returns a session with what its secret is checked against, or NotFound.
	SessionByID(ctx context.Context, id SessionID) (Session, SecretHash, error)
	// Sessions returns a user's sessions, the latest seen first.
	Sessions(ctx context.Context, user calendar.UserID) ([]Session, error)
	// InsertSession makes a session. NotFound when there is no such user.
	InsertSession(ctx context.Context, s Session, h SecretHash) error
	// ProveSession notes that the person proved their identity again. NotFound when it has ended.
	ProveSession(ctx context.Context, id SessionID, at time.Time) error
	// TouchSession notes that a session was used, unless a later use is known. One that has ended is no error.
	TouchSession(ctx context.Context, id SessionID, at time.Time) error
	// EndSession ends a user's session. NotFound when they have no such.
	EndSession(ctx context.Context, user calendar.UserID, id SessionID) error
	// EndSessions ends all sessions of a user but one, which may be of no name.
	EndSessions(ctx context.Context, user calendar.UserID, but SessionID) error
}

func (s *Service) openSession(ctx context.Context, u calendar.User, way Way, browser string) (Session, Secret, error) {
	raw, now := newRaw(), s.seconds()
	id, hash := rawParts(raw)
	session := Session{ID: SessionID(id), User: u, Way: way, Agent: agentWithin(browser, maxBrowser), Created: now, Seen: now, Proven: now}
	if way == ByIdentity {
		// The other service may have let them in because it knew the browser.
		session.Proven = now.Add(-provenFor)
	}
	if err := s.roomForSession(ctx, u.ID); err != nil {
		return Session{}, "", err
	}
	if err := s.store.InsertSession(ctx, session, hash); err != nil {
		return Session{}, "", fmt.Errorf("opening the session: %w", err)
	}
	return session, Secret(encodeRaw(raw)), nil
}

// roomForSession ends those that were not seen for longest, so that there is room for one more.
func (s *Service) roomForSession(ctx context.Context, user calendar.UserID) error {
	all, err := s.store.Sessions(ctx, user)
	if err != nil {
		return fmt.Errorf("listing sessions: %w", err)
	}
	for len(all) >= maxSessions {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		if err := s.store.EndSession(ctx, user, last.ID); err != nil && calendar.ReasonOf(err) != calendar.NotFound {
			return fmt.Errorf("ending the oldest session: %w", err)
		}
	}
	return nil
}

// Session returns the session of a secret: ErrUnauthorized, whatever is wrong with it, or Unavailable. It asks the
// store each time, so that what has ended is over at once in every process.
func (s *Service) Session(ctx context.Context, secret string) (Session, error) {
	raw, ok := decodeRaw(secret)
	if !ok {
		return Session{}, ErrUnauthorized
	}
	id, hash := rawParts(raw)
	session, stored, err := s.store.SessionByID(ctx, SessionID(id))
	now := s.now()
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return Session{}, fmt.Errorf("looking up the session: %w", err)
	case err != nil || !hash.Is(stored) || !session.valid(now):
		return Session{}, ErrUnauthorized
	}
	s.uses.note(used{session: session.ID}, now)
	return session, nil
}

// Prove lets somebody who is signed in prove their identity again, by what signs them in: their password, and a code of
// their app or a recovery code where they have a second factor.
func (s *Service) Prove(ctx context.Context, session Session, password, code string, from netip.Addr) error {
	c, err := s.verifyPassword(ctx, session.User.Name, password, from)
	if err != nil {
		return err
	}
	factors, err := s.Factors(ctx, c.User)
	if err != nil {
		return err
	}
	if factors.Second() {
		if _, err := s.checkCode(ctx, c.User, code); err != nil {
			return err
		}
	}
	return s.prove(ctx, session)
}

func (s *Service) prove(ctx context.Context, session Session) error {
	return during("renewing the session", s.store.ProveSession(ctx, session.ID, s.seconds()))
}

// Sessions returns the browsers in which a user is signed in, the latest seen first.
func (s *Service) Sessions(ctx context.Context, u calendar.User) ([]Session, error) {
	all, err := s.store.Sessions(ctx, u.ID)
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	return living(all, Session.valid, s.now()), nil
}

// EndSession signs a user out of one browser, at once and in every process.
func (s *Service) EndSession(ctx context.Context, u calendar.User, id SessionID) error {
	return during("ending the session", s.store.EndSession(ctx, u.ID, id))
}

// EndSessions signs a user out everywhere but in one browser, which may be of no name.
func (s *Service) EndSessions(ctx context.Context, u calendar.User, but SessionID) error {
	return during("ending sessions", s.store.EndSessions(ctx, u.ID, but))
}
