package edit

import (
	"strings"

	"caldav-mcp-server/ical"
)

// ParentOf returns the UID of a component's parent, or "".
func ParentOf(c *ical.Component) string {
	for _, p := range c.All("RELATED-TO") {
		if isParent(p) {
			return p.Text()
		}
	}
	return ""
}

// isParent reports whether a relation is to a parent, not to a child or sibling. RFC 5545 §3.2.15: PARENT is the
// default.
func isParent(p *ical.Property) bool {
	kind, said := p.Param("RELTYPE")
	return !said || strings.EqualFold(kind, "PARENT")
}

// related sets or removes the parent. Other relations stay.
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
