package caldav

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// aclRequestBody is the body of ACL (RFC 3744 §8.1).
type aclRequestBody struct {
	XMLName xml.Name   `xml:"DAV: acl"`
	Entries []aclEntry `xml:"DAV: ace"`
}

// aclEntry is DAV:ace (RFC 3744 §5.5).
type aclEntry struct {
	Principal *dav.Element `xml:"DAV: principal"`
	Invert    *struct{}    `xml:"DAV: invert"`
	Grant     *dav.Element `xml:"DAV: grant"`
	Deny      *dav.Element `xml:"DAV: deny"`
	Protected *struct{}    `xml:"DAV: protected"`
	Inherited *struct{}    `xml:"DAV: inherited"`
}

// grants is a set of privileges that a list gives one user. deny is set if it denies them some.
type grants struct {
	user                            calendar.User
	busy, read, write, bind, unbind bool
	// part is set by the other privileges within DAV:write, own by DAV:read-current-user-privilege-set.
	part, own, deny bool
}

// serveACL answers the ACL method (RFC 3744 §8.1). The entries of a calendar's list are its shares. All other lists
// consist of protected entries.
func serveACL(x *request) error {
	r, err := x.find(x.at)
	if err == nil {
		err = r.beOwn()
	}
	if err != nil {
		return err
	}
	if x.at.kind() != atCalendar {
		return errProtectedList
	}
	if err := x.caller.May(calendar.ShareCalendar, r.calendar); err != nil {
		return err
	}
	var q aclRequestBody
	if err := x.Read(&q); err != nil {
		return err
	}
	edits, err := r.listEdits(q.Entries)
	if err == nil && len(edits) > 0 {
		_, err = x.Service.Reshare(x.R.Context(), x.caller, r.calendar.ID, edits)
	}
	if err != nil {
		return err
	}
	return x.Blank(http.StatusOK)
}

var errProtectedList = dav.Breach("d:no-protected-ace-conflict",
	"only the access control list of a calendar can be set")

// listEdits returns the changes of shares that a list needs. It replaces the entries that DAV:acl shows: offers that
// wait for an answer stay.
func (r *resource) listEdits(entries []aclEntry) ([]calendar.ShareEdit, error) {
	if len(entries) > maxShareEdits {
		return nil, dav.Breach("d:limited-number-of-aces", "the list has more than %d entries", maxShareEdits)
	}
	var all []grants
	for _, e := range entries {
		var err error
		if all, err = r.readEntry(e, all); err != nil {
			return nil, err
		}
	}
	shares, err := r.x.Service.Shares(r.x.R.Context(), r.x.caller, r.calendar.ID)
	if err != nil {
		return nil, err
	}
	named, denied, groups := map[calendar.UserID]bool{}, map[calendar.UserID]bool{}, false
	var edits []calendar.ShareEdit
	for _, g := range all {
		access, err := g.access()
		if err != nil {
			return nil, err
		}
		denied[g.user.ID] = g.deny
		if access > calendar.NoAccess {
			named[g.user.ID], groups = true, groups || g.user.Group
			edits = append(edits, calendar.ShareEdit{With: g.user, Access: access})
		}
	}
	for _, s := range shares {
		pending := s.Status == calendar.SharePending
		if !named[s.User.ID] && (s.InForce() > calendar.NoAccess || pending && denied[s.User.ID]) {
			edits = append(edits, calendar.ShareEdit{With: s.User})
		}
		groups = groups || s.User.Group && pending
	}
	return edits, r.mayDeny(all, groups)
}

// mayDeny checks that a list only denies users who have no access. Shares have no exceptions: a user who has access as
// a member of a group, or as a delegate, keeps it.
func (r *resource) mayDeny(all []grants, groups bool) error {
	for _, g := range all {
		if !g.deny {
			continue
		}
		delegates, err := r.x.Service.Delegates(r.x.R.Context(), r.x.caller)
		if err != nil {
			return err
		}
		switch {
		case g.user.Group:
			return dav.Breach("d:no-ace-conflict", "the members of %q cannot be denied access: name users", g.user.Name)
		case groups:
			return dav.Breach("d:no-ace-conflict", "%q cannot be denied access next to a group", g.user.Name)
		case slices.ContainsFunc(delegates, func(d calendar.Delegation) bool { return d.Delegate.ID == g.user.ID }):
			return dav.Breach("d:no-ace-conflict", "%q is a delegate, who has access to all calendars", g.user.Name)
		}
	}
	return nil
}

// readEntry adds the privileges of an entry to a list.
func (r *resource) readEntry(e aclEntry, all []grants) ([]grants, error) {
	switch {
	case e.Invert != nil:
		return nil, dav.Breach("d:no-invert", "an entry names users who have access, not all others")
	case e.Inherited != nil:
		return nil, dav.Breach("d:no-inherited-ace-conflict", "no entry of a calendar is inherited")
	case e.Principal == nil || len(e.Principal.Children) != 1 || (e.Grant == nil) == (e.Deny == nil):
		return nil, dav.Refuse(http.StatusBadRequest, "DAV:ace needs one principal, and DAV:grant or DAV:deny")
	}
	who, tags := e.Principal.Children[0], privilegesIn(cmp.Or(e.Grant, e.Deny))
	if isOwner(r, who) {
		// Clients send back the entry that they have read.
		if e.Deny != nil || len(tags) != 1 || tags[0] != dav.Name("all") {
			return nil, dav.Breach("d:no-protected-ace-conflict", "the owner has all privileges")
		}
		return all, nil
	}
	if e.Protected != nil {
		return nil, dav.Breach("d:no-protected-ace-conflict", "only the owner's entry is protected")
	}
	if e.Grant != nil && changesNothing(who, tags) {
		return all, nil
	}
	user, err := r.principalIn(who)
	if err != nil {
		return nil, err
	}
	at := -1
	for i := range all {
		if all[i].user.ID == user.ID {
			at = i
		}
	}
	if at < 0 {
		at, all = len(all), append(all, grants{user: user})
	}
	for _, name := range tags {
		if e.Deny != nil && supportedPrivileges().has(name) {
			all[at].deny = true
			continue
		}
		if err := all[at].grant(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// changesNothing reports whether an entry lets users see their own privileges, and nothing else. RFC 3744 appendix B:
// a PROPFIND needs DAV:read as well, and here all who have that see their privileges.
func changesNothing(who dav.Element, tags []xml.Name) bool {
	everyone := who.XMLName == dav.Name("authenticated") || who.XMLName == dav.Name("all")
	return everyone && len(tags) == 1 && tags[0] == dav.Name("read-current-user-privilege-set")
}

// isOwner reports whether a principal is the owner of the calendar, by name or as DAV:property.
func isOwner(r *resource, who dav.Element) bool {
	if who.XMLName == dav.Name("property") {
		return who.Has(dav.Name("owner"))
	}
	at, err := r.x.parseHref(strings.TrimSpace(who.Text))
	return who.XMLName == dav.Name("href") && err == nil && at == principalOf(r.calendar.OwnerName)
}

// principalIn finds the user or group in an entry.
func (r *resource) principalIn(who dav.Element) (calendar.User, error) {
	if who.XMLName != dav.Name("href") {
		return calendar.User{}, dav.Breach("d:allowed-principal",
			"an entry grants privileges to one user or group, named by DAV:href")
	}
	unknown := dav.Breach("d:recognized-principal", "%.200q is not the principal of a user or group", who.Text)
	if at, err := r.x.parseHref(strings.TrimSpace(who.Text)); err != nil || at.kind() != atPrincipal {
		return calendar.User{}, unknown
	}
	user, err := shareeOf(r.x, r.calendar, who.Text)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return user, unknown
	}
	return user, err
}

// privilegesIn returns the names of the privileges in DAV:grant.
func privilegesIn(grant *dav.Element) (names []xml.Name) {
	for _, p := range grant.Children {
		for _, name := range p.Children {
			if p.XMLName == dav.Name("privilege") {
				names = append(names, name.XMLName)
			}
		}
	}
	return names
}

// grant adds a privilege.
func (g *grants) grant(name xml.Name) error {
	switch name {
	case caldavName("read-free-busy"):
		g.busy = true
	case dav.Name("read"):
		g.read = true
	case dav.Name("write"):
		g.write = true
	case dav.Name("bind"):
		g.bind = true
	case dav.Name("unbind"):
		g.unbind = true
	case dav.Name("write-content"), dav.Name("write-properties"):
		g.part = true
	case dav.Name("read-current-user-privilege-set"):
		g.own = true
	default:
		if supportedPrivileges().has(name) {
			return dav.Breach("d:no-abstract", "%q cannot be granted alone: grant read-free-busy, read or write",
				name.Local)
		}
		return dav.Breach("d:not-supported-privilege",
			"%.200q is no privilege here: grant read-free-busy, read or write", name.Local)
	}
	return nil
}

// has reports whether a privilege of that name is in the tree.
func (n privilegeNode) has(name xml.Name) bool {
	space, local, _ := strings.Cut(n.tag, ":")
	if name == dav.Name(local) && space == "d" || name == caldavName(local) && space == "c" {
		return true
	}
	return slices.ContainsFunc(n.within, func(inner privilegeNode) bool { return inner.has(name) })
}

// access returns the share that grants the privileges. Users who may add and remove objects can replace each object, so
// bind and unbind together are write.
func (g *grants) access() (calendar.Access, error) {
	write := g.write || g.bind && g.unbind
	switch {
	case g.deny && (write || g.bind || g.unbind || g.part || g.read || g.busy):
		return calendar.NoAccess, dav.Breach("d:no-ace-conflict",
			"%q is granted some privileges and denied others: grant those that remain", g.user.Name)
	case write && g.read:
		return calendar.WriteAccess, nil
	case write:
		return calendar.NoAccess, dav.Breach("d:not-supported-privilege", "grant %q read together with write",
			g.user.Name)
	case g.bind || g.unbind || g.part:
		return calendar.NoAccess, dav.Breach("d:no-ace-conflict",
			"%q cannot have a part of write: grant write, or bind with unbind", g.user.Name)
	case g.read:
		return calendar.ReadAccess, nil
	case g.busy:
		return calendar.FreeBusyAccess, nil
	case g.own, g.deny:
		return calendar.NoAccess, nil
	}
	return calendar.NoAccess, dav.Refuse(http.StatusBadRequest, "the entry of %q grants no privilege", g.user.Name)
}
