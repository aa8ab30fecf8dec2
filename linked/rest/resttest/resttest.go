// Package resttest injects faults into servers; the fakes of the providers share it.
package resttest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Fault is a way for a request to fail.
type Fault struct {
	// Status is sent with Body, before the request is processed.
	Status int
	Body   string
	// After is the Retry-After, in seconds.
	After int
	// Lost processes the request but sends no response. Half sends the first half.
	Lost, Half bool
	// Cut neither processes the request nor sends a response.
	Cut bool
	// Method restricts the fault to a method; "" means any.
	Method string
	// First is called before the request is processed, Then after it, before the response.
	First, Then func()
}

// Faults are pending faults of a server.
type Faults struct {
	mu    sync.Mutex
	next  []Fault
	count int
	log   []string
}

// Add makes the next requests fail, one per fault.
func (f *Faults) Add(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = append(f.next, faults...)
}

// Clear removes the pending faults.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = nil
}

// Requests counts and lists the requests.
func (f *Faults) Requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

func (f *Faults) draw(r *http.Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.log = append(f.log, r.Method+" "+r.URL.Path)
	if len(f.next) == 0 || f.next[0].Method != "" && f.next[0].Method != r.Method {
		return Fault{}, false
	}
	fault := f.next[0]
	f.next = f.next[1:]
	return fault, true
}

// Before wraps a server with the faults.
func (f *Faults) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, fails := f.draw(r)
		if fault.First != nil {
			fault.First()
		}
		switch {
		case !fails:
			next.ServeHTTP(w, r)
		case fault.Status != 0:
			if fault.After != 0 {
				w.Header().Set("Retry-After", strconv.Itoa(fault.After))
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(fault.Status)
			_, _ = io.WriteString(w, fault.Body)
		case fault.Cut:
			panic(http.ErrAbortHandler)
		default:
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			if fault.Then != nil {
				fault.Then()
			}
			if fault.Half {
				w.Header().Set("Content-Length", strconv.Itoa(kept.Body.Len()))
				w.WriteHeader(kept.Code)
				_, _ = w.Write(bytes.Clone(kept.Body.Bytes()[:kept.Body.Len()/2]))
			}
			panic(http.ErrAbortHandler)
		}
	})
}
