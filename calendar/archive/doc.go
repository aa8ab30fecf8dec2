// Package archive splits an iCalendar file into calendar objects, and joins objects into one file.
//
// An exported file has one VCALENDAR with everything, and each zone once. A calendar stores one object for each
// UID, with the zones that it needs (RFC 4791 §4.1). The lines of components pass through unchanged in both
// directions.
package archive
