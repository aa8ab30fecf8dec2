package caldav

import "encoding/xml"

// plan is which properties a request wants, looked up once for all of its resources.
type plan struct {
	items []planItem
	// nameOnly is set for propname: which properties there are, without their values.
	nameOnly bool
	// minimal leaves out what is not there (RFC 8144 §2.1).
	minimal bool
	// data tells that calendar-data is among the items.
	data bool
}

// planItem is one property of a plan.
type planItem struct {
	name xml.Name
	row  *property // nil for a property that no row has
	// quiet items, which the client did not name, are no news when they are missing.
	quiet bool
}

// write writes the item's element, or returns errAbsent.
func (i *planItem) write(r *resource, m *markup, nameOnly bool) error {
	if i.row == nil {
		return errAbsent
	}
	return i.row.write(r, m, nameOnly)
}

// named plans for properties that a client names.
func (x *exchange) named(names []xml.Name) plan {
	p := plan{minimal: x.prefersMinimal(), items: make([]planItem, 0, len(names))}
	for _, n := range names {
		item := planItem{name: n, row: x.byName[n]}
		if item.row != nil && item.row.flags&inReports != 0 {
			if x.method.name != "REPORT" {
				item.row = nil
			}
			p.data = true
		}
		p.items = append(p.items, item)
	}
	return p
}

// flagged plans for the properties that have a flag, or for all when it is zero.
func (x *exchange) flagged(flag propertyFlags) plan {
	p := plan{minimal: x.prefersMinimal()}
	for i := range x.properties {
		if row := &x.properties[i]; row.flags&flag == flag && row.flags&inReports == 0 {
			p.items = append(p.items, planItem{row.name, row, true})
		}
	}
	return p
}
