// Package outbound asks other servers, at addresses that somebody outside has named.
//
// Such an address is a way to make the server speak for a stranger: to a machine beside it that
// trusts the network, to itself, or to one that answers with more than memory holds. So there is one
// client for all of it: HTTPS only, by name only, at a public address, and within limits of
// time and size that the caller sets.
package outbound
