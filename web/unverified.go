package web

import "caldav-mcp-server/calendar"

// unverified is an invitation by mail that was not accepted into the calendar, because its sender is unverified.
type unverified struct {
	Name                                                   calendar.ObjectName
	What, Reason, From, Standing, Organizer, Title, At, On string
}

// unverifiedPages list and dismiss invitations from unverified senders.
type unverifiedPages struct{ *pageRequest }

// unverified returns the visitor's unverified invitations.
func (p unverifiedPages) unverified(c clock) (list []unverified, err error) {
	all, err := p.Service.Unverified(p.r.Context(), p.caller())
	for _, u := range all {
		one := unverified{
			u.Name, u.Subject(), u.Reason(), excerpt(string(u.From)), u.Standing(), excerpt(u.Organizer),
			excerpt(u.Title), "", c.Moment(u.Created),
		}
		if !u.Start.IsZero() {
			one.At = c.when(u.Start)
		}
		list = append(list, one)
	}
	return list, err
}

// dismissUnverified deletes one.
func (p unverifiedPages) dismissUnverified() error {
	err := p.Service.DismissUnverified(p.r.Context(), p.caller(), calendar.ObjectName(p.r.PathValue("name")))
	return p.after(err, "", "mail-dismissed")
}
