package caldav

import (
	"encoding/xml"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"caldav-mcp-server/calendar/service"
)

// flushBytes is the size at which a buffered part of a response is sent. Most responses are smaller, and are sent
// whole with a Content-Length (a multiget of fifty objects has 80 KB). Yet memory does not grow with the collection.
const flushBytes = 128 << 10

// resourceSteps is the work charged for finding and writing one resource. Thousands of them take time, and the meter
// lets other requests run in between.
const resourceSteps = 200

// multistatus streams a multistatus response (RFC 4918 §13).
type multistatus struct {
	*markup
	x    *exchange
	plan plan
}

// multistatus begins a response. It sends nothing yet, so that an error can still be reported.
func (x *exchange) multistatus(p plan) *multistatus {
	ms := &multistatus{markup: x.markup(), x: x, plan: p}
	ms.begin("d:multistatus")
	return ms
}

// add writes the planned properties of a resource.
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

// response writes the planned properties of a resource: first those it has, then those it lacks, then those it
// refuses.
func (m *markup) response(r *resource, p *plan) error {
	m.raw("<d:response>").href(&r.at)
	if err := m.propstats(r, p); err != nil {
		return err
	}
	return m.raw("</d:response>").ok()
}

// propstats writes the planned properties of a resource, without its address.
func (m *markup) propstats(r *resource, p *plan) error {
	start, before := len(m.buf), len(m.absent)
	m.raw("<d:propstat><d:prop>")
	inside := len(m.buf)
	refused, err := m.values(r, p)
	if err != nil {
		return err
	}
	absent := m.absent[before:]
	// A response needs at least one propstat, even an empty one.
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

// refusedItem is a property that a resource has but refuses to give.
type refusedItem struct {
	name    xml.Name
	failure *failure
}

// values writes the properties that the resource has. It adds missing properties to absent and returns the refused
// ones.
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

// lost reports whether the text of an object or message was read and turned out to be lost.
func (r *resource) lost() bool {
	return r.at.kind()&(atObject|atItem) != 0 && r.object.Data != nil && r.object.CheckText() != nil
}

// unread gives one lost object the status 500: a client with a copy keeps it, and gets all other objects. The log
// names the object.
func (ms *multistatus) unread(r *resource) {
	ms.x.Logger.LogAttrs(ms.x.r.Context(), slog.LevelError, "an object cannot be shown", slog.String("method", ms.x.r.Method),
		slog.String("error", service.ForLog(r.object.CheckText())))
	ms.raw("<d:response>").href(&r.at).status(http.StatusInternalServerError).raw("</d:response>")
}

// gone writes a 404 for an address, as the client wrote it or as we would.
func (ms *multistatus) gone(href string) error {
	ms.raw("<d:response>").element("d:href", href).status(http.StatusNotFound).raw("</d:response>")
	return ms.flush(flushBytes)
}

// truncated reports that the result was cut off (RFC 6578 §3.6).
func (ms *multistatus) truncated(at place) {
	ms.refused(at, http.StatusInsufficientStorage, "d:number-of-matches-within-limits")
}

// refused writes a failed condition in place of an address's properties.
func (ms *multistatus) refused(at place, status int, condition string) {
	ms.raw("<d:response>").href(at).status(status).raw("<d:error><").raw(condition).raw("/></d:error></d:response>")
}

// end finishes the response.
func (ms *multistatus) end() error {
	defer ms.x.release(ms.markup)
	ms.raw("</d:multistatus>\n")
	if !ms.x.begun {
		ms.x.w.Header().Set("Content-Length", strconv.Itoa(len(ms.buf)))
	}
	return ms.flush(0)
}

// flush sends the buffer if it holds at least least bytes.
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
