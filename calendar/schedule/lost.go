package schedule

import (
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// LostAnswer is an answer that a change of an event removes: its attendee is asked again.
type LostAnswer struct {
	To Address
	// Name is the attendee's CN, Status the PARTSTAT that is lost.
	Name, Status string
}

// Lost returns the answers of attendees that are in an event before a change and not after it, each attendee once.
// People who are no longer invited are left out. An instance that gets a component of its own had the answers of the
// series.
func Lost(before, after *content.Object) []LostAnswer {
	var all []LostAnswer
	known := map[Address]bool{OrganizerOf(after): true}
	for _, c := range after.Components() {
		was := before.Master
		if id := c.Property("RECURRENCE-ID"); id != nil {
			if own := sameInstance(before, id); own != nil {
				was = own
			}
		}
		if was == nil {
			continue
		}
		for _, p := range c.All("ATTENDEE") {
			to := addressOf(p)
			said := attendee(was, only(to))
			if known[to] || partstat(p) != NeedsAction || said == nil || partstat(said) == NeedsAction {
				continue
			}
			known[to] = true
			name, _ := said.Param("CN")
			all = append(all, LostAnswer{to, name, partstat(said)})
		}
	}
	return all
}

// sameInstance returns the component of an instance, or nil.
func sameInstance(in *content.Object, id *ical.Property) *ical.Component {
	for _, c := range in.Components() {
		if p := c.Property("RECURRENCE-ID"); p != nil && p.Value() == id.Value() {
			return c
		}
	}
	return nil
}
