package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"

	"caldav-mcp-server/caldav/dav"
)

// matchRequest is DAV:principal-match (RFC 3744 §9.3).
type matchRequest struct {
	XMLName  xml.Name   `xml:"DAV: principal-match"`
	Self     *struct{}  `xml:"DAV: self"`
	Property *dav.Names `xml:"DAV: principal-property"`
	Prop     *requested `xml:"DAV: prop"`
}

// principalMatch answers RFC 3744 §9.3: it finds the members of a collection, at any depth, that are the caller or
// have a property naming the caller.
func principalMatch(x *request, r *resource, q *matchRequest) error {
	if err := x.DepthZero(); err != nil {
		return err
	}
	if (q.Self == nil) == (q.Property == nil) || q.Property != nil && len(*q.Property) != 1 {
		return dav.Refuse(http.StatusBadRequest,
			"principal-match needs either self or a principal-property with one property in it")
	}
	if q.Self != nil {
		var self []*resource
		if x.at.kind()&abovePrincipals != 0 {
			self = append(self, x.principal(x.self.User))
		}
		return writeResources(x, self, q.Prop, len(self))
	}
	p, err := planReport(x, q.Prop, false)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	name := (*q.Property)[0]
	if err := ms.namingCaller(r, planItem{name: name, row: x.byName[name]}); err != nil {
		return err
	}
	return ms.End()
}

// namingCaller writes the members of a collection with a property, live or dead, that names the caller.
func (ms *multistatus) namingCaller(r *resource, by planItem) error {
	for child, err := range r.children() {
		if err != nil {
			return err
		}
		named, err := child.namesCaller(by)
		if err != nil {
			return err
		}
		if named {
			if err := ms.add(child); err != nil {
				return err
			}
		}
		if child.at.kind()&leaves != 0 {
			continue
		}
		if err := ms.namingCaller(child, by); err != nil {
			return err
		}
	}
	return nil
}

func (r *resource) namesCaller(by planItem) (bool, error) {
	hrefs, err := r.hrefsOf(by)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(hrefs, func(href string) bool {
		at, err := r.x.parseHref(href)
		return err == nil && at == principalOf(r.x.self.User.Name)
	}), nil
}

// aclRequest is DAV:acl-principal-prop-set (RFC 3744 §9.2).
type aclRequest struct {
	XMLName xml.Name   `xml:"DAV: acl-principal-prop-set"`
	Prop    *requested `xml:"DAV: prop"`
}

// aclPrincipals answers RFC 3744 §9.2 with properties of the users in a resource's access control list, as far as the
// caller can see them.
func aclPrincipals(x *request, r *resource, q *aclRequest) error {
	if err := x.DepthZero(); err != nil {
		return err
	}
	hrefs, err := r.hrefsOf(planItem{row: x.byName[dav.Name("acl")]})
	if err == nil && r.at.kind()&owned != 0 {
		// §5.5.1: DAV:property stands for the principals that the property names; here that is DAV:owner.
		var owner []string
		owner, err = r.hrefsOf(planItem{row: x.byName[dav.Name("owner")]})
		hrefs = append(hrefs, owner...)
	}
	if err != nil {
		return err
	}
	var listed []*resource
	seen := map[place]bool{}
	for _, href := range hrefs {
		found, err := x.findHref(href)
		if err != nil {
			return err
		}
		if found != nil && found.at.kind() == atPrincipal && !seen[found.at] {
			seen[found.at] = true
			listed = append(listed, found)
		}
	}
	return writeResources(x, listed, q.Prop, len(listed))
}
