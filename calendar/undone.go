package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Undone is the result of an undo.
type Undone struct {
	// Steps are the changes that undo others. They are in the journal too, so they can be undone themselves.
	Steps []Change
	// Left are the changes that were not undone, with the reasons.
	Left []UndoConflict
	// Already are changes that no longer had an effect.
	Already []ChangeID
	// Told are the recipients of messages about the undo.
	Told []Told
}

// UndoConflict is a change that cannot be undone on its own.
type UndoConflict struct {
	Change
	// By is the later change that conflicts. It is nil if the journal has Forgotten the bytes, for an Answer, and
	// when the calendar was deleted.
	By        *Change
	Forgotten bool
	// LinesGone is set when the journal has also pruned the entry of the Change and all before it, so it is no
	// longer known who made them.
	LinesGone bool
	// Answer is set for another user's answer to an invitation.
	Answer bool
	// Differs names the properties that have changed since.
	Differs []string
}

// Why returns the conflict as a sentence.
func (u UndoConflict) Why() string {
	what := fmt.Sprintf("the change %s of %s", u.ID(), ShortTime(u.At))
	switch {
	case u.Answer:
		return what + " is another user's answer to an invitation, which only they can change"
	case u.LinesGone:
		return fmt.Sprintf("the journal of the calendar %.80q no longer has the changes up to %s: there may have "+
			"been more to undo", u.In.Name, ShortTime(u.At))
	case u.Forgotten:
		return what + " is too old: the journal no longer has the data that it replaced"
	case u.By == nil:
		return what + " was made in a calendar that is in the trash"
	}
	text := fmt.Sprintf("%s was followed by the change %s of %s", what, u.By.ID(), ShortTime(u.By.At))
	if u.By.Agent != "" {
		text += fmt.Sprintf(" by %.80q", u.By.Agent)
	}
	if len(u.Differs) > 0 {
		text += ", and these have changed since: " + strings.Join(u.Differs, ", ")
	}
	return text
}

// ShortTime formats a time for people, to the second.
func ShortTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// UndoSince selects the changes to undo: all that a token made at that time or later.
type UndoSince struct {
	Token TokenID
	// Anybody selects the changes of all users to the Calendar and its objects, by any token or password. It leaves
	// the calendar's shares unchanged.
	Anybody bool
	At      time.Time
	// Calendar limits it to one calendar; empty means all.
	Calendar CalendarID
	// LeaveChanged skips objects that others have changed since. Otherwise such an object prevents the whole undo.
	LeaveChanged bool
	// Preview only reports what the undo would do.
	Preview bool
}
