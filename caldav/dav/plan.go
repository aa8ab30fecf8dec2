package dav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"slices"
)

// Plan lists the properties that a request asks for, looked up once for all of its resources of type R.
type Plan[R any] struct {
	Items []Item[R]
	// NameOnly is set for propname: list the names of properties without their values.
	NameOnly bool
	// Minimal omits properties that are absent (RFC 8144 §2.1).
	Minimal bool
}

// Item is one property of a plan.
type Item[R any] struct {
	Name xml.Name
	// Quiet items are not reported as missing, since the client did not name them.
	Quiet bool
	// Write writes the property's element, or returns ErrAbsent and leaves the buffer unchanged.
	Write func(r R, m *Markup, nameOnly bool) error
}

// Table has the properties of resources of type R.
type Table[R any] interface {
	// Named returns the item for a property that a client names.
	Named(n xml.Name) Item[R]
	// All returns the items for all properties, or only for those of allprop (RFC 4918 §9.1), except for dead
	// properties that are also in but.
	All(allprop bool, but Names) []Item[R]
}

// namesBytes limits the names in a request: the response may repeat them as absent for each resource.
const namesBytes = 32 << 10

// PlanNamed plans for properties that a client names. Duplicates count once. Their number is limited, since each one
// costs time for each resource.
func PlanNamed[R any](x *Exchange, of Table[R], list []xml.Name) (Plan[R], error) {
	if most := x.server.limits.Properties; len(list) > most {
		return Plan[R]{}, Refuse(http.StatusForbidden, "a request may name at most %d properties; this one names %d",
			most, len(list))
	}
	bytes := 0
	for _, n := range list {
		bytes += len(n.Space) + len(n.Local)
	}
	if bytes > namesBytes {
		return Plan[R]{}, Refuse(http.StatusForbidden,
			"the property names in a request may have at most %d bytes; these have %d", namesBytes, bytes)
	}
	p := Plan[R]{Minimal: x.Prefers(Minimal), Items: make([]Item[R], 0, len(list))}
	for _, n := range list {
		// There are too few of them to need a map.
		if !slices.ContainsFunc(p.Items, func(i Item[R]) bool { return i.Name == n }) {
			p.Items = append(p.Items, of.Named(n))
		}
	}
	return p, nil
}

// PlanAll plans for all properties, or only for those of allprop.
func PlanAll[R any](x *Exchange, of Table[R], allprop bool, but Names) Plan[R] {
	return Plan[R]{Minimal: x.Prefers(Minimal), Items: of.All(allprop, but)}
}

// PlanNames plans for the names of all properties.
func PlanNames[R any](x *Exchange, of Table[R]) Plan[R] {
	p := PlanAll(x, of, false, nil)
	p.NameOnly = true
	return p
}

// PlanFind plans for the properties that a PROPFIND asks for.
func PlanFind[R any](x *Exchange, of Table[R], q *Propfind) (Plan[R], error) {
	if err := q.check(); err != nil {
		return Plan[R]{}, err
	}
	if q.Prop != nil {
		return PlanNamed(x, of, *q.Prop)
	}
	if q.PropName != nil {
		return PlanNames(x, of), nil
	}
	p := PlanAll(x, of, true, q.Include)
	included, err := PlanNamed(x, of, q.Include)
	p.Items = append(p.Items, included.Items...)
	return p, err
}

// Response writes the planned properties of a resource: first those it has, then those it lacks, then those it
// refuses.
func (p *Plan[R]) Response(m *Markup, at Address, r R) error {
	m.Raw("<d:response>").Href(at)
	if err := p.Propstats(m, r); err != nil {
		return err
	}
	return m.Raw("</d:response>").OK()
}

// Propstats writes the planned properties of a resource, without its address.
func (p *Plan[R]) Propstats(m *Markup, r R) error {
	start, before := len(m.Buf), len(m.absent)
	m.Raw("<d:propstat><d:prop>")
	inside := len(m.Buf)
	refused, err := p.values(m, r)
	if err != nil {
		return err
	}
	absent := m.absent[before:]
	// A response needs at least one propstat, even an empty one.
	if len(m.Buf) > inside || len(absent)+len(refused) == 0 {
		m.Raw("</d:prop>").Status(http.StatusOK).Raw("</d:propstat>")
	} else {
		m.Buf = m.Buf[:start]
	}
	if len(absent) > 0 {
		m.propstat(absent, &StatusError{Status: http.StatusNotFound})
		m.absent = m.absent[:before]
	}
	for _, item := range refused {
		m.propstat([]xml.Name{item.name}, item.failure)
	}
	return nil
}

// refusedItem is a property that a resource has but refuses to give.
type refusedItem struct {
	name    xml.Name
	failure *StatusError
}

// values writes the properties that the resource has. It adds missing properties to absent and returns the refused
// ones.
func (p *Plan[R]) values(m *Markup, r R) (refused []refusedItem, err error) {
	for i := range p.Items {
		item := &p.Items[i]
		var refusal *StatusError
		err := item.Write(r, m, p.NameOnly)
		switch {
		case err == nil:
		case errors.Is(err, ErrAbsent):
			if !item.Quiet && !p.Minimal {
				m.absent = append(m.absent, item.Name)
			}
		case errors.As(err, &refusal):
			refused = append(refused, refusedItem{item.Name, refusal})
		default:
			return nil, err
		}
	}
	return refused, nil
}
