// Package archive takes an iCalendar file apart into the objects that a calendar keeps, and puts objects together
// into one file.
//
// A file of an export holds everything in one VCALENDAR, with each zone once; a calendar keeps one object for each
// UID, with the zones that it needs (RFC 4791 §4.1). The lines of components pass through unchanged both ways.
package archive
