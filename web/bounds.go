package web

import (
	"strconv"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// boundRow is one bound of what a user may have, as administrators see it.
type boundRow struct {
	// Field is the field of the form, Value the bound as it is typed in, Has what the user has by now.
	Field, Title, Value, Has string
}

// bounds are what a user may have, and has.
func (v *visit) bounds(u calendar.User) ([]boundRow, error) {
	// What somebody has is counted, whoever asks: of the calendars themselves administrators see nothing.
	has, _, err := v.Service.Usage(v.r.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeRead})
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

// setBounds gives a user other bounds: all that the form has, or none where one cannot be read.
func (v *visit) setBounds(u calendar.User) error {
	var e auth.UserEdit
	for field, to := range map[string]**int64{"calendars": &e.QuotaCalendars, "objects": &e.QuotaObjects, "bytes": &e.QuotaBytes} {
		text := v.field(field)
		n, err := calendar.ParseBound(text)
		if err != nil {
			return calendar.Errorf(calendar.Invalid, "", "%.100q %v", text, err)
		}
		*to = &n
	}
	_, err := v.ChangeUser(v.r.Context(), u.Name, e)
	return err
}
