package edit

import (
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// revision remembers how a component was, so that what was done to it can be told.
type revision struct {
	component          *ical.Component
	whole, significant string
	// isNew tells that it is an instance that was not told apart before; anew, that it got
	// another UID.
	isNew, anew bool
}

// RFC 5546 §2.1.4: a change of these makes an attendee's answer worth asking for again, so it
// raises SEQUENCE. The RFC names the first row; ATTENDEE and LOCATION are its "other
// properties" that the organizer deems important.
var significant = [...]string{
	"DTSTART", "DTEND", "DURATION", "DUE", "RRULE", "RDATE", "EXDATE", "EXRULE", "STATUS",
	"ATTENDEE", "LOCATION",
}

func remember(c *ical.Component) revision {
	return revision{component: c, whole: written(c), significant: essence(c)}
}

// essence is what of a component raises its SEQUENCE, in a form that can be compared. The place
// matters to those who have to go there.
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

// stamp keeps the books of a component that has changed. Without METHOD, DTSTAMP is when it
// was last revised (RFC 5545 §3.8.7.2), as is LAST-MODIFIED, which not every client writes.
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
		// A new UID begins to count anew (RFC 5545 §3.8.7.4).
		if c.Property("SEQUENCE") != nil {
			setValue(c, "SEQUENCE", "0")
		}
		return
	}
	if essence(c) != r.significant {
		setValue(c, "SEQUENCE", strconv.Itoa(sequence(c)+1))
	}
}

// sequence is what a component counts; what cannot be read counts as nothing.
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
