package caldav

import "caldav-mcp-server/calendar"

// privileges is what DAV:current-user-privilege-set tells (RFC 3744 §3, appendix B): each
// privilege, where it stands, and the question of the middle that decides it.
var privileges = []struct {
	tag string
	on  kind
	may func(*resource) error
}{
	{"d:read", collections &^ atCalendar, freely},
	{"d:read", atCalendar | atObject, may(calendar.ReadObjects)},
	{"d:read-current-user-privilege-set", everything, freely},
	{"c:read-free-busy", atCalendar | atObject, may(calendar.SeeBusy)},
	// Strictly, write contains write-properties, which a share does not give. But Thunderbird
	// and others take a calendar without it for read-only, whatever else is named.
	{"d:write", atCalendar | atObject, may(calendar.WriteObjects, calendar.DeleteObjects)},
	{"d:write-properties", atCalendar, may(calendar.ChangeCalendar)},
	{"d:write-content", atCalendar | atObject, may(calendar.WriteObjects)},
	{"d:bind", atCalendar, may(calendar.WriteObjects)},
	{"d:unbind", atCalendar, may(calendar.DeleteObjects)},
	{"d:bind", atHome, mayCreate},
	{"d:unbind", atHome, mayUnbind},
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

func mayCreate(r *resource) error { return r.x.caller.MayCreate() }

// mayUnbind asks about a calendar of the caller's own, whichever.
func mayUnbind(r *resource) error {
	return r.x.caller.May(calendar.DeleteCalendar, calendar.Calendar{Access: calendar.OwnerAccess})
}

func (r *resource) privileges(m *markup) error {
	for _, p := range privileges {
		if p.on&r.at.kind() != 0 && p.may(r) == nil {
			m.raw("<d:privilege><").raw(p.tag).raw("/></d:privilege>")
		}
	}
	return nil
}
