package vevent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Pairs maps the provider's words to iCalendar's. If several mean the same, the first one is used for writing.
type Pairs [][2]string

// Out returns iCalendar's word for one of the provider's, or "".
func (p Pairs) Out(word string) string { return p.find(0, word) }

// In returns the provider's word for one of iCalendar's, or "".
func (p Pairs) In(word string) string { return p.find(1, word) }

func (p Pairs) find(side int, word string) string {
	for _, pair := range p {
		if pair[side] == word {
			return pair[1-side]
		}
	}
	return ""
}

// TextOf returns the text of a property, or "".
func TextOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return p.Text()
	}
	return ""
}

// AddText adds a text property unless it is empty.
func AddText(c *ical.Component, name, value string) {
	if value != "" {
		c.Add(ical.NewText(name, value))
	}
}

// Stamp sets the times of creation and last change, if known.
func Stamp(c *ical.Component, created, changed string) {
	add := func(name, at string) {
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			c.Add(ical.NewTime(name, ical.Instant(t)))
		}
	}
	add("DTSTAMP", cmp.Or(changed, created, "1970-01-01T00:00:00Z"))
	add("CREATED", created)
	add("LAST-MODIFIED", changed)
}

// StateOf returns a hash of the tags of an object's parts, in any order.
func StateOf(tags []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(tags)), "\n")))
	return hex.EncodeToString(sum[:12])
}

// Known returns the zone with a name, or UTC if it is unknown.
func Known(zones *zone.DB, name string) *zone.Zone {
	z, err := zones.Lookup(name)
	if err != nil || z.Bare() {
		return zone.UTC()
	}
	return z
}
