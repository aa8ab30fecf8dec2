package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"caldav-mcp-server/calendar"
)

// ErrUnauthorized means that a credential is not valid. It does not say why: an attacker must not learn which half was
// wrong.
var ErrUnauthorized = errors.New("the credentials are not valid")

// judgeTimeout limits one check of a credential with its store reads. A check outlives its request, since others may
// wait for the same verdict.
const judgeTimeout = 15 * time.Second

// attempt is a presented credential.
type attempt struct {
	digest digest
	// subject is the user or token that the credential claims.
	subject Subject
	// pair is the key for counting a wrong attempt.
	pair   pair
	secret string
	// rank is the attempt's rank in the gate.
	rank int
	load func(ctx context.Context) (Credential, error)
	// decoy is set if a missing Credential must cost as much as a wrong one. A token needs no decoy: its id is too long
	// to guess.
	decoy bool
}

// VerifyBasic authenticates a user name with a password, or with a token in its place, from an address. The error is
// ErrUnauthorized, *ThrottledError, or Unavailable when the store is unavailable or too many logins are waiting.
func (s *Verifier) VerifyBasic(ctx context.Context, user, password string, from netip.Addr) (calendar.Caller, error) {
	name, err := CanonicalName(user)
	// No user can have such a name or password, so a quick refusal reveals nothing about the store.
	if err != nil || password == "" || len(password) > maxPassword {
		return calendar.Caller{}, ErrUnauthorized
	}
	if looksLikeToken(password) {
		c, err := s.VerifyBearer(ctx, password, from)
		// The name must be the token owner's: clients show it and build addresses from it.
		if err == nil && c.User.Name != name {
			return calendar.Caller{}, ErrUnauthorized
		}
		return c, err
	}
	return s.verify(ctx, attempt{
		digest: s.memory.digest("program", name, password), subject: Subject{Name: name}, secret: password, decoy: true,
		pair: pair{account("user " + name), networkOf(from)},
		load: func(ctx context.Context) (Credential, error) {
			c, err := s.store.PasswordByName(ctx, name)
			if c.Guarded || s.noPasswords {
				c.Hash = "" // looks like any wrong password, so a program learns nothing about it
			}
			return c, err
		},
	})
}

// login is the text that a person typed to sign in. A user has several: their name, and each mail address.
type login struct {
	// typed is the name or mail address, in lower case.
	typed, password string
	from            netip.Addr
}

// possible reports whether a user can have the login. A quick refusal of another one reveals nothing about the store.
func (l login) possible() bool {
	return (userName.MatchString(l.typed) || isAddress(l.typed)) && l.password != "" && len(l.password) <= maxPassword
}

// pair counts guesses by the text that was typed. A count by user would show which name belongs to an address.
func (l login) pair() pair { return pair{account("user " + l.typed), networkOf(l.from)} }

func (s *Verifier) loginDigest(l login) digest {
	return s.memory.digest("password", l.typed, l.password)
}

// admits refuses a login that no user can have, or that the throttle would refuse. It pays and reads nothing.
func (s *Verifier) admits(l login) error {
	if !l.possible() {
		return ErrUnauthorized
	}
	if s.memory.knows(s.loginDigest(l)) {
		return nil
	}
	return s.throttle.check(l.pair())
}

// verifyLogin authenticates the user with this name, for signing in.
func (s *Verifier) verifyLogin(ctx context.Context, l login, name string) (calendar.Caller, error) {
	return s.verify(ctx, attempt{
		digest: s.loginDigest(l), subject: Subject{Name: name}, secret: l.password, decoy: true, pair: l.pair(),
		load: func(ctx context.Context) (Credential, error) { return s.store.PasswordByName(ctx, name) },
	})
}

// VerifyBearer returns the caller of a bearer token. Its errors are the same as for VerifyBasic.
func (s *Verifier) VerifyBearer(ctx context.Context, token string, from netip.Addr) (calendar.Caller, error) {
	id, half, ok := parseSecret(token)
	if !ok {
		return calendar.Caller{}, ErrUnauthorized
	}
	return s.verify(ctx, attempt{
		digest: s.memory.digest("token", token), subject: Subject{Token: id}, secret: half,
		pair: pair{account("token " + string(id)), networkOf(from)},
		load: func(ctx context.Context) (Credential, error) { return s.store.TokenByID(ctx, id) },
	})
}

// StillGood re-checks the token of a caller that holds a stream open, and returns ErrUnauthorized if it is no longer
// valid. It ignores passwords: they come with each request, so no stream is opened with one.
func (s *Verifier) StillGood(ctx context.Context, c calendar.Caller) error {
	if c.Token == "" {
		return nil
	}
	cred, err := s.store.TokenByID(ctx, c.Token)
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return fmt.Errorf("looking up the token: %w", err)
	case err != nil || cred.User.ID != c.User.ID || !cred.User.GetsIn() || !cred.Token.Valid(s.now()) ||
		c.Delegated && !s.now().Before(c.Expires):
		return ErrUnauthorized
	}
	return nil
}

// verify answers from the cache if possible. It reads the generation for every request, so a revocation by any process
// takes effect at once.
func (s *Verifier) verify(ctx context.Context, a attempt) (calendar.Caller, error) {
	generation, err := s.store.CredentialGeneration(ctx, a.subject)
	if err != nil {
		return calendar.Caller{}, fmt.Errorf("reading the credential generation: %w", err)
	}
	v, found := s.memory.recall(a.digest, generation, s.now())
	if !found {
		v, err = s.flights.do(ctx, flightKey{a.digest, generation}, func() (verdict, error) {
			return s.judge(ctx, a, generation)
		})
	}
	if err != nil {
		return calendar.Caller{}, err
	}
	if !v.good(s.now()) {
		return calendar.Caller{}, ErrUnauthorized
	}
	note(ctx, v.caller.User.ID, generation)
	s.noteUse(v.caller)
	return v.caller, nil
}

// noteUse records a token's use.
func (s *Verifier) noteUse(c calendar.Caller) {
	if c.Token != "" {
		s.uses.note(used{token: c.Token}, s.now())
	}
}

// judge checks a credential and caches the verdict.
func (s *Verifier) judge(ctx context.Context, a attempt, generation int64) (verdict, error) {
	// Another check may have finished since verify looked.
	if v, ok := s.memory.recall(a.digest, generation, s.now()); ok {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), judgeTimeout)
	defer cancel()
	if v, decided, err := s.unseal(ctx, a); decided {
		if v.right {
			s.memory.remember(a.digest, generation, s.now(), v)
		}
		return v, err
	}
	return s.judgeByHash(ctx, a, generation)
}

// judgeByHash is judge for credentials that need a hash. It pays the throttle first.
func (s *Verifier) judgeByHash(ctx context.Context, a attempt, generation int64) (verdict, error) {
	known := s.memory.knows(a.digest)
	if !known {
		if err := s.throttle.take(a.pair); err != nil {
			return verdict{}, err
		}
		a.rank = s.throttle.rank(a.pair.network)
	}
	v, hashed, err := s.weigh(ctx, a, known)
	wrong := err == nil && hashed && !v.right
	if !known && !wrong {
		s.throttle.giveBack(a.pair)
	}
	if err == nil && hashed {
		s.memory.remember(a.digest, generation, s.now(), v)
	}
	return v, err
}

// weigh looks up the credential and checks it; hashed is set if that took a hash.
func (s *Verifier) weigh(ctx context.Context, a attempt, known bool) (v verdict, hashed bool, err error) {
	cred, err := a.load(ctx)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return verdict{}, false, fmt.Errorf("looking up the credential: %w", err)
	}
	exists := err == nil && cred.Hash != "" && cred.usable(s.now())
	if !exists && !a.decoy {
		return verdict{}, false, nil
	}
	against, gate := cred.Hash, s.strangers
	if !exists {
		against = s.decoy
	}
	if known {
		gate = s.known
	}
	c, err := s.check(ctx, gate, a.rank, a.secret, against)
	if err != nil {
		return verdict{}, false, err
	}
	if !c.Right || !exists {
		return verdict{}, true, nil
	}
	if cred.Token.ID != "" {
		s.sealLate(ctx, cred.Token.ID, a.secret)
	} else if c.Weak {
		s.strengthen(ctx, cred, a.secret)
	}
	return cred.verdict(), true, nil
}

// usable reports whether the credential, if right, admits its bearer.
func (c Credential) usable(now time.Time) bool {
	return c.User.GetsIn() && (c.Token.ID == "" || c.Token.Valid(now))
}

// verdict returns the verdict for a right credential.
func (c Credential) verdict() verdict {
	return verdict{right: true, caller: c.caller(), expires: c.Token.Expires}
}

// caller returns the caller of a verified credential.
func (c Credential) caller() calendar.Caller {
	if c.Token.ID == "" {
		return calendar.Caller{User: c.User, Scopes: calendar.ScopeAll, ForOthers: true}
	}
	return calendar.Caller{
		User: c.User, Scopes: c.Token.Scopes, Token: c.Token.ID, Calendars: c.Token.Calendars, Expires: c.Token.Expires,
		Rights: c.Token.Rights, Agent: c.Token.Name, Tools: c.Token.Tools, ForOthers: c.Token.ForOthers,
	}
}

// strengthen replaces a hash made with weaker parameters, while the password is at hand. A failure does not affect the
// login.
func (s *Verifier) strengthen(ctx context.Context, cred Credential, password string) {
	next, err := s.hash(ctx, password)
	if err == nil {
		err = s.store.Rehash(ctx, cred.User.ID, cred.Hash, next)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a password's hash was not made stronger", "user", cred.User.Name, "error", err)
	}
}
