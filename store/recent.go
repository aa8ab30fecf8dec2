package store

import (
	"bytes"
	"container/list"
	"slices"
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
)

const (
	// mostRecent bounds the bytes of the objects in memory, and what takes memory with them.
	mostRecent = 4 << 20
	// recentBytes is what an object takes besides its texts.
	recentBytes = 700
)

// recent are objects as they were written lately: those used last, of calendars of which this process knows all that has happened since.
type recent struct {
	mu    sync.Mutex
	eras  int64
	bytes int
	// order has *lately, those used last in front.
	order list.List
	all   map[spot]*list.Element
}

// spot is where an object lies, for as long as nothing but loads changes its calendar.
type spot struct {
	era  int64
	name calendar.ObjectName
}

type lately struct {
	spot
	object calendar.Object
}

func newRecent() *recent { return &recent{all: map[spot]*list.Element{}} }

// begin begins an era: of what was written before nothing is known any more.
func (r *recent) begin() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eras++
	return r.eras
}

func (r *recent) get(era int64, name calendar.ObjectName) (calendar.Object, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, there := r.all[spot{era, name}]
	if !there {
		return calendar.Object{}, false
	}
	r.order.MoveToFront(e)
	return of(e).object, true
}

// put keeps an object, unless it is large. Those that were not used for the longest time make room.
func (r *recent) put(era int64, o calendar.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, there := r.all[spot{era, o.Name}]; there {
		r.drop(e)
	}
	if o.Size > calendar.LargeObject {
		return
	}
	w := &lately{object: alone(o)}
	w.spot = spot{era, w.object.Name}
	r.all[w.spot] = r.order.PushFront(w)
	for r.bytes += w.weight(); r.bytes > mostRecent; {
		r.drop(r.order.Back())
	}
}

func (r *recent) drop(e *list.Element) {
	r.order.Remove(e)
	delete(r.all, of(e).spot)
	r.bytes -= of(e).weight()
}

func of(e *list.Element) *lately { return e.Value.(*lately) }

func (w *lately) weight() int {
	n := recentBytes + len(w.object.Data)
	for _, text := range textsIn(&w.object) {
		n += len(*text)
	}
	return n
}

// alone is an object as it is stored, with texts of its own: one that is a part of another keeps all of that in memory, an id that of
// its calendar's row. Nothing that is added behind the data gets into them.
func alone(o calendar.Object) calendar.Object {
	o.Data, o.Deleted = slices.Clip(bytesOf(bytes.Clone(o.Data))), false
	o.Created, o.Modified = moment(o.Created.Unix()), moment(o.Modified.Unix())
	for _, text := range textsIn(&o) {
		*text = strings.Clone(*text)
	}
	return o
}

// textsIn are all texts of an object.
func textsIn(o *calendar.Object) [9]*string {
	return [...]*string{
		(*string)(&o.Calendar), (*string)(&o.Name), (*string)(&o.ETag), (*string)(&o.ScheduleTag), (*string)(&o.UID), (*string)(&o.Kind),
		&o.Summary, &o.Search, &o.Status,
	}
}
