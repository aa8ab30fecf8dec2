package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"
)

// plan lists the properties that a request asks for, looked up once for all of its resources.
type plan struct {
	items []planItem
	// nameOnly is set for propname: list the names of properties without their values.
	nameOnly bool
	// minimal omits properties that are absent (RFC 8144 §2.1).
	minimal bool
	// data is set if calendar-data is among the items.
	data bool
}

// planItem is one property of a plan.
type planItem struct {
	name xml.Name
	row  *property // nil for a property that no row has
	// quiet items are not reported as missing, since the client did not name them.
	quiet bool
	// inner asks for properties of the resources that the property names, in place of their addresses (RFC 3253
	// §3.8); nil for the addresses.
	inner *expandable
	// kept stands for all dead properties.
	kept bool
	// but are dead properties that kept leaves out, since another item writes them.
	but names
}

// write writes the item's element, or returns errAbsent.
func (i *planItem) write(r *resource, m *markup, nameOnly bool) error {
	start := len(m.buf)
	if err := i.writeFlat(r, m, nameOnly); err != nil || i.inner == nil {
		return err
	}
	return i.inner.expand(r.x, m, start)
}

// writeFlat writes the element without expanding addresses.
func (i *planItem) writeFlat(r *resource, m *markup, nameOnly bool) error {
	switch {
	case r.feed != nil:
		if row := r.x.ofLinks[i.name]; row != nil {
			return row.write(r, m, nameOnly)
		}
		return errAbsent
	case i.kept:
		return r.writeAllDead(m, i.but, nameOnly)
	case i.row == nil, i.row.on&r.at.kind() == 0, i.row.flags&ofContent != 0 && r.calendar.Subscribed():
		if i.quiet {
			return errAbsent // it is a dead property, which the kept item writes
		}
		return r.writeDead(i.name, m, nameOnly)
	}
	return i.row.write(r, m, nameOnly)
}

// namesBytes limits the names in a request: the response may repeat them as absent for each object of a calendar.
const namesBytes = 32 << 10

// named plans for properties that a client names. Duplicates count once. Their number is limited, since each one
// costs time for every object of a calendar.
func (x *exchange) named(names []xml.Name) (plan, error) {
	if len(names) > x.Limits.Properties {
		return plan{}, refuseWith(http.StatusForbidden, "a request may name at most %d properties; this one names %d", x.Limits.Properties, len(names))
	}
	bytes := 0
	for _, n := range names {
		bytes += len(n.Space) + len(n.Local)
	}
	if bytes > namesBytes {
		return plan{}, refuseWith(http.StatusForbidden, "the property names in a request may have at most %d bytes; these have %d", namesBytes, bytes)
	}
	p := plan{minimal: x.prefers(minimal), items: make([]planItem, 0, len(names))}
	for _, n := range names {
		// There are too few of them to need a map.
		if slices.ContainsFunc(p.items, func(i planItem) bool { return i.name == n }) {
			continue
		}
		item := planItem{name: n, row: x.byName[n]}
		if item.row != nil && item.row.flags&inReports != 0 {
			if x.method.name == "REPORT" {
				p.data = true
			} else {
				item.row = nil
			}
		}
		p.items = append(p.items, item)
	}
	return p, nil
}

// asks reports whether the plan includes a property with this flag.
func (p plan) asks(flag propertyFlags) bool {
	return slices.ContainsFunc(p.items, func(i planItem) bool { return i.row != nil && i.row.flags&flag != 0 })
}

// flagged plans for the properties that have a flag, or for all properties if the flag is zero.
func (x *exchange) flagged(flag propertyFlags) plan {
	p := plan{minimal: x.prefers(minimal)}
	for i := range x.properties {
		if row := &x.properties[i]; row.flags&flag == flag && row.flags&inReports == 0 {
			p.items = append(p.items, planItem{name: row.name, row: row, quiet: true})
		}
	}
	p.items = append(p.items, planItem{quiet: true, kept: true})
	return p
}
