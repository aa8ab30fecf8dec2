package content

import "caldav-mcp-server/ical"

// Series is what has to be expanded together: a component and the overrides of its
// instances. Either may be missing.
type Series struct {
	Master    *ical.Component
	Overrides []*ical.Component
}

// Series returns the object as one.
func (o *Object) Series() Series { return Series{o.Master, o.Overrides} }

// SeriesIn groups the components of one name in another component by their UID, such as
// the AVAILABLE times of a VAVAILABILITY (RFC 7953 §3.1).
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
		// Two masters with one UID are two: no RFC says which would count.
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
