package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync/atomic"
	"time"
)

// Kind is the part that the program has in a span, with the numbers of OTLP.
type Kind int

// The kinds there are.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// spansMost is how many spans a request or a task may have: what goes on for hours is not told for ever.
const spansMost = 512

// Span is a part of the work on a request or a task, while it is under way. A nil one takes every call.
type Span struct {
	Ended
	tracer *Tracer
	// parts counts the spans that the request or task has, for all of them.
	parts *atomic.Int32
}

// Ended is a span as it is told.
type Ended struct {
	Trace      [16]byte
	ID, Parent [8]byte
	Name       string
	Kind       Kind
	Began      time.Time
	Took       time.Duration
	Attributes []Attribute
	Failed     bool
}

// Attribute is a text, or a number where there is no text, with its name.
type Attribute struct {
	Name, Text string
	Number     int64
}

type spanKey struct{}

// Of returns the span that is under way; nil where none is.
func Of(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// Start begins a part of the span that is under way, if one is.
func Start(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	parent := Of(ctx)
	if parent == nil {
		return ctx, nil
	}
	if parent.parts.Add(1) > spansMost {
		parent.tracer.dropped.Add(1)
		return ctx, nil
	}
	span := &Span{
		Ended:  Ended{Trace: parent.Trace, ID: newSpanID(), Parent: parent.ID, Name: name, Kind: kind, Began: parent.tracer.Now()},
		tracer: parent.tracer, parts: parent.parts,
	}
	return context.WithValue(ctx, spanKey{}, span), span
}

// Request begins a request. The traceparent (W3C Trace Context) is that of somebody who is trusted, or empty.
func (t *Tracer) Request(ctx context.Context, name, traceparent string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	id, parent, sampled, known := parse(traceparent)
	if !known {
		_, _ = rand.Read(id[:]) // it never fails
	}
	if !t.Sampler.takes(id, sampled, known) {
		return ctx, nil
	}
	return t.root(ctx, Ended{Trace: id, Parent: parent, Name: name, Kind: Server})
}

// root begins a span that is no part of another one of this program.
func (t *Tracer) root(ctx context.Context, e Ended) (context.Context, *Span) {
	e.ID, e.Began = newSpanID(), t.Now()
	span := &Span{Ended: e, tracer: t, parts: new(atomic.Int32)}
	return context.WithValue(ctx, spanKey{}, span), span
}

// Text notes a word of the program's own.
func (s *Span) Text(name, text string) {
	if s != nil && text != "" {
		s.Attributes = append(s.Attributes, Attribute{Name: name, Text: text})
	}
}

// Number notes a number.
func (s *Span) Number(name string, number int64) {
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{Name: name, Number: number})
	}
}

// End ends a span, with whether the work came to nothing. Why is for the log: an error may hold what somebody has written.
func (s *Span) End(failed bool) {
	if s == nil {
		return
	}
	s.Took, s.Failed = s.tracer.Now().Sub(s.Began), failed
	s.tracer.take(s.Ended)
}

func newSpanID() (id [8]byte) {
	_, _ = rand.Read(id[:]) // it never fails
	id[0] |= 1              // one of zeros is none
	return id
}

// The lengths of a traceparent's parts, in hexadecimal digits.
const (
	versionDigits = 2
	traceDigits   = 32
	parentDigits  = 16
	flagDigits    = 2
	parentParts   = 4
)

// parse reads a traceparent. A later version than 00 may have more behind, which is left alone.
func parse(text string) (id [16]byte, parent [8]byte, sampled, known bool) {
	parts := strings.SplitN(text, "-", parentParts+1)
	if len(parts) < parentParts || len(parts[0]) != versionDigits || parts[0] == "ff" || parts[0] == "00" && len(parts) != parentParts ||
		len(parts[1]) != traceDigits || len(parts[2]) != parentDigits || len(parts[3]) != flagDigits || strings.ToLower(text) != text {
		return id, parent, false, false
	}
	var version, flags [1]byte
	for i, to := range [][]byte{version[:], id[:], parent[:], flags[:]} {
		if _, err := hex.Decode(to, []byte(parts[i])); err != nil {
			return [16]byte{}, [8]byte{}, false, false
		}
	}
	return id, parent, flags[0]&1 == 1, id != [16]byte{} && parent != [8]byte{}
}
