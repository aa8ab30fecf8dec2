package calxml

import (
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/render"
)

// CalendarData is CALDAV:calendar-data in a request (RFC 4791 §9.6).
type CalendarData struct {
	ContentType string     `xml:"content-type,attr"`
	Version     string     `xml:"version,attr"`
	Comp        *dataComp  `xml:"urn:ietf:params:xml:ns:caldav comp"`
	Expand      *TimeRange `xml:"urn:ietf:params:xml:ns:caldav expand"`
	Recurrences *TimeRange `xml:"urn:ietf:params:xml:ns:caldav limit-recurrence-set"`
	FreeBusy    *TimeRange `xml:"urn:ietf:params:xml:ns:caldav limit-freebusy-set"`
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

// Shape returns the requested shape. A nil CalendarData asks for whole objects.
func (c *CalendarData) Shape() (s render.Shape, err error) {
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
		asked *TimeRange
		into  **filter.TimeRange
	}{{c.Expand, &s.Expand}, {c.Recurrences, &s.Recurrences}, {c.FreeBusy, &s.FreeBusy}} {
		if window.asked == nil {
			continue
		}
		r, err := window.asked.Whole()
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
