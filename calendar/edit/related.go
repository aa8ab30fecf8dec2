package edit

import (
	"strings"

	"caldav-mcp-server/ical"
)

// ParentOf is the UID of what a component is a part of; empty when it is of nothing.
func ParentOf(c *ical.Component) string {
	for _, p := range c.All("RELATED-TO") {
		if isParent(p) {
			return p.Text()
		}
	}
	return ""
}

// isParent tells a parent from children and siblings. RFC 5545 §3.2.15: a parent is what is meant where nothing is said.
func isParent(p *ical.Property) bool {
	kind, said := p.Param("RELTYPE")
	return !said || strings.EqualFold(kind, "PARENT")
}

// related sets the parent, or takes it away. Relations of other kinds stay.
func related(f Field[string]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		uid, given := f.Value()
		if given && uid == ParentOf(c) {
			return nil
		}
		for _, p := range c.All("RELATED-TO") {
			if isParent(p) {
				c.RemoveProperty(p)
			}
		}
		if !given {
			return nil
		}
		if own := c.Property("UID"); own != nil && own.Value() == uid {
			return fault(BadField, "nothing is a part of itself")
		}
		p := ical.NewProperty("RELATED-TO", "")
		p.SetText(uid)
		c.Add(p)
		return nil
	}
}
