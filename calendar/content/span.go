package content

import (
	"caldav-mcp-server/ical"
)

// Recurring tells whether the object can have more than one instance.
func (o *Object) Recurring() bool {
	if o.Master == nil {
		return len(o.Overrides) > 1
	}
	return o.Master.Property("RRULE") != nil || o.Master.Property("RDATE") != nil || len(o.Overrides) > 0
}

// zoneSlack is how far a wall clock can be from UTC, and a little more.
const zoneSlack = 16 * 3600

// Span returns the time from the object's first start to its last end in Unix seconds;
// start is nil for what has no time, end for what never ends. It is wide by the offset of
// any zone, so that it holds wherever the times are read.
func (o *Object) Span() (start, end *int64) {
	for _, c := range o.Components() {
		from, until, ok := extent(c)
		if !ok {
			continue
		}
		start, end = lower(start, from-zoneSlack), upper(end, until+zoneSlack)
	}
	if o.Recurring() {
		end = nil
	}
	return start, end
}

// extent returns the earliest and the latest time that a component names, as if in UTC.
func extent(c *ical.Component) (from, until int64, ok bool) {
	for _, name := range []string{"DTSTART", "DTEND", "DUE", "COMPLETED", "CREATED", "RECURRENCE-ID"} {
		p := c.Property(name)
		if p == nil {
			continue
		}
		t, err := p.Time()
		if err != nil {
			continue
		}
		at := t.Civil.Seconds()
		if !ok {
			from, until, ok = at, at, true
		}
		from, until = min(from, at), max(until, at+86400)
	}
	return from, until + duration(c), ok
}

func duration(c *ical.Component) int64 {
	p := c.Property("DURATION")
	if p == nil {
		return 0
	}
	d, err := p.Duration()
	if err != nil || d.Negative {
		return 0
	}
	return int64(d.Weeks*7+d.Days)*86400 + int64(d.Seconds)
}

func lower(now *int64, v int64) *int64 {
	if now == nil || v < *now {
		return &v
	}
	return now
}

func upper(now *int64, v int64) *int64 {
	if now == nil || v > *now {
		return &v
	}
	return now
}
