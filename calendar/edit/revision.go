package edit

import (
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// revision remembers the state of a component before an edit.
type revision struct {
	component          *ical.Component
	whole, significant string
	// isNew is set for a new override, anew for a component with a new UID.
	isNew, anew bool
}

// RFC 5546 §2.1.4: a change of these properties invalidates the attendees' answers, so it increments SEQUENCE. The RFC
// names the first row. ATTENDEE and LOCATION are "other properties" that the organizer considers important.
var significant = [...]string{
	"DTSTART", "DTEND", "DURATION", "DUE", "RRULE", "RDATE", "EXDATE", "EXRULE", "STATUS",
	"ATTENDEE", "LOCATION",
}

func remember(c *ical.Component) revision {
	return revision{component: c, whole: written(c), significant: essence(c)}
}

// essence returns the properties of a component that increment SEQUENCE, in a comparable form. The location only counts
// if there are attendees.
func essence(c *ical.Component) string {
	var b strings.Builder
	attended := c.Property("ATTENDEE") != nil
	for _, name := range significant {
		if name == "LOCATION" && !attended {
			continue
		}
		for _, p := range c.All(name) {
			b.WriteString(p.String() + "\n")
		}
	}
	return b.String()
}

// stamp updates the timestamps and SEQUENCE of a changed component. Without METHOD, DTSTAMP is the time of the last
// revision (RFC 5545 §3.8.7.2). So is LAST-MODIFIED, which not every client writes.
func (r revision) stamp(now time.Time) {
	c := r.component
	if !r.isNew && !r.anew && written(c) == r.whole {
		return
	}
	at := ical.Instant(now)
	setTime(c, "DTSTAMP", at)
	if c.Property("LAST-MODIFIED") != nil {
		setTime(c, "LAST-MODIFIED", at)
	}
	if (r.isNew || r.anew) && c.Property("CREATED") != nil {
		setTime(c, "CREATED", at)
	}
	if r.anew {
		// SEQUENCE of a new UID starts at 0 (RFC 5545 §3.8.7.4).
		if c.Property("SEQUENCE") != nil {
			setValue(c, "SEQUENCE", "0")
		}
		return
	}
	if essence(c) != r.significant {
		setValue(c, "SEQUENCE", strconv.Itoa(sequence(c)+1))
	}
}

// sequence returns a component's SEQUENCE, or 0 if it is missing or invalid.
func sequence(c *ical.Component) int {
	p := c.Property("SEQUENCE")
	if p == nil {
		return 0
	}
	n, err := p.Int()
	if err != nil {
		return 0
	}
	return max(0, n)
}
