package caldav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"caldav-mcp-server/caldav/dav"
)

// expandRequest is DAV:expand-property (RFC 3253 §3.8).
type expandRequest struct {
	XMLName    xml.Name         `xml:"DAV: expand-property"`
	Properties []expandProperty `xml:"DAV: property"`
}

// expandProperty is DAV:property, whose attributes name a property.
type expandProperty struct {
	Name       string           `xml:"name,attr"`
	Namespace  *string          `xml:"namespace,attr"`
	Properties []expandProperty `xml:"DAV: property"`
}

// expandProperties answers RFC 3253 §3.8: it returns properties of a resource, with each address in them replaced by
// properties of the resource there. Apple's clients use it to list the users whose calendars the caller may see.
func expandProperties(x *request, r *resource, q *expandRequest) error {
	if err := x.DepthZero(); err != nil {
		return err
	}
	left := min(x.Limits.Hrefs, expandedMost)
	p, err := planExpansion(x, q.Properties, &left)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	if err := ms.add(r); err != nil {
		return err
	}
	return ms.End()
}

const (
	// expandedMost limits the number of addresses that one response expands. expandedBytes limits the size of that
	// response, which is buffered until it is complete.
	expandedMost  = 1000
	expandedBytes = 4 << 20
)

// expandable is the part of a request about the resources that a property names.
type expandable struct {
	plan plan
	// left is the number of resources that the whole response may still expand. Nested properties multiply, so all
	// levels share it.
	left *int
}

// planExpansion plans for properties and the properties nested in them.
func planExpansion(x *request, list []expandProperty, left *int) (plan, error) {
	wanted := make(dav.Names, len(list))
	inner := make(map[xml.Name][]expandProperty, len(list))
	for i, q := range list {
		n, err := q.name()
		if err != nil {
			return plan{}, err
		}
		wanted[i] = n
		inner[n] = append(inner[n], q.Properties...)
	}
	p, err := x.named(wanted)
	if err != nil {
		return p, err
	}
	for i := range p.Items {
		within := inner[p.Items[i].Name]
		if len(within) == 0 {
			continue
		}
		e := &expandable{left: left}
		if e.plan, err = planExpansion(x, within, left); err != nil {
			return p, err
		}
		p.Items[i].Write = e.inside(p.Items[i].Write)
	}
	return p, nil
}

// name returns the name of the requested property. It comes from an attribute, so it is checked: the response uses it
// as an element name.
func (q *expandProperty) name() (xml.Name, error) {
	for i, c := range q.Name {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsDigit(c) && c != '-' && c != '.') {
			return xml.Name{}, dav.Refuse(http.StatusBadRequest, "%.100q is not a valid name of a property", q.Name)
		}
	}
	if len(q.Name) > dav.NameMax || q.Namespace != nil && len(*q.Namespace) > dav.NameMax {
		return xml.Name{}, dav.Refuse(http.StatusBadRequest,
			"a property's name and its namespace may have at most %d bytes each", dav.NameMax)
	}
	if q.Name == "" {
		return xml.Name{}, dav.Refuse(http.StatusBadRequest, "each DAV:property needs a name")
	}
	if q.Namespace == nil {
		return dav.Name(q.Name), nil // RFC 3253 §3.8: the default
	}
	return xml.Name{Space: *q.Namespace, Local: q.Name}, nil
}

// eachHref calls do for every DAV:href in the value of a property, with its byte offsets. Values that we write have
// our prefix; dead properties are as their client wrote them.
func eachHref(value []byte, do func(from, to int64, href string) error) error {
	d := xml.NewDecoder(bytes.NewReader(value))
	for {
		from := d.InputOffset()
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a property's value: %w", err)
		}
		e, ok := t.(xml.StartElement)
		if !ok || e.Name != dav.Name("href") && e.Name != (xml.Name{Space: "d", Local: "href"}) {
			continue
		}
		var href string
		if err := d.DecodeElement(&href, &e); err != nil {
			return fmt.Errorf("a property's value: %w", err)
		}
		if err := do(from, d.InputOffset(), strings.TrimSpace(href)); err != nil {
			return err
		}
	}
}

// inside returns a write that also expands the addresses in the value.
func (e *expandable) inside(write func(*resource, *dav.Markup, bool) error) func(*resource, *dav.Markup, bool) error {
	return func(r *resource, m *dav.Markup, nameOnly bool) error {
		start := len(m.Buf)
		if err := write(r, m, nameOnly); err != nil {
			return err
		}
		return e.expand(r.x, m, start)
	}
}

// expand replaces the addresses in the property value that begins at start by responses.
func (e *expandable) expand(x *request, m *dav.Markup, start int) error {
	value := bytes.Clone(m.Buf[start:])
	m.Buf = m.Buf[:start]
	copied := int64(0)
	err := eachHref(value, func(from, to int64, href string) error {
		m.Buf = append(m.Buf, value[copied:from]...)
		copied = to
		return e.answer(x, m, href)
	})
	if err != nil {
		m.Buf = m.Buf[:start]
		return err
	}
	m.Buf = append(m.Buf, value[copied:]...)
	return nil
}

// answer writes the response for an address.
func (e *expandable) answer(x *request, m *dav.Markup, href string) error {
	if *e.left--; *e.left < 0 || len(m.Buf) > expandedBytes {
		return errEnough
	}
	if err := countGrowth(x, m); err != nil {
		return err
	}
	r, err := x.findHref(href)
	if err != nil {
		return err
	}
	if r == nil {
		return m.Raw("<d:response>").Element("d:href", href).Status(http.StatusNotFound).Raw("</d:response>").OK()
	}
	return e.plan.Response(m, &r.at, r)
}

// countGrowth reports the growth of a buffer to the meter. Each level of the response has its own copy.
func countGrowth(x *request, m *dav.Markup) error {
	held := x.Meter.Held()
	if now := 3 * int64(cap(m.Buf)); now > held && cap(m.Buf) > dav.KeptBytes {
		if err := x.Meter.Hold(now - held); err != nil {
			return err
		}
	}
	return x.Meter.Work(100)
}

// findHref looks up an address in a property's value. It returns nil if the caller can see no resource there; the
// address may also be a mail address.
func (x *request) findHref(href string) (*resource, error) {
	at, err := x.parseHref(href)
	if err != nil {
		return nil, nil
	}
	r, err := x.find(at)
	var refusal *dav.StatusError
	if err != nil && (missing(err) || errors.As(err, &refusal)) {
		return nil, nil
	}
	return r, err
}

// hrefsOf returns the addresses in the value of a property, none if the property is absent.
func (r *resource) hrefsOf(p planItem) (hrefs []string, err error) {
	m := r.x.Markup()
	defer r.x.Release(m)
	if err := p.write(r, m, false); err != nil && !errors.Is(err, dav.ErrAbsent) {
		return nil, err
	}
	err = eachHref(m.Buf, func(_, _ int64, href string) error {
		hrefs = append(hrefs, href)
		return nil
	})
	return hrefs, err
}

// errEnough ends a request that has used up its limit for shaping calendar data.
var errEnough = dav.Breach("d:number-of-matches-within-limits",
	"the response would be too large; ask for a shorter time range or for fewer objects")
