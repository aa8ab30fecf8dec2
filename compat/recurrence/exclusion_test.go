package recurrence_test

import (
	"slices"

	"caldav-mcp-server/ical"
)

// exclusion is a kind of rule that ical.js cannot judge, with what it does
// instead.
type exclusion struct {
	why     string
	applies func(r *ical.Recur) bool
}

func exclusions() []exclusion {
	return []exclusion{
		{
			"sub-daily rules that refuse days are walked hour by hour or second by second, for minutes",
			func(r *ical.Recur) bool {
				return r.Freq < ical.Daily && len(r.ByMonth)+len(r.ByMonthDay)+len(r.ByYearDay)+len(r.ByDay) > 0
			},
		},
		{
			"sub-daily rules that refuse times of day lose the first hour or minute, and never return when INTERVAL misses them",
			func(r *ical.Recur) bool {
				return r.Freq < ical.Daily && len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0
			},
		},
		{
			"BYSETPOS is understood only in MONTHLY rules with BYDAY, and loses the first of the month there; otherwise it is " +
				"ignored or searched for without an end",
			func(r *ical.Recur) bool { return len(r.BySetPos) > 0 },
		},
		{
			"negative days of the month are not understood in DAILY rules",
			func(r *ical.Recur) bool { return r.Freq == ical.Daily && slices.ContainsFunc(r.ByMonthDay, negative) },
		},
		{
			"several times of a day: a YEARLY rule gives the first alone, a MONTHLY one adds the first of the month",
			func(r *ical.Recur) bool {
				return r.Freq >= ical.Monthly && max(len(r.ByHour), len(r.ByMinute), len(r.BySecond)) > 1
			},
		},
		{
			"BYMONTH in a MONTHLY rule: what is left of the first year is lost, and INTERVAL is forgotten",
			func(r *ical.Recur) bool { return r.Freq == ical.Monthly && len(r.ByMonth) > 0 },
		},
		{
			"BYMONTHDAY beside BYDAY in a MONTHLY rule moves to months that INTERVAL leaves out, or to the wrong day",
			func(r *ical.Recur) bool { return r.Freq == ical.Monthly && len(r.ByMonthDay) > 0 && len(r.ByDay) > 0 },
		},
		{
			"numbers of BYDAY in a YEARLY rule are not counted in the year",
			func(r *ical.Recur) bool {
				return r.Freq == ical.Yearly && slices.ContainsFunc(r.ByDay, numbered)
			},
		},
		{
			"BYWEEKNO: without BYDAY nothing comes, and week 1 is put a week too late in some years (TestWeeksAgainstISO has these)",
			func(r *ical.Recur) bool { return len(r.ByWeekNo) > 0 },
		},
		{
			"BYYEARDAY beside BYMONTH or BYMONTHDAY is refused",
			func(r *ical.Recur) bool { return len(r.ByYearDay) > 0 && len(r.ByMonth)+len(r.ByMonthDay) > 0 },
		},
		{
			"BYMONTHDAY in a YEARLY rule: DTSTART's month alone without BYMONTH, and the wrong end of the month where it is negative",
			func(r *ical.Recur) bool {
				return r.Freq == ical.Yearly && len(r.ByMonthDay) > 0 && (len(r.ByMonth) == 0 || slices.ContainsFunc(r.ByMonthDay, negative))
			},
		},
		{
			"February 29th, 30th and 31st become days of March (RFC 5545 §3.3.10: an invalid date is left out)",
			func(r *ical.Recur) bool { return r.Freq == ical.Yearly && len(r.ByMonth) > 0 && len(r.ByDay) == 0 },
		},
	}
}

func negative(n int) bool { return n < 0 }

func numbered(day ical.WeekdayNum) bool { return day.N != 0 }

func whyExcluded(r *ical.Recur) string {
	for _, e := range exclusions() {
		if e.applies(r) {
			return e.why
		}
	}
	return ""
}
