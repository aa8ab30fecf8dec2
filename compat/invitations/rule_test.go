package invitations_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// rule changes that of the series, and drops overrides that are of no date any more, as programs do.
func (e *editing) rule(change func(*rule, []time.Time) string) string {
	series := e.series()
	if series == nil {
		return ""
	}
	start, _ := series.first("DTSTART")
	r := readRule(series.value("RRULE"))
	did := change(&r, r.starts(start, e.until))
	if did == "" {
		return ""
	}
	series.set("RRULE:" + r.stated(series.byDate()))
	there := map[string]bool{}
	for _, at := range series.starts(e.until) {
		there[keyOf(at)] = true
	}
	e.events = slices.DeleteFunc(e.events, func(c *component) bool {
		return c.has("RECURRENCE-ID") && !there[c.key()]
	})
	return did
}

func (e *editing) shorten() string {
	return e.rule(func(r *rule, all []time.Time) string {
		if len(all) < 4 {
			return ""
		}
		n := 2 + e.IntN(len(all)-3)
		if r.count > 0 {
			r.count = n
		} else {
			r.until = all[n-1].UTC().Format(stampForm)
		}
		return fmt.Sprintf("ends it after %d", n)
	})
}

func (e *editing) lengthen() string {
	return e.rule(func(r *rule, all []time.Time) string {
		n := 1 + e.IntN(3)
		switch {
		case len(all) > 12 || r.count == 0 && r.until == "":
			return ""
		case r.count > 0:
			r.count += n
		default:
			more := *r
			more.until, more.count = "", len(all)+n
			start, _ := e.master().first("DTSTART")
			longer := more.starts(start, e.until)
			r.until = longer[len(longer)-1].UTC().Format(stampForm)
		}
		return fmt.Sprintf("has %d more", n)
	})
}

// rebound says COUNT by UNTIL, or the reverse. The dates are the same.
func (e *editing) rebound() string {
	return e.rule(func(r *rule, all []time.Time) string {
		switch {
		case len(all) == 0:
			return ""
		case r.count > 0:
			r.count, r.until = 0, all[len(all)-1].UTC().Format(stampForm)
			return "says the same by UNTIL"
		case r.until != "":
			r.until, r.count = "", len(all)
			return "says the same by COUNT"
		}
		return ""
	})
}

// reword says the same rule in other words.
func (e *editing) reword() string {
	series := e.series()
	if series == nil {
		return ""
	}
	series.set("RRULE:" + rewordedRule(e.Rand, series.value("RRULE")))
	return "says " + series.value("RRULE")
}

func rewordedRule(r *rand.Rand, text string) string {
	parts := strings.Split(readRule(text).String(), ";")
	if !strings.Contains(text, "INTERVAL") && r.IntN(2) == 0 {
		parts = append(parts, "INTERVAL=1")
	}
	if r.IntN(2) == 0 {
		parts = append(parts, "WKST=MO")
	}
	for i, part := range parts {
		if days, ok := strings.CutPrefix(part, "BYDAY="); ok {
			list := strings.Split(days, ",")
			slices.Reverse(list)
			parts[i] = "BYDAY=" + strings.Join(list, ",")
		}
	}
	rest := parts[1:]
	r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return strings.Join(parts, ";")
}

// weekday has a weekly series on one more day of the week.
func (e *editing) weekday() string {
	return e.rule(func(r *rule, all []time.Time) string {
		if r.freq != "WEEKLY" || len(all) == 0 {
			return ""
		}
		start, _ := e.master().first("DTSTART")
		own := weekdays[start.moment().In(start.place()).Weekday()]
		if len(r.days) == 0 {
			r.days = []string{own}
		}
		more := pick(e.Rand, weekdays)
		if slices.Contains(r.days, more) {
			return ""
		}
		r.days = append(r.days, more)
		return "is on " + more + " as well"
	})
}

// extra is one more date, apart from the rule.
func (e *editing) extra() string {
	series, days := e.series(), e.days()
	if series == nil || len(days) == 0 || series.byDate() {
		return ""
	}
	start, _ := series.first("DTSTART")
	at, _ := time.Parse(stampForm, pick(e.Rand, days))
	more := start.named("RDATE").at(at.Add(-90 * time.Minute))
	if slices.Contains(days, keyOf(more.moment())) {
		return ""
	}
	series.lines = append(series.lines, more.String())
	return "is also at " + keyOf(more.moment())
}
