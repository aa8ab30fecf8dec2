// Package mcp is the MCP server for calendars: tools, resources and prompts, at /mcp.
//
// Package mcp/wire speaks the protocol. It passes calls to the tools here through mcp-go, and the rest to a bridge. The
// tools know nothing of the protocol. Each is a row in a table; it takes arguments and calls calendar/service.
package mcp
