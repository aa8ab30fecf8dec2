package dav

import (
	"net/http"
	"strconv"
)

// FlushBytes is the size at which a buffered part of a response is sent. Most responses are smaller, and are sent
// whole with a Content-Length (a multiget of fifty objects has 80 KB). Yet memory does not grow with the collection.
const FlushBytes = 128 << 10

// resourceSteps is the work charged for finding and writing one resource. Thousands of them take time, and the meter
// lets other requests run in between.
const resourceSteps = 200

// Multistatus streams a multistatus response (RFC 4918 §13).
type Multistatus struct {
	*Markup
	x *Exchange
}

// Multistatus begins a response. It sends nothing yet, so that an error can still be reported.
func (x *Exchange) Multistatus() *Multistatus {
	ms := &Multistatus{x.Markup(), x}
	ms.Begin("d:multistatus")
	return ms
}

// Add calls write to write the response for one resource, and charges the meter for it. Memory that write has reserved
// is freed once the response was sent.
func (ms *Multistatus) Add(write func() error) error {
	held, before := ms.x.Meter.Held(), len(ms.Buf)
	if err := write(); err != nil {
		return err
	}
	if err := ms.x.Meter.Work(resourceSteps + int64(len(ms.Buf)-before)>>6); err != nil {
		return err
	}
	err := ms.Flush(FlushBytes)
	ms.x.Meter.Free(ms.x.Meter.Held() - held)
	return err
}

// Status writes a status in place of an address's properties.
func (ms *Multistatus) Status(at Address, status int) {
	ms.Raw("<d:response>").Href(at).Status(status).Raw("</d:response>")
}

// StatusOf is Status for an address as the client wrote it.
func (ms *Multistatus) StatusOf(href string, status int) {
	ms.Raw("<d:response>").Element("d:href", href).Status(status).Raw("</d:response>")
}

// Gone writes a 404 for an address, as the client wrote it or as we would.
func (ms *Multistatus) Gone(href string) error {
	ms.StatusOf(href, http.StatusNotFound)
	return ms.Flush(FlushBytes)
}

// Truncated reports that the result was cut off (RFC 6578 §3.6).
func (ms *Multistatus) Truncated(at Address) {
	ms.Refused(at, http.StatusInsufficientStorage, "d:number-of-matches-within-limits")
}

// Refused writes a failed condition in place of an address's properties.
func (ms *Multistatus) Refused(at Address, status int, condition string) {
	ms.Raw("<d:response>").Href(at).Status(status).Raw("<d:error><").Raw(condition).Raw("/></d:error></d:response>")
}

// End finishes the response.
func (ms *Multistatus) End() error {
	defer ms.x.Release(ms.Markup)
	ms.Raw("</d:multistatus>\n")
	if !ms.x.Begun {
		ms.x.W.Header().Set("Content-Length", strconv.Itoa(len(ms.Buf)))
	}
	return ms.Flush(0)
}

// Flush sends the buffer if it holds at least least bytes.
func (ms *Multistatus) Flush(least int) error {
	if len(ms.Buf) < least {
		return nil
	}
	if !ms.x.Begun {
		ms.x.Begun = true
		ms.x.W.Header().Set("Content-Type", XMLType)
		ms.x.W.WriteHeader(http.StatusMultiStatus)
	}
	ms.x.Meter.Rest()
	_, err := ms.x.W.Write(ms.Buf)
	ms.shrink()
	return err
}
