package dav

import (
	"bytes"
	"io"
	"sync"
)

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
