// Package oauth implements an authorization server (OAuth 2.1, RFC 6749, 7009, 7591, 7636, 7662, 8707, 9207) without
// HTML and HTTP: its clients, their requests to users, and their tokens.
//
// The access that a user grants is an [auth.Token] with Client set. Its scopes, calendars, expiry, journal entries and
// revocation work as for any token. The client holds tickets for a grant: an access token, valid for an hour, and a
// refresh token to get the next.
package oauth
