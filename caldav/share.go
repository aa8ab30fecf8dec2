package caldav

import (
	"context"
	"slices"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// sharedType is the element that Apple's clients look for in the resource type of a shared calendar (caldav-sharing):
// one for its owner, another one for sharees.
func sharedType(r *resource) string {
	switch {
	case r.x.caller.ActsFor():
		return ""
	case r.calendar.Access != calendar.OwnerAccess:
		return "<cs:shared/>"
	case r.calendar.Shared:
		return "<cs:shared-owner/>"
	}
	return ""
}

// grantedPrivileges maps a share's access to privileges of RFC 3744 §3 and RFC 4791 §6.1.1.
var grantedPrivileges = [...][]string{
	calendar.FreeBusyAccess: {"c:read-free-busy"},
	calendar.ReadAccess:     {"d:read"},
	calendar.WriteAccess:    {"d:read", "d:write"},
}

// writeShareGrants writes an entry of the access control list for each share in force.
func writeShareGrants(r *resource, m *dav.Markup) error {
	shares, err := r.x.sharesOf(r.calendar)
	for _, s := range shares {
		given := s.InForce()
		if given == calendar.NoAccess {
			continue
		}
		m.Raw("<d:ace><d:principal>").Href(principalOf(s.User.Name)).Raw("</d:principal><d:grant>")
		for _, tag := range grantedPrivileges[given] {
			privilegeElement(m, tag)
		}
		m.Raw("</d:grant></d:ace>")
	}
	return err
}

func (x *request) sharesOf(cal calendar.Calendar) ([]calendar.Share, error) {
	if !cal.Shared {
		return nil, nil
	}
	return once(x, &x.cached.shares, cal,
		func(ctx context.Context, c calendar.Caller, cal calendar.Calendar) ([]calendar.Share, error) {
			return x.Service.Shares(ctx, c, cal.ID)
		})
}

// writeSharingModes lets the owner's clients offer to share the calendar (caldav-sharing §5.5.2).
func writeSharingModes(r *resource, m *dav.Markup) error {
	if !r.isOwn() || r.calendar.Subscribed() {
		return dav.ErrAbsent
	}
	return m.Raw("<cs:can-be-shared/>").OK()
}

// writeSharedURL writes the calendar's address in its owner's home.
func writeSharedURL(r *resource, m *dav.Markup) error {
	if r.calendar.Access == calendar.OwnerAccess {
		return dav.ErrAbsent
	}
	hostedHref(m, r.calendar.OwnerName, r.calendar.Segment)
	return nil
}

// writeInvitees writes CS:invite (caldav-sharing §5.2.2): all sharees for the owner, the owner and themselves for a
// sharee. It leaves out free/busy shares: the protocol has no element for them, and any other would claim too much
// access.
func writeInvitees(r *resource, m *dav.Markup) error {
	if r.x.caller.ActsFor() {
		return dav.ErrAbsent
	}
	if r.calendar.Access != calendar.OwnerAccess {
		return writeInvitee(r, m)
	}
	shares, err := r.x.sharesOf(r.calendar)
	if err != nil {
		return err
	}
	start := len(m.Buf)
	for _, s := range shares {
		if s.Access > calendar.FreeBusyAccess {
			inviteeElement(m, s)
		}
	}
	if len(m.Buf) == start {
		return dav.ErrAbsent
	}
	return nil
}

// writeInvitee writes the owner and the caller for a sharee.
func writeInvitee(r *resource, m *dav.Markup) error {
	people, err := r.x.visible()
	if err != nil {
		return err
	}
	owner := calendar.Person{Name: r.calendar.OwnerName, Title: r.calendar.OwnerName}
	if i := slices.IndexFunc(people, func(u calendar.User) bool { return u.ID == r.calendar.Owner }); i >= 0 {
		owner = calendar.PersonOf(people[i])
	}
	organizerElement(m, owner)
	if r.calendar.Access > calendar.FreeBusyAccess {
		inviteeElement(m, calendar.Share{
			Calendar: r.calendar.ID, User: r.x.caller.User, Access: r.calendar.Access, Status: calendar.ShareAccepted,
		})
	}
	return nil
}

// inviteeElement writes CS:user in the element order of Apple's server.
func inviteeElement(m *dav.Markup, s calendar.Share) {
	name := s.CommonName
	if name == "" || s.User.DisplayName != "" {
		name = s.User.Title()
	}
	m.Raw("<cs:user>").Element("cs:uid", string(s.Invitation()))
	addressOf(m, calendar.PersonOf(s.User))
	m.Element("cs:common-name", name)
	accessElement(m, s.Access)
	m.Raw(statusTags[s.Status]).Raw("</cs:user>")
}
