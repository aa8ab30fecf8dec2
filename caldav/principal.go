package caldav

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar"
)

// reach checks that the caller may look at an address: in their own part of the tree, in the home that the request is
// about if they are its owner's delegate, or at the principal of a user they see. To the caller, other users' parts do
// not exist.
func (x *request) reach(at place) error {
	_, err := x.personAt(at)
	return err
}

// personAt returns the user whose principal is at an address. It returns nil for addresses of the caller, and for
// addresses that belong to no user. In the request of a delegate only the home is the caller's: every principal belongs
// to another user.
func (x *request) personAt(at place) (*calendar.User, error) {
	if at.user == "" ||
		string(at.user) == x.caller.User.Name && (!x.caller.ActsFor() || at.kind()&inHome != 0) {
		return nil, nil
	}
	if at.kind()&(atPrincipal|atProxy) == 0 {
		return nil, errNowhere
	}
	people, err := x.visible()
	if err != nil {
		return nil, err
	}
	if at.kind() == atProxy {
		// A member sees their group, as Apple's clients expect, but not the other one.
		if access, err := x.delegationFrom(string(at.user)); err != nil || access != at.proxyAccess() {
			return nil, cmp.Or[error](err, errNowhere)
		}
	}
	i := slices.IndexFunc(people, func(u calendar.User) bool { return u.Name == string(at.user) })
	if i < 0 {
		return nil, errNowhere
	}
	return &people[i], nil
}

// visible returns the users whom the caller sees. It queries once per request, since an access list or the owners in
// a home need every one of them.
func (x *request) visible() ([]calendar.User, error) {
	var err error
	if x.cached.people == nil {
		x.cached.people, err = x.Service.People(x.R.Context(), x.self)
	}
	return x.cached.people, err
}
