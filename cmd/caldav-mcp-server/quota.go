package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

// quotaRows are the settings that bound what users may have.
func quotaRows() []setting {
	number := func(field func(*calendar.Quota) *int64) func(*config, string) error {
		return func(c *config, value string) (err error) {
			*field(&c.quota), err = parseAmount(value)
			return err
		}
	}
	return []setting{
		{
			env: "QUOTA_CALENDARS", placeholder: "N", groups: serveSettings,
			about: "most calendars that a user may own who is given no other quota; any number if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Calendars }),
		},
		{
			env: "QUOTA_OBJECTS", placeholder: "N", groups: serveSettings,
			about: "most events, tasks and other objects in a user's own calendars; any number if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Objects }),
		},
		{
			env: "QUOTA_BYTES", placeholder: "SIZE", groups: serveSettings,
			about: "most bytes in a user's own calendars, such as 500MB; any number if not set",
			set:   number(func(q *calendar.Quota) *int64 { return &q.Bytes }),
		},
	}
}

// units are those of sizes, the long ones first.
var units = [...]struct {
	word string
	size int64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}}

// parseAmount reads a number, or a size with its unit.
func parseAmount(text string) (int64, error) {
	digits, factor := strings.ToLower(text), int64(1)
	for _, u := range units {
		if bare, ok := strings.CutSuffix(digits, u.word); ok {
			digits, factor = bare, u.size
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/factor {
		return 0, errors.New("is not a number from 1 on, such as 100000 or 500MB")
	}
	return n * factor, nil
}

// quotaFlag declares a flag for a user's own bound.
func quotaFlag(f *flag.FlagSet, to **int64, name, usage string) {
	f.Func(name, usage, func(text string) error { return parseQuota(to, text) })
}

func parseQuota(to **int64, text string) error {
	switch text {
	case "default":
		*to = new(int64(0))
		return nil
	case "none":
		*to = new(int64(calendar.Unbounded))
		return nil
	}
	n, err := parseAmount(text)
	if err != nil {
		return fmt.Errorf("%w, nor none or default", err)
	}
	*to = &n
	return nil
}

// quotaJSON is a user's own bounds for programs: null is what the server's settings say, 0 no bound.
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

// sizeText is a size as people read it.
func sizeText(n int64) string {
	text := strconv.FormatInt(n, 10) + " B"
	for _, u := range units {
		if n >= u.size {
			text = strconv.FormatFloat(float64(n)/float64(u.size), 'f', 1, 64) + " " + strings.ToUpper(u.word)
		}
	}
	return text
}
