package main

import (
	"caldav-mcp-server/calendar"
)

// quotaRows are the settings for default quotas.
func quotaRows() []setting {
	number := func(field func(*calendar.Quota) *int64) func(*config, string) error {
		return func(c *config, value string) (err error) {
			*field(&c.service.Quota), err = calendar.ParseAmount(value)
			return err
		}
	}
	return []setting{
		{
			env: "QUOTA_CALENDARS", placeholder: "N", groups: serviceSettings,
			about: "most calendars that a user may own, unless they have their own quota; no limit if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Calendars }),
		},
		{
			env: "QUOTA_OBJECTS", placeholder: "N", groups: serviceSettings,
			about: "most events, tasks and other objects in a user's own calendars; no limit if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Objects }),
		},
		{
			env: "QUOTA_BYTES", placeholder: "SIZE", groups: serviceSettings,
			about: "most bytes in a user's own calendars, such as 500MB; no limit if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Bytes }),
		},
	}
}
