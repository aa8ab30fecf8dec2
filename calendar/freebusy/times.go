package freebusy

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"time"

	"caldav-mcp-server/calendar/meter"
)

// ErrTooMany reports more instances than one response can hold.
var ErrTooMany = errors.New("there are too many instances to compute busy times")

// instancesMost limits the marks of one response to some megabytes.
const instancesMost = 200_000

// Times collects the busy times of a time window.
type Times struct {
	from, until int64
	marks       []mark
	meter       *meter.Meter
}

// markBytes is the memory of a mark, its edges and its period.
const markBytes = 160

// NewTimes starts a collection for a time window. It charges the meter for its memory.
func NewTimes(m *meter.Meter, from, until time.Time) *Times {
	return &Times{from: from.Unix(), until: until.Unix(), meter: m}
}

// mark is a typed time on a layer.
type mark struct {
	start, end int64
	layer      layer
	kind       Type
}

// layer ranks marks: where a layer has a mark, lower layers do not count.
type layer uint8

const (
	// RFC 7953 §3.1: PRIORITY 1 is the highest and 9 the lowest. 0 means none, and ranks below 9.
	priorities layer = 10
	// Appointments count at all times, including available hours.
	appointments = priorities
	layers       = priorities + 1
)

// add adds the part of a mark within the window.
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

// Join moves the busy times of another person into t. They count as appointments there, because one person's
// availability must not override another person's times.
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

// edge is the start or the end of a mark.
type edge struct {
	at    int64
	layer layer
	kind  Type
	step  int
}

// Periods merges the busy times: sorted, without overlaps, and as few as possible. The strongest type wins.
func (t *Times) Periods() []Period {
	return t.merged(func(said kinds) kinds { return said.busiest() })
}

// ByType merges only times of the same type. A tentative time is included even during a confirmed one: it is still
// there if the other one is cancelled.
func (t *Times) ByType() []Period {
	return t.merged(func(said kinds) kinds { return said })
}

// merged lists the periods of each type; counts selects the types that count at an instant.
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

// depth counts the open marks of each layer and type at an instant.
type depth [layers][len(names)]int

// kinds returns the types of the highest layer that has any. Two availabilities of the same priority both count.
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
