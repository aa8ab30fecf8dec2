package recur_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// hostile is a rule that is said to have killed a server, or could.
type hostile struct {
	name, start, rule string
	want              int // instances in the week from 2026-08-03, -1: the rule is refused
}

func hostileRules() []hostile {
	const nine = "20260803T090000"
	numbers := func(from, to int) string {
		var parts []string
		for n := from; n <= to; n++ {
			parts = append(parts, strconv.Itoa(n))
		}
		return strings.Join(parts, ",")
	}
	bomb := "BYHOUR=" + numbers(0, 23) + ";BYMINUTE=" + numbers(0, 59) + ";BYSECOND=" + numbers(0, 59)
	return []hostile{
		{"odd seconds of even ones", nine, "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1", 1},
		{"a minute that never comes", nine, "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=30", 1},
		{"an hour that never comes", nine, "FREQ=HOURLY;INTERVAL=24;BYHOUR=3", 1},
		{"a day that never comes", nine, "FREQ=HOURLY;INTERVAL=168;BYDAY=TU", 1},
		{"a time of day that never comes", nine, "FREQ=SECONDLY;INTERVAL=120;BYSECOND=0;BYMINUTE=1,3,5", 1},
		{"the second of one", nine, "FREQ=SECONDLY;BYSETPOS=2", -1},
		{"the second of one second", nine, "FREQ=SECONDLY;BYSECOND=1;BYSETPOS=2", 1},
		{"February 30th each year", nine, "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", 1},
		{"February 30th each month", nine, "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", 1},
		{"February 30th each day", nine, "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", 1},
		{"February 30th each second", nine, "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", 1},
		{"February 30th each seventh second", nine, "FREQ=SECONDLY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=30", 1},
		{"day 366 each thousandth hour", nine, "FREQ=HOURLY;INTERVAL=997;BYYEARDAY=366;BYHOUR=0", 1},
		{"seconds for decades", "20000101T000000", "FREQ=SECONDLY;INTERVAL=3600", 168},
		{"seconds, counted, for decades", "20000101T000000", "FREQ=SECONDLY;COUNT=839000000;INTERVAL=3601", 168},
		{"minutes for decades", "19700101T000000", "FREQ=MINUTELY;INTERVAL=30", 336},
		{"days since 1600", "16000101T090000", "FREQ=DAILY", 7},
		{"counted days since 1600", "16000101T090000", "FREQ=DAILY;COUNT=3000000", 7},
		{"the bomb, years", nine, "FREQ=YEARLY;BYMONTHDAY=" + numbers(1, 31) + ";" + bomb, 0},
		{"the bomb, chosen from", nine, "FREQ=YEARLY;BYMONTHDAY=" + numbers(1, 31) + ";BYSETPOS=-1,1,366;" + bomb, 1},
		{"three thousand times the same hour", nine, "FREQ=DAILY;BYHOUR=9" + strings.Repeat(",9", 3000), 7},
		{"an Easter", nine, "FREQ=YEARLY;BYEASTER=1000", -1},
		{"an interval of many digits", nine, "FREQ=YEARLY;INTERVAL=2000000000", 1},
		{"an interval of too many digits", nine, "FREQ=YEARLY;INTERVAL=99999999999999999999", -1},
		{"an interval of none", nine, "FREQ=YEARLY;INTERVAL=0", -1},
		{"the end of time", "99991231T235959", "FREQ=SECONDLY", 0},
	}
}

// TestHostileRules walks over a week of each rule: it must end by itself, with
// the right instances or with a typed error, and in little memory. It is not
// parallel, so that the memory is its own; the time is what the steps take (see
// BenchmarkHostile).
func TestHostileRules(t *testing.T) {
	for _, test := range hostileRules() {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := countWeek(test)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
				t.Errorf("it took %d bytes", used)
			}
			switch {
			case test.want < 0:
				if _, ok := errors.AsType[*ical.SyntaxError](err); !ok {
					t.Errorf("got %v instead of a refusal", err)
				}
			case strings.HasPrefix(test.name, "the bomb, years"):
				if !errors.Is(err, recur.ErrBudget) {
					t.Errorf("got %d instances and %v instead of %v", n, err, recur.ErrBudget)
				}
			case err != nil || n != test.want:
				t.Errorf("got %d instances and %v, want %d", n, err, test.want)
			}
		})
	}
}

func countWeek(h hostile) (int, error) {
	set, err := trySet(event("DTSTART:"+h.start, "RRULE:"+h.rule), time.UTC)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, err := range set.Between(context.Background(), in2026(8, 3), in2026(8, 10), recur.DefaultBudget()) {
		if err != nil {
			return n, err
		}
		n++
	}
	set.Span(10_000)
	return n, nil
}

// BenchmarkHostile shows the time of each; the slowest must stay below 50 ms.
func BenchmarkHostile(b *testing.B) {
	for _, test := range hostileRules() {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = countWeek(test)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	set := parseSet(t, event("DTSTART:20260803T090000Z", "RRULE:FREQ=SECONDLY"))
	tests := []struct {
		budget recur.Budget
		want   recur.BudgetError
	}{
		{recur.Budget{Steps: 100, Instances: 1000}, recur.BudgetError{What: "steps", Limit: 100}},
		{recur.Budget{Steps: 10_000, Instances: 10}, recur.BudgetError{What: "instances", Limit: 10}},
	}
	for _, test := range tests {
		_, err := set.Instances(context.Background(), time.Time{}, time.Time{}, test.budget)
		var spent *recur.BudgetError
		if !errors.As(err, &spent) || *spent != test.want || !errors.Is(err, recur.ErrBudget) {
			t.Errorf("got %v, want %v", err, &test.want)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	set := parseSet(t, event("DTSTART:20260803T090000Z", "RRULE:FREQ=SECONDLY"))
	n := 0
	var last error
	for _, err := range set.Between(ctx, time.Time{}, time.Time{}, recur.DefaultBudget()) {
		last = err
		if n++; n == 100 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || n > 2000 {
		t.Errorf("went on to %d, %v", n, last)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, lines string
		is          error
		says        string
	}{
		{
			"a calendar that we don't count in", event(berlin, "RRULE:RSCALE=CHINESE;FREQ=YEARLY"),
			recur.ErrUnsupported, "CHINESE",
		},
		{
			"SKIP", event(berlin, "RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;INTERVAL=2;SKIP=FORWARD;BYMONTHDAY=31"),
			recur.ErrUnsupported, "SKIP=FORWARD",
		},
		{
			"hours of whole days", event("DTSTART;VALUE=DATE:20260803", "RRULE:FREQ=HOURLY"), recur.ErrUnsupported,
			"HOURLY",
		},
		{
			"too many rules", event(berlin, strings.Repeat("RRULE:FREQ=DAILY\n", 40)+"SUMMARY:x"), recur.ErrUnsupported,
			"32",
		},
		{
			"a zone that nobody knows", event("DTSTART;TZID=Europe/Berln:20260803T100000"), nil,
			"did you mean Europe/Berlin?",
		},
		{"the server's zone", event("DTSTART;TZID=Local:20260803T100000"), nil, "Local"},
		{
			"two masters",
			override(":20260803T100000Z", "DTSTART:20260803T100000Z") +
				strings.Replace(override(":x", berlin), "RECURRENCE-ID:x", "RECURRENCE-ID:20", 1),
			nil, "RECURRENCE-ID",
		},
		{"nothing", "BEGIN:VTIMEZONE\nEND:VTIMEZONE", recur.ErrNoComponent, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := trySet(test.lines, time.UTC)
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}
