package web

import (
	"strconv"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// boundRow is one quota of a user, as administrators see it.
type boundRow struct {
	// Field is the form field, Value the quota as typed, Has the present usage.
	Field, Title, Value, Has string
}

// bounds returns a user's quotas and usage.
func (p userPages) bounds(u calendar.User) ([]boundRow, error) {
	// Count as the user: administrators have no access to others' calendars.
	has, _, err := p.Service.Usage(p.r.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeRead})
	if err != nil {
		return nil, err
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []boundRow{
		{"calendars", "Calendars", calendar.BoundText(u.Quota.Calendars), number(has.Calendars)},
		{"objects", "Events and tasks", calendar.BoundText(u.Quota.Objects), number(has.Objects)},
		{"bytes", "Size", calendar.BoundText(u.Quota.Bytes), calendar.SizeText(has.Bytes)},
	}, nil
}

// setBounds sets a user's quotas: all values of the form, or none if one is invalid.
func (p userPages) setBounds(u calendar.User) error {
	var e auth.UserEdit
	for field, to := range map[string]**int64{
		"calendars": &e.QuotaCalendars, "objects": &e.QuotaObjects, "bytes": &e.QuotaBytes,
	} {
		text := p.field(field)
		n, err := calendar.ParseBound(text)
		if err != nil {
			return calendar.Errorf(calendar.Invalid, "", "%.100q %v", text, err)
		}
		*to = &n
	}
	_, err := p.ChangeUser(p.r.Context(), u.Name, e)
	return err
}
