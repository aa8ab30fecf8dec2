package filter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/filter"
	costs "caldav-mcp-server/calendar/meter"
)

func lengthy(t *testing.T, lines int) (filter.Filter, string) {
	t.Helper()
	text := strings.Replace(meeting, "SUMMARY", strings.Repeat("COMMENT:x\n", lines)+"SUMMARY", 1)
	ask := filter.PropFilter{
		Name: "COMMENT", Text: &filter.TextMatch{Text: strings.Repeat("Ä", 400), Collation: filter.UnicodeCasemap},
	}
	return under(filter.CompFilter{Name: "VEVENT", Props: []filter.PropFilter{ask}}), text
}

// TestTextIsFoldedOnce: to fold what is looked for anew for each property made one request take minutes (security H3).
func TestTextIsFoldedOnce(t *testing.T) {
	const lines = 1000
	f, text := lengthy(t, lines)
	o, in := object(t, text), filter.Context{Zones: zones}
	allocations := testing.AllocsPerRun(3, func() {
		if ok, err := f.Match(t.Context(), o, in); ok || err != nil {
			t.Fatal(ok, err)
		}
	})
	if allocations > 2*lines {
		t.Errorf("%v allocations for %d properties", allocations, lines)
	}
}

// TestComparingEnds when the client has gone, and when it has cost enough.
func TestComparingEnds(t *testing.T) {
	t.Parallel()
	f, text := lengthy(t, 5000)
	o := object(t, text)
	gone, leave := context.WithCancel(t.Context())
	leave()
	p := costs.NewPool(costs.Config{Bytes: 1 << 20, Wait: time.Second, Limits: costs.Limits{Steps: 3000}})
	for want, m := range map[error]*costs.Meter{context.Canceled: p.Meter(gone, "a"), nil: p.Meter(t.Context(), "a")} {
		defer m.Close()
		ok, err := f.Match(t.Context(), o, filter.Context{Zones: zones, Meter: m})
		var spent *costs.OverrunError
		if ok || want != nil && !errors.Is(err, want) || want == nil && !errors.As(err, &spent) {
			t.Errorf("%v, %v", ok, err)
		}
	}
}
