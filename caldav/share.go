package caldav

import "caldav-mcp-server/calendar"

// sharedType is what Apple's clients look for in the type of a calendar that several people
// have (caldav-sharing): one word for its owner, another for the others.
func (r *resource) sharedType() string {
	switch {
	case r.calendar.Access != calendar.OwnerAccess:
		return "<cs:shared/>"
	case r.calendar.Shared:
		return "<cs:shared-owner/>"
	}
	return ""
}
