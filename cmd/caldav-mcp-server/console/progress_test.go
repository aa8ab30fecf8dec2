package console

import (
	"strings"
	"testing"
	"time"
)

func TestBarText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		done, total int
		want        string
	}{
		{0, 10, "[" + strings.Repeat(" ", barWidth) + "] 0 of 10  x"},
		{5, 10, "[" + strings.Repeat("#", barWidth/2) + strings.Repeat(" ", barWidth/2) + "] 5 of 10  x"},
		{12, 10, "[" + strings.Repeat("#", barWidth) + "] 12 of 10  x"},
	} {
		if got := barText(test.done, test.total, "x"); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestPace: a bar shows the rate and the remaining time (clients F12).
func TestPace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		done, left int
		took       time.Duration
		want       string
	}{
		{10, 10, time.Second / 2, ""},
		{0, 10, time.Minute, ""},
		{100, 1000, 2 * time.Second, "  50/s, 20s left"},
		{1900, 19000, 10 * time.Second, "  190/s, 1m40s left"},
	} {
		if got := pace(test.done, test.left, test.took); got != test.want {
			t.Errorf("%d and %d in %s: %q, want %q", test.done, test.left, test.took, got, test.want)
		}
	}
}
