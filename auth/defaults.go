package auth

import (
	"cmp"

	"caldav-mcp-server/calendar"
)

// Defaults are the settings of new users, where they are not created with others.
type Defaults struct {
	// The settings are as in [UserEdit]; "" is the usual one.
	Timezone, Language, WeekStart, Clock string
	WeekNumbersOff                       bool
	// Reminder is the default reminder of users who have not chosen one, in minutes before the start, or
	// [calendar.NoReminder].
	Reminder int64
}

// Validate rejects invalid values.
func (d Defaults) Validate() error {
	if d.Reminder != calendar.NoReminder && (d.Reminder < 0 || d.Reminder > calendar.LongestReminder) {
		return invalid("a default reminder comes at most a week before the start")
	}
	return UserEdit{
		Timezone: &d.Timezone, Language: &d.Language, WeekStart: &d.WeekStart,
		View: &calendar.ViewSettings{Clock: d.Clock},
	}.Validate()
}

// Fill returns a new user with these settings where it has none.
func (d Defaults) Fill(n NewUser) NewUser {
	n.Timezone, n.Language = cmp.Or(n.Timezone, d.Timezone), cmp.Or(n.Language, d.Language)
	n.WeekStart, n.View.Clock = cmp.Or(n.WeekStart, d.WeekStart), cmp.Or(n.View.Clock, d.Clock)
	n.View.WeekNumbersOff = n.View.WeekNumbersOff || d.WeekNumbersOff
	return n
}
