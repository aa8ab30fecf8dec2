package auth

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// Hash is the Argon2id hash of a password or a token's secret, in PHC form. It contains its salt and parameters.
type Hash string

// Credential is the record against which a password or a token is checked, with its user.
type Credential struct {
	User calendar.User
	// Hash is empty when the user has no password.
	Hash Hash
	// Seal is a token's seal; empty while it has none.
	Seal Seal
	// Token is the zero value for a password.
	Token Token
	// Guarded is set for a password whose user has a second factor or signs in elsewhere. Programs may not use it.
	Guarded bool
}

// Subject selects credentials: by a user's name, or by a token of theirs.
type Subject struct {
	Name  string
	Token calendar.TokenID
}

// Store keeps the state of this package. The tests of store/storetest check the whole contract for every engine. Errors
// are *calendar.Error: NotFound, Exists, and Unavailable when the database cannot be reached. Only Unavailable may mean
// "try again": it decides between 401 and 503.
//
// Names are compared byte for byte and arrive in lower case. Times have whole seconds; a zero time means never.
type Store interface {
	// CredentialGeneration returns the generation of one user's credentials, or 0 if there is no such user or token.
	// Each change of a Credential increments it in the same transaction: InsertUser, ChangeUser, DeleteUser,
	// SetPassword, InsertToken, RevokeToken and others. It is read with every request, so it must be cheap. It never
	// repeats a value, even when a backup is restored or a user of the same name is created: cached credentials depend
	// on it. A store may answer [AlongOf] the context with it.
	CredentialGeneration(ctx context.Context, of Subject) (int64, error)
	// Secret returns the key for a purpose, which is the same in every process on the store.
	Secret(ctx context.Context, purpose string) ([]byte, error)

	// Users returns all users by name, in byte order.
	Users(ctx context.Context) ([]calendar.User, error)
	// UserNames returns all users by name, with nothing but their id, name, display name and main address.
	UserNames(ctx context.Context) ([]calendar.User, error)
	// UserByName returns a user, or NotFound.
	UserByName(ctx context.Context, name string) (calendar.User, error)
	// InsertUser adds a user. Exists when the name is taken.
	InsertUser(ctx context.Context, u calendar.User, h Hash) error
	// ChangeUser changes a user's properties. Disabling a user ends their codes. NotFound when the user does not exist;
	// Invalid when no administrator who can sign in would remain.
	ChangeUser(ctx context.Context, id calendar.UserID, e UserEdit) error
	// KeepsAdministrator returns Invalid if DeleteUser would refuse to delete the last administrator who can sign in.
	KeepsAdministrator(ctx context.Context, id calendar.UserID) error
	// DeleteUser removes a user with their calendars, tokens, shares and everything else. NotFound when the user does
	// not exist; Invalid for the last administrator who can sign in.
	DeleteUser(ctx context.Context, id calendar.UserID) error

	// PasswordByName returns the credential of a user's password, or NotFound.
	PasswordByName(ctx context.Context, name string) (Credential, error)
	// SetPassword replaces a user's password and revokes their password links. NotFound when the user does not exist.
	SetPassword(ctx context.Context, id calendar.UserID, h Hash) error
	// Rehash replaces the hash of an unchanged password. It does nothing if the stored hash is no longer old, because
	// the password has changed. It does not increment the generation.
	Rehash(ctx context.Context, id calendar.UserID, old, next Hash) error

	// TokenByID returns a token's credential, even if it is revoked or expired, or NotFound.
	TokenByID(ctx context.Context, id calendar.TokenID) (Credential, error)
	// Tokens returns a user's tokens, or all tokens for an empty id, including revoked and expired ones. They are
	// ordered by user name, time of creation and id.
	Tokens(ctx context.Context, user calendar.UserID) ([]Token, error)
	// InsertToken adds a token for t.User; it ignores t.UserName. NotFound when the user or one of the calendars does
	// not exist. A token with Calendars stays restricted when they are deleted, down to none: it must never return with
	// a nil list. Tools keep their value, nil or empty; their names contain no blanks. A grant's hash and seal are
	// empty.
	InsertToken(ctx context.Context, t Token, h Hash, seal Seal) error
	// SealToken sets the seal of a token that has none. It does not increment the generation, and a missing token is no
	// error.
	SealToken(ctx context.Context, id calendar.TokenID, seal Seal) error
	// RevokeToken revokes a token. NotFound when there is none; a token that is revoked already keeps its time.
	RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error
	// NarrowToken restricts a token to the given scopes and, unless calendars is nil, to the given calendars. It never
	// extends access. NotFound when there is none.
	NarrowToken(ctx context.Context, id calendar.TokenID, scopes calendar.Scope, calendars []calendar.CalendarID,
		rights calendar.Rights) error
	// RevokeAll ends all tokens, links, sessions and password links that have not ended yet.
	RevokeAll(ctx context.Context, at time.Time) error
	// EndAccess ends all tokens, sessions, password links and codes of a user.
	EndAccess(ctx context.Context, id calendar.UserID, at time.Time) error
	// TouchToken records a use, unless a later one is recorded. It does not increment the generation, and a missing
	// token is no error.
	TouchToken(ctx context.Context, id calendar.TokenID, at time.Time) error

	// AccessByID returns the record of a grant's access token, even if it has expired or the grant has ended, or
	// NotFound.
	AccessByID(ctx context.Context, id SecretID) (Access, error)

	LinkStore
	SessionStore
	FactorStore
	PasswordLinkStore
	AppLoginStore
	IdentityStore
	AddressStore
	GroupStore
}
