package zone

import (
	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Names lists what IANA knows.
func Names() []string { return readNames().listed }

// Text writes a component for the output of a test.
func Text(c *ical.Component) string { return string(ical.NewDocument(c).Bytes()) }

// WindowsNames is the table, with its keys in lower case.
func WindowsNames() map[string]string { return readNames().byWindows }

// FromComponent interprets a VTIMEZONE by itself.
func FromComponent(definition *ical.Component) (*Zone, error) {
	return fromComponent(definition, rule.Steps(stepsMost))
}
