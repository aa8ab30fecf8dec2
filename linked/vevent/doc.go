// Package vevent has the parts that the conversions for Google and Microsoft share: times and zones, HTML texts,
// addresses, reminders, and whole objects.
package vevent
