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
)

// expandRequest is DAV:expand-property (RFC 3253 §3.8).
type expandRequest struct {
	XMLName    xml.Name         `xml:"DAV: expand-property"`
	Properties []expandProperty `xml:"DAV: property"`
}

// expandProperty is DAV:property, which names one by attributes.
type expandProperty struct {
	Name       string           `xml:"name,attr"`
	Namespace  *string          `xml:"namespace,attr"`
	Properties []expandProperty `xml:"DAV: property"`
}

// expandProperty answers RFC 3253 §3.8: properties of a resource and, in place of the
// addresses in them, properties of the resources that these name. Apple's clients ask so
// for the people whose calendars one may see.
func (x *exchange) expandProperty(r *resource, q *expandRequest) error {
	if err := x.depthZero(); err != nil {
		return err
	}
	left := min(x.Limits.Hrefs, expandedMost)
	p, err := x.expansion(q.Properties, &left)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	if err := ms.add(r); err != nil {
		return err
	}
	return ms.end()
}

// depthZero refuses what reports about one resource have no meaning for (RFC 3253 §3.6,
// RFC 3744 §9): another Depth than 0.
func (x *exchange) depthZero() error {
	d, err := x.depth()
	if err == nil && d != depthMissing && d != depthZero {
		return refuseWith(http.StatusBadRequest, "this report takes Depth: 0")
	}
	return err
}

const (
	// expandedMost is how many resources an answer tells of in place of their addresses, expandedBytes how long it may get by
	// that: nothing of it goes out before it is whole.
	expandedMost  = 1000
	expandedBytes = 4 << 20
)

// expandable is what is wanted of the resources that a property names.
type expandable struct {
	plan plan
	// left is how many more resources the whole answer may tell of: the properties of a
	// request multiply.
	left *int
}

// expansion plans for properties and what is within them.
func (x *exchange) expansion(list []expandProperty, left *int) (plan, error) {
	wanted := make(names, len(list))
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
	for i := range p.items {
		within := inner[p.items[i].name]
		if len(within) == 0 {
			continue
		}
		e := &expandable{left: left}
		if e.plan, err = x.expansion(within, left); err != nil {
			return p, err
		}
		p.items[i].inner = e
	}
	return p, nil
}

// name returns the name of the property that is asked for. It comes from an attribute, where
// anything can stand, and an answer names it as an element.
func (q *expandProperty) name() (xml.Name, error) {
	for i, c := range q.Name {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsDigit(c) && c != '-' && c != '.') {
			return xml.Name{}, refuseWith(http.StatusBadRequest, "%.100q is no name of a property", q.Name)
		}
	}
	if len(q.Name) > nameMax || q.Namespace != nil && len(*q.Namespace) > nameMax {
		return xml.Name{}, refuseWith(http.StatusBadRequest, "a property's name and its namespace have %d bytes at most", nameMax)
	}
	if q.Name == "" {
		return xml.Name{}, refuseWith(http.StatusBadRequest, "each DAV:property needs a name")
	}
	if q.Namespace == nil {
		return dav(q.Name), nil // RFC 3253 §3.8: the default
	}
	return xml.Name{Space: *q.Namespace, Local: q.Name}, nil
}

// eachHref calls do for every DAV:href in the value of a property, with its place in the
// text. Values that we write have our prefix, kept ones are as their client wrote them.
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
		if !ok || e.Name != dav("href") && e.Name != (xml.Name{Space: "d", Local: "href"}) {
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

// expand puts responses in the place of the addresses in a property that was written from
// start on.
func (e *expandable) expand(x *exchange, m *markup, start int) error {
	value := bytes.Clone(m.buf[start:])
	m.buf = m.buf[:start]
	copied := int64(0)
	err := eachHref(value, func(from, to int64, href string) error {
		m.buf = append(m.buf, value[copied:from]...)
		copied = to
		return e.answer(x, m, href)
	})
	if err != nil {
		m.buf = m.buf[:start]
		return err
	}
	m.buf = append(m.buf, value[copied:]...)
	return nil
}

// answer writes the response for an address.
func (e *expandable) answer(x *exchange, m *markup, href string) error {
	if *e.left--; *e.left < 0 || len(m.buf) > expandedBytes {
		return errEnough
	}
	if err := x.grown(m); err != nil {
		return err
	}
	r, err := x.findHref(href)
	if err != nil {
		return err
	}
	if r == nil {
		return m.raw("<d:response>").element("d:href", href).status(http.StatusNotFound).raw("</d:response>").ok()
	}
	return m.response(r, &e.plan)
}

// grown tells the meter of a buffer that got larger. Each level of the answer has a copy.
func (x *exchange) grown(m *markup) error {
	held := x.meter.Held()
	if now := 3 * int64(cap(m.buf)); now > held && cap(m.buf) > keptBytes {
		if err := x.meter.Hold(now - held); err != nil {
			return err
		}
	}
	return x.meter.Work(100)
}

// findHref looks up an address of a property's value; nil is what the caller sees nothing
// at, which may be a mail address, too.
func (x *exchange) findHref(href string) (*resource, error) {
	at, err := x.parseHref(href)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	r, err := x.find(at)
	var refusal *failure
	if err != nil && (missing(err) || errors.As(err, &refusal)) {
		return nil, nil
	}
	return r, err
}

// hrefsOf returns the addresses in the value of a property; none when it is not there.
func (r *resource) hrefsOf(p planItem) (hrefs []string, err error) {
	m := r.x.markup()
	defer r.x.release(m)
	if err := p.writeFlat(r, m, false); err != nil && !errors.Is(err, errAbsent) {
		return nil, err
	}
	err = eachHref(m.buf, func(_, _ int64, href string) error {
		hrefs = append(hrefs, href)
		return nil
	})
	return hrefs, err
}
