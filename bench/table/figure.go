package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// figures are the rates by row and server, and the rates of the limits.
type figures struct {
	rows    []workload
	targets []*target
	limits  []limit
	rates   map[string]map[string][]float64
}

// measure runs the benchmark. In each round it measures the limits and then, row by row, the servers in turn.
func measure(ctx context.Context, o options, targets []*target, limits []limit) (*figures, error) {
	f := &figures{targets: targets, limits: limits, rates: map[string]map[string][]float64{}}
	for _, w := range workloads() {
		if f.rates[w.name] = map[string][]float64{}; w.once || o.rows.MatchString(w.name) {
			f.rows = append(f.rows, w)
		}
	}
	for round := range o.rounds {
		for i := range f.limits {
			if err := f.limits[i].take(ctx, o.duration); err != nil {
				return nil, err
			}
		}
		for _, t := range targets {
			t.count, t.token = o.objects, ""
			if err := t.prepare(ctx); err != nil {
				return nil, err
			}
		}
		for _, w := range f.rows {
			// Each round starts with a different server.
			for k := range targets {
				t := targets[(k+round)%len(targets)]
				if w.guests > t.crowd {
					continue
				}
				n, err := t.run(ctx, w, o.duration)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", t.name, w.name, err)
				}
				f.rates[w.name][t.name] = append(f.rates[w.name][t.name], n)
			}
		}
	}
	return f, nil
}

// run measures one row on one server: responses per second of waiting time.
func (t *target) run(ctx context.Context, w workload, d time.Duration) (float64, error) {
	var all sync.WaitGroup
	counts, took, errs := make([]int, w.conns), make([]time.Duration, w.conns), make([]error, w.conns)
	began := time.Now()
	for conn := range w.conns {
		all.Go(func() {
			c, step := connection(), w.begin(t, conn)
			defer c.CloseIdleConnections()
			for n := 0; errs[conn] == nil; n++ {
				if w.once && n*w.conns >= t.count || !w.once && time.Since(began) > d {
					return
				}
				one, err := step(ctx, c, n)
				counts[conn], took[conn], errs[conn] = counts[conn]+1, took[conn]+one, errors.Join(err, ctx.Err())
			}
		})
	}
	all.Wait()
	sum := 0.0
	for conn := range w.conns {
		sum += float64(counts[conn]) / took[conn].Seconds()
	}
	return sum, errors.Join(errs...)
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// tables formats the result.
func (f *figures) tables() string {
	var to strings.Builder
	to.WriteString("| limit | a second |\n| --- | --- |\n")
	for _, l := range f.limits {
		fmt.Fprintf(&to, "| %s | %.0f |\n", l.name, median(l.rates))
	}
	to.WriteString("\n| answers a second | must |")
	for _, t := range f.targets {
		fmt.Fprintf(&to, " %s | |", t.name)
	}
	to.WriteString("\n| --- | --- |")
	for range f.targets {
		to.WriteString(" --- | --- |")
	}
	for _, w := range f.rows {
		fmt.Fprintf(&to, "\n| %s | %s |", w.name, w.wanted())
		for _, t := range f.targets {
			if w.guests > t.crowd {
				to.WriteString(" | |")
				continue
			}
			fmt.Fprintf(&to, " %.0f | %s |", median(f.rates[w.name][t.name]), f.share(w, t))
		}
	}
	to.WriteString("\n")
	return to.String()
}

// wanted describes the target of a row.
func (w workload) wanted() string {
	switch {
	case w.must == 0:
		return ""
	case w.limit == "":
		return fmt.Sprintf("%.0f × the best peer", w.must)
	}
	of := "the limit"
	if w.limit == onePut {
		of = "the row above"
	}
	return fmt.Sprintf("%.0f %% of %s", 100*w.must, of)
}

// limit returns the rate that a server's row is compared with, or 0 if it was not measured.
func (f *figures) limit(w workload, t *target) float64 {
	if w.limit == onePut {
		return median(f.rates[onePut][t.name])
	}
	for _, l := range f.limits {
		if l.name == w.limit || l.name == t.name+" "+w.limit {
			return median(l.rates)
		}
	}
	return 0
}

// share describes a server's rate relative to that limit.
func (f *figures) share(w workload, t *target) string {
	own := median(f.rates[w.name][t.name])
	if w.limit != "" {
		limit := f.limit(w, t)
		if limit == 0 {
			return ""
		}
		return fmt.Sprintf("%.0f %%", 100*own/limit)
	}
	best := 0.0
	for _, other := range f.targets {
		if other.name != "sqlite" && other.name != "postgres" && other != t {
			best = max(best, median(f.rates[w.name][other.name]))
		}
	}
	if best == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f ×", own/best)
}
