package caldav

import (
	"bytes"
	"io"
	"sync"
)

// repeated caches parsed PROPFIND requests. Each client repeats the same few requests, and parsing one takes longer
// than answering it.
type repeated struct {
	mu    sync.Mutex
	asked map[string]propfindRequest
}

const (
	// repeatedMost and repeatedBytes limit the cache to a megabyte.
	repeatedMost  = 256
	repeatedBytes = 4 << 10
)

func (m *repeated) recall(body []byte) (propfindRequest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, known := m.asked[string(body)]
	return q, known
}

func (m *repeated) remember(body []byte, q propfindRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil || len(m.asked) >= repeatedMost {
		m.asked = map[string]propfindRequest{}
	}
	m.asked[string(body)] = q
}

// question parses a PROPFIND. The result is shared between requests and must not be modified.
func (x *exchange) question() (q propfindRequest, err error) {
	if x.r.ContentLength <= 0 || x.r.ContentLength > repeatedBytes || x.r.Header.Get("Content-Encoding") != "" {
		return q, x.read(&q)
	}
	source, err := x.body(repeatedBytes)
	if err != nil {
		return q, err
	}
	body := make([]byte, x.r.ContentLength)
	if n, err := io.ReadFull(source, body); err != nil {
		// Decoding the bytes read so far reports a syntax error, or the read error at the same place.
		return q, x.decode(io.MultiReader(bytes.NewReader(body[:n]), source), &q)
	}
	q, known := x.repeated.recall(body)
	if known {
		return q, nil
	}
	err = x.decode(bytes.NewReader(body), &q)
	if err == nil {
		x.repeated.remember(body, q)
	}
	return q, err
}
