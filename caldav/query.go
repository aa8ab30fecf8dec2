package caldav

import (
	"encoding/xml"
	"errors"
	"strings"

	"caldav-mcp-server/caldav/calxml"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
)

// queryRequest is CALDAV:calendar-query (RFC 4791 §9.5). The limit comes from RFC 5323 and RFC 6352 §10.6; clients
// send it in either namespace.
type queryRequest struct {
	XMLName    xml.Name       `xml:"urn:ietf:params:xml:ns:caldav calendar-query"`
	Prop       *requested     `xml:"DAV: prop"`
	AllProp    *struct{}      `xml:"DAV: allprop"`
	PropName   *struct{}      `xml:"DAV: propname"`
	Filter     *calxml.Filter `xml:"urn:ietf:params:xml:ns:caldav filter"`
	Timezone   *string        `xml:"urn:ietf:params:xml:ns:caldav timezone"`
	TimezoneID *string        `xml:"urn:ietf:params:xml:ns:caldav timezone-id"`
	Limit      *string        `xml:"DAV: limit>nresults"`
	CalLimit   *string        `xml:"urn:ietf:params:xml:ns:caldav limit>nresults"`
}

func calendarQuery(x *request, r *resource, q *queryRequest) error {
	depth, err := x.Depth()
	if err != nil {
		return err
	}
	s, err := newSearch(x, q)
	if err != nil {
		return err
	}
	if err := s.look(r, depth); err != nil {
		return err
	}
	if s.more {
		s.Truncated(&x.at)
	}
	return s.End()
}

// search is a calendar-query in progress.
type search struct {
	*multistatus
	query query.Query
	// limit is the largest number of results, 0 for all. more is set if there were more.
	limit, count int
	more         bool
}

// newSearch reads the request.
func newSearch(x *request, q *queryRequest) (*search, error) {
	s := &search{}
	var err error
	if s.query.Filter, err = q.Filter.Read(x.Limits.Filters); err != nil {
		return nil, err
	}
	if s.query.Timezone, err = q.timezone(); err != nil {
		return nil, err
	}
	if s.limit, err = resultLimit(q.Limit, q.CalLimit); err != nil {
		return nil, err
	}
	p, err := planReport(x, q.Prop, q.PropName != nil)
	if err != nil {
		return nil, err
	}
	x.view.Timezone, s.query.WithoutData, s.query.Meter = s.query.Timezone, !p.data, x.Meter
	s.multistatus = x.multistatus(p)
	return s, nil
}

// timezone returns the time zone for dates and floating times, nil if the request names none.
func (q *queryRequest) timezone() (*zone.Zone, error) {
	if q.TimezoneID != nil {
		z, err := zone.Lookup(strings.TrimSpace(*q.TimezoneID))
		if err != nil {
			return nil, dav.Breach("c:valid-timezone", "%s", err) // RFC 7809 §4.2
		}
		return z, nil
	}
	if q.Timezone == nil {
		return nil, nil
	}
	cal, id, err := soleTimezone(strings.TrimSpace(*q.Timezone))
	if err == nil && (cal.Property("VERSION") == nil || cal.Property("PRODID") == nil) {
		err = errUnfit("it needs a VERSION and a PRODID") // RFC 5545 §3.6
	}
	var z *zone.Zone
	if err == nil {
		z, err = zone.FromDocument(cal).Zone(id)
	}
	if err != nil {
		return nil, dav.Breach("c:valid-calendar-data", "timezone must be an iCalendar object with one VTIMEZONE: %s",
			err)
	}
	return z, nil
}

// look searches the resources that the depth includes: an object, the objects of a calendar or of all calendars of a
// home, or the messages of an inbox. An outbox never has any (RFC 6638 §2.1).
//
// RFC 3253 §3.6 takes a missing Depth for 0, and the objects of a home are at depth 2. But a client that queries
// wants objects, and deletes its copies if the result is empty. So only an explicit 0 excludes them.
func (s *search) look(r *resource, d dav.Depth) error {
	switch {
	case r.at.kind() == atObject:
		s.query.Names = []calendar.ObjectName{r.at.object}
		return s.in(r)
	case d == dav.DepthZero, r.at.kind() == atOutbox:
		return nil
	case r.at.kind() == atCalendar:
		return s.in(r)
	case r.at.kind() == atInbox:
		return s.inMessages(r)
	}
	return s.everywhere(r)
}

// in searches a calendar.
func (s *search) in(r *resource) error {
	if r.calendar.Subscribed() {
		return nil
	}
	found := resource{x: s.x, at: r.at, calendar: r.calendar}
	found.at.form = formObject
	for o, err := range s.x.Service.Query(s.x.R.Context(), s.x.caller, r.calendar, s.query) {
		if err != nil && !errors.Is(err, calendar.ErrNoText) {
			return err
		}
		if s.full() {
			return nil
		}
		found.object, found.at.object = o, o.Name
		if err := s.add(&found); err != nil {
			return err
		}
	}
	return nil
}

// full counts one more result, and reports whether it exceeds the limit.
func (s *search) full() bool {
	s.more = s.limit > 0 && s.count >= s.limit
	s.count++
	return s.more
}

// inMessages searches the caller's inbox (RFC 6638 §2.2).
func (s *search) inMessages(inbox *resource) error {
	for i, err := range s.x.Service.QueryMessages(s.x.R.Context(), s.x.caller, s.query) {
		if err != nil {
			return err
		}
		if s.full() {
			return nil
		}
		if err := s.add(inbox.message(i)); err != nil {
			return err
		}
	}
	return nil
}

// everywhere searches the calendars of a home.
func (s *search) everywhere(home *resource) error {
	for child, err := range home.children() {
		if err != nil {
			return err
		}
		if s.x.caller.MayLook(child.calendar) != nil {
			continue
		}
		if err := s.in(child); err != nil || s.more {
			return err
		}
	}
	return nil
}
