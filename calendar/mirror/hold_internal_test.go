package mirror

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// TestOneUserIsNotEverybody: of one user's accounts two are spoken to at once, however many others are.
func TestOneUserIsNotEverybody(t *testing.T) {
	t.Parallel()
	m := New(Config{NewID: func() string { return "" }})
	for _, owner := range []calendar.UserID{"ann", "ann", "bob"} {
		leave, err := m.enter(owner)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(leave)
	}
	if _, err := m.enter("ann"); calendar.ReasonOf(err) != calendar.Unavailable {
		t.Errorf("a third: %v", err)
	}
	leave, err := m.enter("bob")
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
