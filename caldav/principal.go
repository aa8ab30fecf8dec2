package caldav

import (
	"slices"

	"caldav-mcp-server/calendar"
)

// reach tells whether an address lies where the caller may look: in their own part of the
// tree, or at the principal of somebody they see. The rest of other users' parts does not
// exist as far as the caller can tell.
func (x *exchange) reach(at place) error {
	_, err := x.personAt(at)
	return err
}

// personAt returns whose principal an address is if it is not the caller's own, and nil for
// what is the caller's or nobody's.
func (x *exchange) personAt(at place) (*calendar.User, error) {
	if at.user == "" || string(at.user) == x.caller.User.Name {
		return nil, nil
	}
	if at.kind() != atPrincipal {
		return nil, errNowhere
	}
	people, err := x.visible()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(people, func(u calendar.User) bool { return u.Name == string(at.user) })
	if i < 0 {
		return nil, errNowhere
	}
	return &people[i], nil
}

// visible returns the users whom the caller sees. It asks once: an access list, or the owners
// in a home, would ask for every one of them.
func (x *exchange) visible() ([]calendar.User, error) {
	var err error
	if x.people == nil {
		x.people, err = x.Service.People(x.r.Context(), x.caller)
	}
	return x.people, err
}

// principals yields the members of the collection of principals.
func (x *exchange) principals(yield func(*resource, error) bool) {
	people, err := x.visible()
	if err != nil {
		yield(nil, err)
		return
	}
	for _, u := range people {
		if !yield(x.principal(u), nil) {
			return
		}
	}
}

// principal is the resource of a user.
func (x *exchange) principal(u calendar.User) *resource {
	r := &resource{x: x, at: principalOf(u.Name)}
	if u.ID != x.caller.User.ID {
		r.other = &u
	}
	return r
}

// person is whose principal or home the resource is.
func (r *resource) person() calendar.User {
	if r.other != nil {
		return *r.other
	}
	return r.x.caller.User
}

// beOwn refuses requests that one may make only about one's own principal.
func (r *resource) beOwn() error {
	if r.other != nil {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "this is another user, who can be looked at and not changed")
	}
	return nil
}
