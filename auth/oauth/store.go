package oauth

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Store keeps the state of this package; store/storetest holds the contract as tests. Errors, names
// and times are as those of [auth.Store].
type Store interface {
	// Client returns a client, or NotFound.
	Client(ctx context.Context, id auth.ClientID) (Client, error)
	// Clients returns all of them, by kind, name and id.
	Clients(ctx context.Context) ([]Client, error)
	// PutClient keeps a client, in place of what was known of it but for when it was made and last used.
	PutClient(ctx context.Context, c Client) error
	// Crowd makes room for a client of its kind: it drops those of the kind that are idle (no grant of theirs is
	// good, and they were last used, or made, before a time that the bounds say). If as many as the bounds
	// allow are left, it drops the oldest of them that is old enough to have been forgotten, or else the oldest unused one of the
	// site that has most; Unavailable if that site would not keep more than the bounds' own.
	Crowd(ctx context.Context, kind Kind, b Bounds) error
	// DropClient forgets a client. Its grants end at that time. NotFound when there is none.
	DropClient(ctx context.Context, id auth.ClientID, at time.Time) error

	// InsertOffer keeps an offer, and forgets those that ended before a time. NotFound when its client or
	// its user is gone.
	InsertOffer(ctx context.Context, o Offer, forget time.Time) error
	// Offer returns one, also when it has ended, or NotFound.
	Offer(ctx context.Context, id auth.SecretID) (Offer, error)
	// TakeUp makes the grant of an offer, with its first tickets, and notes that the client was used. Stale when it was taken up already; NotFound
	// when the offer, its user or one of the grant's calendars is gone.
	TakeUp(ctx context.Context, id auth.SecretID, grant auth.Token, first Pair) error

	// Ticket returns a ticket with its grant, also when either has ended, or NotFound.
	Ticket(ctx context.Context, id auth.SecretID) (Ticket, auth.Token, error)
	// Renew notes that a refresh ticket was used, adds the pair that takes its place, and notes that the grant's client was used. Stale when the
	// ticket was not as the caller found it: Used says how that was. Of a grant's tickets the latest Tickets
	// of each use are kept, and none that has ended.
	Renew(ctx context.Context, t Ticket, at time.Time, next Pair) error
	// DropTicket forgets a ticket; one that is gone is no error.
	DropTicket(ctx context.Context, id auth.SecretID) error

	// RevokeToken ends a grant, as [auth.Store] has it.
	RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error
}

// Tickets is how many of each use a grant has at most.
const Tickets = 64

// Bounds are how many clients of a kind there may be, and for how long.
type Bounds struct {
	// Now is the time.
	Now time.Time
	// Unused is how long one is kept that never got anything, Idle one that did.
	Unused, Idle time.Duration
	// Most is how many that are idle at the moment are kept at all, and Soon how long one of them is at least.
	Most int
	Soon time.Duration
	// Site is where the new client comes from.
	Site string
}

// Offer is the access that a user has allowed, until the client takes it up with the code that stands for it.
type Offer struct {
	ID     auth.SecretID
	Digest auth.SecretHash
	Client auth.ClientID
	User   calendar.UserID
	// Redirect is where the code was sent, and Challenge proves that it came back to the client that had asked.
	Redirect, Challenge string
	Resource            auth.Resource
	// Name, Scopes, Calendars and GrantExpires are the grant's to be.
	Name         string
	Scopes       calendar.Scope
	Calendars    []calendar.CalendarID
	GrantExpires time.Time
	Expires      time.Time
	// Grant is the grant that it became; empty while nobody has taken it up.
	Grant calendar.TokenID
}

// Use is the purpose of a ticket.
type Use string

// The uses of tickets.
const (
	ForAccess  Use = "access"
	ForRefresh Use = "refresh"
)

// Ticket is a client's proof of a grant.
type Ticket struct {
	ID     auth.SecretID
	Digest auth.SecretHash
	Grant  calendar.TokenID
	Use    Use
	// Scopes are those of an access ticket. A refresh ticket has the grant's.
	Scopes  calendar.Scope
	Created time.Time
	Expires time.Time
	// Used is when a refresh ticket was first exchanged; zero for never.
	Used time.Time
	// Parent is the refresh ticket that it was exchanged for; empty for a grant's first.
	Parent auth.SecretID
	// Rival tells that another refresh ticket of the same parent was exchanged; Renew does not look at it.
	Rival bool
	// Disabled tells that nobody gets in as the grant's user; Renew does not look at it.
	Disabled bool
}

// Pair are the tickets that a client gets at once.
type Pair struct{ Access, Refresh Ticket }
