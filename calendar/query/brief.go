package query

import (
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/ical"
)

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
	// Meter is told of what they hold.
	Meter *meter.Meter
	// of was shortened last, to this: the instances of a series come one after the other.
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
	// instanceBytes is what an instance takes beside its component, lineBytes a property beside its text.
	instanceBytes = 600
	lineBytes     = 200
)

// briefWeight is about what a component takes of an object that was shortened: that of a small one keeps the whole text.
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
