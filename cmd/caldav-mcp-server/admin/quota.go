package admin

import (
	"flag"

	"caldav-mcp-server/calendar"
)

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
