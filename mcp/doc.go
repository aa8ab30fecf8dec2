// Package mcp is the door for assistants: the Model Context Protocol over HTTP, at /mcp.
//
// The protocol's messages are handled by mcp-go. In front of it stands a layer of our own,
// for what mcp-go leaves to its user or gets wrong between users: who may come in (Origin and
// Host), how much they may send, sessions that only their token can use, the codes of errors,
// and keeping the inside of a fault from the caller. Behind it stand the tools, one row of a
// table for each, which know no protocol: they take arguments and call calendar/service.
package mcp
