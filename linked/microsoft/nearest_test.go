package microsoft

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
)

// TestNearestRule holds that a rule without a pattern is refused with the nearest one that has a pattern, and that this
// one is taken as it was named.
func TestNearestRule(t *testing.T) {
	for _, test := range []struct{ start, rule, nearest string }{
		{"20260331", "FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=-1"},
		{"20260331", "FREQ=MONTHLY;INTERVAL=2;COUNT=5;BYMONTHDAY=31", "FREQ=MONTHLY;COUNT=5;INTERVAL=2;BYMONTHDAY=-1"},
		{
			"20260330", "FREQ=MONTHLY;UNTIL=20270101;BYMONTHDAY=30",
			"FREQ=MONTHLY;UNTIL=20270101;BYMONTHDAY=28,29,30;BYSETPOS=-1",
		},
		{"20280229", "FREQ=YEARLY", "FREQ=YEARLY;BYMONTHDAY=28,29;BYMONTH=2;BYSETPOS=-1"},
		{"20260331", "FREQ=MONTHLY;BYDAY=5TU", "FREQ=MONTHLY;BYDAY=-1TU"},
		{"20260324", "FREQ=MONTHLY;BYDAY=-2TU", "FREQ=MONTHLY;BYDAY=4TU"},
		{"20260310", "FREQ=MONTHLY;BYMONTHDAY=10,20", "FREQ=MONTHLY;BYMONTHDAY=10"},
		{"20260310", "FREQ=MONTHLY;BYDAY=TU,FR", "FREQ=WEEKLY;BYDAY=TU,FR"},
		{"20260310", "FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=10", "FREQ=MONTHLY;INTERVAL=6;BYMONTHDAY=10"},
		{"20260310", "FREQ=YEARLY;BYMONTH=3,9;BYDAY=2TU", "FREQ=MONTHLY;INTERVAL=6;BYDAY=2TU"},
		{"20260310", "FREQ=YEARLY;BYMONTH=3,4;BYDAY=2TU", "FREQ=YEARLY;BYDAY=2TU;BYMONTH=3"},
		{"20260310", "FREQ=YEARLY;BYWEEKNO=11;BYDAY=TU", "FREQ=YEARLY;BYDAY=2TU;BYMONTH=3"},
		{"20260310", "FREQ=WEEKLY;BYMONTH=3,4;BYDAY=TU,TH", "FREQ=WEEKLY;BYDAY=TU,TH"},
		{"20260310", "FREQ=DAILY;BYMONTH=3", "FREQ=DAILY"},
		{"20260310", "FREQ=HOURLY;INTERVAL=6", "FREQ=DAILY"},
	} {
		series := func(rule string) []byte {
			return []byte(strings.Replace(string(event("RRULE:"+rule)),
				"DTSTART;TZID=Europe/Berlin:20260310T100000\r\nDTEND;TZID=Europe/Berlin:20260310T110000",
				"DTSTART;VALUE=DATE:"+test.start, 1))
		}
		_, err := Read(series(test.rule), zones)
		if _, refused := errors.AsType[*mirror.Refusal](err); !refused {
			t.Errorf("%s: %v", test.rule, err)
			continue
		}
		if !strings.HasSuffix(err.Error(), "The nearest rule that it has is "+test.nearest+".") {
			t.Errorf("%s: %v", test.rule, err)
		}
		if _, err := Read(series(test.nearest), zones); err != nil {
			t.Errorf("%s, which was named: %v", test.nearest, err)
		}
	}
}
