package recur_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
)

// FuzzExpand expands whatever can be read as an event: without a panic, within
// the budget, in order, inside the window and inside the span.
func FuzzExpand(f *testing.F) {
	for _, h := range hostileRules() {
		f.Add("DTSTART:"+h.start+"\nRRULE:"+h.rule, "", int64(1785715200), uint32(7*24*3600))
	}
	for _, e := range examples() {
		f.Add("DTSTART;TZID=America/New_York:"+e.start+"T090000\n"+e.lines, "", int64(873183600), uint32(90*24*3600))
	}
	f.Add(berlin+
		"\nDURATION:P1DT1H\nRRULE:FREQ=DAILY\nEXDATE;VALUE=DATE:20260804\nRDATE;VALUE=PERIOD:20260803T100000Z/PT5M",
		"RECURRENCE-ID;RANGE=THISANDFUTURE:20260805T180000Z\nDTSTART;VALUE=DATE:20260701", int64(1785715200),
		uint32(1e6))
	f.Add("DTSTART;VALUE=DATE:00010101\nRRULE:FREQ=WEEKLY;WKST=SU;BYDAY=SA,SU", "", int64(-62135596800), uint32(1e7))
	f.Add("DTSTART:99991201T000000\nRRULE:FREQ=YEARLY;BYWEEKNO=1,-1;BYDAY=SU", "", int64(253370764800), uint32(1e9))
	f.Fuzz(func(t *testing.T, master, other string, from int64, length uint32) {
		lines := event(master)
		if other != "" {
			lines += event(other)
		}
		if strings.Contains(lines, "BEGIN:VTIMEZONE") {
			return // the zone package has its own
		}
		set, err := trySet(lines, time.UTC)
		if err != nil {
			return
		}
		checkWindow(t, set, time.Unix(from%1e12, 0), time.Unix(from%1e12+int64(length), 0))
	})
}

func checkWindow(t *testing.T, set *recur.Set, from, to time.Time) {
	t.Helper()
	budget := recur.Budget{Steps: 50_000, Instances: 500}
	span, dated := set.Span(2000)
	n := 0
	for instance, err := range set.Between(context.Background(), from, to, budget) {
		if err != nil {
			if !errors.Is(err, recur.ErrBudget) {
				t.Fatalf("an unexpected error: %v", err)
			}
			return
		}
		start, end := instance.Start.Time, instance.End.Time
		if n++; n > budget.Instances {
			t.Fatal("more instances than allowed")
		}
		if end.Before(start) || !start.Before(to) || end.Before(from) {
			t.Fatalf("%v to %v is not in the window", start, end)
		}
		if !dated || start.Before(span.Start) || !span.Open && end.After(span.End) {
			t.Fatalf("%v to %v is not in the span %+v", start, end, span)
		}
	}
}
