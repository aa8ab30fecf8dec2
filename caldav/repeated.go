package caldav

import (
	"bytes"
	"io"
	"sync"
)

// repeated remembers the questions of PROPFIND. Each client has a few of them, which it asks again
// and again, and reading one takes longer than the answer to it.
type repeated struct {
	mu    sync.Mutex
	asked map[string]propfindRequest
}

const (
	// repeatedMost and repeatedBytes bound what is remembered: a megabyte.
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

// question reads what a PROPFIND asks. Nobody may change it: others may have been told the same.
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
		// Whatever it is that went wrong, it is found at the same place.
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
