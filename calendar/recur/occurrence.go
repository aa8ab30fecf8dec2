package recur

import (
	"math"

	"caldav-mcp-server/calendar/recur/rule"
)

// occurrences walks over the starts of a series, with its dates and without its
// exceptions, from an instant on and in order.
type occurrences struct {
	series  *series
	meter   *rule.Meter
	include []*peeked
	exclude []*peeked
	dates   []date
	last    int64
	started bool
}

// peeked is a source with its next instant.
type peeked struct {
	source
	at int64
	ok bool
}

func (p *peeked) advance() (err error) {
	p.at, p.ok, err = p.next()
	return err
}

func (s *series) from(meter *rule.Meter, unix int64) (*occurrences, error) {
	o := &occurrences{series: s, meter: meter, dates: s.dates, started: unix > s.start.unix, last: math.MinInt64}
	var err error
	if o.include, err = peek(s.include, meter, unix); err != nil {
		return nil, err
	}
	o.exclude, err = peek(s.exclude, meter, unix)
	return o, err
}

func peek(list []*recurrence, meter *rule.Meter, unix int64) ([]*peeked, error) {
	var sources []*peeked
	for _, r := range list {
		from, err := r.from(meter, unix)
		if err != nil {
			return nil, err
		}
		p := &peeked{source: from}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.ok {
			sources = append(sources, p)
		}
	}
	return sources, nil
}

// next is the next start that is neither excluded nor was there before.
func (o *occurrences) next() (date, bool, error) {
	for {
		found, ok, err := o.earliest()
		if err != nil || !ok {
			return date{}, false, err
		}
		if err := o.meter.Step(1); err != nil {
			return date{}, false, err
		}
		if found.start.unix == o.last {
			continue
		}
		o.last = found.start.unix
		skipped, err := o.excluded(found.start)
		if err != nil {
			return date{}, false, err
		}
		if !skipped {
			return found, true, nil
		}
	}
}

// earliest takes the next start from DTSTART, RDATE and RRULE. Where they meet,
// the RDATE goes first, for it may be a period.
func (o *occurrences) earliest() (date, bool, error) {
	at, which := int64(math.MaxInt64), -1
	for i, source := range o.include {
		if source.ok && source.at < at {
			at, which = source.at, i
		}
	}
	start := o.series.start
	if !o.started && start.unix <= at {
		at, which = start.unix, -1
	}
	switch {
	case len(o.dates) > 0 && o.dates[0].start.unix <= at:
		found := o.dates[0]
		o.dates = o.dates[1:]
		return found, true, nil
	case !o.started && start.unix <= at:
		o.started = true
		return date{start: start}, true, nil
	case which < 0:
		return date{}, false, nil
	default:
		return date{start: start.instant(at)}, true, o.include[which].advance()
	}
}

func (o *occurrences) excluded(p point) (bool, error) {
	if o.series.excluded.has(p) {
		return true, nil
	}
	for _, source := range o.exclude {
		for source.ok && source.at < p.unix {
			if err := source.advance(); err != nil {
				return false, err
			}
		}
		if source.ok && source.at == p.unix {
			return true, nil
		}
	}
	return false, nil
}
