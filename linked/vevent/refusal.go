package vevent

import (
	"errors"

	"caldav-mcp-server/calendar/mirror"
)

// Google and Microsoft share these refusals. A provider is "Google" or "Microsoft".

// Unread refuses an event that the conversion cannot read. It returns a refusal, and no error, unchanged.
func Unread(err error) error {
	if _, is := errors.AsType[*mirror.Refusal](err); err == nil || is {
		return err
	}
	return mirror.Refusef("The event cannot be read: %s", err)
}

// Unsaid is the reason why iCalendar cannot express an event.
func Unsaid(err error) string {
	return mirror.Refusef("The event there cannot be written as iCalendar: %s", err).Error()
}

// NoStart refuses an event without a start.
func NoStart() error { return mirror.Refusef("An event without a start cannot be kept there.") }

// Mixed refuses an event with a day and a time as its start and end.
func Mixed() error {
	return mirror.Refusef("The start and the end must both be days or both be times.")
}

// OtherForm refuses a RECURRENCE-ID with a day in a series with times, or with a time in a series with days.
func OtherForm() error {
	return mirror.Refusef("An instance must name a time if its series has times, and a day if its series has days.")
}

// NoInstance refuses a change of a missing instance.
func NoInstance(when string) error {
	return mirror.Refusef("The series has no instance on %s, so none can be changed there.", when)
}

// Few refuses new instances of a series whose master is not visible.
func Few() error {
	return mirror.Refusef("Only single instances of this series are visible to us, so no others can be added.")
}

// Single refuses an instance without its series.
func Single() error {
	return mirror.Refusef("Single instances are kept there only within their series.")
}

// OtherOrganizer refuses a change of the organizer.
func OtherOrganizer(provider, address string) error {
	return mirror.Refusef("The organizer of an event cannot be changed at %s (it is %s).", provider, address)
}

// RestChanged refuses a change of the property for data without an iCalendar equivalent.
func RestChanged(property, provider string) error {
	return mirror.Refusef("The property %s was changed: it has the data of %s that iCalendar lacks. Leave it as it "+
		"is, or leave it out.", property, provider)
}

// TooMuch refuses an event with too many bytes of properties without a field.
func TooMuch(size int, provider string, most int) error {
	return mirror.Refusef("The event has %d bytes of properties without a field at %s, and at most %d are kept there. "+
		"Remove some.", size, provider, most)
}

// TooMany refuses a calendar with too many events.
func TooMany(provider string, most int) error {
	return mirror.Refusef("The calendar at %s has more than %d events, which is more than is kept here.", provider,
		most)
}

// Endless is the error for a list without a last page.
func Endless() error { return &mirror.Later{Why: "the list of events there has no end"} }
