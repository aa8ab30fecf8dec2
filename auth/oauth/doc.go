// Package oauth is an authorization server's rules (OAuth 2.1, RFC 6749, 7009, 7591, 7636, 7662, 8707, 9207) without
// HTML and without HTTP: which clients there are, what they may ask a user for, and what they get.
//
// The access that a user allows is a grant: an [auth.Token] with a client for a name. Scopes, calendars, expiry, the
// journal and a revocation's reach are those of tokens. A client shows tickets for it: an access token
// for an hour, and a refresh token for the next.
package oauth
