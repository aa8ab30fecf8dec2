package caldav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// multigetRequest is CALDAV:calendar-multiget (RFC 4791 §9.10).
type multigetRequest struct {
	prop     *requested
	propName bool
	hrefs    []string
	// guard reads runs of similar hrefs.
	guard *dav.Guard
}

func (q *multigetRequest) behind(g *dav.Guard) { q.guard = g }

// UnmarshalXML avoids the reflection of encoding/xml, which would take longer for the hrefs than the rest of the
// request.
func (q *multigetRequest) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	return dav.Within(d, func(t xml.StartElement) error { return q.child(d, &t) }, nil)
}

func (q *multigetRequest) child(d *xml.Decoder, start *xml.StartElement) error {
	switch start.Name {
	case dav.Name("href"):
		href, err := dav.TextOf(d)
		if q.hrefs = append(q.hrefs, href); err != nil {
			return err
		}
		q.hrefs, err = q.guard.PlainHrefs(q.hrefs)
		return err
	case dav.Name("prop"):
		if q.prop == nil {
			q.prop = &requested{}
		}
		return d.DecodeElement(q.prop, start)
	case dav.Name("propname"):
		q.propName = true
	}
	return d.Skip()
}

// chunk is the number of objects, and chunkBytes the number of bytes, that are fetched into memory at a time. Objects
// of a chunk beyond chunkBytes are fetched one by one.
const (
	chunk      = 50
	chunkBytes = 1 << 20
)

func calendarMultiget(x *request, r *resource, q *multigetRequest) error {
	p, err := planReport(x, q.prop, q.propName)
	if err != nil {
		return err
	}
	if x.at.kind() == atInbox {
		return r.getMessages(p, q.hrefs)
	}
	f := newFetcher(x, p.data, r.calendar)
	f.told = make(map[homeMember]bool, min(len(q.hrefs), chunk))
	defer f.leave()
	ms := x.multistatus(p)
	for hrefs := range slices.Chunk(q.hrefs, chunk) {
		if err := ms.addAll(f, hrefs); err != nil {
			return err
		}
	}
	return ms.End()
}

// addAll answers the hrefs in the order of the request. Each object is answered once, so that a response is never
// larger than the calendar.
func (ms *multistatus) addAll(f *fetcher, hrefs []string) error {
	f.places = slices.Grow(f.places[:0], len(hrefs))
	for _, href := range hrefs {
		f.places = append(f.places, f.place(href))
	}
	if err := f.fetch(); err != nil {
		return err
	}
	for i, at := range f.places {
		if err := ms.addOne(f, at, hrefs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (ms *multistatus) addOne(f *fetcher, at place, href string) error {
	if f.told[memberAt(at)] {
		return nil
	}
	held := ms.x.Meter.Held()
	defer func() { ms.x.Meter.Free(ms.x.Meter.Held() - held) }()
	r, err := f.at(at)
	switch {
	case calendar.ReasonOf(err) == calendar.Unavailable && err != nil && ms.x.Begun:
		// Memory has run out for this object; the client need not ask for the others again.
		ms.StatusOf(href, http.StatusServiceUnavailable)
		return nil
	case err != nil:
		return err
	case r == nil:
		return ms.Gone(href)
	}
	f.told[memberAt(at)] = true
	return ms.add(r)
}

// homeMember identifies an object within the home of the request.
type homeMember struct {
	calendar calendar.Segment
	object   calendar.ObjectName
}

func memberAt(at place) homeMember { return homeMember{at.calendar, at.object} }

// fetcher fetches objects by address, in chunks.
type fetcher struct {
	x *request
	// data is set if the objects' bytes are needed.
	data bool
	// own is the href of the request's own calendar, "" if it has none.
	own string
	// calendars caches the calendars of the request.
	calendars map[calendar.Segment]calendar.Calendar
	// told are the objects that have been answered.
	told map[homeMember]bool
	*fetched
	// bytes is the size of the fetched objects. cut is set if the chunk ended early, so a missing object may still
	// exist.
	bytes int64
	cut   bool
	// one is the resource that was last returned.
	one resource
}

// fetched is the pooled memory of a chunk, about twenty kilobytes.
type fetched struct {
	// places are the addresses of the current chunk, objects the objects found there, found their indexes.
	places  []place
	objects []calendar.Object
	found   map[homeMember]int
}

var chunks = sync.Pool{New: func() any { return &fetched{found: map[homeMember]int{}} }}

// newFetcher makes a fetcher. own is the request's own calendar, if it has one.
func newFetcher(x *request, data bool, own calendar.Calendar) *fetcher {
	of, _ := chunks.Get().(*fetched)
	f := &fetcher{
		x: x, data: data, fetched: of, one: resource{x: x},
		calendars: map[calendar.Segment]calendar.Calendar{x.at.calendar: own},
	}
	if x.at.kind() == atCalendar {
		f.own = x.href(x.at)
	}
	return f
}

// place parses an href. An href that is invalid or outside of the request's resource (RFC 4791 §7.9) becomes the zero
// place, which holds no object.
func (f *fetcher) place(href string) place {
	if name, ok := f.plainName(href); ok {
		return place{form: formObject, user: f.x.at.user, calendar: f.x.at.calendar, object: name}
	}
	at, err := f.x.parseHref(href)
	if err != nil || !f.x.at.contains(at) {
		return place{}
	}
	return at
}

// plainName returns the object name from an href that this server wrote for the request's own calendar. Nearly all
// hrefs are of this kind.
func (f *fetcher) plainName(href string) (name calendar.ObjectName, ok bool) {
	rest, ours := strings.CutPrefix(href, f.own)
	if f.own == "" || !ours || rest == "" || rest[0] == '.' {
		return "", false
	}
	return calendar.ObjectName(rest), strings.IndexByte(rest, '/') < 0 && dav.PlainPath(rest)
}

// contains reports whether an object lies at or below p.
func (p place) contains(object place) bool {
	return object.kind() == atObject && p.user == object.user &&
		(p.kind() == atHome || p.calendar == object.calendar) &&
		(p.kind() != atObject || p.object == object.object)
}

// fetch fetches the objects of the current chunk.
func (f *fetcher) fetch() error {
	f.empty()
	f.objects = slices.Grow(f.objects[:0], len(f.places))
	wanted := map[calendar.Segment][]calendar.ObjectName{}
	for _, at := range f.places {
		if at.kind() == atObject {
			if wanted[at.calendar] == nil {
				wanted[at.calendar] = make([]calendar.ObjectName, 0, len(f.places))
			}
			wanted[at.calendar] = append(wanted[at.calendar], at.object)
		}
	}
	for segment, names := range wanted {
		if err := f.fetchFrom(segment, names); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// empty frees the previous chunk.
func (f *fetcher) empty() {
	clear(f.found)
	clear(f.objects)
	f.x.Meter.Free(f.bytes)
	f.bytes, f.cut = 0, false
}

// leave returns the memory to the pool.
func (f *fetcher) leave() {
	f.empty()
	clear(f.places)
	chunks.Put(f.fetched)
	f.fetched = nil
}

func (f *fetcher) fetchFrom(segment calendar.Segment, names []calendar.ObjectName) error {
	cal, known := f.calendars[segment]
	if !known {
		var err error
		at := place{form: formCalendar, user: f.x.at.user, calendar: segment}
		if cal, err = f.x.calendarAt(at); err != nil {
			return err
		}
		f.calendars[segment] = cal
	}
	if cal.Subscribed() {
		return nil
	}
	query := calendar.ObjectQuery{Names: names, WithData: f.data}
	for o, err := range f.x.Service.Objects(f.x.R.Context(), f.x.Meter, f.x.caller, cal, query) {
		if err != nil && !errors.Is(err, calendar.ErrNoText) {
			return err
		}
		size := int64(len(o.Data))
		if f.cut = f.cut || f.bytes+size > chunkBytes; f.cut {
			return nil
		}
		if err := f.x.Meter.Hold(size); err != nil {
			return err
		}
		f.bytes += size
		f.found[homeMember{segment, o.Name}] = len(f.objects)
		f.objects = append(f.objects, o)
	}
	return nil
}

// at returns a fetched object, or nil. The resource is valid until the next call.
func (f *fetcher) at(at place) (*resource, error) {
	i, ok := f.found[memberAt(at)]
	if at.kind() != atObject {
		return nil, nil
	}
	if !ok {
		return f.late(at)
	}
	f.show(at, f.objects[i])
	return &f.one, nil
}

// late fetches an object that chunkBytes may have cut off.
func (f *fetcher) late(at place) (*resource, error) {
	cal, known := f.calendars[at.calendar]
	if !f.cut || !known {
		return nil, nil
	}
	o, err := f.x.Service.Object(f.x.R.Context(), f.x.Meter, f.x.caller, cal, at.object)
	if missing(err) {
		return nil, nil
	}
	if errors.Is(err, calendar.ErrNoText) {
		o.Name, o.Data, err = at.object, []byte{}, nil
	}
	f.show(at, o)
	return &f.one, err
}

// show makes an object the resource that is returned next.
func (f *fetcher) show(at place, o calendar.Object) {
	if f.one.at.calendar != at.calendar || f.one.at.kind() != atObject {
		f.one.calendar = f.calendars[at.calendar]
	}
	f.one.at, f.one.object = at, o
}

// getMessages answers a multiget of an inbox.
func (r *resource) getMessages(p plan, hrefs []string) error {
	all, err := r.x.Service.Messages(r.x.R.Context(), r.x.caller)
	if err != nil {
		return err
	}
	there := make(map[place]*resource, len(all))
	for _, i := range all {
		m := r.message(i)
		there[m.at] = m
	}
	ms := r.x.multistatus(p)
	for _, href := range hrefs {
		at, err := r.x.parseHref(href)
		m, known := there[at]
		if err == nil && known {
			delete(there, at)
			err = ms.add(m)
		} else {
			err = ms.Gone(href)
		}
		if err != nil {
			return err
		}
	}
	return ms.End()
}
