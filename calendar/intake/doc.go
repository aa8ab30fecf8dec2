// Package intake imports files that users upload: iCalendar files with one or several calendars, and ZIP archives of
// them. A file is stored first, then checked in the background, and imported after its user has seen the result of the
// check. An interrupted check or import continues in any process.
package intake
