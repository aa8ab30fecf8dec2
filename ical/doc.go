// Package ical converts RFC 5545 text to an ordered, lossless tree and back.
//
// A [Document] keeps the original bytes of every content line, including folds, line ends and spelling. Unchanged lines
// are written back byte for byte; only a changed [Property] is encoded again. The package knows the syntax and the
// value types of iCalendar, but no calendars, clocks or zones.
package ical
