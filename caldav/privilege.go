package caldav

import (
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

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
	{"d:read", atCalendar | atObject, may(calendar.SeeBusy)},
	{"d:read-current-user-privilege-set", everything, freely},
	{"c:read-free-busy", atCalendar | atObject, may(calendar.SeeBusy)},
	// Without it, Thunderbird and others treat a calendar as read-only, even with all other privileges.
	{"d:write", atCalendar | atObject, may(calendar.WriteObjects, calendar.DeleteObjects)},
	// A read-only sharee may set the name and color for themselves, too, but does not get this privilege: Thunderbird
	// would treat the calendar as writable.
	{"d:write-properties", atCalendar, may(calendar.WriteObjects, calendar.ArrangeCalendar)},
	{"d:write-content", atCalendar | atObject, may(calendar.WriteObjects)},
	{"d:bind", atCalendar, may(calendar.WriteObjects)},
	{"d:unbind", atCalendar, may(calendar.DeleteObjects)},
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
	{"d:write-properties", atObject, may(calendar.WriteObjects)},
	{"d:write-properties", atPrincipal | atHome | atInbox, mayOwn},
	{"d:bind", atHome, mayCreate},
	{"d:unbind", atHome, mayUnbind},
	{"d:unbind", atBox | atInbox, mayDismiss},
}

func freely(*resource) error { return nil }

func may(actions ...calendar.Action) func(*resource) error {
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
	if r.calendar.Access != calendar.OwnerAccess {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "only the owner can see who has access")
	}
	return r.x.caller.May(calendar.ReadObjects, r.calendar)
}

func mayDismiss(r *resource) error { return r.x.caller.MayOwn(calendar.AnswerInvitation) }

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
