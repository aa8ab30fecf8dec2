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

// Pairs are words of both sides, theirs first. Where several say the same, the first one is written.
type Pairs [][2]string

// Out is iCalendar's word for one of theirs, "" where there is none; In is theirs for one of iCalendar's.
func (p Pairs) Out(word string) string { return p.find(0, word) }

// In is the other way about.
func (p Pairs) In(word string) string { return p.find(1, word) }

func (p Pairs) find(side int, word string) string {
	for _, pair := range p {
		if pair[side] == word {
			return pair[1-side]
		}
	}
	return ""
}

// TextOf is the text of a property, "" where there is none.
func TextOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return p.Text()
	}
	return ""
}

// AddText adds a text that is not empty.
func AddText(c *ical.Component, name, value string) {
	if value != "" {
		c.Add(ical.NewText(name, value))
	}
}

// Stamp says when a component was made and changed, as far as that is told.
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

// StateOf is the state of all that is one object, by the tags of its parts in any order.
func StateOf(tags []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(tags)), "\n")))
	return hex.EncodeToString(sum[:12])
}

// Known finds a zone that they name; UTC where nobody knows it.
func Known(zones *zone.DB, name string) *zone.Zone {
	z, err := zones.Lookup(name)
	if err != nil || z.Bare() {
		return zone.UTC()
	}
	return z
}
