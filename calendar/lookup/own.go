package lookup

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// IsOwn reports whether an address in an event is the caller's: one of their proven mail addresses in any notation,
// their principal, or in a calendar of their linked account the proven address of the account.
func IsOwn(who calendar.Caller, in calendar.Calendar, address string) bool {
	return IsUser(who, address) || IsAccount(who, in, address)
}

// IsUser reports whether an address is the caller's in every calendar. The caller's Mails must be loaded.
func IsUser(who calendar.Caller, address string) bool {
	a := schedule.AddressOf(address)
	if mail := a.Mail(); mail != "" {
		return mail == strings.ToLower(strings.TrimSpace(who.User.Email)) || slices.Contains(who.Mails, mail)
	}
	name := a.Principal("") // the host of an absolute URL may be another server
	return name != "" && strings.EqualFold(name, who.User.Name)
}

// IsAccount reports whether an address is the proven address of the caller's linked account, in a calendar of it.
func IsAccount(who calendar.Caller, in calendar.Calendar, address string) bool {
	return in.Owner == who.User.ID && in.Origin.Owns(schedule.AddressOf(address).Mail())
}
