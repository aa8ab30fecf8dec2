package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Token is an access token without its secret.
type Token struct {
	// ID is the public half, in lower-case hexadecimal. Lists, the journal and the command line show it.
	ID       calendar.TokenID
	User     calendar.UserID
	UserName string
	// Name is the token's purpose: "Claude on laptop".
	Name   string
	Scopes calendar.Scope
	// Calendars restricts the token to some calendars. Nil means all of the user's; an empty list means none.
	Calendars []calendar.CalendarID
	// Rights limits the token in each calendar.
	Rights calendar.Rights
	// Tools restricts the tools offered to an assistant, in order; nil means all.
	Tools []calendar.ToolName
	// ForOthers allows the token to use the calendars of users who made its user their delegate.
	ForOthers bool
	Created   time.Time
	// Expires, LastUsed and Revoked are zero for never.
	Expires, LastUsed, Revoked time.Time
	// Client is the OAuth client that holds the grant; empty for a token that is presented itself. A grant has no
	// secret: its client presents access tokens, which expire within the hour.
	Client ClientID
	// Resource is the address that a grant is valid for.
	Resource Resource
}

// ClientID names an OAuth client (RFC 6749 §2.2).
type ClientID string

// Resource is the address of a protected resource (RFC 8707).
type Resource string

// Valid reports whether the token is valid at the given time.
func (t Token) Valid(at time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || at.Before(t.Expires))
}

// TokenSpec describes a new token.
type TokenSpec struct {
	// User is the name of the token's user.
	User string
	// Name is the token's purpose, for the user's lists.
	Name   string
	Scopes calendar.Scope
	// Calendars restricts the token to some calendars; nil means all of the user's.
	Calendars []calendar.CalendarID
	// Rights limits the token in each calendar. To propose somewhere, it needs ScopePropose.
	Rights calendar.Rights
	// Tools restricts the tools offered to an assistant; nil means all. The caller checks the names.
	Tools []calendar.ToolName
	// ForOthers allows the token to use the calendars of users who made its user their delegate.
	ForOthers bool
	// Expires is zero for a token that never expires.
	Expires time.Time
}

// CreateToken creates a token and returns its text, which cannot be read again.
func (s *TokenIssuer) CreateToken(ctx context.Context, spec TokenSpec) (Token, Secret, error) {
	now := s.seconds()
	if err := spec.validate(now); err != nil {
		return Token{}, "", err
	}
	u, err := s.directory.User(ctx, spec.User)
	if err != nil {
		return Token{}, "", err
	}
	if err := notARoom(u); err != nil {
		return Token{}, "", err
	}
	if err := s.RoomForToken(ctx, u.ID); err != nil {
		return Token{}, "", err
	}
	id, half, text := newSecret()
	h, err := s.verifier.hash(ctx, half)
	if err != nil {
		return Token{}, "", err
	}
	seal, err := s.verifier.sealer.seal(ctx, id, half)
	if err != nil {
		return Token{}, "", err
	}
	t := Token{
		ID: id, User: u.ID, UserName: u.Name, Name: spec.Name, Scopes: spec.Scopes,
		Calendars: slices.Clone(spec.Calendars), Tools: slices.Sorted(slices.Values(spec.Tools)), Created: now,
		Rights: spec.Rights, Expires: spec.Expires.UTC().Truncate(time.Second), ForOthers: spec.ForOthers,
	}
	if err := s.store.InsertToken(ctx, t, h, seal); err != nil {
		return Token{}, "", fmt.Errorf("creating the token: %w", err)
	}
	return t, text, nil
}

// maxTokens limits a user's valid tokens, including OAuth grants: pages and answers list them all.
const maxTokens = 500

// RoomForToken refuses a further token when the user has too many.
func (s *TokenIssuer) RoomForToken(ctx context.Context, user calendar.UserID) error {
	all, err := s.store.Tokens(ctx, user)
	if err != nil {
		return fmt.Errorf("listing tokens: %w", err)
	}
	if len(living(all, Token.Valid, s.now())) >= maxTokens {
		return invalid("there are %d tokens already; revoke some that are not needed", maxTokens)
	}
	return nil
}

func (spec TokenSpec) validate(now time.Time) error {
	if strings.TrimSpace(spec.Name) == "" {
		return invalid("a token needs a name for its purpose, such as \"Claude on laptop\"")
	}
	if err := validateTitle(spec.Name); err != nil {
		return err
	}
	// Some tools need no scope, and a token for only these has none.
	if spec.Scopes == 0 && spec.Tools == nil || spec.Scopes&^calendar.ScopeEvery != 0 {
		return invalid("a token needs at least one of the scopes %s", ScopeList(calendar.ScopeEvery))
	}
	if spec.Calendars != nil && len(spec.Calendars) == 0 {
		return invalid("a token that is bound to calendars needs at least one")
	}
	if spec.Rights.Has(calendar.RightPropose) && spec.Scopes&calendar.ScopePropose == 0 {
		return invalid("a token that may only propose changes in some calendars needs the scope propose")
	}
	if spec.ForOthers && spec.Calendars != nil {
		return invalid("a token that is limited to certain calendars cannot use the calendars of others")
	}
	if spec.Tools != nil && len(spec.Tools) == 0 {
		return invalid("a token for certain tools needs at least one")
	}
	if !spec.Expires.IsZero() && !spec.Expires.After(now) {
		return invalid("the token would have expired already")
	}
	return nil
}

// Tokens returns a user's tokens, or all tokens for an empty name, including revoked and expired ones.
func (s *TokenIssuer) Tokens(ctx context.Context, user string) ([]Token, error) {
	of, err := s.directory.idOf(ctx, user)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Tokens(ctx, of)
	return all, during("listing tokens", err)
}

// RevokeToken revokes a token at once, in every process.
func (s *TokenIssuer) RevokeToken(ctx context.Context, id calendar.TokenID) error {
	err := reworded(s.store.RevokeToken(ctx, id, s.seconds()), calendar.NotFound, "there is no token %q",
		shortened(string(id), maxTitle))
	return during("revoking the token", err)
}
