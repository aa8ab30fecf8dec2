package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Undone is what came of an undo.
type Undone struct {
	// Steps are the changes that took others back. They are in the journal as well, so that they can
	// be taken back themselves.
	Steps []Change
	// Left are the changes that were not taken back, and why.
	Left []UndoConflict
	// Already are those that had no effect any more.
	Already []ChangeID
	// Told are those who were written to, since what was taken back concerns them.
	Told []Told
}

// UndoConflict is a change that cannot be taken back by itself.
type UndoConflict struct {
	Change
	// By is the later change that is in the way. It is nil when the journal has Forgotten the bytes,
	// for an Answer, and when the calendar was deleted.
	By        *Change
	Forgotten bool
	// LinesGone tells that the journal has forgotten the line of the Change as well, and all before it: whose they were is not
	// known any more.
	LinesGone bool
	// Answer tells that it is another user's answer to an invitation.
	Answer bool
	// Differs names what is not as the change left it.
	Differs []string
}

// Why says it in a sentence.
func (u UndoConflict) Why() string {
	what := fmt.Sprintf("the change %s of %s", u.ID(), ShortTime(u.At))
	switch {
	case u.Answer:
		return what + " is what a user said to an invitation, which only they can say otherwise"
	case u.LinesGone:
		return fmt.Sprintf("the journal of the calendar %.80q has forgotten who changed what up to %s: there may have been more to take back", u.In.Name, ShortTime(u.At))
	case u.Forgotten:
		return what + " is too old: the journal has forgotten what was there before"
	case u.By == nil:
		return what + " was made in a calendar that is in the trash"
	}
	text := fmt.Sprintf("%s was followed by the change %s of %s", what, u.By.ID(), ShortTime(u.By.At))
	if u.By.Agent != "" {
		text += fmt.Sprintf(" by %.80q", u.By.Agent)
	}
	if len(u.Differs) > 0 {
		text += ", since when there differs " + strings.Join(u.Differs, ", ")
	}
	return text
}

// ShortTime writes a time for people, to the second.
func ShortTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// UndoSince says what to take back: all that a token did at that time and later.
type UndoSince struct {
	Token TokenID
	// Anybody means the changes of all, by any token or password, to the Calendar and in it. Its shares stay as they are.
	Anybody bool
	At      time.Time
	// Calendar restricts it to one; empty means all.
	Calendar CalendarID
	// LeaveChanged leaves what was changed by others since, instead of taking back nothing then.
	LeaveChanged bool
	// Preview only tells what would be done.
	Preview bool
}
