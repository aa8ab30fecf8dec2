package freebusy

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// ErrTooMany tells that more was found than one answer can hold.
var ErrTooMany = errors.New("there are too many instances to tell when somebody is busy")

// instancesMost bounds what is remembered for one answer: some megabytes.
const instancesMost = 200_000

// Times collects when somebody is busy from one instant to another.
type Times struct {
	from, until int64
	marks       []mark
}

// NewTimes begins a collection for the time from one instant up to another.
func NewTimes(from, until time.Time) *Times {
	return &Times{from: from.Unix(), until: until.Unix()}
}

// mark says what a time is on some layer.
type mark struct {
	start, end int64
	layer      layer
	kind       Type
}

// layer tells which marks count: where a higher one says anything, those below do not.
type layer uint8

const (
	// RFC 7953 §3.1: PRIORITY 1 is the highest, 9 the lowest but for 0, which is none.
	priorities layer = 10
	// What somebody has to do counts whenever it is, also in their office hours.
	appointments = priorities
	layers       = priorities + 1
)

// add marks a time, as far as it is in the window.
func (t *Times) add(m mark) error {
	m.start, m.end = max(m.start, t.from), min(m.end, t.until)
	if m.start >= m.end {
		return nil
	}
	if len(t.marks) >= instancesMost {
		return ErrTooMany
	}
	t.marks = append(t.marks, m)
	return nil
}

// edge is where a mark begins or ends.
type edge struct {
	at    int64
	layer layer
	kind  Type
	step  int
}

// Periods merges what was collected: in order, without overlaps, and as few as possible.
func (t *Times) Periods() []Period {
	edges := make([]edge, 0, 2*len(t.marks))
	for _, m := range t.marks {
		edges = append(edges, edge{m.start, m.layer, m.kind, 1}, edge{m.end, m.layer, m.kind, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var list []Period
	var open depth
	now, since := Free, int64(0)
	for i, e := range edges {
		open[e.layer][e.kind] += e.step
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		next := open.kind()
		if next == now {
			continue
		}
		if now != Free {
			list = append(list, Period{time.Unix(since, 0).UTC(), time.Unix(e.at, 0).UTC(), now})
		}
		now, since = next, e.at
	}
	return list
}

// depth counts the marks of each layer and type that are open at an instant.
type depth [layers][len(names)]int

// kind is what the highest layer says that says anything. On one layer the busiest wins:
// two availabilities of one priority are both kept.
func (d *depth) kind() Type {
	for l := layers; l > 0; l-- {
		for kind := Busy; ; kind-- {
			if d[l-1][kind] > 0 {
				return kind
			}
			if kind == Free {
				break
			}
		}
	}
	return Free
}
