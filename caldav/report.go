package caldav

import (
	"encoding/xml"
	"errors"
	"io"
)

// report is a row of the reports table. run decodes the rest of the request from its root
// element on, and answers.
type report struct {
	name xml.Name
	on   kind
	run  func(*exchange, *xml.Decoder, xml.StartElement) error
}

// reports is what REPORT can ask; supported-report-set is this table, printed.
func reports() []report {
	return []report{
		// RFC 4791 §7.9
		{caldav("calendar-multiget"), atHome | atCalendar | atObject, (*exchange).multiget},
		// RFC 6578 §3.2
		{dav("sync-collection"), atCalendar, (*exchange).syncCollection},
	}
}

// report answers RFC 3253 §3.6. The Depth header is left to each report: Evolution sends
// none where RFC 4791 wants one, Thunderbird sends 1 where RFC 6578 wants 0.
func (x *exchange) report() error {
	d, err := x.document()
	if err != nil {
		return err
	}
	root, err := rootOf(d)
	if err != nil {
		return err
	}
	for _, row := range x.reports {
		if row.name == root.Name && row.on&x.at.kind() != 0 {
			return row.run(x, d, root)
		}
	}
	return breach("d:supported-report", "this resource has no report %q; supported-report-set lists those it has", root.Name.Local)
}

// rootOf reads up to the root element.
func rootOf(d *xml.Decoder) (xml.StartElement, error) {
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return xml.StartElement{}, errNoBody
		}
		if err != nil {
			return xml.StartElement{}, badXML(err)
		}
		if root, ok := t.(xml.StartElement); ok {
			return root, nil
		}
	}
}

// requested is the DAV:prop of a report, in which calendar-data may have a shape.
type requested struct {
	names names
	data  *calendarData
}

// calendarData is CALDAV:calendar-data as a request has it (RFC 4791 §9.6).
type calendarData struct {
	ContentType string    `xml:"content-type,attr"`
	Version     string    `xml:"version,attr"`
	Expand      *struct{} `xml:"urn:ietf:params:xml:ns:caldav expand"`
	Recurrences *struct{} `xml:"urn:ietf:params:xml:ns:caldav limit-recurrence-set"`
	FreeBusy    *struct{} `xml:"urn:ietf:params:xml:ns:caldav limit-freebusy-set"`
}

// UnmarshalXML reads the names, and the shape of calendar-data.
func (q *requested) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			q.names = append(q.names, t.Name)
			if t.Name == caldav("calendar-data") {
				q.data = &calendarData{}
				err = d.DecodeElement(q.data, &t)
			} else {
				err = d.Skip()
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// check refuses the shapes of calendar-data that cannot be given. A selection of
// components and properties is answered with all of them, which contains it; unexpanded
// data in place of expanded would be another answer.
func (c *calendarData) check() error {
	switch {
	case c == nil:
		return nil
	case c.ContentType != "" && c.ContentType != "text/calendar", c.Version != "" && c.Version != "2.0":
		return breach("c:supported-calendar-data", "calendar data comes as text/calendar, version 2.0")
	case c.Expand != nil, c.Recurrences != nil, c.FreeBusy != nil:
		return breach("c:supported-calendar-data", "recurrences are not expanded or limited by this server")
	}
	return nil
}
