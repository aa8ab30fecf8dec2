package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/ical"
)

// TestForLogRepeatsNoCalendar: what is wrong with a text is told without the text, however deep the error lies
// (security M10).
func TestForLogRepeatsNoCalendar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		event("a", 1, "x\r\nZZSECRET without colon"): "line 10 of an object cannot be read (syntax)",
		event("a", 1, "x\r\nRRULE:FREQ=ZZSECRET"):    "line 10 of an object cannot be read (value)",
		event("a", 1, "x\r\nUID:ZZSECRET"):           "an object breaks the rule valid-calendar-object-resource",
	} {
		o, err := content.Read([]byte(text), ical.Limits{})
		if err == nil {
			err = o.Check(t.Context(), content.Limits{}, nil)
		}
		if err == nil {
			t.Fatalf("nothing is wrong with %s", text)
		}
		if got := service.ForLog(fmt.Errorf("reading: %w", err)); got != want {
			t.Errorf("%v\nis logged as %s, want %s", err, got, want)
		}
	}
	refused := calendar.Errorf(calendar.Exists, calendar.RuleUIDConflict, "ZZSECRET")
	refused.Cause = errors.New("the row is there")
	if got := service.ForLog(refused); got != "exists: no-uid-conflict: the row is there" {
		t.Errorf("a refusal is logged as %s", got)
	}
	if got := service.ForLog(errors.New("no such table")); !strings.Contains(got, "no such table") {
		t.Errorf("a foreign error is logged as %s", got)
	}
}
