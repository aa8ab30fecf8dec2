package trace

import (
	"context"
	"crypto/rand"
	"log/slog"
)

type tracerKey struct{}

// Own has the tasks within a context told as traces of their own. It is for what goes on beside the requests.
func (t *Tracer) Own(ctx context.Context) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// factPrefix stands before the names of facts.
const factPrefix = "caldav_mcp."

// Task begins a task: a part of the span that is under way or, where none is, a trace of its own, see [Tracer.Own]. It is ended with
// whether it came to nothing, and with facts: kinds, counts and states, in words of the program's own.
func Task(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr)) {
	if Of(ctx) != nil {
		within, span := Start(ctx, name, Internal)
		return within, span.endWith
	}
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	within, span := t.task(ctx, name)
	return within, span.endWith
}

// task begins a trace with a task. The parts of one that the sampler leaves out are left out as well.
func (t *Tracer) task(ctx context.Context, name string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
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
