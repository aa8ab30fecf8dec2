package recur

import (
	"errors"
	"math"

	"caldav-mcp-server/calendar/recur/rule"
)

// occurrences iterates in order over the starts of a series between two instants. It includes RDATEs and applies
// exceptions.
type occurrences struct {
	series  *series
	meter   *rule.Meter
	include []*peeked
	exclude []*peeked
	dates   []date
	last    int64
	to      int64
	started bool
	// spent is the error of a rule that ran out of budget. The dates that the other sources found come first.
	spent error
}

// peeked is a rule with its next instant, once that is known.
type peeked struct {
	source
	at     int64
	ok     bool
	behind bool // at was consumed, or never searched
}

// look finds the next instant, unless it is already known.
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

// sources returns lazy sources: each begins its search when it is first asked.
func sources(list []*recurrence, meter *rule.Meter, unix, to int64) []*peeked {
	var all []*peeked
	for _, r := range list {
		all = append(all, &peeked{source: &unopened{recurrence: r, meter: meter, from: unix, to: to}, behind: true})
	}
	return all
}

// unopened is a source that starts its search on the first call of next.
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

// next returns the next start that is not excluded and differs from the previous one. It does not search past the end
// of the walk.
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

// earliest returns the next start from DTSTART, RDATE and RRULE. If they coincide, RDATE wins, because it may be a
// period.
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

// look advances a rule. If its budget is spent, the dates can still be returned.
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
