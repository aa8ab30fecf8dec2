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
	// source is where the report is defined.
	source string
}

// reports is what REPORT can ask; supported-report-set is this table, printed.
func reports() []report {
	return []report{
		{caldav("calendar-query"), atHome | atCalendar | atObject | atInbox | atOutbox, (*exchange).calendarQuery, "RFC 4791 §7.8, RFC 6638 §2.2"},
		{caldav("calendar-multiget"), atHome | atCalendar | atObject | atInbox | atOutbox, (*exchange).multiget, "RFC 4791 §7.9, RFC 6638 §2.2"},
		{caldav("free-busy-query"), atHome | atCalendar, (*exchange).freeBusyQuery, "RFC 4791 §7.10"},
		{dav("sync-collection"), atHome | atCalendar | atBox | atInbox, (*exchange).syncCollection, "RFC 6578 §3.2"},
		{dav("expand-property"), everything, (*exchange).expandProperty, "RFC 3253 §3.8"},
		{dav("acl-principal-prop-set"), everything, (*exchange).aclPrincipals, "RFC 3744 §9.2"},
		{dav("principal-match"), collections, (*exchange).principalMatch, "RFC 3744 §9.3"},
		{dav("principal-property-search"), collections, (*exchange).principalSearch, "RFC 3744 §9.4"},
		{server("calendarserver-principal-search"), collections, (*exchange).tokenSearch, "Apple's extensions"},
		{dav("principal-search-property-set"), collections, (*exchange).principalSearchable, "RFC 3744 §9.5"},
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
			if x.kinds != nil {
				x.kinds(x.r.Context(), row.name.Local)
			}
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
