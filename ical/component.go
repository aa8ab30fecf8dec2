package ical

import (
	"iter"
	"slices"
)

// Component is what stands between BEGIN and END: properties and components in
// the order in which they were written. A *Property or *Component belongs to
// one place in one tree; Clone it before adding it elsewhere.
type Component struct {
	name  string // upper-case
	begin string // the BEGIN line as read; empty in a new component
	end   string // the END line as read
	line  int
	items []item
}

// item is one of the two.
type item struct {
	property  *Property
	component *Component
}

// NewComponent makes an empty component. Bytes that no name can hold become
// '-'.
func NewComponent(name string) *Component {
	return &Component{name: upperName(cleanName(name))}
}

// Name is the upper-case name, such as VEVENT.
func (c *Component) Name() string { return c.name }

// Line is the number of the BEGIN line, 0 in a new component.
func (c *Component) Line() int { return c.line }

// Properties walks over the component's own properties, in order.
func (c *Component) Properties() iter.Seq[*Property] {
	return func(yield func(*Property) bool) {
		for _, it := range c.items {
			if it.property != nil && !yield(it.property) {
				return
			}
		}
	}
}

// Property is the first property of that name, or nil.
func (c *Component) Property(name string) *Property {
	if i := c.index(name); i >= 0 {
		return c.items[i].property
	}
	return nil
}

// All lists the properties of that name, in order.
func (c *Component) All(name string) []*Property {
	var found []*Property
	name = upperName(name)
	for _, it := range c.items {
		if it.isProperty(name) {
			found = append(found, it.property)
		}
	}
	return found
}

// Components walks over the direct sub-components, in order.
func (c *Component) Components() iter.Seq[*Component] {
	return func(yield func(*Component) bool) {
		for _, it := range c.items {
			if it.component != nil && !yield(it.component) {
				return
			}
		}
	}
}

// AllComponents lists the direct sub-components of that name, in order.
func (c *Component) AllComponents(name string) []*Component {
	var found []*Component
	name = upperName(name)
	for sub := range c.Components() {
		if sub.name == name {
			found = append(found, sub)
		}
	}
	return found
}

// Add puts properties behind the last one. RFC 5545 §3.6.1: the properties of
// an event come before its alarms.
func (c *Component) Add(all ...*Property) {
	at := 0
	for i, it := range c.items {
		if it.property != nil {
			at = i + 1
		}
	}
	added := make([]item, len(all))
	for i, p := range all {
		added[i].property = p
	}
	c.items = slices.Insert(c.items, at, added...)
}

// Set puts a property in the place of the first one of its name and drops the
// others; where there is none, it adds it.
func (c *Component) Set(p *Property) {
	i := c.index(p.name)
	if i < 0 {
		c.Add(p)
		return
	}
	if p.blank == "" {
		p.blank = c.items[i].property.blank
	}
	c.items[i].property = p
	c.items = slices.DeleteFunc(c.items, func(it item) bool { return it.isProperty(p.name) && it.property != p })
}

// SetText gives the first property of that name another text and keeps its
// parameters and place; where there is none, it adds one.
func (c *Component) SetText(name, text string) *Property {
	p := c.Property(name)
	if p == nil {
		p = NewText(name, text)
		c.Add(p)
		return p
	}
	p.SetText(text)
	return p
}

// Remove drops all properties of that name and counts them.
func (c *Component) Remove(name string) int {
	before := len(c.items)
	name = upperName(name)
	c.items = slices.DeleteFunc(c.items, func(it item) bool { return it.isProperty(name) })
	return before - len(c.items)
}

// RemoveProperty drops one property and tells whether it was there.
func (c *Component) RemoveProperty(p *Property) bool {
	return c.remove(item{property: p})
}

// RemoveFunc drops the properties that are unwanted, and counts them.
func (c *Component) RemoveFunc(unwanted func(*Property) bool) int {
	before := len(c.items)
	c.items = slices.DeleteFunc(c.items, func(it item) bool { return it.property != nil && unwanted(it.property) })
	return before - len(c.items)
}

// AddComponent puts a sub-component at the end.
func (c *Component) AddComponent(sub *Component) {
	c.items = append(c.items, item{component: sub})
}

// InsertComponent puts a sub-component before another one, or at the end when
// that one is not there.
func (c *Component) InsertComponent(sub, before *Component) {
	i := slices.Index(c.items, item{component: before})
	if before == nil || i < 0 {
		i = len(c.items)
	}
	c.items = slices.Insert(c.items, i, item{component: sub})
}

// RemoveComponent drops one sub-component and tells whether it was there.
func (c *Component) RemoveComponent(sub *Component) bool {
	return c.remove(item{component: sub})
}

// Clone copies the component deeply, with the bytes of its lines.
func (c *Component) Clone() *Component {
	clone := *c
	clone.items = make([]item, len(c.items))
	for i, it := range c.items {
		if it.property != nil {
			clone.items[i].property = it.property.Clone()
		} else {
			clone.items[i].component = it.component.Clone()
		}
	}
	return &clone
}

func (c *Component) index(name string) int {
	name = upperName(name)
	return slices.IndexFunc(c.items, func(it item) bool { return it.isProperty(name) })
}

func (c *Component) remove(unwanted item) bool {
	i := slices.Index(c.items, unwanted)
	if i < 0 {
		return false
	}
	c.items = slices.Delete(c.items, i, i+1)
	return true
}

func (it item) isProperty(name string) bool { return it.property != nil && it.property.name == name }
