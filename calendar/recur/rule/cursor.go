package rule

// Cursor iterates over the moments of a rule, in order. It is not safe for concurrent use.
type Cursor struct {
	walker
	i     int64
	found bool
}

// Seek returns a cursor before the first moment at or after both from and the rule's start. The start itself is a
// moment only if the rule matches it. Periods after to are not searched.
func (r *Rule) Seek(m *Meter, from, to Wall) (*Cursor, error) {
	c := &Cursor{walker: r.walker(m, to)}
	return c, c.seek(from)
}

// Has reports whether w is a moment of the rule.
func (r *Rule) Has(m *Meter, w Wall) (bool, error) {
	c, err := r.Seek(m, w, w+1)
	if err != nil || !c.found {
		return false, err
	}
	return c.at(c.i) == w, nil
}

func (c *Cursor) seek(from Wall) error {
	from = max(from, c.rule.start)
	if from >= c.to {
		c.found = false
		return nil
	}
	var err error
	c.found, err = c.next(c.rule.index(from))
	if err != nil || !c.found {
		return err
	}
	if c.i = c.rank(from); c.i >= c.size {
		c.i = 0
		c.found, err = c.next(c.index + 1)
	}
	return err
}

// Next returns the next moment, or false if there are no more.
func (c *Cursor) Next() (Wall, bool, error) {
	if c.found && c.i == c.size {
		var err error
		c.i = 0
		if c.found, err = c.next(c.index + 1); err != nil {
			c.found = false
			return 0, false, err
		}
	}
	if !c.found {
		return 0, false, nil
	}
	if err := c.meter.Step(1); err != nil {
		return 0, false, err
	}
	w := c.at(c.i)
	c.i++
	return w, true, nil
}

// Count counts the moments at or after from and before to. If all periods have the same number of moments, it divides.
func (r *Rule) Count(m *Meter, from, to Wall) (int64, error) {
	from, to = max(from, r.start), min(to, Forever)
	if r.never || from >= to {
		return 0, nil
	}
	k := r.walker(m, to)
	if !r.uniform() {
		return k.sum(from, to)
	}
	before, err := k.product(from)
	if err != nil {
		return 0, err
	}
	all, err := k.product(to)
	return all - before, err
}

// product counts the moments before w as if the rule had no start.
func (k *walker) product(w Wall) (int64, error) {
	if _, err := k.load(0); err != nil {
		return 0, err
	}
	size := k.size
	index := k.rule.index(w)
	// There are no periods after the last year, but the arithmetic still holds.
	if _, err := k.load(index); err != nil {
		return 0, err
	}
	return index*size + k.rank(w), nil
}

func (k *walker) sum(from, to Wall) (int64, error) {
	n := int64(0)
	found, err := k.next(k.rule.index(from))
	for found && err == nil {
		counted := k.rank(to)
		if n += counted - min(k.rank(from), counted); counted < k.size {
			return n, nil
		}
		found, err = k.next(k.index + 1)
	}
	return n, err
}

// Nth returns the moment that has n others between the start and itself.
func (r *Rule) Nth(m *Meter, n int64) (Wall, bool, error) {
	k := r.walker(m, Forever)
	if r.never {
		return 0, false, nil
	}
	index := int64(0)
	if r.uniform() {
		before, err := k.product(r.start)
		if err != nil || k.size == 0 {
			return 0, false, err
		}
		index, n = (n+before)/k.size, (n+before)%k.size
	} else if held, err := k.holds(0); err != nil {
		return 0, false, err
	} else if held {
		n += k.rank(r.start)
	}
	return k.nth(index, n)
}

// nth counts on from a period.
func (k *walker) nth(index, n int64) (Wall, bool, error) {
	found, err := k.next(index)
	for found && err == nil {
		if n < k.size {
			return k.at(n), true, nil
		}
		n -= k.size
		found, err = k.next(k.index + 1)
	}
	return 0, false, err
}

// Last returns the last moment before a given one, if there is any.
func (r *Rule) Last(m *Meter, before Wall) (Wall, bool, error) {
	before = min(before, Forever)
	if r.never || before <= r.start {
		return 0, false, nil
	}
	k := r.walker(m, before)
	last := r.lastIndex(before)
	for index := last; index >= max(0, last-r.cycle); index-- {
		held, err := k.holds(index)
		if err != nil {
			return 0, false, err
		}
		if !held {
			continue
		}
		if n := min(k.rank(before), k.size); n > 0 && k.at(n-1) >= r.start {
			return k.at(n - 1), true, nil
		}
	}
	return 0, false, nil
}

// holds loads a period, which the rule may reject, and reports whether the rule accepts it.
func (k *walker) holds(index int64) (bool, error) {
	if k.rule.length > 0 && k.rule.length <= secondsPerDay {
		unit := k.rule.first + index*k.rule.interval
		passing, err := k.passing(unit)
		if err != nil || passing != unit {
			return false, err
		}
	}
	return k.load(index)
}

// Never reports whether the rule provably has no moments. A rule may have none even if it is false.
func (r *Rule) Never() bool { return r.never }
