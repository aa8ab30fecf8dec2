// Package calendar says what there is: calendars, objects, shares and the journal, access to
// all that, and what is wanted of a store. It does nothing with them.
//
// The rooms below do: ledger makes changes, query answers questions, watch tells of changes, and service
// puts them together for the doors (caldav, mcp, the command line). The store implements [Store]. This
// package knows none of them.
package calendar
