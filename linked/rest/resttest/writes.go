package resttest

import (
	"slices"
	"sync"
)

// Write is a write that a server took.
type Write struct {
	Method, ID string
	// Body is what was sent; nil for a deletion.
	Body map[string]any
}

// Writes are those that a server took, one after the other.
type Writes struct {
	mu  sync.Mutex
	all []Write
}

// Took notes a write.
func (w *Writes) Took(method, id string, body map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, Write{method, id, body})
}

// Taken are all writes that were taken.
func (w *Writes) Taken() []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}
