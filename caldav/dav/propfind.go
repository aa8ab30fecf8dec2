package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Propfind is DAV:propfind (RFC 4918 §14.20).
type Propfind struct {
	XMLName  xml.Name  `xml:"DAV: propfind"`
	Prop     *Names    `xml:"DAV: prop"`
	AllProp  *struct{} `xml:"DAV: allprop"`
	PropName *struct{} `xml:"DAV: propname"`
	Include  Names     `xml:"DAV: include"`
}

// check refuses a request with several forms.
func (q *Propfind) check() error {
	asked := 0
	for _, is := range []bool{q.Prop != nil, q.AllProp != nil, q.PropName != nil} {
		if is {
			asked++
		}
	}
	if asked != 1 {
		return Refuse(http.StatusBadRequest, "DAV:propfind must hold one of prop, allprop and propname")
	}
	return nil
}

// Propfind reads the request of a PROPFIND. The result is shared between requests and must not be modified.
func (x *Exchange) Propfind() (Propfind, error) {
	q, err := x.question()
	if errors.Is(err, ErrNoBody) {
		q.AllProp, err = &struct{}{}, nil // §9.1: no body means allprop
	}
	return q, err
}

// FindDepth reads the Depth of a PROPFIND. A missing Depth means infinity (§9.1), which a server may refuse for a
// collection. That is better than an answer to another request, and every known client sends a Depth.
func (x *Exchange) FindDepth(collection bool) (Depth, error) {
	d, err := x.Depth()
	if err == nil && collection && (d == DepthMissing || d == DepthInfinity) {
		return d, Breach("d:propfind-finite-depth",
			"send Depth: 0 or Depth: 1; without it, PROPFIND asks for the whole tree")
	}
	return d, err
}

// repeated caches parsed PROPFIND requests. Each client repeats the same few requests, and parsing one takes longer
// than answering it.
type repeated struct {
	mu    sync.Mutex
	asked map[string]Propfind
}

const (
	// repeatedMost and repeatedBytes limit the cache to a megabyte.
	repeatedMost  = 256
	repeatedBytes = 4 << 10
)

func (m *repeated) recall(body []byte) (Propfind, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, known := m.asked[string(body)]
	return q, known
}

func (m *repeated) remember(body []byte, q Propfind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil || len(m.asked) >= repeatedMost {
		m.asked = map[string]Propfind{}
	}
	m.asked[string(body)] = q
}

// question parses a PROPFIND. The result is shared between requests and must not be modified.
func (x *Exchange) question() (q Propfind, err error) {
	if x.R.ContentLength <= 0 || x.R.ContentLength > repeatedBytes || x.R.Header.Get("Content-Encoding") != "" {
		return q, x.Read(&q)
	}
	source, err := x.Body(repeatedBytes)
	if err != nil {
		return q, err
	}
	body := make([]byte, x.R.ContentLength)
	if n, err := io.ReadFull(source, body); err != nil {
		// Decoding the bytes read so far reports a syntax error, or the read error at the same place.
		return q, x.Decode(io.MultiReader(bytes.NewReader(body[:n]), source), &q)
	}
	q, known := x.server.repeated.recall(body)
	if known {
		return q, nil
	}
	err = x.Decode(bytes.NewReader(body), &q)
	if err == nil {
		x.server.repeated.remember(body, q)
	}
	return q, err
}
