package recur

import (
	"container/heap"
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Instance is one instance of a recurrence set.
type Instance struct {
	// RecurrenceID is where the series has put the instance, and what names it.
	RecurrenceID Moment
	Start, End   Moment
	// Component describes it: the master, or the override for it or for the
	// future that begins at an earlier one.
	Component *ical.Component
}

// Between walks over the instances that overlap the time from one instant to
// another, in the order of their start. A zero instant is without a bound. An
// instance without duration overlaps when it starts in the window. What stops
// the walk early is its last pair: a [BudgetError] or the error of the context.
func (s *Set) Between(ctx context.Context, from, to time.Time, budget Budget) iter.Seq2[Instance, error] {
	return func(yield func(Instance, error) bool) {
		w := window{from: math.MinInt64, to: math.MaxInt64}
		if !from.IsZero() {
			w.from = from.Unix()
		}
		if !to.IsZero() {
			w.to = to.Unix()
			if to.Nanosecond() > 0 {
				w.to++
			}
		}
		meter := rule.NewMeter(ctx, budget.Steps)
		err := s.walk(w, meter, func(i Instance, n int) (bool, error) {
			if n > budget.Instances {
				return false, budget.spent(meter)
			}
			return yield(i, nil), nil
		})
		if err != nil {
			yield(Instance{}, err)
		}
	}
}

// Instances is [Set.Between] as a list.
func (s *Set) Instances(ctx context.Context, from, to time.Time, budget Budget) ([]Instance, error) {
	var list []Instance
	for instance, err := range s.Between(ctx, from, to, budget) {
		if err != nil {
			return nil, err
		}
		list = append(list, instance)
	}
	return list, nil
}

// window is a time in seconds since 1970; to is not in it.
type window struct{ from, to int64 }

func (w window) overlaps(start, end int64) bool {
	return start < w.to && (end > w.from || start == end && start >= w.from)
}

// before is how much earlier than the window something that lasts so long can
// begin.
func (w window) before(seconds int64) int64 {
	if w.from < math.MinInt64/2 {
		return math.MinInt64
	}
	return w.from - seconds
}

func (w window) after(seconds int64) int64 {
	if w.to > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return w.to + seconds
}

// placed is an instance with where it is.
type placed struct {
	id, start, end point
	component      *ical.Component
}

func (p placed) instance() Instance {
	return Instance{RecurrenceID: p.id.moment(), Start: p.start.moment(), End: p.end.moment(), Component: p.component}
}

// part yields a share of a set's instances, in the order of their start.
type part interface {
	next() (placed, bool, error)
}

// walk merges the parts of the set. The finds of a part are yielded before it
// searches on, and where one gives up, the others do not: the error comes last.
func (s *Set) walk(w window, meter *rule.Meter, yield func(Instance, int) (bool, error)) error {
	queue, err := newQueue(s.parts(w, meter))
	if err != nil {
		return err
	}
	n := 0
	for len(queue.parts) > 0 {
		if found := queue.parts[0].head; w.overlaps(found.start.unix, found.end.unix) {
			n++
			more, err := yield(found.instance(), n)
			if err != nil || !more {
				return err
			}
		}
		if err := queue.advance(); err != nil {
			return err
		}
	}
	return queue.spent
}

// parts cuts the set at the overrides for the future: what comes before the
// first one, what follows each of them, and the overrides themselves.
func (s *Set) parts(w window, meter *rule.Meter) []part {
	parts := []part{&overrides{list: s.overrides}}
	if s.master == nil || !s.master.dated {
		return parts
	}
	stretch := stretch{set: s, from: math.MinInt64, to: math.MaxInt64}
	for i := 0; ; i++ {
		stretch.to = math.MaxInt64
		if i < len(s.ranges) {
			stretch.to = s.ranges[i].from.unix
		}
		if opened := stretch.open(w, meter); opened != nil {
			parts = append(parts, opened)
		}
		if i == len(s.ranges) {
			return parts
		}
		stretch.from, stretch.moved = s.ranges[i].from.unix, &s.ranges[i].moved
	}
}

// overrides are the instances that are described apart from the series.
type overrides struct{ list []*override }

func (o *overrides) next() (placed, bool, error) {
	if len(o.list) == 0 {
		return placed{}, false, nil
	}
	first := o.list[0]
	o.list = o.list[1:]
	return first.placed(), true, nil
}

// placed is the instance that the override describes.
func (o *override) placed() placed {
	start := o.shape.start
	return placed{id: o.from, start: start, end: o.end(start), component: o.component}
}

// stretch is the part of a series between two overrides for the future.
type stretch struct {
	set      *Set
	from, to int64 // of the recurrence ids
	moved    *moved
	starts   *occurrences
	latest   int64 // no recurrence id after this one can be in the window
}

// open seeks the window, and is nil when the stretch can't reach it.
func (s stretch) open(w window, meter *rule.Meter) part {
	shift, lasting, margin := int64(0), s.set.master.longest, int64(0)
	if s.moved != nil {
		shift, margin = s.moved.shift, slack
		lasting = max(lasting, s.moved.longest())
	}
	first := max(s.from, w.before(lasting+shift+margin))
	s.latest = min(s.to, w.after(margin-shift))
	if first >= s.latest {
		return nil
	}
	s.starts = s.set.master.from(meter, first, s.latest)
	return &s
}

func (s *stretch) next() (placed, bool, error) {
	for {
		found, ok, err := s.starts.next()
		if err != nil || !ok {
			return placed{}, false, err
		}
		if found.start.unix >= s.from && !s.set.replaced.has(found.start) {
			return s.place(found), true, nil
		}
	}
}

func (s *stretch) place(d date) placed {
	id := d.start
	switch {
	case s.moved != nil:
		start := s.moved.start(id)
		return placed{id: id, start: start, end: s.moved.end(start), component: s.moved.component}
	case d.period:
		return placed{id: id, start: id, end: d.end, component: s.set.master.component}
	default:
		return placed{id: id, start: id, end: s.set.master.end(id), component: s.set.master.component}
	}
}

// queue holds the parts by the start of their next instance.
type queue struct {
	parts []*queued
	spent error // that of a part which had no budget to go on
}

type queued struct {
	part
	head placed
}

func newQueue(parts []part) (*queue, error) {
	q := new(queue)
	for _, p := range parts {
		first := &queued{part: p}
		ok, err := q.next(first)
		if err != nil {
			return nil, err
		}
		if ok {
			q.parts = append(q.parts, first)
		}
	}
	heap.Init(q)
	return q, nil
}

// next moves a part on, and tells whether there is more of it.
func (q *queue) next(p *queued) (bool, error) {
	head, ok, err := p.part.next()
	if errors.Is(err, ErrBudget) {
		q.spent, err = err, nil
	}
	p.head = head
	return ok, err
}

// advance replaces the head of the first part by its next one.
func (q *queue) advance() error {
	ok, err := q.next(q.parts[0])
	switch {
	case err != nil:
		return err
	case ok:
		heap.Fix(q, 0)
	default:
		heap.Pop(q)
	}
	return nil
}

// Len, Less, Swap, Push and Pop are for package heap.
func (q *queue) Len() int { return len(q.parts) }

func (q *queue) Less(i, j int) bool { return q.parts[i].head.start.unix < q.parts[j].head.start.unix }
func (q *queue) Swap(i, j int)      { q.parts[i], q.parts[j] = q.parts[j], q.parts[i] }

// Push is never called: no part joins later.
func (q *queue) Push(x any) { q.parts = append(q.parts, x.(*queued)) }

// Pop drops the last part.
func (q *queue) Pop() any {
	last := q.parts[len(q.parts)-1]
	q.parts = q.parts[:len(q.parts)-1]
	return last
}
