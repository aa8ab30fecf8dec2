package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
)

// TestMarkedAreThoseThatOverlap: the search says what a comparison of each with each says.
func TestMarkedAreThoseThatOverlap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	for range 2000 {
		var open []recur.Instance
		for range 1 + random.IntN(12) {
			start := random.IntN(60)
			open = append(open, recur.Instance{
				Start: recur.Moment{Time: at(start)}, End: recur.Moment{Time: at(start + 1 + random.IntN(30))},
			})
		}
		slices.SortFunc(open, func(a, b recur.Instance) int { return a.Start.Time.Compare(b.Start.Time) })
		w := wantedOf(open)
		start := random.IntN(60)
		end := start + random.IntN(20)
		w.mark(at(start), at(end))
		for n, i := range open {
			if want := i.Start.Time.Before(at(end)) && i.End.Time.After(at(start)); w.out[n] != want {
				t.Fatalf("%v to %v beside %v to %v: %v, want %v", i.Start.Time, i.End.Time, at(start), at(end),
					w.out[n], want)
			}
		}
	}
}
