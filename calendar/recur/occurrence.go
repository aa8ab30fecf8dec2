package recur

import (
	"errors"
	"math"

	"caldav-mcp-server/calendar/recur/rule"
)

// occurrences walks over the starts of a series, with its dates and without its
// exceptions, from one instant to another and in order.
type occurrences struct {
	series  *series
	meter   *rule.Meter
	include []*peeked
	exclude []*peeked
	dates   []date
	last    int64
	to      int64
	started bool
	// spent is the error of a rule that had no budget to go on. What the others
	// say is given before it.
	spent error
}

// peeked is a rule with its next instant, once that has been asked for.
type peeked struct {
	source
	at     int64
	ok     bool
	behind bool // at has been taken, or was never found
}

// look finds the next instant, unless it is known already.
func (p *peeked) look() (err error) {
	if p.behind {
		p.behind = false
		p.at, p.ok, err = p.next()
	}
	return err
}

func (s *series) from(meter *rule.Meter, unix, to int64) *occurrences {
	return &occurrences{
		series: s, meter: meter, dates: s.dates, started: unix > s.start.unix, last: math.MinInt64, to: to,
		include: sources(s.include, meter, unix, to), exclude: sources(s.exclude, meter, unix, to),
	}
}

// sources begin when they are first asked.
func sources(list []*recurrence, meter *rule.Meter, unix, to int64) []*peeked {
	var all []*peeked
	for _, r := range list {
		all = append(all, &peeked{source: &unopened{recurrence: r, meter: meter, from: unix, to: to}, behind: true})
	}
	return all
}

// unopened is a source that has not been sought yet.
type unopened struct {
	*recurrence
	meter    *rule.Meter
	from, to int64
	opened   source
}

func (u *unopened) next() (int64, bool, error) {
	if u.opened == nil {
		var err error
		if u.opened, err = u.recurrence.from(u.meter, u.from, u.to); err != nil {
			return 0, false, err
		}
	}
	return u.opened.next()
}

// next is the next start that is neither excluded nor was there before. Those
// behind the end of the walk are not looked for.
func (o *occurrences) next() (date, bool, error) {
	for {
		found, ok, err := o.earliest()
		if err != nil || !ok || found.start.unix >= o.to {
			return date{}, false, errors.Join(err, o.spent)
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
		if err := o.look(source); err != nil {
			return date{}, false, err
		}
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
		o.include[which].behind = true
		return date{start: start.instant(at)}, true, nil
	}
}

// look asks a rule. One that has no budget to go on leaves the dates to be given.
func (o *occurrences) look(source *peeked) error {
	err := source.look()
	if errors.Is(err, ErrBudget) {
		o.spent, source.ok = err, false
		return nil
	}
	return err
}

func (o *occurrences) excluded(p point) (bool, error) {
	if o.series.excluded.has(p) {
		return true, nil
	}
	for _, source := range o.exclude {
		for {
			if err := source.look(); err != nil {
				return false, err
			}
			if !source.ok || source.at >= p.unix {
				break
			}
			source.behind = true
		}
		if source.ok && source.at == p.unix {
			return true, nil
		}
	}
	return false, nil
}
