package caldav

import (
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// Delegation as Apple's clients know it (caldav-proxy of calendarserver.org): below each user's principal there are two
// groups: the readers and the writers of all of the user's calendars. Delegates use the user's own addresses.

// inHome are the kinds of resources in a user's home, which delegates use too.
const inHome = atHome | atCalendar | atObject | atScheduling

// proxyForm returns the address of the group whose members have an access.
func proxyForm(access calendar.Access) addressForm {
	if access == calendar.WriteAccess {
		return formProxyWrite
	}
	return formProxyRead
}

// proxyAccess returns the access of the members of a group.
func (p place) proxyAccess() calendar.Access {
	if p.form == formProxyWrite {
		return calendar.WriteAccess
	}
	return calendar.ReadAccess
}

func delegateProperties() []property {
	return under("caldav-proxy §5",
		serverProperty(server("calendar-proxy-read-for"), atPrincipal, 0, writeProxyFor(calendar.ReadAccess)),
		serverProperty(server("calendar-proxy-write-for"), atPrincipal, 0, writeProxyFor(calendar.WriteAccess)),
	)
}

// actFor makes the caller a delegate of the user in whose home the address is.
func (x *request) actFor(at place) error {
	if at.kind()&inHome == 0 || string(at.user) == x.self.User.Name {
		return nil
	}
	acting, err := x.Service.ActFor(x.R.Context(), x.self, string(at.user))
	if err != nil {
		if missing(err) {
			return errNowhere
		}
		return err
	}
	x.caller = acting
	x.audit("", acting.User.Name)
	return nil
}

// stillActs checks again that the caller is a delegate.
func (x *request) stillActs() error {
	if !x.caller.ActsFor() {
		return nil
	}
	now, err := x.Service.ActFor(x.R.Context(), x.self, x.caller.User.Name)
	if err == nil && now.Most < x.caller.Most {
		err = calendar.ErrNotDelegate(x.caller.User.Name)
	}
	return err
}

// delegations returns the delegations that the caller has from others, none if the credential may not use them.
func (x *request) delegations() ([]calendar.Delegation, error) {
	if x.cached.delegations == nil {
		all, err := x.Service.DelegatedTo(x.R.Context(), x.self)
		if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
			return nil, err
		}
		x.cached.delegations = &all
	}
	return *x.cached.delegations, nil
}

// delegates returns the caller's delegates, none if the credential may not see them.
func (x *request) delegates() ([]calendar.Delegation, error) {
	if x.cached.delegates == nil {
		all, err := x.Service.Delegates(x.R.Context(), x.self)
		if err != nil && !closed(err) {
			return nil, err
		}
		x.cached.delegates = &all
	}
	return *x.cached.delegates, nil
}

// delegationFrom returns the access that a user has given the caller as a delegate.
func (x *request) delegationFrom(name string) (calendar.Access, error) {
	all, err := x.delegations()
	for _, d := range all {
		if d.Owner.Name == name {
			return d.Access, err
		}
	}
	return calendar.NoAccess, err
}

func proxyTypes(r *resource) string {
	if r.at.form == formProxyWrite {
		return "<d:collection/><d:principal/><cs:calendar-proxy-write/>"
	}
	return "<d:collection/><d:principal/><cs:calendar-proxy-read/>"
}

// proxyMembers returns the members of a group; only the user sees them.
func (r *resource) proxyMembers() ([]calendar.User, error) {
	if r.other != nil {
		return nil, dav.ErrAbsent
	}
	all, err := r.x.Service.Delegates(r.x.R.Context(), r.x.self)
	if closed(err) {
		return nil, dav.ErrAbsent
	}
	var members []calendar.User
	for _, d := range all {
		if d.Access == r.at.proxyAccess() {
			members = append(members, d.Delegate)
		}
	}
	return members, err
}

// writeProxyFor writes the users who have given the caller that access.
func writeProxyFor(access calendar.Access) func(*resource, *dav.Markup) error {
	return func(r *resource, m *dav.Markup) error {
		if r.other != nil {
			return dav.ErrAbsent
		}
		all, err := r.x.delegations()
		for _, d := range all {
			if d.Access == access {
				m.Href(principalOf(d.Owner.Name))
			}
		}
		return err
	}
}

// writeProxyMembership writes the groups of delegates that the caller is in. For another user, it writes the groups of
// the caller that this user is in (RFC 3744 §4.4).
func writeProxyMembership(r *resource, m *dav.Markup) error {
	if r.other != nil {
		all, err := r.x.delegates()
		for _, d := range all {
			if d.Delegate.ID == r.other.ID {
				m.Href(place{form: proxyForm(d.Access), user: userName(r.x.self.User.Name)})
			}
		}
		return err
	}
	all, err := r.x.delegations()
	for _, d := range all {
		m.Href(place{form: proxyForm(d.Access), user: userName(d.Owner.Name)})
	}
	return err
}

// patchProxy sets the members of a group.
func patchProxy(x *request, all []dav.Edit) (o propertyChanges, err error) {
	if err := x.self.MayOwn(calendar.AppointDelegates); err != nil {
		return o, err
	}
	var members []calendar.User
	set := false
	for _, e := range all {
		var refusal *dav.StatusError
		switch {
		case e.Name != dav.Name("group-member-set"):
			refusal = dav.Breach("d:cannot-modify-protected-property", "only group-member-set can be set here")
		default:
			set = true
			if members, err = x.membersIn(e.Value); err != nil {
				refusal = failureOf(err, x.details)
			}
		}
		o.Add(e.Name, refusal)
	}
	if o.Failed || !set {
		return o, nil
	}
	given, ended, err := x.Service.SetDelegates(x.R.Context(), x.self, x.at.proxyAccess(), members)
	x.audit("delegates", slices.Concat(signed("+", given), signed("-", ended))...)
	return o, err
}

// signed returns the names of users after a sign.
func signed(sign string, users []calendar.User) (names []string) {
	for _, u := range users {
		names = append(names, sign+u.Name)
	}
	return names
}

// membersIn returns the users that the hrefs in a property name. The caller has to know a user by name, as for a share.
func (x *request) membersIn(value *dav.Element) (members []calendar.User, err error) {
	if value == nil {
		return nil, nil
	}
	var names []userName
	for _, c := range value.Children {
		if c.XMLName != dav.Name("href") {
			continue
		}
		at, err := x.parseHref(strings.TrimSpace(c.Text))
		if err != nil || at.kind() != atPrincipal {
			return nil, dav.Refuse(http.StatusForbidden, "%.200q is not the address of a user's principal", c.Text)
		}
		if !slices.Contains(names, at.user) {
			names = append(names, at.user)
		}
		if len(names) > calendar.MaxDelegates {
			return nil, dav.Refuse(http.StatusForbidden, "a user can have %d delegates", calendar.MaxDelegates)
		}
	}
	for _, name := range names {
		u, err := x.Service.Delegable(x.R.Context(), x.self, string(name))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(members, func(m calendar.User) bool { return m.ID == u.ID }) {
			members = append(members, u)
		}
	}
	return members, nil
}
