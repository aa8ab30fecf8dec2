package content

import (
	"slices"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Series is a unit of expansion: a component and the overrides of its instances. Either may be missing.
type Series struct {
	Master    *ical.Component
	Overrides []*ical.Component
}

// Series returns the object's own series.
func (o *Object) Series() Series { return Series{o.Master, o.Overrides} }

// SeriesIn groups the components of one name in a parent component by their UID, such as the AVAILABLE times of a
// VAVAILABILITY (RFC 7953 §3.1).
func SeriesIn(parent *ical.Component, name string) []Series {
	var list []Series
	at := map[string]int{}
	for c := range parent.Components() {
		if c.Name() != name {
			continue
		}
		uid := TextOf(c, "UID")
		i, known := at[uid]
		override := c.Property("RECURRENCE-ID") != nil
		// Two masters with the same UID are two series, because no RFC says which one counts.
		if !known || !override && list[i].Master != nil {
			i = len(list)
			at[uid] = i
			list = append(list, Series{})
		}
		if override {
			list[i].Overrides = append(list[i].Overrides, c)
		} else {
			list[i].Master = c
		}
	}
	return list
}

// sets caches the last recurrence set of an object.
type sets struct{ last atomic.Pointer[setIn] }

// setIn is a recurrence set with the zone of its floating times.
type setIn struct {
	floating *time.Location
	set      *recur.Set
}

// Share makes the object safe for concurrent readers, and lets it cache its recurrence set. The object must not
// change afterwards.
func (o *Object) Share() { o.sets = new(sets) }

// Set returns the recurrence set of a series, which is the object's own or one within it.
func (o *Object) Set(s Series, k Clock) (*recur.Set, error) {
	floating := k.Floating.Location()
	own := o.sets != nil && s.Master == o.Master && slices.Equal(s.Overrides, o.Overrides)
	if own {
		if last := o.sets.last.Load(); last != nil && last.floating == floating {
			return last.set, nil
		}
	}
	set, err := recur.FromComponents(s.Master, s.Overrides, k.Zones, floating)
	if err == nil && own {
		o.sets.last.Store(&setIn{floating, set})
	}
	return set, err
}
