package oauth

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Store keeps the state of this package; the tests of store/storetest check the contract. Errors, names and times are
// as for [auth.Store].
type Store interface {
	// Client returns a client, or NotFound.
	Client(ctx context.Context, id auth.ClientID) (Client, error)
	// Clients returns all clients, ordered by kind, name and id.
	Clients(ctx context.Context) ([]Client, error)
	// PutClient inserts or replaces a client. The times of its creation and last use stay unchanged.
	PutClient(ctx context.Context, c Client) error
	// Crowd makes room for another client of a kind. First it deletes the idle ones: clients without a valid grant that
	// were last used, or else created, before the bounds' limits. If the kind still has Most idle clients, it deletes
	// the oldest one past the Soon limit. If there is none, it deletes the oldest unused client of the site that has
	// most of them. Unavailable if that site would then have no more
	// of them than the new client's own site.
	Crowd(ctx context.Context, kind Kind, b Bounds) error
	// DropClient deletes a client. Its grants end at the given time. NotFound when there is none.
	DropClient(ctx context.Context, id auth.ClientID, at time.Time) error

	// InsertOffer adds an offer and deletes offers that ended before a time. NotFound when its client or user is gone.
	InsertOffer(ctx context.Context, o Offer, forget time.Time) error
	// Offer returns an offer, even if it has ended, or NotFound.
	Offer(ctx context.Context, id auth.SecretID) (Offer, error)
	// TakeUp creates the grant of an offer with its first tickets, and marks the client as used. Stale when the offer
	// was taken up already; NotFound when the offer, its user or one of the grant's calendars is gone.
	TakeUp(ctx context.Context, id auth.SecretID, grant auth.Token, first Pair) error

	// Ticket returns a ticket with its grant, even if either has ended, or NotFound.
	Ticket(ctx context.Context, id auth.SecretID) (Ticket, auth.Token, error)
	// Renew marks a refresh ticket as used, adds the next pair, and marks the grant's client as used. Stale when Used
	// has changed since the caller read the ticket. Of a grant's tickets, only the latest Tickets of each use are kept,
	// and no expired ones.
	Renew(ctx context.Context, t Ticket, at time.Time, next Pair) error
	// DropTicket deletes a ticket; a missing one is no error.
	DropTicket(ctx context.Context, id auth.SecretID) error

	// RevokeToken ends a grant, as in [auth.Store].
	RevokeToken(ctx context.Context, id calendar.TokenID, at time.Time) error
}

// Tickets limits a grant's tickets of each use.
const Tickets = 64

// Bounds limit the number and age of one kind of client.
type Bounds struct {
	// Now is the current time.
	Now time.Time
	// Unused limits the age of a client that never got a grant, Idle the age of one that did.
	Unused, Idle time.Duration
	// Most limits the number of idle clients; Soon is the minimum age for such a deletion.
	Most int
	Soon time.Duration
	// Site is the new client's site.
	Site string
}

// Offer is the access that a user has granted, until the client exchanges its code.
type Offer struct {
	ID     auth.SecretID
	Digest auth.SecretHash
	Client auth.ClientID
	User   calendar.UserID
	// Redirect is the address that the code was sent to. Challenge proves that the client which exchanges it is the one
	// that requested it.
	Redirect, Challenge string
	Resource            auth.Resource
	// Name, Scopes, Calendars, Rights, ForOthers and GrantExpires are for the future grant.
	Name         string
	Scopes       calendar.Scope
	Calendars    []calendar.CalendarID
	Rights       calendar.Rights
	ForOthers    bool
	GrantExpires time.Time
	Expires      time.Time
	// Grant is the resulting grant; empty until the code is exchanged.
	Grant calendar.TokenID
}

// Use is the purpose of a ticket.
type Use string

// The uses of tickets.
const (
	ForAccess  Use = "access"
	ForRefresh Use = "refresh"
)

// Ticket is an access or refresh token of a grant.
type Ticket struct {
	ID     auth.SecretID
	Digest auth.SecretHash
	Grant  calendar.TokenID
	Use    Use
	// Scopes are the scopes of an access ticket. A refresh ticket has the grant's.
	Scopes  calendar.Scope
	Created time.Time
	Expires time.Time
	// Used is when a refresh ticket was first exchanged; zero for never.
	Used time.Time
	// Parent is the refresh ticket that was exchanged for it; empty for a grant's first tickets.
	Parent auth.SecretID
	// Rival is set if another refresh ticket of the same parent was exchanged. Renew ignores it.
	Rival bool
	// Disabled is set if the grant's user cannot sign in. Renew ignores it.
	Disabled bool
}

// Pair holds an access and a refresh ticket issued together.
type Pair struct{ Access, Refresh Ticket }
