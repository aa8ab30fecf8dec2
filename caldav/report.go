package caldav

import (
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"

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
	return dav.Breach("d:supported-report", "this resource has no report %q; supported-report-set lists those it has",
		root.Name.Local)
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

// resultLimit reads the largest number of results, 0 for all.
func resultLimit(elements ...*string) (limit int, err error) {
	for _, text := range elements {
		if text == nil {
			continue
		}
		limit, err = strconv.Atoi(strings.TrimSpace(*text))
		if err != nil || limit < 1 {
			return 0, dav.Refuse(http.StatusBadRequest, "nresults must be a whole number of at least 1")
		}
	}
	return limit, nil
}
