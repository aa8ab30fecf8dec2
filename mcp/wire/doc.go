// Package wire speaks the Model Context Protocol over HTTP and over lines. It knows no calendars: an Endpoint answers
// the protocol's own requests, and passes all others to a server of mcp-go and to the Content behind it.
//
// The mcp-go library handles the protocol's messages. The Endpoint in front of it adds checks that mcp-go leaves to its
// user or does not do per user: Origin and Host, request limits, sessions bound to one token, error codes, and hiding
// internal errors from the caller.
package wire
