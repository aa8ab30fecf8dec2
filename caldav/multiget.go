package caldav

import (
	"encoding/xml"
	"slices"

	"caldav-mcp-server/calendar"
)

// multigetRequest is CALDAV:calendar-multiget (RFC 4791 §9.10).
type multigetRequest struct {
	XMLName  xml.Name   `xml:"urn:ietf:params:xml:ns:caldav calendar-multiget"`
	Prop     *requested `xml:"DAV: prop"`
	AllProp  *struct{}  `xml:"DAV: allprop"`
	PropName *struct{}  `xml:"DAV: propname"`
	Hrefs    []string   `xml:"DAV: href"`
}

// chunk is how many objects are fetched, and held in memory, at a time.
const chunk = 50

func (x *exchange) multiget(d *xml.Decoder, root xml.StartElement) error {
	var q multigetRequest
	if err := readAll(d, d.DecodeElement(&q, &root)); err != nil {
		return err
	}
	p, err := x.planFor(q.Prop, q.PropName != nil)
	if err != nil {
		return err
	}
	r, err := x.find(x.at)
	if err != nil {
		return err
	}
	f := newFetcher(x, p.data, r.calendar)
	ms := x.multistatus(p)
	for hrefs := range slices.Chunk(q.Hrefs, chunk) {
		if err := ms.addAll(f, hrefs); err != nil {
			return err
		}
	}
	return ms.end()
}

// planFor plans for the DAV:prop of a report; without one, for allprop.
func (x *exchange) planFor(q *requested, nameOnly bool) (plan, error) {
	if q == nil && nameOnly {
		p := x.flagged(0)
		p.nameOnly = true
		return p, nil
	}
	if q == nil {
		return x.flagged(allprop), nil
	}
	var err error
	if x.view.Shape, err = q.data.shape(); err != nil {
		return plan{}, err
	}
	return x.named(q.names)
}

// addAll answers for each href, in the order in which the client named them; once for each,
// so that a reply is never larger than the calendar.
func (ms *multistatus) addAll(f *fetcher, hrefs []string) error {
	places := make([]place, len(hrefs))
	for i, href := range hrefs {
		places[i] = f.place(href)
	}
	found, err := f.fetch(places)
	if err != nil {
		return err
	}
	for i, at := range places {
		r := found[at]
		switch {
		case r == nil:
			err = ms.gone(hrefs[i])
		case !f.told[at]:
			f.told[at] = true
			err = ms.add(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetcher fetches objects by their addresses, many at a time.
type fetcher struct {
	x *exchange
	// data tells whether their bytes are wanted.
	data bool
	// calendars are those that the request has met.
	calendars map[calendar.Segment]calendar.Calendar
	// told are the objects that were answered for.
	told map[place]bool
}

// newFetcher makes a fetcher for a request whose own calendar, if it has one, is known.
func newFetcher(x *exchange, data bool, own calendar.Calendar) *fetcher {
	return &fetcher{
		x: x, data: data, told: map[place]bool{},
		calendars: map[calendar.Segment]calendar.Calendar{x.at.calendar: own},
	}
}

// place understands an href. One that cannot be read, or that lies outside of what the
// request names (RFC 4791 §7.9), is the zero place, at which no object is.
func (f *fetcher) place(href string) place {
	at, err := f.x.parseHref(href)
	if err != nil || !f.x.at.contains(at) {
		return place{}
	}
	return at
}

// contains tells whether an object lies at or below an address.
func (p place) contains(object place) bool {
	return object.kind() == atObject && p.user == object.user &&
		(p.kind() == atHome || p.calendar == object.calendar) &&
		(p.kind() != atObject || p.object == object.object)
}

// fetch returns the objects that are there.
func (f *fetcher) fetch(places []place) (map[place]*resource, error) {
	found := make(map[place]*resource, len(places))
	wanted := map[calendar.Segment][]calendar.ObjectName{}
	for _, at := range places {
		if at.kind() == atObject {
			wanted[at.calendar] = append(wanted[at.calendar], at.object)
		}
	}
	for segment, names := range wanted {
		if err := f.fetchFrom(segment, names, found); err != nil && !missing(err) {
			return nil, err
		}
	}
	return found, nil
}

func (f *fetcher) fetchFrom(segment calendar.Segment, names []calendar.ObjectName, into map[place]*resource) error {
	at := place{form: formObject, user: f.x.at.user, calendar: segment}
	cal, known := f.calendars[segment]
	if !known {
		var err error
		if cal, err = f.x.calendarAt(at); err != nil {
			return err
		}
		f.calendars[segment] = cal
	}
	query := calendar.ObjectQuery{Names: names, WithData: f.data}
	for o, err := range f.x.service.Objects(f.x.r.Context(), f.x.caller, cal, query) {
		if err != nil {
			return err
		}
		at.object = o.Name
		into[at] = &resource{x: f.x, at: at, calendar: cal, object: o}
	}
	return nil
}
