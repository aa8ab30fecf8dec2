package caldav

import (
	"encoding/xml"
	"errors"
	"net/http"
)

// propfindRequest is DAV:propfind (RFC 4918 §14.20).
type propfindRequest struct {
	XMLName  xml.Name  `xml:"DAV: propfind"`
	Prop     *names    `xml:"DAV: prop"`
	AllProp  *struct{} `xml:"DAV: allprop"`
	PropName *struct{} `xml:"DAV: propname"`
	Include  names     `xml:"DAV: include"`
}

// plan plans for the requested properties. A request with several forms is refused.
func (q propfindRequest) plan(x *exchange) (plan, error) {
	asked := 0
	for _, is := range []bool{q.Prop != nil, q.AllProp != nil, q.PropName != nil} {
		if is {
			asked++
		}
	}
	if asked != 1 {
		return plan{}, refuseWith(http.StatusBadRequest, "DAV:propfind must hold one of prop, allprop and propname")
	}
	if q.Prop != nil {
		return x.named(*q.Prop)
	}
	if q.PropName != nil {
		p := x.flagged(0)
		p.nameOnly = true
		return p, nil
	}
	p := x.flagged(allprop)
	included, err := x.named(q.Include)
	for i := range p.items {
		p.items[i].but = q.Include
	}
	p.items = append(p.items, included.items...)
	return p, err
}

// asked reads the request of a PROPFIND and plans for it.
func (x *exchange) asked() (plan, error) {
	q, err := x.question()
	if errors.Is(err, errNoBody) {
		q.AllProp = &struct{}{} // §9.1: no body means allprop
	} else if err != nil {
		return plan{}, err
	}
	return q.plan(x)
}

// propfind answers RFC 4918 §9.1.
func (x *exchange) propfind() error {
	d, err := x.depth()
	if err != nil {
		return err
	}
	// §9.1: a missing Depth means infinity, which a server may refuse. That is better than an answer to another
	// request, and every known client sends a Depth.
	if (d == depthMissing || d == depthInfinity) && x.at.kind()&leaves == 0 {
		return breach("d:propfind-finite-depth", "send Depth: 0 or Depth: 1; without it, PROPFIND asks for the whole tree")
	}
	p, err := x.asked()
	if err != nil {
		return err
	}
	r, err := x.find(x.at)
	if err != nil {
		return err
	}
	if d == depthOne && x.at.kind() == atHome && p.asks(ofHome) {
		if err := x.readHome(); err != nil {
			return err
		}
	}
	return x.list(r, p, d)
}

// list writes a resource, and at Depth 1 its members.
func (x *exchange) list(r *resource, p plan, d depth) error {
	ms := x.multistatus(p)
	// RFC 8144 §3: depth-noroot leaves out the resource itself.
	if d != depthOne || !x.prefers(noRoot) {
		if err := ms.add(r); err != nil {
			return err
		}
	}
	if d == depthOne {
		for child, err := range r.children() {
			if err != nil {
				return err
			}
			if err := ms.add(child); err != nil {
				return err
			}
		}
	}
	return ms.end()
}
