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
	// RecurrenceID is the instance's original start in the series, which identifies it.
	RecurrenceID Moment
	Start, End   Moment
	// Component describes the instance: the master, its own override, or the THISANDFUTURE override of an earlier
	// instance.
	Component *ical.Component
}

// Between iterates over the instances that overlap the time between two instants, in the order of their start. A zero
// instant means no bound. An instance without duration overlaps if it starts in the window. If the iteration fails
// early, its last pair has the error: a [BudgetError] or the error of the context.
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

// Instances returns [Set.Between] as a list.
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

// window is a time span in seconds since 1970. It excludes to.
type window struct{ from, to int64 }

func (w window) overlaps(start, end int64) bool {
	return start < w.to && (end > w.from || start == end && start >= w.from)
}

// before returns the earliest start of an instance with this duration that can still overlap the window.
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

// placed is an instance with its position.
type placed struct {
	id, start, end point
	component      *ical.Component
}

func (p placed) instance() Instance {
	return Instance{RecurrenceID: p.id.moment(), Start: p.start.moment(), End: p.end.moment(), Component: p.component}
}

// part yields some of a set's instances, in the order of their start.
type part interface {
	next() (placed, bool, error)
}

// walk merges the parts of the set. It yields the known instances of a part before it searches further. If a part runs
// out of budget, the others continue, and the error comes last.
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

// parts divides the set at the THISANDFUTURE overrides: the series before the first one, the series after each of them,
// and the overrides themselves.
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

// overrides yields the instances that have their own component.
type overrides struct{ list []*override }

func (o *overrides) next() (placed, bool, error) {
	if len(o.list) == 0 {
		return placed{}, false, nil
	}
	first := o.list[0]
	o.list = o.list[1:]
	return first.placed(), true, nil
}

// placed returns the instance that the override describes.
func (o *override) placed() placed {
	start := o.shape.start
	return placed{id: o.from, start: start, end: o.end(start), component: o.component}
}

// stretch is the part of a series between two THISANDFUTURE overrides.
type stretch struct {
	set      *Set
	from, to int64 // bounds of the recurrence ids
	moved    *moved
	starts   *occurrences
	latest   int64 // no recurrence id after this one can be in the window
}

// open seeks to the window. It returns nil if the stretch cannot reach the window.
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

// queue is a heap of the parts, ordered by the start of their next instance.
type queue struct {
	parts []*queued
	spent error // the error of a part that ran out of budget
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

// next advances a part and reports whether it has another instance.
func (q *queue) next(p *queued) (bool, error) {
	head, ok, err := p.part.next()
	if errors.Is(err, ErrBudget) {
		q.spent, err = err, nil
	}
	p.head = head
	return ok, err
}

// advance replaces the head of the first part with its next instance.
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

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q *queue) Len() int { return len(q.parts) }

func (q *queue) Less(i, j int) bool { return q.parts[i].head.start.unix < q.parts[j].head.start.unix }
func (q *queue) Swap(i, j int)      { q.parts[i], q.parts[j] = q.parts[j], q.parts[i] }

// Push is never called: no part is added later.
func (q *queue) Push(x any) { q.parts = append(q.parts, x.(*queued)) }

// Pop removes the last part.
func (q *queue) Pop() any {
	last := q.parts[len(q.parts)-1]
	q.parts = q.parts[:len(q.parts)-1]
	return last
}
