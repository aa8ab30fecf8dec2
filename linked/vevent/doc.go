// Package vevent has what the events of Google and of Microsoft have in common on their way to iCalendar and back:
// times and their zones, texts in HTML, addresses, reminders, and the objects around them.
package vevent
