package settings

import (
	"caldav-mcp-server/calendar"
)

// quotaRows are the settings for default quotas.
func quotaRows() []Setting {
	number := func(field func(*calendar.Quota) *int64) func(*Config, string) error {
		return func(c *Config, value string) (err error) {
			*field(&c.Service.Quota), err = calendar.ParseAmount(value)
			return err
		}
	}
	return []Setting{
		{
			Env: "QUOTA_CALENDARS", Placeholder: "N", Groups: ServiceGroup,
			About: "most calendars that a user may own, unless they have their own quota; no limit if not set",
			Set:   number(func(q *calendar.Quota) *int64 { return &q.Calendars }),
		},
		{
			Env: "QUOTA_OBJECTS", Placeholder: "N", Groups: ServiceGroup,
			About: "most events, tasks and other objects in a user's own calendars; no limit if not set",
			Set:   number(func(q *calendar.Quota) *int64 { return &q.Objects }),
		},
		{
			Env: "QUOTA_BYTES", Placeholder: "SIZE", Groups: ServiceGroup,
			About: "most bytes in a user's own calendars, such as 500MB; no limit if not set",
			Set:   number(func(q *calendar.Quota) *int64 { return &q.Bytes }),
		},
	}
}
