package rule

import (
	"slices"
	"time"

	"caldav-mcp-server/ical"
)

// period is one period of a rule. Its moments are the times of a clock on each of its days.
type period struct {
	index  int64
	base   int // the absolute day of index 0 in days
	days   daySet
	perDay int64
	clock  clock
	chosen []int64 // the indices of the moments that BYSETPOS selects
	size   int64
}

// at returns the i-th moment.
func (p *period) at(i int64) Wall {
	if p.chosen != nil {
		i = p.chosen[i]
	}
	day := p.base + p.days.nth(int(i/p.perDay))
	return Wall(int64(day)*secondsPerDay + p.clock.time(i%p.perDay))
}

// rank counts the moments before w.
func (p *period) rank(w Wall) int64 {
	day := w.Day() - p.base
	if day < 0 {
		return 0
	}
	all := int64(p.days.size()) * p.perDay
	if day < len(p.days)*64 {
		all = int64(p.days.below(day)) * p.perDay
		if p.days.has(day) {
			all += p.clock.rank(int64(w) - int64(w.Day())*secondsPerDay)
		}
	}
	if p.chosen == nil {
		return all
	}
	before, _ := slices.BinarySearch(p.chosen, all)
	return int64(before)
}

// choose applies BYSETPOS (RFC 5545 §3.3.10). It counts all moments of the period, even those before the start.
func (p *period) choose(positions []int) {
	p.perDay = p.clock.size()
	p.size = int64(p.days.size()) * p.perDay
	if len(positions) == 0 {
		return
	}
	if p.chosen == nil {
		p.chosen = make([]int64, 0, len(positions))
	}
	p.chosen = p.chosen[:0]
	for _, position := range positions {
		n := int64(position) - 1
		if position < 0 {
			n = p.size + int64(position)
		}
		if n >= 0 && n < p.size {
			p.chosen = append(p.chosen, n)
		}
	}
	slices.Sort(p.chosen)
	p.chosen = slices.Compact(p.chosen)
	p.size = int64(len(p.chosen))
}

// walker iterates over the periods of a rule. It caches the days of two years, because a week can touch two.
type walker struct {
	rule  *Rule
	meter *Meter
	to    Wall // periods that begin here or later are not searched
	years [2]yearDays
	period
}

func (r *Rule) walker(m *Meter, to Wall) walker {
	return walker{rule: r, meter: m, to: min(to, Forever)}
}

type yearDays struct {
	year  int
	first int
	set   daySet
}

// yearSteps is the cost of computing the days of a year.
const yearSteps = 8

func (k *walker) year(year int) (*yearDays, error) {
	cached := &k.years[year&1]
	if cached.year == year {
		return cached, nil
	}
	if err := k.meter.Step(yearSteps); err != nil {
		return nil, err
	}
	*cached = yearDays{year: year, first: ical.CivilDate(year, time.January, 1).Days(), set: k.rule.days.year(year)}
	return cached, nil
}

// nextDay returns the first day at or after day that passes, or maxDay+1 if there is none. The calendar repeats, so it
// searches 400 years at most.
func (k *walker) nextDay(day int) (int, error) {
	if k.rule.days.all || day > maxDay {
		return day, nil
	}
	from := ical.CivilFromDays(day).Year
	for year := from; year <= min(from+cycleYears, maxYear); year++ {
		cached, err := k.year(year)
		if err != nil {
			return 0, err
		}
		if found := cached.set.from(max(day-cached.first, 0)); found >= 0 {
			return cached.first + found, nil
		}
	}
	return maxDay + 1, nil
}

// next loads the first period with a moment at or after index, and reports whether there is one before the walker's
// bound.
func (k *walker) next(index int64) (bool, error) {
	if k.rule.never {
		return false, nil
	}
	last := index + k.rule.cycle
	if k.to < Forever {
		last = min(last, k.rule.lastIndex(k.to))
	}
	for ; index <= last; index++ {
		var err error
		if index, err = k.skip(index, last); err != nil || index > last {
			return false, err
		}
		loaded, err := k.load(index)
		if err != nil || !loaded || k.size > 0 {
			return loaded && k.size > 0, err
		}
	}
	return false, nil
}

// skip advances an index to the next accepted period, for periods of a day or less. It stops just past last.
func (k *walker) skip(index, last int64) (int64, error) {
	r := k.rule
	if r.freq > ical.Daily {
		return index, nil
	}
	for index <= last {
		unit := r.first + index*r.interval
		passing, err := k.passing(unit)
		if err != nil || passing == unit {
			return index, err
		}
		if err := k.meter.Step(1); err != nil {
			return 0, err
		}
		index = ceilDiv(passing-r.first, r.interval)
	}
	return index, nil
}

// passing returns the first accepted unit at or after unit, for units of a day or less.
func (k *walker) passing(unit int64) (int64, error) {
	r := k.rule
	perDay := secondsPerDay / r.length
	from := floorDiv(unit, perDay)
	at := unit - from*perDay
	day, err := k.nextDay(int(from))
	if err != nil || r.freq == ical.Daily {
		return int64(day), err
	}
	if int64(day) > from {
		at = 0
	}
	at = r.clock.next(r.freq, at)
	if at < perDay {
		return int64(day)*perDay + at, nil
	}
	day, err = k.nextDay(day + 1)
	return int64(day)*perDay + r.clock.next(r.freq, 0), err
}

// load makes the period with this index the current one and reports whether it is within the years that iCalendar can
// write. A period of a day or less must be an accepted one.
func (k *walker) load(index int64) (bool, error) {
	r := k.rule
	k.index, k.days, k.clock = index, daySet{}, r.clock
	if err := k.meter.Step(1); err != nil {
		return false, err
	}
	unit := r.first + index*r.interval
	within, err := k.loadDays(unit)
	k.choose(r.setPos)
	return within, err
}

func (k *walker) loadDays(unit int64) (bool, error) {
	switch k.rule.freq {
	case ical.Yearly:
		return k.loadYear(unit)
	case ical.Monthly:
		return k.loadMonth(unit)
	case ical.Weekly:
		return k.loadWeek(unit)
	default:
		return k.loadDay(unit), nil
	}
}

func (k *walker) loadDay(unit int64) bool {
	perDay := secondsPerDay / k.rule.length
	k.base = int(floorDiv(unit, perDay))
	k.days.add(0)
	k.clock = k.rule.clock.at(k.rule.freq, unit-int64(k.base)*perDay)
	return k.base <= maxDay
}

func (k *walker) loadYear(year int64) (bool, error) {
	if year > maxYear {
		return false, nil
	}
	found, err := k.year(int(year))
	if err != nil {
		return false, err
	}
	k.base, k.days = found.first, found.set
	return true, nil
}

func (k *walker) loadMonth(unit int64) (bool, error) {
	year, month := int(unit/12), time.Month(unit%12+1)
	if year > maxYear {
		return false, nil
	}
	found, err := k.year(year)
	if err != nil {
		return false, err
	}
	k.base = ical.CivilDate(year, month, 1).Days()
	from := k.base - found.first
	k.days = found.set.slice(from, from+ical.DaysIn(year, month))
	return true, nil
}

func (k *walker) loadWeek(unit int64) (bool, error) {
	k.base = k.rule.week + 7*int(unit)
	if k.base > maxDay {
		return false, nil
	}
	for day := max(k.base, minDay); day < k.base+7 && day <= maxDay; day++ {
		found, err := k.year(ical.CivilFromDays(day).Year)
		if err != nil {
			return false, err
		}
		if found.set.has(day - found.first) {
			k.days.add(day - k.base)
		}
	}
	return true, nil
}
