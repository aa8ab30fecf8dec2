package content_test

import (
	"testing"

	"caldav-mcp-server/calendar/content"
)

func TestNear(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		term, word string
		want       content.Nearness
	}{
		{"zahnartz", "zahnarzt", content.Mistyped},
		{"budgt", "budget", content.Mistyped},
		{"bugdet", "budget", content.Mistyped},
		{"budgett", "budget", content.Mistyped},
		{"bodget", "budget", content.Mistyped},
		{"xudget", "budget", content.Mistyped},
		{"mueller", "muller", content.Spelled},
		{"muller", "mueller", content.Spelled},
		{"groesser", "grosser", content.Spelled},
		{"budg", "budget", content.Same},
		{"bxdgxt", "budget", content.Other},
		{"cat", "car", content.Other},
		{"2026", "2025", content.Other},
		{"abcd", "badc", content.Other},
		{"budget", "bud", content.Other},
	} {
		if got := content.Near(tt.term, tt.word); got != tt.want {
			t.Errorf("%s, %s: %d, want %d", tt.term, tt.word, got, tt.want)
		}
	}
}
