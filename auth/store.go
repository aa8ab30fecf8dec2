package auth

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// Hash is the Argon2id hash of a password or of a token's secret, in PHC form: it carries its own
// salt and parameters.
type Hash string

// Credential is the record against which a password or a token is checked, and its user.
type Credential struct {
	User calendar.User
	// Hash is empty when the user has no password.
	Hash Hash
	// Seal is a token's, empty while it has none.
	Seal Seal
	// Token is zero for a password.
	Token Token
	// Guarded tells of a password that its user signs in with more than that, or elsewhere: it opens no door to programs.
	Guarded bool
}

// Subject is whose credentials are asked for: those of the user of a name, or of a token's owner.
type Subject struct {
	Name  string
	Token calendar.TokenID
}

// Store keeps the state of this package. Every engine keeps the whole contract, which
// store/storetest holds as tests. Errors are *calendar.Error: NotFound, Exists, and Unavailable
// when the database is away; nothing else may stand for "away", since it decides between
// 401 and 503.
//
// Names are compared byte for byte: they come here in lower case. Times have whole seconds;
// a zero time is kept as never.
type Store interface {
	// CredentialGeneration returns a number of one user's, 0 where there is no such user or token, that InsertUser,
	// ChangeUser, DeleteUser, SetPassword, InsertToken, RevokeToken and whatever else changes what a Credential of
	// theirs says move on, in the same transaction as the change. It is read with every request, so it must be cheap. It
	// never returns to a number that it had, also not when a backup is restored, or a user of the same name is made: what
	// a process remembers of credentials hangs on it. A store may answer [AlongOf] the context with it.
	CredentialGeneration(ctx context.Context, of Subject) (int64, error)
	// Secret returns a key for one purpose, the same in every process on the store.
	Secret(ctx context.Context, purpose string) ([]byte, error)

	// Users returns all users by name, in byte order.
	Users(ctx context.Context) ([]calendar.User, error)
	// UserByName returns a user, or NotFound.
	UserByName(ctx context.Context, name string) (calendar.User, error)
	// InsertUser makes a user. Exists when the name is taken.
	InsertUser(ctx context.Context, u calendar.User, h Hash) error
	// ChangeUser changes the properties of a user; the codes of a user who is disabled end. NotFound when there is none, Invalid when
	// no administrator would be left who gets in.
	ChangeUser(ctx context.Context, id calendar.UserID, e UserEdit) error
	// DeleteUser removes a user with all that is theirs: calendars, tokens, shares. NotFound when
	// there is none, Invalid when it is the last administrator who gets in.
	DeleteUser(ctx context.Context, id calendar.UserID) error

	// PasswordByName returns what a user's password is checked against, or NotFound.
	PasswordByName(ctx context.Context, name string) (Credential, error)
	// SetPassword replaces a user's password, and takes their vouchers back. NotFound when there is no such user.
	SetPassword(ctx context.Context, id calendar.UserID, h Hash) error
	// Rehash writes next in place of old for the same password. It does nothing when the stored
	// hash is no longer old: the password has changed meanwhile. It does not move the generation.
	Rehash(ctx context.Context, id calendar.UserID, old, next Hash) error

	// TokenByID returns what a token is checked against, also when it is revoked or expired, or
	// NotFound.
	TokenByID(ctx context.Context, id calendar.TokenID) (Credential, error)
	// Tokens returns a user's tokens, or everybody's for an empty id: revoked and expired ones
	// too, by user name, time of creation and id.
	Tokens(ctx context.Context, user calendar.UserID) ([]Token, error)
	// InsertToken makes a token for t.User; t.UserName is not looked at. NotFound when the user or
	// one of the calendars does not exist. A token with Calendars stays bound when they are
	// deleted, until it reaches nothing: it must never come back with a nil list. Tools come back
	// as they are, nil or empty; their names hold no blanks. A grant's hash and seal are empty.
	InsertToken(ctx context.Context, t Token, h Hash, seal Seal) error
	// SealToken gives a token that has no seal one. It does not move the generation, and a token that is gone is no error.
	SealToken(ctx context.Context, id calendar.TokenID, seal Seal) error
	// RevokeToken ends a token at a time. NotFound when there is none; one that is revoked
	// already keeps its time.
	RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error
	// NarrowToken takes from a token what it may do beyond some scopes, and, unless that is nil, what it reaches
	// beyond some calendars. It never gives it anything. NotFound when there is none.
	NarrowToken(ctx context.Context, id calendar.TokenID, scopes calendar.Scope, calendars []calendar.CalendarID) error
	// RevokeAll ends all tokens, links, sessions and vouchers at a time, but for those that have ended already.
	RevokeAll(ctx context.Context, at time.Time) error
	// EndAccess ends all tokens, sessions, vouchers and codes of a user.
	EndAccess(ctx context.Context, id calendar.UserID, at time.Time) error
	// TouchToken notes that a token was used, unless a later use is known. It does not move the
	// generation, and a token that is gone is no error.
	TouchToken(ctx context.Context, id calendar.TokenID, at time.Time) error

	// AccessByID returns what an access token of a grant is checked against, also when it has expired or
	// the grant has ended, or NotFound.
	AccessByID(ctx context.Context, id SecretID) (Access, error)

	LinkStore
	SessionStore
	FactorStore
	VoucherStore
	IdentityStore
	AddressStore
	GroupStore
}
