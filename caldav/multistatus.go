package caldav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
)

// flushBytes is how much of a reply is gathered before it goes out: enough for most to go
// at once with their length, little enough that memory does not grow with a collection.
const flushBytes = 16 << 10

// multistatus streams a reply of RFC 4918 §13.
type multistatus struct {
	*markup
	x    *exchange
	plan plan
	// absent are the items of the plan that the present resource lacks.
	absent []xml.Name
}

// multistatus begins a reply. Nothing goes out yet, so that an error can still be told.
func (x *exchange) multistatus(p plan) *multistatus {
	ms := &multistatus{markup: x.markup(), x: x, plan: p}
	ms.begin("d:multistatus")
	return ms
}

// add writes what the plan asks of a resource: what it has, and apart from that what it
// lacks.
func (ms *multistatus) add(r *resource) error {
	ms.raw("<d:response>").hrefElement(r.at)
	ms.absent = ms.absent[:0]
	start := len(ms.buf)
	ms.raw("<d:propstat><d:prop>")
	inside := len(ms.buf)
	for i := range ms.plan.items {
		item := &ms.plan.items[i]
		err := item.write(r, ms.markup, ms.plan.nameOnly)
		if errors.Is(err, errAbsent) {
			if !item.quiet && !ms.plan.minimal {
				ms.absent = append(ms.absent, item.name)
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	// A response has one propstat at least, be it empty.
	if len(ms.buf) > inside || len(ms.absent) == 0 {
		ms.raw("</d:prop>").status(http.StatusOK).raw("</d:propstat>")
	} else {
		ms.buf = ms.buf[:start]
	}
	if len(ms.absent) > 0 {
		ms.propstat(ms.absent, &failure{status: http.StatusNotFound})
	}
	ms.raw("</d:response>")
	return ms.flush(flushBytes)
}

// gone says that there is nothing at an address, as the client wrote it or as we would.
func (ms *multistatus) gone(href string) error {
	ms.raw("<d:response>").element("d:href", href).status(http.StatusNotFound).raw("</d:response>")
	return ms.flush(flushBytes)
}

// truncated says that the collection has more (RFC 6578 §3.6).
func (ms *multistatus) truncated(at place) {
	ms.raw("<d:response>").hrefElement(at).status(http.StatusInsufficientStorage).
		raw("<d:error><d:number-of-matches-within-limits/></d:error></d:response>")
}

// end finishes the reply.
func (ms *multistatus) end() error {
	defer ms.x.release(ms.markup)
	ms.raw("</d:multistatus>\n")
	if !ms.x.begun {
		ms.x.w.Header().Set("Content-Length", strconv.Itoa(len(ms.buf)))
	}
	return ms.flush(0)
}

// flush sends what was gathered, if that is as much as least.
func (ms *multistatus) flush(least int) error {
	if len(ms.buf) < least {
		return nil
	}
	if !ms.x.begun {
		ms.x.begun = true
		ms.x.w.Header().Set("Content-Type", xmlType)
		ms.x.w.WriteHeader(http.StatusMultiStatus)
	}
	_, err := ms.x.w.Write(ms.buf)
	ms.buf = ms.buf[:0]
	return err
}

// propstat writes what became of some properties, without their values.
func (m *markup) propstat(names []xml.Name, f *failure) {
	m.raw("<d:propstat><d:prop>")
	for _, n := range names {
		m.empty(n)
	}
	m.raw("</d:prop>").status(f.status)
	if f.condition != "" {
		m.raw("<d:error>")
		m.condition(f)
		m.raw("</d:error>")
	}
	if f.message != "" {
		m.element("d:responsedescription", f.message)
	}
	m.raw("</d:propstat>")
}

// status writes the line that stands for a status inside of a multistatus.
func (m *markup) status(status int) *markup {
	return m.raw("<d:status>HTTP/1.1 ").raw(strconv.Itoa(status)).raw(" ").raw(http.StatusText(status)).raw("</d:status>")
}
