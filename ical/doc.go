// Package ical turns RFC 5545 text into an ordered, lossless tree and back.
//
// A [Document] remembers the bytes of every content line, with their folds,
// line ends and spelling. What nobody touches is written back octet for octet;
// only a touched [Property] is encoded anew. The package knows the syntax and
// the value types of iCalendar, and nothing of calendars, clocks or zones.
package ical
