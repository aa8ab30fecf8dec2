package caldav

import "caldav-mcp-server/caldav/dav"

// asked reads the request of a PROPFIND and plans for it.
func (x *request) asked() (plan, error) {
	q, err := x.Propfind()
	if err != nil {
		return plan{}, err
	}
	t := x.planner()
	p, err := dav.PlanFind(x.Exchange, t, &q)
	return t.plan(p), err
}

// servePropfind answers RFC 4918 §9.1.
func servePropfind(x *request) error {
	d, err := x.FindDepth(x.at.kind()&leaves == 0)
	if err != nil {
		return err
	}
	p, err := x.asked()
	if err != nil {
		return err
	}
	r, err := x.find(x.at)
	if err != nil {
		return err
	}
	if d == dav.DepthOne && x.at.kind() == atHome && p.flags&ofHome != 0 {
		if err := x.readHome(); err != nil {
			return err
		}
	}
	return writeListing(x, r, p, d)
}

// writeListing writes a resource, and at Depth 1 its members.
func writeListing(x *request, r *resource, p plan, d dav.Depth) error {
	ms := x.multistatus(p)
	// RFC 8144 §3: depth-noroot leaves out the resource itself.
	if d != dav.DepthOne || !x.Prefers(dav.NoRoot) {
		if err := ms.add(r); err != nil {
			return err
		}
	}
	if d == dav.DepthOne {
		for child, err := range r.children() {
			if err != nil {
				return err
			}
			if err := ms.add(child); err != nil {
				return err
			}
		}
	}
	return ms.End()
}
