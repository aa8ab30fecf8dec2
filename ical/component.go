package ical

import (
	"iter"
	"slices"
)

// Component is a component between BEGIN and END: its properties and sub-components in their original order. A
// *Property or *Component may be in only one place of one tree; Clone it before adding it elsewhere.
type Component struct {
	name  string // upper-case
	begin string // the BEGIN line as read; empty in a new component
	end   string // the END line as read
	line  int
	items []item
}

// item is a property or a component.
type item struct {
	property  *Property
	component *Component
}

// NewComponent makes an empty component. Bytes that are invalid in a name become '-'.
func NewComponent(name string) *Component {
	return &Component{name: upperName(cleanName(name))}
}

// Name returns the upper-case name, such as VEVENT.
func (c *Component) Name() string { return c.name }

// Line returns the line number of BEGIN, or 0 in a new component.
func (c *Component) Line() int { return c.line }

// Properties iterates over the component's own properties, in order.
func (c *Component) Properties() iter.Seq[*Property] {
	return func(yield func(*Property) bool) {
		for _, it := range c.items {
			if it.property != nil && !yield(it.property) {
				return
			}
		}
	}
}

// Property returns the first property with the name, or nil.
func (c *Component) Property(name string) *Property {
	if i := c.index(name); i >= 0 {
		return c.items[i].property
	}
	return nil
}

// All returns the properties with the name, in order.
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

// Components iterates over the direct sub-components, in order.
func (c *Component) Components() iter.Seq[*Component] {
	return func(yield func(*Component) bool) {
		for _, it := range c.items {
			if it.component != nil && !yield(it.component) {
				return
			}
		}
	}
}

// AllComponents returns the direct sub-components with the name, in order.
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

// Add adds properties after the last one. RFC 5545 §3.6.1: the properties of an event come before its alarms.
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

// Set replaces the first property of the same name and removes the others; if there is none, it adds the property.
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

// SetText sets the text of the first property with the name and keeps its parameters and place; if there is none, it
// adds one.
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

// Remove removes all properties with the name and returns their number.
func (c *Component) Remove(name string) int {
	before := len(c.items)
	name = upperName(name)
	c.items = slices.DeleteFunc(c.items, func(it item) bool { return it.isProperty(name) })
	return before - len(c.items)
}

// RemoveProperty removes one property and reports whether it was there.
func (c *Component) RemoveProperty(p *Property) bool {
	return c.remove(item{property: p})
}

// RemoveFunc removes the unwanted properties and returns their number.
func (c *Component) RemoveFunc(unwanted func(*Property) bool) int {
	before := len(c.items)
	c.items = slices.DeleteFunc(c.items, func(it item) bool { return it.property != nil && unwanted(it.property) })
	return before - len(c.items)
}

// AddComponent adds a sub-component at the end.
func (c *Component) AddComponent(sub *Component) {
	c.items = append(c.items, item{component: sub})
}

// InsertComponent inserts a sub-component in front of another one, or at the end if the other one is not there.
func (c *Component) InsertComponent(sub, before *Component) {
	i := slices.Index(c.items, item{component: before})
	if before == nil || i < 0 {
		i = len(c.items)
	}
	c.items = slices.Insert(c.items, i, item{component: sub})
}

// RemoveComponent removes one sub-component and reports whether it was there.
func (c *Component) RemoveComponent(sub *Component) bool {
	return c.remove(item{component: sub})
}

// Clone returns a deep copy of the component, including the original bytes of its lines.
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
