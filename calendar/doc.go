// Package calendar is the middle of the program: what calendars are, which rules
// hold for them, and who may do what with them.
//
// The doors (caldav, mcp, the command line) translate their protocol into calls of
// [Service]; the store implements [Store]. This package knows neither.
package calendar
