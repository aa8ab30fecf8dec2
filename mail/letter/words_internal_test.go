package letter

import (
	"testing"

	"caldav-mcp-server/locale"
)

// TestInvitedOthers: a mail that names its recipient alone says how many others are invited.
func TestInvitedOthers(t *testing.T) {
	t.Parallel()
	v := view{
		Organizer: Person{Address: "ann@example.com"},
		Attendees: []Person{{Name: "Zoe", Address: "zoe@example.com"}}, Others: 60,
	}
	if got, want := invited(locale.Match(), v), "Zoe and 60 others"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := changes(locale.Match(), v, view{Organizer: v.Organizer, Attendees: v.Attendees}); len(got) != 0 {
		t.Errorf("others who are named now are new: %v", got)
	}
}
