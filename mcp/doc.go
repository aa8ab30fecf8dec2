// Package mcp is the MCP server: the Model Context Protocol over HTTP, at /mcp.
//
// The mcp-go library handles the protocol's messages. A layer of our own in front of it adds checks that mcp-go leaves
// to its user or does not do per user: Origin and Host, request limits, sessions bound to one token, error codes, and
// hiding internal errors from the caller. The tools know nothing of the protocol. Each is a row in a table; it takes
// arguments and calls calendar/service.
package mcp
