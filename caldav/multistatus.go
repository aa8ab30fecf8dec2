package caldav

import (
	"encoding/xml"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"caldav-mcp-server/calendar/service"
)

// flushBytes is how much of a reply is gathered before it goes out: enough for most to go
// at once with their length (a multiget of fifty objects has 80 KB), little enough that memory
// does not grow with a collection.
const flushBytes = 128 << 10

// resourceSteps is what it takes to find a resource and what is asked of it: thousands of them are work, too, and others
// get their turn in between.
const resourceSteps = 200

// multistatus streams a reply of RFC 4918 §13.
type multistatus struct {
	*markup
	x    *exchange
	plan plan
}

// multistatus begins a reply. Nothing goes out yet, so that an error can still be told.
func (x *exchange) multistatus(p plan) *multistatus {
	ms := &multistatus{markup: x.markup(), x: x, plan: p}
	ms.begin("d:multistatus")
	return ms
}

// add writes what the plan asks of a resource.
func (ms *multistatus) add(r *resource) error {
	held, before := ms.x.meter.Held(), len(ms.buf)
	if ms.plan.data && r.lost() {
		ms.unread(r)
	} else if err := ms.response(r, &ms.plan); err != nil {
		return err
	}
	if err := ms.x.meter.Work(resourceSteps + int64(len(ms.buf)-before)>>6); err != nil {
		return err
	}
	err := ms.flush(flushBytes)
	ms.x.meter.Free(ms.x.meter.Held() - held)
	return err
}

// response writes what a plan asks of a resource: what it has, and apart from that what it
// lacks and what it cannot give.
func (m *markup) response(r *resource, p *plan) error {
	m.raw("<d:response>").hrefElement(r.at)
	if err := m.propstats(r, p); err != nil {
		return err
	}
	return m.raw("</d:response>").ok()
}

// propstats writes what a plan asks of a resource without its address.
func (m *markup) propstats(r *resource, p *plan) error {
	start, before := len(m.buf), len(m.absent)
	m.raw("<d:propstat><d:prop>")
	inside := len(m.buf)
	refused, err := m.values(r, p)
	if err != nil {
		return err
	}
	absent := m.absent[before:]
	// A response has one propstat at least, be it empty.
	if len(m.buf) > inside || len(absent)+len(refused) == 0 {
		m.raw("</d:prop>").status(http.StatusOK).raw("</d:propstat>")
	} else {
		m.buf = m.buf[:start]
	}
	if len(absent) > 0 {
		m.propstat(absent, &failure{status: http.StatusNotFound})
		m.absent = m.absent[:before]
	}
	for _, item := range refused {
		m.propstat([]xml.Name{item.name}, item.failure)
	}
	return nil
}

// refusedItem is a property that a resource has, but cannot give.
type refusedItem struct {
	name    xml.Name
	failure *failure
}

// values writes the properties that the resource has, adds those that it lacks to absent,
// and tells which ones it refuses.
func (m *markup) values(r *resource, p *plan) (refused []refusedItem, err error) {
	for i := range p.items {
		item := &p.items[i]
		var refusal *failure
		err := item.write(r, m, p.nameOnly)
		switch {
		case err == nil:
		case errors.Is(err, errAbsent):
			if !item.quiet && !p.minimal {
				m.absent = append(m.absent, item.name)
			}
		case errors.As(err, &refusal):
			refused = append(refused, refusedItem{item.name, refusal})
		default:
			return nil, err
		}
	}
	return refused, nil
}

// lost tells that the text of an object, or of a message, was read, and is not there.
func (r *resource) lost() bool {
	return r.at.kind()&(atObject|atItem) != 0 && r.object.Data != nil && r.object.CheckText() != nil
}

// unread says that one object cannot be had: a client that has it keeps it, and all have the others. The log names it.
func (ms *multistatus) unread(r *resource) {
	ms.x.Logger.LogAttrs(ms.x.r.Context(), slog.LevelError, "an object cannot be shown", slog.String("method", ms.x.r.Method),
		slog.String("error", service.ForLog(r.object.CheckText())))
	ms.raw("<d:response>").hrefElement(r.at).status(http.StatusInternalServerError).raw("</d:response>")
}

// gone says that there is nothing at an address, as the client wrote it or as we would.
func (ms *multistatus) gone(href string) error {
	ms.raw("<d:response>").element("d:href", href).status(http.StatusNotFound).raw("</d:response>")
	return ms.flush(flushBytes)
}

// truncated says that the collection has more (RFC 6578 §3.6).
func (ms *multistatus) truncated(at place) {
	ms.refused(at, http.StatusInsufficientStorage, "d:number-of-matches-within-limits")
}

// refused says by which condition an address has no answer.
func (ms *multistatus) refused(at place, status int, condition string) {
	ms.raw("<d:response>").hrefElement(at).status(status).raw("<d:error><").raw(condition).raw("/></d:error></d:response>")
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
	ms.x.meter.Rest()
	_, err := ms.x.w.Write(ms.buf)
	ms.shrink()
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
