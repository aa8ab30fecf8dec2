package query

import (
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/ical"
)

const (
	// briefFrom is the object size from which a list keeps only an excerpt.
	briefFrom = 16 << 10
	// briefEach and briefLine bound the excerpt: the number of properties with one name, and the bytes of each.
	briefEach = 64
	briefLine = 16 << 10
)

// Briefs shortens instances for lists. It drops the stored bytes and, for large objects, everything that lists don't
// show. So a long list costs only its visible content.
type Briefs struct {
	// Meter counts the memory that they hold.
	Meter *meter.Meter
	// of was shortened last, to to. The instances of a series come one after another and share the result.
	of, to *ical.Component
}

// Of returns the instance, shortened.
func (b *Briefs) Of(i Instance) (Instance, error) {
	i.Object.Data, i.Object.Search = nil, ""
	weight := int64(instanceBytes)
	if i.Component != nil && i.Component != b.of {
		b.of, b.to = i.Component, i.Component
		if i.Object.Size > briefFrom {
			b.to = i.Component.Excerpt(briefEach, briefLine)
		}
		weight += briefWeight(i.Object, b.to)
	}
	if i.Component != nil {
		i.Component = b.to
	}
	return i, b.Meter.Hold(weight)
}

const (
	// instanceBytes is the memory of an instance without its component, lineBytes the memory of a property without its
	// text.
	instanceBytes = 600
	lineBytes     = 200
)

// briefWeight estimates the memory of a shortened object's component. A small object's component keeps the whole text.
func briefWeight(o calendar.Object, c *ical.Component) int64 {
	weight := int64(0)
	if o.Size <= briefFrom {
		weight = o.Size
	}
	for p := range c.Properties() {
		weight += lineBytes + int64(len(p.Value()))
	}
	return weight
}
