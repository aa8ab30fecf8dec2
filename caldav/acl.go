package caldav

import (
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// The read side of RFC 3744. Ownership and shares decide about access; see setacl.go for the ACL method.

// privilegeNode is a row of DAV:supported-privilege-set: a privilege and the privileges that it contains (RFC 3744
// §5.3, appendix B; RFC 4791 §6.1.1).
type privilegeNode struct {
	tag, description string
	// abstract privileges cannot be granted on their own.
	abstract bool
	within   []privilegeNode
}

func supportedPrivileges() privilegeNode {
	return privilegeNode{"d:all", "Do anything", true, []privilegeNode{
		{"d:read", "Read", false, []privilegeNode{
			{"d:read-current-user-privilege-set", "See one's own privileges", false, nil},
			{"c:read-free-busy", "See free/busy times", false, nil},
		}},
		{"d:write", "Write", false, []privilegeNode{
			{"d:write-properties", "Change properties", false, nil},
			{"d:write-content", "Change objects", false, nil},
			{"d:bind", "Add objects", false, nil},
			{"d:unbind", "Remove objects", false, nil},
		}},
		{"c:schedule-deliver", "Send the owner messages about events", true, []privilegeNode{
			{"c:schedule-deliver-invite", "Invite the owner", true, nil},
			{"c:schedule-deliver-reply", "Reply to the owner", true, nil},
			{"c:schedule-query-freebusy", "Query the owner's free/busy times", true, nil},
		}},
		{"c:schedule-send", "Send messages about events", true, []privilegeNode{
			{"c:schedule-send-invite", "Invite others", true, nil},
			{"c:schedule-send-reply", "Reply to others", true, nil},
			{"c:schedule-send-freebusy", "Query others' free/busy times", true, nil},
		}},
		{"d:read-acl", "See access rights", true, nil},
		{"d:write-acl", "Change access rights", true, nil},
		{"d:unlock", "Remove locks", true, nil},
	}}
}

func writeSupportedPrivileges(r *resource, m *dav.Markup) error {
	privilegeTree(m, supportedPrivileges())
	return nil
}

func privilegeTree(m *dav.Markup, n privilegeNode) {
	m.Raw("<d:supported-privilege>")
	privilegeElement(m, n.tag)
	if n.abstract {
		m.Raw("<d:abstract/>")
	}
	m.Raw(`<d:description xml:lang="en">`).Text(n.description).Raw("</d:description>")
	for _, inner := range n.within {
		privilegeTree(m, inner)
	}
	m.Raw("</d:supported-privilege>")
}

// writeAccessList writes DAV:acl (RFC 3744 §5.5). Every authenticated user may read a resource without an owner.
func writeAccessList(r *resource, m *dav.Markup) error {
	const personal = atPrincipal | atProxy | atHome | atBox | atNotice | atScheduling
	switch {
	case r.other != nil:
		return dav.ErrAbsent
	case r.at.kind()&personal != 0:
		protectedGrant(m, "<d:property><d:owner/></d:property>", "d:all")
	case r.at.kind()&(atCalendar|atObject) == 0:
		protectedGrant(m, "<d:authenticated/>", "d:read")
	case mayReadACL(r) == nil:
		protectedGrant(m, "<d:property><d:owner/></d:property>", "d:all")
		return writeShareGrants(r, m)
	default:
		return dav.ErrAbsent
	}
	return nil
}

// protectedGrant writes a protected entry.
func protectedGrant(m *dav.Markup, principal, privilege string) {
	m.Raw("<d:ace><d:principal>").Raw(principal).Raw("</d:principal><d:grant>")
	privilegeElement(m, privilege)
	m.Raw("</d:grant><d:protected/></d:ace>")
}

// writeAccessRestrictions writes DAV:acl-restrictions (RFC 3744 §5.6).
func writeAccessRestrictions(r *resource, m *dav.Markup) error {
	return m.Raw("<d:no-invert/>").OK()
}

// privileges is the source of DAV:current-user-privilege-set (RFC 3744 §3, appendix B). Each row has a privilege, its
// kinds of resources, and the permission check that decides it.
var privileges = []struct {
	tag string
	on  kind
	may func(*resource) error
}{
	{"d:read", collections &^ atCalendar, freely},
	{"d:read", atNotice | atItem, freely},
	// A sharee with free/busy access may read the busy times as events, too.
	{"d:read", atCalendar | atObject, mayDo(calendar.SeeBusy)},
	{"d:read-current-user-privilege-set", everything, freely},
	{"c:read-free-busy", atCalendar | atObject, mayDo(calendar.SeeBusy)},
	// Without it, Thunderbird and others treat a calendar as read-only, even with all other privileges.
	{"d:write", atCalendar | atObject, mayDo(calendar.WriteObjects, calendar.DeleteObjects)},
	// A read-only sharee may set the name and color for themselves, too, but does not get this privilege: Thunderbird
	// would treat the calendar as writable.
	{"d:write-properties", atCalendar, mayDo(calendar.WriteObjects, calendar.ArrangeCalendar)},
	{"d:write-content", atCalendar | atObject, mayDo(calendar.WriteObjects)},
	{"d:bind", atCalendar, mayDo(calendar.WriteObjects)},
	{"d:unbind", atCalendar, mayDo(calendar.DeleteObjects)},
	{"c:schedule-deliver", atInbox, freely},
	{"c:schedule-deliver-invite", atInbox, freely},
	{"c:schedule-deliver-reply", atInbox, freely},
	{"c:schedule-query-freebusy", atInbox, freely},
	{"c:schedule-send", atOutbox, maySend},
	{"c:schedule-send-invite", atOutbox, maySend},
	{"c:schedule-send-reply", atOutbox, maySend},
	{"c:schedule-send-freebusy", atOutbox, mayAsk},
	{"d:read-acl", everything &^ (atCalendar | atObject), (*resource).beOwn},
	{"d:read-acl", atCalendar | atObject, mayReadACL},
	{"d:write-acl", atCalendar, mayDo(calendar.ShareCalendar)},
	{"d:write-properties", atObject, mayDo(calendar.WriteObjects)},
	{"d:write-properties", atPrincipal | atHome | atInbox | atProxy, mayOwn},
	{"d:bind", atHome, mayCreate},
	{"d:unbind", atHome, mayUnbind},
	{"d:unbind", atBox | atInbox, mayDismiss},
}

func freely(*resource) error { return nil }

func mayDo(actions ...calendar.Action) func(*resource) error {
	return func(r *resource) error {
		for _, a := range actions {
			if err := r.x.caller.May(a, r.calendar); err != nil {
				return err
			}
		}
		return nil
	}
}

// mayOwn checks access to the caller's own resources other than calendars.
func mayOwn(r *resource) error {
	if err := r.beOwn(); err != nil {
		return err
	}
	return r.x.caller.MayOwn(calendar.ChangeCalendar)
}

// mayReadACL allows only the owner of a calendar to see its sharees.
func mayReadACL(r *resource) error {
	if !r.isOwn() {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "only the owner can see who has access")
	}
	return r.x.caller.May(calendar.ReadObjects, r.calendar)
}

func mayDismiss(r *resource) error { return r.x.caller.MayOwn(calendar.CleanInbox) }

func maySend(r *resource) error { return r.x.caller.MayOwn(calendar.TellOthers) }

func mayAsk(r *resource) error { return r.x.caller.MayOwn(calendar.SeeBusy) }

func mayCreate(r *resource) error { return r.x.caller.MayCreate() }

// mayUnbind checks whether the caller may delete calendars of their own.
func mayUnbind(r *resource) error {
	return r.x.caller.May(calendar.DeleteCalendar, calendar.Calendar{Access: calendar.OwnerAccess})
}

func writePrivileges(r *resource, m *dav.Markup) error {
	for _, p := range privileges {
		if p.on&r.at.kind() != 0 && p.may(r) == nil {
			privilegeElement(m, p.tag)
		}
	}
	return nil
}
