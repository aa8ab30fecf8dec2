package calxml

import (
	"encoding/xml"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/filter"
)

// Filter is CALDAV:filter (RFC 4791 §9.7) in a request.
type Filter struct {
	Comps []compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
	extension
}

// The filters within it.
type (
	compFilter struct {
		named
		timed
		Props []propFilter `xml:"urn:ietf:params:xml:ns:caldav prop-filter"`
		Comps []compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
		extension
	}

	propFilter struct {
		named
		timed
		worded
		Params []paramFilter `xml:"urn:ietf:params:xml:ns:caldav param-filter"`
		extension
	}

	paramFilter struct {
		named
		worded
		extension
	}

	// named holds the name that a filter tests, and is-not-defined.
	named struct {
		Name         string    `xml:"name,attr"`
		IsNotDefined *struct{} `xml:"urn:ietf:params:xml:ns:caldav is-not-defined"`
	}

	timed struct {
		TimeRange *TimeRange `xml:"urn:ietf:params:xml:ns:caldav time-range"`
	}

	worded struct {
		Text *textMatch `xml:"urn:ietf:params:xml:ns:caldav text-match"`
	}

	textMatch struct {
		Text      string `xml:",chardata"`
		Collation string `xml:"collation,attr"`
		Negate    string `xml:"negate-condition,attr"`
		Type      string `xml:"match-type,attr"`
	}

	// extension collects elements and attributes that RFC 4791 lacks. They are refused: a query that ignored them
	// would find objects that the client did not ask for. test selects whether one matching filter is enough.
	extension struct {
		Others []anyElement `xml:",any"`
		Test   string       `xml:"test,attr"`
	}

	anyElement struct {
		XMLName xml.Name
	}
)

// textMax limits the bytes of a text-match: it is compared with every object.
const textMax = 1000

// filterReader converts filters to package filter, and counts them.
type filterReader struct{ left int }

func invalidFilter(format string, args ...any) error {
	return dav.Breach("c:valid-filter", "this filter is not valid: "+format, args...)
}

func unsupportedFilter(what string) error {
	return dav.Breach("c:supported-filter", "this server does not support the %s of this filter", what)
}

// Read converts the filter; most limits the conditions in it. RFC 4791 §9.7 allows one filter, for VCALENDAR. Of
// several filters, which go-webdav and others send, all must match.
func (q *Filter) Read(most int) (filter.Filter, error) {
	if q == nil || len(q.Comps) == 0 {
		return nil, invalidFilter("it has no comp-filter for VCALENDAR")
	}
	if err := q.known(); err != nil {
		return nil, err
	}
	r := filterReader{left: most}
	return r.components(q.Comps, "")
}

// known refuses extensions of RFC 4791.
func (e extension) known() error {
	if len(e.Others) > 0 {
		return unsupportedFilter("element " + e.Others[0].XMLName.Local)
	}
	if e.Test != "" && e.Test != "allof" {
		return unsupportedFilter(`attribute test="` + e.Test + `"`)
	}
	return nil
}

// check refuses contradictory filters, and filters that are too many or too large to test on every object. asks is
// set if the filter tests more than its name.
func (r *filterReader) check(n named, e extension, asks bool) error {
	if r.left--; r.left < 0 {
		return dav.Breach("c:supported-filter", "this filter has too many conditions")
	}
	if n.Name == "" {
		return invalidFilter("every filter in it needs a name")
	}
	if len(n.Name) > dav.NameMax {
		return invalidFilter("a name in it has more than %d bytes", dav.NameMax)
	}
	if n.IsNotDefined != nil && asks {
		return invalidFilter("is-not-defined excludes all other conditions on the same name")
	}
	return e.known()
}

func (r *filterReader) components(list []compFilter, parent string) ([]filter.CompFilter, error) {
	var read []filter.CompFilter
	for i := range list {
		f, err := r.component(&list[i], parent)
		if err != nil {
			return nil, err
		}
		read = append(read, f)
	}
	return read, nil
}

func (r *filterReader) component(q *compFilter, parent string) (f filter.CompFilter, err error) {
	if err := r.check(q.named, q.extension, q.TimeRange != nil || len(q.Props)+len(q.Comps) > 0); err != nil {
		return f, err
	}
	name := strings.ToUpper(q.Name)
	if err := nests(name, parent); err != nil {
		return f, err
	}
	f = filter.CompFilter{Name: filter.ComponentName(name), IsNotDefined: q.IsNotDefined != nil}
	if q.TimeRange != nil && !slices.Contains(takingTime, name) {
		return f, invalidFilter("a %.100s does not take place at a time", name)
	}
	if f.TimeRange, err = q.TimeRange.optional(); err != nil {
		return f, err
	}
	for i := range q.Props {
		p, err := r.property(&q.Props[i])
		if err != nil {
			return f, err
		}
		f.Props = append(f.Props, p)
	}
	f.Components, err = r.components(q.Comps, name)
	return f, err
}

// takingTime are the components that RFC 4791 §9.9 and RFC 7953 §5 define a time-range for. Clients that send one for
// VCALENDAR mean its components.
var takingTime = []string{
	"VCALENDAR", "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VALARM", "VAVAILABILITY",
	"AVAILABLE",
}

// homes maps the components of RFC 5545 and RFC 7953 to their possible parents. Other components may be anywhere.
var homes = map[string][]string{
	"VCALENDAR": {""}, "VEVENT": {"VCALENDAR"}, "VTODO": {"VCALENDAR"}, "VJOURNAL": {"VCALENDAR"},
	"VFREEBUSY": {"VCALENDAR"}, "VTIMEZONE": {"VCALENDAR"}, "VAVAILABILITY": {"VCALENDAR"},
	"STANDARD": {"VTIMEZONE"}, "DAYLIGHT": {"VTIMEZONE"}, "AVAILABLE": {"VAVAILABILITY"},
	"VALARM": {"VEVENT", "VTODO"},
}

// nests refuses a component in an impossible place, as RFC 4791 §7.8 requires: an empty result would look like an
// empty calendar.
func nests(name, parent string) error {
	places, known := homes[name]
	for _, p := range places {
		known = known && p != parent
	}
	switch {
	case parent == "" && name != "VCALENDAR":
		return invalidFilter("its outermost component is %.100s, not VCALENDAR", name)
	case known:
		return invalidFilter("there is no %s in a %.100s", name, parent)
	}
	return nil
}

func (r *filterReader) property(q *propFilter) (f filter.PropFilter, err error) {
	if err := r.check(q.named, q.extension, q.TimeRange != nil || q.Text != nil || len(q.Params) > 0); err != nil {
		return f, err
	}
	f = filter.PropFilter{Name: filter.PropertyName(strings.ToUpper(q.Name)), IsNotDefined: q.IsNotDefined != nil}
	if q.TimeRange != nil && untimed[string(f.Name)] {
		return f, invalidFilter("%s is not a time", f.Name)
	}
	if f.TimeRange, err = q.TimeRange.optional(); err != nil {
		return f, err
	}
	if f.Text, err = q.Text.read(); err != nil {
		return f, err
	}
	for i := range q.Params {
		p, err := r.parameter(&q.Params[i])
		if err != nil {
			return f, err
		}
		f.Params = append(f.Params, p)
	}
	return f, nil
}

// untimed are properties that are never a time, so a time-range for them is an error (RFC 4791 §7.8 gives SUMMARY as
// its example).
var untimed = map[string]bool{
	"ATTACH": true, "ATTENDEE": true, "CATEGORIES": true, "CLASS": true, "COLOR": true, "COMMENT": true,
	"CONFERENCE": true, "CONTACT": true, "DESCRIPTION": true, "DURATION": true, "GEO": true, "IMAGE": true,
	"LOCATION": true, "METHOD": true, "ORGANIZER": true, "PERCENT-COMPLETE": true, "PRIORITY": true,
	"PRODID": true, "RELATED-TO": true, "REQUEST-STATUS": true, "RESOURCES": true, "RRULE": true,
	"SEQUENCE": true, "STATUS": true, "SUMMARY": true, "TRANSP": true, "TZID": true, "TZNAME": true,
	"UID": true, "URL": true, "VERSION": true,
}

func (r *filterReader) parameter(q *paramFilter) (f filter.ParamFilter, err error) {
	if err := r.check(q.named, q.extension, q.Text != nil); err != nil {
		return f, err
	}
	f = filter.ParamFilter{Name: filter.ParameterName(strings.ToUpper(q.Name)), IsNotDefined: q.IsNotDefined != nil}
	f.Text, err = q.Text.read()
	return f, err
}

// read reads an optional text-match. The query itself checks the collation.
func (t *textMatch) read() (*filter.TextMatch, error) {
	if t == nil {
		return nil, nil
	}
	if t.Type != "" && t.Type != "contains" {
		return nil, unsupportedFilter(`attribute match-type="` + t.Type + `"`)
	}
	if len(t.Text) > textMax {
		return nil, dav.Breach("c:supported-filter", "a text-match may have at most %d bytes", textMax)
	}
	switch t.Negate {
	case "", "no", "yes":
	default:
		return nil, invalidFilter("negate-condition must be yes or no")
	}
	return &filter.TextMatch{Text: t.Text, Collation: filter.Collation(t.Collation), Negate: t.Negate == "yes"}, nil
}
