package trace

import (
	"context"
	"crypto/rand"
	"log/slog"
)

type tracerKey struct{}

// Own makes the tasks of a context traces of their own. It is for background work outside requests.
func (t *Tracer) Own(ctx context.Context) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// factPrefix is the prefix of attribute names.
const factPrefix = "caldav_mcp."

// Task begins a task: a child of the context's span or, if there is none, a trace of its own, see [Tracer.Own]. end
// takes its status and its attributes: kinds, counts and states in the program's own words.
func Task(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr)) {
	if Of(ctx) != nil {
		within, span := Start(ctx, name, Internal)
		return within, span.endWith
	}
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	within, span := t.task(ctx, name)
	return within, span.endWith
}

// task begins a trace for a task. If the sampler drops it, its children are dropped as well.
func (t *Tracer) task(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	if !t.Sampler.takes(id, false, false) {
		return (*Tracer)(nil).Own(ctx), nil
	}
	return t.root(ctx, Ended{Trace: id, Name: name, Kind: Internal})
}

func (s *Span) endWith(failed bool, facts ...slog.Attr) {
	for _, f := range facts {
		if f.Value.Kind() == slog.KindInt64 {
			s.Number(factPrefix+f.Key, f.Value.Int64())
		} else {
			s.Text(factPrefix+f.Key, f.Value.String())
		}
	}
	s.End(failed)
}
