package caldav

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/render"
	"caldav-mcp-server/ical"
)

// requested is the DAV:prop of a report. Its calendar-data may describe a shape.
type requested struct {
	names dav.Names
	data  *calendarData
}

// UnmarshalXML reads the names, and the shape of calendar-data.
func (q *requested) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	return dav.Within(d, func(t xml.StartElement) error {
		q.names = append(q.names, t.Name)
		if t.Name != caldav("calendar-data") {
			return d.Skip()
		}
		q.data = &calendarData{}
		return d.DecodeElement(q.data, &t)
	}, nil)
}

// calendarData is CALDAV:calendar-data in a request (RFC 4791 §9.6).
type calendarData struct {
	ContentType string     `xml:"content-type,attr"`
	Version     string     `xml:"version,attr"`
	Comp        *dataComp  `xml:"urn:ietf:params:xml:ns:caldav comp"`
	Expand      *timeRange `xml:"urn:ietf:params:xml:ns:caldav expand"`
	Recurrences *timeRange `xml:"urn:ietf:params:xml:ns:caldav limit-recurrence-set"`
	FreeBusy    *timeRange `xml:"urn:ietf:params:xml:ns:caldav limit-freebusy-set"`
}

// dataComp is CALDAV:comp (§9.6.1).
type dataComp struct {
	Name    string     `xml:"name,attr"`
	AllProp *struct{}  `xml:"urn:ietf:params:xml:ns:caldav allprop"`
	Props   []dataProp `xml:"urn:ietf:params:xml:ns:caldav prop"`
	AllComp *struct{}  `xml:"urn:ietf:params:xml:ns:caldav allcomp"`
	Comps   []dataComp `xml:"urn:ietf:params:xml:ns:caldav comp"`
}

// dataProp is CALDAV:prop (§9.6.4).
type dataProp struct {
	Name    string `xml:"name,attr"`
	NoValue string `xml:"novalue,attr"`
}

// timeRange holds the attributes that all elements with a time range share (§9.9).
type timeRange struct {
	Start string `xml:"start,attr"`
	End   string `xml:"end,attr"`
}

// shape returns the requested shape. A nil calendarData asks for whole objects.
func (c *calendarData) shape() (s render.Shape, err error) {
	if c == nil {
		return s, nil
	}
	if c.ContentType != "" && !strings.EqualFold(c.ContentType, "text/calendar") ||
		c.Version != "" && c.Version != "2.0" {
		return s, dav.Breach("c:supported-calendar-data",
			"calendar data is available as text/calendar, version 2.0 only")
	}
	if c.Expand != nil && c.Recurrences != nil {
		return s, dav.Refuse(http.StatusBadRequest, "calendar-data holds either expand or limit-recurrence-set")
	}
	for _, window := range []struct {
		asked *timeRange
		into  **filter.TimeRange
	}{{c.Expand, &s.Expand}, {c.Recurrences, &s.Recurrences}, {c.FreeBusy, &s.FreeBusy}} {
		if window.asked == nil {
			continue
		}
		r, err := window.asked.whole()
		if err != nil {
			return s, dav.Refuse(http.StatusBadRequest, "the time in calendar-data %s", err)
		}
		*window.into = &r
	}
	if c.Comp != nil {
		if !strings.EqualFold(c.Comp.Name, "VCALENDAR") {
			return s, dav.Refuse(http.StatusBadRequest, "the outermost comp in calendar-data must be VCALENDAR")
		}
		selected := c.Comp.component()
		s.Select = &selected
	}
	return s, nil
}

func (c *dataComp) component() render.Component {
	selected := render.Component{Name: c.Name, AllProperties: c.AllProp != nil, AllComponents: c.AllComp != nil}
	for _, p := range c.Props {
		selected.Properties = append(selected.Properties,
			render.Property{Name: p.Name, WithoutValue: p.NoValue == "yes"})
	}
	for i := range c.Comps {
		selected.Components = append(selected.Components, c.Comps[i].component())
	}
	return selected
}

// whole reads a time range that needs both ends.
func (t *timeRange) whole() (filter.TimeRange, error) {
	if t.Start == "" || t.End == "" {
		return filter.TimeRange{}, unfit("needs a start and an end")
	}
	return t.read()
}

// read reads a time range that may lack one end.
func (t *timeRange) read() (r filter.TimeRange, err error) {
	if t.Start == "" && t.End == "" {
		return r, unfit("needs a start or an end")
	}
	if r.Start, err = instant(t.Start); err != nil {
		return r, err
	}
	if r.End, err = instant(t.End); err != nil {
		return r, err
	}
	if t.Start != "" && t.End != "" && !r.Start.Before(r.End) {
		return r, unfit("ends before it begins")
	}
	return r, nil
}

// instant reads a DATE-TIME in UTC, the only form that RFC 4791 §9.9 allows. "" gives the zero Time.
func instant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := ical.ParseTime(text, "")
	if err != nil || t.Form != ical.FormUTC {
		return time.Time{}, unfit("must be in UTC, like 20261120T100000Z")
	}
	return time.Unix(t.Civil.Seconds(), 0).UTC(), nil
}

// errEnough ends a request that has used up its limit for shaping calendar data.
var errEnough = dav.Breach("d:number-of-matches-within-limits",
	"the response would be too large; ask for a shorter time range or for fewer objects")

// writeData writes CALDAV:calendar-data. If an object cannot be given in the requested shape, only that object is
// refused: one endless series must not keep all other objects from a client.
func writeData(r *resource, m *dav.Markup) error {
	if r.object.Data == nil {
		return dav.ErrAbsent
	}
	if r.x.view.Shape.Whole() {
		if err := r.x.Meter.Hold(3 * r.object.Size); err != nil {
			return r.x.unshown(err)
		}
		m.CDATA(render.Legible(r.object.Data))
		return nil
	}
	data, err := r.x.Service.Render(r.x.R.Context(), r.calendar, r.object, r.x.view)
	if err != nil {
		return r.x.unshown(err)
	}
	m.CDATA(render.Legible(data))
	return nil
}

// unshown limits an error about calendar data to this object if the rest of the answer can still be given.
func (x *request) unshown(err error) error {
	reason := calendar.ReasonOf(err)
	if reason == calendar.TooLarge || reason == calendar.Unsupported || reason == calendar.Unavailable && x.Begun {
		return failureOf(err, nil)
	}
	return err
}
