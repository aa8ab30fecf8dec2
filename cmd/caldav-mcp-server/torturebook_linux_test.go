package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// where is the state of an event: its last edition and its calendar. The zero value means that it does not exist.
type where struct {
	edition  int
	calendar string
}

// page is the ledger's entry for one event.
type page struct {
	uid, name string // as far as they are known: those of an event that an assistant made are the server's choice
	// may are the possible states according to the responses: one, unless a response never came.
	may map[where]bool
	// edition is the last that anybody asked for.
	edition int
}

// sure is the state of an event, unless there is more than one that it may be in.
func (e *page) sure() (where, bool) {
	for at := range e.may {
		return at, len(e.may) == 1
	}
	return where{}, false
}

// outcome is the response to a write.
type outcome int

const (
	unknown outcome = iota // no answer, or one that does not say whether it was done
	acknowledged
	turnedDown
)

// book records every write of every writer, over both protocols. An event has one writer, so its possible states follow
// from the responses in order.
type book struct {
	counts [turnedDown + 1]atomic.Int64

	mu      sync.Mutex
	entries map[string]*page
	// wrong are answers that no server may give.
	wrong []string
	// refusals counts the refusals by text.
	refusals map[string]int
}

func newBook() *book {
	return &book{entries: map[string]*page{}, refusals: map[string]int{}}
}

// note writes down what became of a write. Change makes the state after it from the one before.
func (l *book) note(identity string, o outcome, change func(where) where) {
	l.counts[o].Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[identity]
	if o == turnedDown {
		return
	}
	after := map[where]bool{}
	for at := range e.may {
		after[change(at)] = true
		if o == unknown {
			after[at] = true
		}
	}
	e.may = after
}

// complain records a response that a server must never give.
func (l *book) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < 20 {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// refuse counts a refusal by its text.
func (l *book) refuse(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals[what]++
}

// open opens the page of an event that was never requested, or that already exists.
func (l *book) open(identity, uid, name string) *page {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[identity]
	if e == nil {
		e = &page{uid: uid, name: name, may: map[where]bool{{}: true}}
		l.entries[identity] = e
	}
	return e
}

// settle compares the actual state with the possible ones, and takes it as known from then on. Events that are
// certainly deleted are forgotten; if one comes back, it is unknown.
func (l *book) settle(found map[string]seen) (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wrong, l.wrong = l.wrong, nil
	for identity, at := range found {
		e := l.entries[identity]
		if e == nil {
			wrong = append(wrong,
				fmt.Sprintf("%s is there, at %v: nobody made it, or it was deleted", identity, at.where))
			continue
		}
		e.uid, e.name = at.uid, at.name
	}
	for identity, e := range l.entries {
		at := found[identity].where
		if !e.may[at] {
			wrong = append(wrong, fmt.Sprintf("%s is at %v, and may be at %v", identity, at, e.may))
		}
		if e.may = map[where]bool{at: true}; at == (where{}) {
			delete(l.entries, identity)
		}
	}
	return wrong
}
