package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// AppLoginLasts is how long an app may wait for its user's answer.
const AppLoginLasts = 20 * time.Minute

// AppLogin is an app's request for a password of its own. The app gets two sealed states: the user opens an address
// with one of them in a browser and answers there, and the app asks for the answer with the other one. Only the
// answer is stored, so a flood of requests stores nothing.
type AppLogin struct {
	// ID is in both states.
	ID string
	// Agent is the app's User-Agent. The app chose it, so it proves nothing.
	Agent string
	// From is the address that the app asked from.
	From    netip.Addr
	Started time.Time
}

// Name returns a short name for the app: the product of its User-Agent, without version and details.
func (a AppLogin) Name() string {
	name, _, _ := strings.Cut(a.Agent, "/")
	name, _, _ = strings.Cut(name, " (")
	name = strings.TrimSpace(name)
	if name == "" || name == "Mozilla" {
		name = shortened(a.Agent, maxAppName)
	}
	if name == "" {
		return "App without a name"
	}
	return strings.Replace(shortened(name, maxAppName), "DAVx5", "DAVx⁵", 1)
}

// maxAppName keeps the names of apps short enough for lists.
const maxAppName = 60

// Expires returns when the request expires.
func (a AppLogin) Expires() time.Time { return a.Started.Add(AppLoginLasts) }

// Elsewhere reports whether the app asked from another subscriber's network than this address.
func (a AppLogin) Elsewhere(from netip.Addr) bool {
	return siteOf(networkOf(a.From)) != siteOf(networkOf(from))
}

// AppLoginAnswer is a user's answer to a request. ForOthers becomes [TokenSpec.ForOthers].
type AppLoginAnswer struct{ Allowed, ForOthers bool }

// AllowedApp is the permission that a user gave a request. ForOthers becomes [TokenSpec.ForOthers].
type AllowedApp struct {
	User      calendar.User
	ForOthers bool
}

// AppLoginStore is the part of a [Store] that keeps the answers to apps.
type AppLoginStore interface {
	// AnswerAppLogin records a user's answer to a request. Exists when it was answered before.
	AnswerAppLogin(ctx context.Context, id string, user calendar.UserID, a AppLoginAnswer, until time.Time) error
	// TakeAppLogin returns the permission that a user gave a request, once. NotFound when no user did, or the answer
	// was taken, has expired or was ended with the user's other access.
	TakeAppLogin(ctx context.Context, id string, now time.Time) (AllowedApp, error)
}

// StartAppLogin returns the states of a new request: for the address that the user opens, and for the app.
func (s *SignInFlow) StartAppLogin(ctx context.Context, agent string, from netip.Addr) (user, app SealedState,
	err error,
) {
	if wait := s.appLogins.Take(from); wait > 0 {
		return "", "", &ThrottledError{RetryAfter: wait}
	}
	request := AppLogin{
		ID: rand.Text(), Agent: agentWithin(agent, maxAgent), From: from, Started: s.seconds(),
	}
	state, err := json.Marshal(request)
	if err != nil {
		return "", "", fmt.Errorf("writing JSON: %w", err)
	}
	if user, err = s.sealUntil(ctx, appLoginUser, formState{State: state}, request.Expires()); err != nil {
		return "", "", err
	}
	app, err = s.sealUntil(ctx, appLoginApp, formState{State: state}, request.Expires())
	return user, app, err
}

// AppLogin returns the request of the state that a user brings.
func (s *SignInFlow) AppLogin(ctx context.Context, user SealedState) (AppLogin, error) {
	return s.appLogin(ctx, appLoginUser, user)
}

func (s *SignInFlow) appLogin(ctx context.Context, of purpose, sealed SealedState) (AppLogin, error) {
	state, err := s.open(ctx, of, sealed)
	if err != nil {
		return AppLogin{}, err
	}
	var a AppLogin
	if err := json.Unmarshal(state.State, &a); err != nil {
		return AppLogin{}, fmt.Errorf("reading JSON: %w", err)
	}
	return a, nil
}

// AnswerAppLogin records the answer of a user. The first answer counts.
func (s *SignInFlow) AnswerAppLogin(ctx context.Context, a AppLogin, u calendar.User, answer AppLoginAnswer) error {
	err := s.store.AnswerAppLogin(ctx, a.ID, u.ID, answer, a.Expires())
	return during("storing the answer to an app", reworded(err, calendar.Exists,
		"this request was answered already; start again in the app"))
}

// TakeAppLogin returns the request of the app's state and its user's permission, once. NotFound until then, and
// afterwards.
func (s *SignInFlow) TakeAppLogin(ctx context.Context, app SealedState) (AppLogin, AllowedApp, error) {
	a, err := s.appLogin(ctx, appLoginApp, app)
	if err != nil {
		if calendar.ReasonOf(err) == calendar.Invalid {
			err = calendar.Errorf(calendar.NotFound, "", "the token is unknown or has expired")
		}
		return a, AllowedApp{}, err
	}
	allowed, err := s.store.TakeAppLogin(ctx, a.ID, s.seconds())
	if err == nil && !allowed.User.GetsIn() {
		err = calendar.Errorf(calendar.NotFound, "", "the user is disabled")
	}
	return a, allowed, during("looking for the answer to an app", err)
}
