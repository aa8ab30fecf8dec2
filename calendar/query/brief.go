package query

import "caldav-mcp-server/ical"

const (
	// briefFrom is the size from which on an object is not held on to for what a list shows of it.
	briefFrom = 16 << 10
	// briefEach and briefLine bound what stays of it: properties of one name, and the bytes of each.
	briefEach = 64
	briefLine = 16 << 10
)

// Briefs makes instances such as lists hold on to: without the stored bytes, and of a large object without
// what no list shows. A long list then costs what it shows, whatever its events say.
type Briefs struct {
	// of was shortened last, to this: the instances of a series come one after the other.
	of, to *ical.Component
}

// Of returns the instance, shortened.
func (b *Briefs) Of(i Instance) Instance {
	large := i.Object.Size > briefFrom
	i.Object.Data, i.Object.Search = nil, ""
	if large && i.Component != nil {
		if i.Component != b.of {
			b.of, b.to = i.Component, i.Component.Excerpt(briefEach, briefLine)
		}
		i.Component = b.to
	}
	return i
}
