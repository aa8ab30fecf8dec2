package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync/atomic"
	"time"
)

// Kind is the span kind, with the numbers of OTLP.
type Kind int

// The span kinds.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// spansMost limits the spans of a request or task, so that a task of hours does not produce spans forever.
const spansMost = 512

// Span is a running part of a request or task. A nil Span accepts every call.
type Span struct {
	Ended
	tracer *Tracer
	// parts counts the spans of the whole request or task.
	parts *atomic.Int32
}

// Ended is a finished span.
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

// Attribute is a named text, or a number if the text is empty.
type Attribute struct {
	Name, Text string
	Number     int64
}

type spanKey struct{}

// Of returns the context's span, or nil.
func Of(ctx context.Context) *Span {
	span, _ := ctx.Value(spanKey{}).(*Span)
	return span
}

// Start begins a child of the context's span, if there is one.
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
		Ended: Ended{
			Trace: parent.Trace, ID: newSpanID(), Parent: parent.ID, Name: name, Kind: kind, Began: parent.tracer.Now(),
		},
		tracer: parent.tracer, parts: parent.parts,
	}
	return context.WithValue(ctx, spanKey{}, span), span
}

// Request begins the span of a request. traceparent (W3C Trace Context) comes from a trusted caller or is empty.
func (t *Tracer) Request(ctx context.Context, name, traceparent string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	id, parent, sampled, known := parse(traceparent)
	if !known {
		_, _ = rand.Read(id[:]) // never fails
	}
	if !t.Sampler.takes(id, sampled, known) {
		return ctx, nil
	}
	return t.root(ctx, Ended{Trace: id, Parent: parent, Name: name, Kind: Server})
}

// root begins a span without a parent in this program.
func (t *Tracer) root(ctx context.Context, e Ended) (context.Context, *Span) {
	e.ID, e.Began = newSpanID(), t.Now()
	span := &Span{Ended: e, tracer: t, parts: new(atomic.Int32)}
	return context.WithValue(ctx, spanKey{}, span), span
}

// Text sets a text attribute; the text must be one of the program's own words.
func (s *Span) Text(name, text string) {
	if s != nil && text != "" {
		s.Attributes = append(s.Attributes, Attribute{Name: name, Text: text})
	}
}

// Number sets a number attribute.
func (s *Span) Number(name string, number int64) {
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{Name: name, Number: number})
	}
}

// End ends a span; failed is its status. The reason goes only to the log: an error may contain user content.
func (s *Span) End(failed bool) {
	if s == nil {
		return
	}
	s.Took, s.Failed = s.tracer.Now().Sub(s.Began), failed
	s.tracer.take(s.Ended)
}

func newSpanID() (id [8]byte) {
	_, _ = rand.Read(id[:]) // never fails
	id[0] |= 1              // an id of zeros is invalid
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

// parse parses a traceparent. A version after 00 may have further parts, which are ignored.
func parse(text string) (id [16]byte, parent [8]byte, sampled, known bool) {
	parts := strings.SplitN(text, "-", parentParts+1)
	if len(parts) < parentParts || len(parts[0]) != versionDigits || parts[0] == "ff" ||
		parts[0] == "00" && len(parts) != parentParts ||
		len(parts[1]) != traceDigits || len(parts[2]) != parentDigits || len(parts[3]) != flagDigits ||
		strings.ToLower(text) != text {
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
