package caldav

import (
	"encoding/xml"

	"caldav-mcp-server/caldav/dav"
)

// report is a row of the reports table.
type report struct {
	name xml.Name
	on   kind
	read reportReader
	// source is the section that defines the report.
	source string
}

// reportReader decodes a report from its root element, and returns the function that answers it for a resource.
type reportReader func(*request, *xml.Decoder, *xml.StartElement) (func(*request, *resource) error, error)

// reading returns a reportReader for a body of type Q.
func reading[Q any](answer func(*request, *resource, *Q) error) reportReader {
	return func(x *request, d *xml.Decoder, root *xml.StartElement) (func(*request, *resource) error, error) {
		q := new(Q)
		if many, is := any(q).(interface{ behind(g *dav.Guard) }); is {
			many.behind(x.Guard())
		}
		return func(x *request, r *resource) error { return answer(x, r, q) }, d.DecodeElement(q, root)
	}
}

// reports is the table of reports. supported-report-set is derived from it.
func reports() []report {
	return []report{
		{caldav("calendar-query"), atHome | atCalendar | atObject | atInbox | atOutbox, reading(calendarQuery), "RFC 4791 §7.8, RFC 6638 §2.2"},
		{caldav("calendar-multiget"), atHome | atCalendar | atObject | atInbox | atOutbox, reading(calendarMultiget), "RFC 4791 §7.9, RFC 6638 §2.2"},
		{caldav("free-busy-query"), atHome | atCalendar, reading(freeBusyQuery), "RFC 4791 §7.10"},
		{dav.Name("sync-collection"), atHome | atCalendar | atBox | atInbox, reading(syncCollection), "RFC 6578 §3.2"},
		{dav.Name("expand-property"), everything, reading(expandProperties), "RFC 3253 §3.8"},
		{dav.Name("acl-principal-prop-set"), everything, reading(aclPrincipals), "RFC 3744 §9.2"},
		{dav.Name("principal-match"), collections, reading(principalMatch), "RFC 3744 §9.3"},
		{dav.Name("principal-property-search"), collections, reading(principalSearch), "RFC 3744 §9.4"},
		{server("calendarserver-principal-search"), collections, reading(searchTokens), "Apple's extensions"},
		{dav.Name("principal-search-property-set"), collections, reading(principalSearchable), "RFC 3744 §9.5"},
	}
}

// reportRequest is the body of a REPORT; its root element selects the report.
type reportRequest struct {
	x      *request
	answer func(*request, *resource) error
}

// UnmarshalXML implements [xml.Unmarshaler].
func (q *reportRequest) UnmarshalXML(d *xml.Decoder, root xml.StartElement) (err error) {
	for _, row := range q.x.reports {
		if row.name == root.Name && row.on&q.x.at.kind() != 0 {
			if q.x.Reports != nil {
				q.x.Reports(q.x.R.Context(), row.name.Local)
			}
			q.answer, err = row.read(q.x, d, &root)
			return err
		}
	}
	return dav.Breach("d:supported-report", "this resource has no report %q; supported-report-set lists those it has", root.Name.Local)
}

// serveReport answers REPORT (RFC 3253 §3.6). Each report checks the Depth header itself: Evolution sends none where
// RFC 4791 requires one, and Thunderbird sends 1 where RFC 6578 requires 0.
func serveReport(x *request) error {
	q := reportRequest{x: x}
	if err := x.Read(&q); err != nil {
		return err
	}
	r, err := x.find(x.at)
	if err != nil {
		return err
	}
	return q.answer(x, r)
}
