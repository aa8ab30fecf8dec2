package freebusy

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"time"

	"caldav-mcp-server/calendar/meter"
)

// ErrTooMany tells that more was found than one answer can hold.
var ErrTooMany = errors.New("there are too many instances to tell when somebody is busy")

// instancesMost bounds what is remembered for one answer: some megabytes.
const instancesMost = 200_000

// Times collects when somebody is busy from one instant to another.
type Times struct {
	from, until int64
	marks       []mark
	meter       *meter.Meter
}

// markBytes is what a mark takes until the answer is made of it: itself, its edges, and a period.
const markBytes = 160

// NewTimes begins a collection for the time from one instant up to another. The meter knows of what it holds.
func NewTimes(m *meter.Meter, from, until time.Time) *Times {
	return &Times{from: from.Unix(), until: until.Unix(), meter: m}
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
	// Busy times count whenever they are, also in office hours.
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
	if err := t.meter.Hold(markBytes); err != nil {
		return err
	}
	t.marks = append(t.marks, m)
	return nil
}

// Join moves the times of another person into t. They count as appointments there: the availability of one person must
// not override the times of another.
func (t *Times) Join(other *Times) error {
	periods := other.ByType()
	other.meter.Free(int64(len(other.marks)) * markBytes)
	other.marks = nil
	for _, p := range periods {
		if err := t.add(mark{p.Start.Unix(), p.End.Unix(), appointments, p.Type}); err != nil {
			return err
		}
	}
	return nil
}

// edge is where a mark begins or ends.
type edge struct {
	at    int64
	layer layer
	kind  Type
	step  int
}

// Periods merges what was collected: in order, without overlaps, and as few as possible. The
// busiest wins.
func (t *Times) Periods() []Period {
	return t.merged(func(said kinds) kinds { return said.busiest() })
}

// ByType merges only times of one type. A tentative time is also told where another one is
// sure: it takes the time as well, and will when that is called off.
func (t *Times) ByType() []Period {
	return t.merged(func(said kinds) kinds { return said })
}

// merged lists the periods of each type, as far as counts has the type count.
func (t *Times) merged(counts func(kinds) kinds) []Period {
	edges := make([]edge, 0, 2*len(t.marks))
	for _, m := range t.marks {
		edges = append(edges, edge{m.start, m.layer, m.kind, 1}, edge{m.end, m.layer, m.kind, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var list []Period
	var open depth
	var now kinds
	var since [len(names)]int64
	for i, e := range edges {
		open[e.layer][e.kind] += e.step
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		next := counts(open.kinds())
		for kind := Free + 1; kind <= Busy; kind++ {
			switch was, is := now.has(kind), next.has(kind); {
			case is && !was:
				since[kind] = e.at
			case was && !is:
				list = append(list, Period{time.Unix(since[kind], 0).UTC(), time.Unix(e.at, 0).UTC(), kind})
			}
		}
		now = next
	}
	slices.SortFunc(list, func(a, b Period) int {
		return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End), cmp.Compare(a.Type, b.Type))
	})
	return list
}

// kinds is a set of types.
type kinds uint8

func (k kinds) has(t Type) bool { return k&(1<<t) != 0 }

func (k kinds) busiest() kinds {
	if k == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(k)) - 1)
}

// depth counts the marks of each layer and type that are open at an instant.
type depth [layers][len(names)]int

// kinds is what the highest layer says that says anything. Two availabilities of one priority are
// both kept.
func (d *depth) kinds() kinds {
	for l := layers; l > 0; l-- {
		var said kinds
		for kind, open := range d[l-1] {
			if open > 0 {
				said |= 1 << kind
			}
		}
		if said != 0 {
			return said
		}
	}
	return 0
}
