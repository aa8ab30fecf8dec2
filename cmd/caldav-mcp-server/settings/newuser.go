package settings

import (
	"errors"
	"fmt"
	"strconv"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const (
	newUserTimezone    = "NEW_USER_TIMEZONE"
	newUserLanguage    = "NEW_USER_LANGUAGE"
	newUserWeekStart   = "NEW_USER_WEEK_START"
	newUserClock       = "NEW_USER_CLOCK"
	newUserWeekNumbers = "NEW_USER_WEEK_NUMBERS"
	newUserReminder    = "NEW_USER_REMINDER"

	noReminder = "none"
)

// newUserRows are the settings for the defaults of new users.
func newUserRows() []Setting {
	text := func(fault string, field func(*auth.Defaults) *string) func(*Config, string) error {
		return setText(func(c *Config) *string { return field(&c.Service.NewUsers) }, func(value string) error {
			var d auth.Defaults
			*field(&d) = value
			if d.Validate() != nil {
				return errors.New(fault)
			}
			return nil
		})
	}
	return []Setting{
		{
			Env: newUserTimezone, Placeholder: "ZONE", Groups: ServiceGroup,
			About: "time zone of new users, such as Europe/Berlin; if not set, their browser chooses",
			Set: text("is not a time zone such as Europe/Berlin", func(d *auth.Defaults) *string {
				return &d.Timezone
			}),
		},
		{
			Env: newUserLanguage, Placeholder: "TAG", Groups: ServiceGroup,
			About: "language of new users, such as de; if not set, their browser chooses",
			Set: text("is not a language of the pages, such as en", func(d *auth.Defaults) *string {
				return &d.Language
			}),
		},
		{
			Env: newUserWeekStart, Placeholder: "DAY", Groups: ServiceGroup,
			About: "first day of the week of new users, such as sun; Monday if not set",
			Set:   text("is not a weekday such as mon", func(d *auth.Defaults) *string { return &d.WeekStart }),
		},
		{
			Env: newUserClock, Placeholder: "12|24", Groups: ServiceGroup,
			About: "clock of new users; if not set, their language chooses",
			Set:   text("is neither 12 nor 24", func(d *auth.Defaults) *string { return &d.Clock }),
		},
		{
			Env: newUserWeekNumbers, Placeholder: "BOOL", Fallback: "true", Groups: ServiceGroup,
			About: "false hides week numbers from new users", Set: setWord("is not true or false",
				map[string]bool{"true": false, "false": true},
				func(c *Config) *bool { return &c.Service.NewUsers.WeekNumbersOff }),
		},
		{
			Env: newUserReminder, Placeholder: "MINUTES", Fallback: noReminder, Groups: ServiceGroup,
			About: "default reminder of users who have not chosen one, in minutes before the start, or none",
			Set:   setReminder,
		},
	}
}

func setReminder(c *Config, value string) error {
	d := auth.Defaults{Reminder: calendar.NoReminder}
	if value != noReminder {
		var err error
		if d.Reminder, err = strconv.ParseInt(value, 10, 64); err != nil || d.Reminder < 0 || d.Validate() != nil {
			return fmt.Errorf("is neither %s nor a number of minutes from 0 to %d", noReminder,
				calendar.LongestReminder)
		}
	}
	c.Service.NewUsers.Reminder = d.Reminder
	return nil
}

// NewUserValues returns the values of the settings that make the given defaults.
func NewUserValues(d auth.Defaults) map[string]string {
	reminder := noReminder
	if d.Reminder != calendar.NoReminder {
		reminder = strconv.FormatInt(d.Reminder, 10)
	}
	return map[string]string{
		newUserTimezone: d.Timezone, newUserLanguage: d.Language, newUserWeekStart: d.WeekStart,
		newUserClock: d.Clock, newUserWeekNumbers: strconv.FormatBool(!d.WeekNumbersOff), newUserReminder: reminder,
	}
}
