// Package resttest has servers misbehave: what providers' fakes share.
package resttest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Fault is one way in which a request fails.
type Fault struct {
	// Status is answered with Body, before anything is done.
	Status int
	Body   string
	// After is the Retry-After of it, in seconds.
	After int
	// Lost does what was asked, and answers nothing. Half answers the first half.
	Lost, Half bool
	// Cut does nothing of what was asked, and answers nothing.
	Cut bool
	// Method is the only method that it is for; "" for any.
	Method string
	// First is called before anything is done, Then once it is done, and before the answer.
	First, Then func()
}

// Faults are those that lie before a server.
type Faults struct {
	mu    sync.Mutex
	next  []Fault
	count int
	log   []string
}

// Add has the next requests fail, one by one.
func (f *Faults) Add(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = append(f.next, faults...)
}

// Clear takes back what has not failed yet.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = nil
}

// Requests counts what was asked, and lists it.
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

// Before puts the faults before a server.
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
