package describe

import (
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Suggested returns a suggested change in the form of the journal, as it was made.
func Suggested(s calendar.Suggestion, part calendar.SuggestedPart, in calendar.Calendar) calendar.Change {
	change := calendar.Change{
		Calendar: in.ID, Object: part.Name, UID: part.UID, Did: calendar.Modified, At: s.Created, Kind: part.Kind,
		Before: part.Before, After: part.After, In: in, User: s.User,
	}
	text := part.After
	switch {
	case part.After == nil:
		change.Did, text = calendar.Deleted, part.Before
	case part.Before == nil:
		change.Did = calendar.Created
	}
	if o, err := content.Read(text, ical.Limits{}); err == nil {
		change.Summary = o.Summary()
	}
	return change
}
