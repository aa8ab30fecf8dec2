package resttest

import (
	"slices"
	"sync"
)

// Write is a write that a server accepted.
type Write struct {
	Method, ID string
	// Body is the request's body; nil for a deletion.
	Body map[string]any
}

// Writes are the accepted writes, in order.
type Writes struct {
	mu  sync.Mutex
	all []Write
}

// Took records a write.
func (w *Writes) Took(method, id string, body map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, Write{method, id, body})
}

// Taken returns all accepted writes.
func (w *Writes) Taken() []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}
