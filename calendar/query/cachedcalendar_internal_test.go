package query

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// TestImageIsOfOneState: the same numbers may name another state after a backup was restored, or
// when what is derived was made anew.
func TestImageIsOfOneState(t *testing.T) {
	t.Parallel()
	m := newImage(calendar.Calendar{Epoch: "first", Edition: 3}, nil, 7)
	for name, test := range map[string]struct {
		of   calendar.Calendar
		want bool
	}{
		"the same":          {calendar.Calendar{Epoch: "first", Edition: 3, Version: 7}, true},
		"an earlier look":   {calendar.Calendar{Epoch: "first", Edition: 3, Version: 6}, true},
		"something changed": {calendar.Calendar{Epoch: "first", Edition: 3, Version: 8}, false},
		"another life":      {calendar.Calendar{Epoch: "second", Edition: 3, Version: 7}, false},
		"another edition":   {calendar.Calendar{Epoch: "first", Edition: 4, Version: 7}, false},
	} {
		if got := m.shows(test.of); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if (*cachedCalendar)(nil).shows(calendar.Calendar{}) {
		t.Error("no image shows a calendar")
	}
}
