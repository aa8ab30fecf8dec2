package caldav

import "caldav-mcp-server/calendar"

// sharedType is what Apple's clients look for in the type of a calendar that several people
// have (caldav-sharing): one word for its owner, another for the others.
func (r *resource) sharedType() string {
	switch {
	case r.calendar.Access != calendar.OwnerAccess:
		return "<cs:shared/>"
	case r.calendar.Shared:
		return "<cs:shared-owner/>"
	}
	return ""
}

// granted is what a share gives, in the words of RFC 3744 §3 and RFC 4791 §6.1.1.
var granted = [...][]string{
	calendar.FreeBusyAccess: {"c:read-free-busy"},
	calendar.ReadAccess:     {"d:read"},
	calendar.WriteAccess:    {"d:read", "d:write"},
}

// shareGrants writes an entry of the access list for each share that gives something by now.
func (r *resource) shareGrants(m *markup) error {
	shares, err := r.x.sharesOf(r.calendar)
	for _, s := range shares {
		if s.Status != calendar.ShareAccepted {
			continue
		}
		m.raw("<d:ace><d:principal>").hrefElement(principalOf(s.User.Name)).raw("</d:principal><d:grant>")
		for _, tag := range granted[s.Access] {
			m.privilege(tag)
		}
		m.raw("</d:grant><d:protected/></d:ace>")
	}
	return err
}

// sharesOf asks once for each calendar: a listing of objects would ask for every one of them.
func (x *exchange) sharesOf(cal calendar.Calendar) ([]calendar.Share, error) {
	shares, known := x.shares[cal.ID]
	if known || !cal.Shared {
		return shares, nil
	}
	shares, err := x.service.Shares(x.r.Context(), x.caller, cal.ID)
	if err != nil {
		return nil, err
	}
	if x.shares == nil {
		x.shares = map[calendar.CalendarID][]calendar.Share{}
	}
	x.shares[cal.ID] = shares
	return shares, nil
}
