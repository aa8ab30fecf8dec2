package invitations_test

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// instance is one date of an event as somebody sees it.
type instance struct {
	start, end   time.Time
	title, place string
	who          map[string]string // attendees and their answers
	sequence     int
	off          bool // STATUS:CANCELLED
}

// sameTime reports whether two dates take place at the same time.
func (i instance) sameTime(j instance) bool { return i.start.Equal(j.start) && i.end.Equal(j.end) }

// view is all that somebody sees, by the original start.
type view map[string]instance

func (v view) keys() []string { return slices.Sorted(maps.Keys(v)) }

// adds reports whether RDATE names a date, given as tools name it.
func (d *document) adds(id any) bool {
	for _, p := range d.master().all("RDATE") {
		for _, at := range p.moments() {
			if key := keyOf(at); key == id || key[:len(dayForm)] == id {
				return true
			}
		}
	}
	return false
}

// horizon is how far series are looked at that have no end.
const horizon = 400 * 24 * time.Hour

// see expands a document (RFC 5545 §3.8.5): the rule, RDATE, EXDATE, and overrides, which replace their instance.
func (d *document) see(until time.Time) view {
	v := view{}
	if m := d.master(); m != nil {
		for _, at := range m.starts(until) {
			v[keyOf(at)] = m.instance(at)
		}
	}
	for _, e := range d.events {
		if e.has("RECURRENCE-ID") && (until.IsZero() || e.key() <= keyOf(until)) {
			p, _ := e.first("DTSTART")
			v[e.key()] = e.instance(p.moment())
		}
	}
	return v
}

// instance is the one that starts at a time.
func (c *component) instance(at time.Time) instance {
	return instance{
		start: at, end: at.Add(c.length()), title: c.value("SUMMARY"), place: c.value("LOCATION"), who: c.invited(),
		sequence: c.sequence(), off: c.value("STATUS") == "CANCELLED",
	}
}

func (c *component) length() time.Duration {
	start, _ := c.first("DTSTART")
	if end, ok := c.first("DTEND"); ok {
		return end.moment().Sub(start.moment())
	}
	text := strings.ToLower(strings.NewReplacer("PT", "", "P", "").Replace(c.value("DURATION")))
	length, err := time.ParseDuration(text)
	if err != nil && start.params["VALUE"] == "DATE" {
		return 24 * time.Hour
	}
	return length
}

// starts are the original starts of a master.
func (c *component) starts(until time.Time) []time.Time {
	out := excluded(c)
	return slices.DeleteFunc(c.dates(until), func(at time.Time) bool { return out[keyOf(at)] })
}

// dates are the starts, and those that EXDATE takes out.
func (c *component) dates(until time.Time) []time.Time {
	start, _ := c.first("DTSTART")
	list := []time.Time{start.moment()}
	if text := c.value("RRULE"); text != "" {
		list = readRule(text).starts(start, until)
	}
	for _, p := range c.all("RDATE") {
		list = append(list, p.moments()...)
	}
	return list
}

// rule is as much of RRULE as the walk writes.
type rule struct {
	freq            string
	interval, count int
	until           string
	days            []string
	first           string
}

func readRule(text string) rule {
	r := rule{interval: 1, first: "MO"}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "FREQ":
			r.freq = value
		case "INTERVAL":
			r.interval, _ = strconv.Atoi(value)
		case "COUNT":
			r.count, _ = strconv.Atoi(value)
		case "UNTIL":
			r.until = value
		case "BYDAY":
			r.days = strings.Split(value, ",")
		case "WKST":
			r.first = value
		default:
			panic("the model does not know " + text)
		}
	}
	return r
}

func (r rule) endless() bool { return r.count == 0 && r.until == "" }

func (r rule) String() string {
	text := "FREQ=" + r.freq
	if r.interval > 1 {
		text += ";INTERVAL=" + strconv.Itoa(r.interval)
	}
	if len(r.days) > 0 {
		text += ";BYDAY=" + strings.Join(r.days, ",")
	}
	if r.count > 0 {
		text += ";COUNT=" + strconv.Itoa(r.count)
	}
	if r.until != "" {
		text += ";UNTIL=" + r.until
	}
	return text
}

// stated is the rule as it is written for times or, as RFC 5545 §3.3.10 wants UNTIL then, for dates.
func (r rule) stated(dates bool) string {
	if dates && r.until != "" {
		r.until = r.until[:len(dayForm)]
	}
	return r.String()
}

// byDate reports whether a component is of whole days.
func (c *component) byDate() bool {
	start, _ := c.first("DTSTART")
	return start.params["VALUE"] == "DATE"
}

var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// starts walks from day to day in the zone of DTSTART, and asks of each day whether the rule has it.
func (r rule) starts(start property, until time.Time) []time.Time {
	first := start.moment().In(start.place())
	end := until
	if r.until != "" {
		last := property{params: start.params, value: r.until}.moment()
		if len(r.until) == len(dayForm) && start.params["VALUE"] != "DATE" {
			last = last.Add(24*time.Hour - time.Second)
		}
		if last.Before(end) {
			end = last
		}
	}
	var list []time.Time
	for n := 0; ; n++ {
		at := time.Date(first.Year(), first.Month(), first.Day()+n, first.Hour(), first.Minute(), 0, 0,
			first.Location())
		if at.After(end) || r.count > 0 && len(list) == r.count {
			return list
		}
		if r.has(first, at, n) {
			list = append(list, at)
		}
	}
}

// has reports whether the day n days after the first is one of the rule's.
func (r rule) has(first, at time.Time, n int) bool {
	switch r.freq {
	case "DAILY":
		return n%r.interval == 0 && (len(r.days) == 0 || slices.Contains(r.days, weekdays[at.Weekday()]))
	case "WEEKLY":
		into := (int(first.Weekday()) - slices.Index(weekdays, r.first) + 7) % 7
		days := r.days
		if len(days) == 0 {
			days = []string{weekdays[first.Weekday()]}
		}
		return (n+into)/7%r.interval == 0 && slices.Contains(days, weekdays[at.Weekday()])
	case "MONTHLY":
		months := (at.Year()-first.Year())*12 + int(at.Month()) - int(first.Month())
		return at.Day() == first.Day() && months%r.interval == 0 && len(r.days) == 0
	}
	panic("the model does not know FREQ=" + r.freq)
}
