package main

import (
	"flag"

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

// quotaFlag declares a flag for a user's own quota.
func quotaFlag(f *flag.FlagSet, to **int64, name, usage string) {
	f.Func(name, usage, func(text string) error { return parseQuota(to, text) })
}

func parseQuota(to **int64, text string) error {
	n, err := calendar.ParseBound(text)
	if err == nil {
		*to = &n
	}
	return err
}

// quotaJSON is a user's own quota: null means the server's default, 0 no limit.
type quotaJSON struct {
	Calendars *int64 `json:"calendars"`
	Objects   *int64 `json:"objects"`
	Bytes     *int64 `json:"bytes"`
}

func asQuotaJSON(q calendar.Quota) quotaJSON {
	shown := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return new(max(n, 0))
	}
	return quotaJSON{shown(q.Calendars), shown(q.Objects), shown(q.Bytes)}
}
