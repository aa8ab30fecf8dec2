// Package calendar defines the domain: calendars, objects, shares, the journal, access rules, and the interface of
// a store. It contains no operations on them.
//
// The packages below implement these: ledger makes changes, query answers requests, watch reports changes, and
// service combines them for the CalDAV server, the MCP server and the command line. A store implements [Store].
// This package imports none of them.
package calendar
