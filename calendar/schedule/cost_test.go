package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
)

// crowd is a daily series with so many instances told apart, and guests in each of them.
func crowd(guests, apart int, line string, in func(guest, instance int) bool) string {
	list := func(i int) string {
		var b strings.Builder
		for g := range guests {
			if i < 0 || in(g, i) {
				fmt.Fprintf(&b, "|ATTENDEE:mailto:guest%03d@example.com", g)
			}
		}
		return b.String()
	}
	components := []string{at + line + "|RRULE:FREQ=DAILY;COUNT=500" + ann + list(-1)}
	for i := range apart {
		day := time.Date(2026, 3, 11+i, 10, 0, 0, 0, time.UTC).Format("20060102T150405Z")
		components = append(components,
			"RECURRENCE-ID:"+day+"|DTSTAMP:20260301T080000Z|SUMMARY:Plans|DTSTART:"+day+
				"|DURATION:PT2H"+line+ann+list(i))
	}
	return event(components...)
}

func everybody(int, int) bool { return true }

// halves has everybody in other instances.
func halves(guest, instance int) bool { return guest&(1<<(instance%9)) != 0 }

// metered are rules whose cost is counted, within limits.
func metered(t *testing.T, limits meter.Limits) (schedule.Rules, *int) {
	t.Helper()
	r, asked := rules(), 0
	r.Meter = meter.NewPool(meter.Config{Turns: 1, Limits: limits}).Meter(t.Context(), "ann")
	r.Person = func(a schedule.Address) schedule.Person {
		asked++
		return schedule.Person(a)
	}
	return r, &asked
}

// TestTheWorkGrowsWithTheText: what a change of an event has for its guests is found out by reading each line of it
// some times, and not once more for each guest.
func TestTheWorkGrowsWithTheText(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(int, int) bool{"all in all": everybody, "each in others": halves} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, next := crowd(300, 20, "", in), crowd(300, 20, "|LOCATION:Room 7", in)
			r, asked := metered(t, meter.Limits{})
			out, err := r.Organize(t.Context(), read(t, before), read(t, next), self("ann@example.com"))
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Messages) != 300 {
				t.Errorf("%d messages, want one to each guest", len(out.Messages))
			}
			lines := strings.Count(before, "ATTENDEE") + strings.Count(next, "ATTENDEE")
			if *asked > 8*lines {
				t.Errorf("it was asked %d times who somebody is, for %d lines", *asked, lines)
			}
		})
	}
}

// TestEqualMessagesAreWrittenOnce: people who take part in the same get the same text.
func TestEqualMessagesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	out, err := rules().Organize(t.Context(), nil, read(t, crowd(50, 2, "", func(g, i int) bool { return g%2 == i })),
		self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	documents := map[any]bool{}
	for _, m := range out.Messages {
		texts[m.Document.String()], documents[m.Document] = true, true
	}
	if len(texts) != 2 || len(documents) != 2 {
		t.Errorf("%d documents of %d texts, want 2 of 2", len(documents), len(texts))
	}
}

// TestTooMuchForOthersIsRefused: before it is written.
func TestTooMuchForOthersIsRefused(t *testing.T) {
	t.Parallel()
	var over *meter.OverrunError
	r, _ := metered(t, meter.Limits{Written: 1 << 20})
	_, err := r.Organize(t.Context(), nil, read(t, crowd(300, 0, "|DESCRIPTION:"+strings.Repeat("x", 500_000),
		everybody)), self("ann@example.com"))
	if !errors.As(err, &over) || over.Of != meter.Written {
		t.Errorf("150 MB of messages: %v", err)
	}
	// To call thousands of instances off is as many messages to each.
	days := strings.Builder{}
	for i := range 400 {
		fmt.Fprintf(&days, "|EXDATE:%s", time.Date(2026, 3, 11+i, 10, 0, 0, 0, time.UTC).Format("20060102T150405Z"))
	}
	r, _ = metered(t, meter.Limits{Written: 1 << 20})
	_, err = r.Organize(t.Context(), read(t, crowd(100, 0, "", everybody)),
		read(t, crowd(100, 0, days.String(), everybody)), self("ann@example.com"))
	if !errors.As(err, &over) || over.Of != meter.Written {
		t.Errorf("40,000 messages: %v", err)
	}
}

func BenchmarkOrganize(b *testing.B) {
	before, next := crowd(300, 100, "", everybody), crowd(300, 100, "|LOCATION:Room 7", everybody)
	for b.Loop() {
		if _, err := rules().Organize(b.Context(), read(b, before), read(b, next),
			self("ann@example.com")); err != nil {
			b.Fatal(err)
		}
	}
}
