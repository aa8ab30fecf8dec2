package web

import "caldav-mcp-server/calendar"

// unverified is an invitation by mail that was not accepted into the calendar, because its sender is unverified.
type unverified struct {
	Name                                                   calendar.ObjectName
	What, Reason, From, Standing, Organizer, Title, At, On string
}

// unverified returns the visitor's unverified invitations.
func (v *visit) unverified(c clock) (list []unverified, err error) {
	all, err := v.Service.Unverified(v.r.Context(), v.caller())
	for _, u := range all {
		one := unverified{u.Name, u.Subject(), u.Reason(), excerpt(string(u.From)), u.Standing(), excerpt(u.Organizer), excerpt(u.Title), "", c.Moment(u.Created)}
		if !u.Start.IsZero() {
			one.At = c.when(u.Start)
		}
		list = append(list, one)
	}
	return list, err
}

// dismissUnverified deletes one.
func (v *visit) dismissUnverified() error {
	err := v.Service.DismissUnverified(v.r.Context(), v.caller(), calendar.ObjectName(v.r.PathValue("name")))
	return v.after(err, "", "mail-dismissed")
}
