package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/schedule"
)

// TestAddLeavesTheSeries: RFC 5546 §3.2.4 and §4.4.5. What is added is one instance more, and comes once though it is
// sent twice.
func TestAddLeavesTheSeries(t *testing.T) {
	t.Parallel()
	series := event(at + "|RRULE:FREQ=WEEKLY;COUNT=3|SEQUENCE:0" + ann + bobYes)
	extra := strings.NewReplacer("T100000Z", "T150000Z", "T110000Z", "T160000Z", "Plans", "One more").Replace(at)
	add := message("ADD", extra+"|SEQUENCE:1"+ann+bob)
	d := schedule.Delivery{Stored: read(t, series), Message: read(t, add), Self: self("bob@example.com"), Outside: true}
	done, err := rules().Add(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	text := done.Object.Document.String()
	for what, times := range map[string]int{
		"BEGIN:VEVENT": 2, "RRULE:FREQ=WEEKLY;COUNT=3": 1, "SUMMARY:Plans": 1, "SUMMARY:One more": 1, "RDATE:": 1,
		"RECURRENCE-ID:": 1, "METHOD": 0, "PARTSTAT=ACCEPTED": 1,
	} {
		if n := strings.Count(text, what); n != times {
			t.Errorf("%q is there %d times:\n%s", what, n, text)
		}
	}
	if !done.Consequential {
		t.Error("it is of consequence")
	}
	d.Stored = read(t, text)
	if done, err = rules().Add(t.Context(), d); err == nil &&
		strings.Count(done.Object.Document.String(), "RDATE") != 1 || err != nil && !errors.Is(err, schedule.ErrSame) {
		t.Errorf("the second time: %v", err)
	}
	d.Message = read(t, strings.ReplaceAll(add, "ann@example.com", "mallory@example.com"))
	if _, err := rules().Add(t.Context(), d); !errors.Is(err, schedule.ErrForeign) {
		t.Errorf("of another organizer: %v", err)
	}
	d.Stored = nil
	if _, err := rules().Add(t.Context(), d); !errors.Is(err, schedule.ErrNoSeries) {
		t.Errorf("to nothing: %v", err)
	}
}
