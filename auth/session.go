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

// Way is how a user signed in.
type Way string

// The supported ways.
const (
	ByPassword Way = "password"
	ByCode     Way = "password and code"
	ByRecovery Way = "password and recovery code"
	ByPasskey  Way = "passkey"
	ByIdentity Way = "another service"
)

const (
	// A session ends after sessionIdle without a request.
	sessionIdle = 30 * 24 * time.Hour
	// provenFor is how long a proof of identity lasts for actions that grant access.
	provenFor = 15 * time.Minute
	// maxBrowser limits the stored User-Agent. It is long because the end of the text distinguishes browsers.
	maxBrowser = 300
	// maxSessions limits a user's sessions: one more ends the least recently seen.
	maxSessions = 100
)

// Session is a signed-in browser, without its secret.
type Session struct {
	ID   SessionID
	User calendar.User
	Way  Way
	// Agent is the browser's User-Agent.
	Agent         string
	Created, Seen time.Time
	// Proven is when the user last proved their identity.
	Proven time.Time
}

// Caller returns the session's user as a caller, for the journal.
func (s Session) Caller() calendar.Caller {
	return calendar.Caller{User: s.User, Scopes: calendar.ScopeAll, Agent: "web", ForOthers: true}
}

// Fresh reports whether the user proved their identity recently enough for actions that grant access.
func (s Session) Fresh(now time.Time) bool {
	return !now.Before(s.Proven) && now.Sub(s.Proven) < provenFor
}

func (s Session) valid(now time.Time) bool { return s.User.GetsIn() && now.Sub(s.Seen) < sessionIdle }

// SessionStore is the part of a [Store] that keeps sessions.
type SessionStore interface {
	// SessionByID returns a session and the hash of its secret, or NotFound.
	SessionByID(ctx context.Context, id SessionID) (Session, SecretHash, error)
	// Sessions returns a user's sessions, the most recently seen first.
	Sessions(ctx context.Context, user calendar.UserID) ([]Session, error)
	// LastSeen returns when users last used a session or a token. It omits users who have none or never used them.
	LastSeen(ctx context.Context) (map[calendar.UserID]time.Time, error)
	// InsertSession adds a session. NotFound when the user does not exist.
	InsertSession(ctx context.Context, s Session, h SecretHash) error
	// ProveSession records a new proof of identity. NotFound when the session has ended.
	ProveSession(ctx context.Context, id SessionID, at time.Time) error
	// TouchSession records a use, unless a later one is recorded. An ended session is no error.
	TouchSession(ctx context.Context, id SessionID, at time.Time) error
	// EndSession ends a user's session. NotFound when the user has no such session.
	EndSession(ctx context.Context, user calendar.UserID, id SessionID) error
	// EndSessions ends all sessions of a user but one; an empty id ends all.
	EndSessions(ctx context.Context, user calendar.UserID, but SessionID) error
}

func (s *SessionManager) openSession(ctx context.Context, u calendar.User, way Way,
	browser string,
) (Session, Secret, error) {
	raw, now := newRaw(), s.seconds()
	id, hash := rawParts(raw)
	session := Session{
		ID: SessionID(id), User: u, Way: way, Agent: agentWithin(browser, maxBrowser), Created: now, Seen: now,
		Proven: now,
	}
	if way == ByIdentity {
		// The other service may have admitted the browser without asking the person.
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

// roomForSession ends the least recently seen sessions, to make room for one more.
func (s *SessionManager) roomForSession(ctx context.Context, user calendar.UserID) error {
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

// Session returns the session of a secret. The error is ErrUnauthorized for any fault of the secret, or Unavailable. It
// reads the store on every call, so an ended session is invalid at once in every process.
func (s *SessionManager) Session(ctx context.Context, secret string) (Session, error) {
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

// Prove re-authenticates a signed-in user by password and, if a second factor is set up, a code of the app or a
// recovery code.
func (s *SignInFlow) Prove(ctx context.Context, session Session, password, code string, from netip.Addr) error {
	l := login{session.User.Name, password, from}
	if err := s.verifier.admits(l); err != nil {
		return err
	}
	c, err := s.verifier.verifyLogin(ctx, l, session.User.Name)
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
	return s.sessions.prove(ctx, session)
}

func (s *SessionManager) prove(ctx context.Context, session Session) error {
	return during("renewing the session", s.store.ProveSession(ctx, session.ID, s.seconds()))
}

// Sessions returns a user's signed-in browsers, the most recently seen first.
func (s *SessionManager) Sessions(ctx context.Context, u calendar.User) ([]Session, error) {
	all, err := s.store.Sessions(ctx, u.ID)
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	return living(all, Session.valid, s.now()), nil
}

// LastSeen returns when users last came by a browser, a token or an app password. The use of passwords by programs is
// not recorded.
func (s *SessionManager) LastSeen(ctx context.Context) (map[calendar.UserID]time.Time, error) {
	all, err := s.store.LastSeen(ctx)
	return all, during("looking up when users were last seen", err)
}

// EndSession signs a user out of one browser, at once and in every process.
func (s *SessionManager) EndSession(ctx context.Context, u calendar.User, id SessionID) error {
	return during("ending the session", s.store.EndSession(ctx, u.ID, id))
}

// EndSessions signs a user out everywhere but in one browser; an empty id means everywhere.
func (s *SessionManager) EndSessions(ctx context.Context, u calendar.User, but SessionID) error {
	return during("ending sessions", s.store.EndSessions(ctx, u.ID, but))
}
