package calendar

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Undone is what came of an undo.
type Undone struct {
	// Steps are the changes that took others back.
	Steps []UndoStep
	// Left are the changes that were not taken back, and why.
	Left []UndoConflict
	// Already are those that had no effect any more.
	Already []ChangeID
}

// UndoStep is a change that took others back. It is in the journal as well, so that it can be
// taken back itself.
type UndoStep struct {
	Entry
	// In is the calendar as it is then.
	In      Calendar
	Summary string
}

// UndoConflict is a change that cannot be taken back by itself.
type UndoConflict struct {
	Entry
	// In is its calendar, By the later change that is in the way. It is nil when the journal has
	// Forgotten the bytes, for an Answer, and when the calendar was deleted.
	In        Calendar
	By        *Entry
	Forgotten bool
	// Answer tells that it is another user's answer to an invitation.
	Answer bool
	// Differs names what is not as the change left it.
	Differs []string
}

// Why says it in a sentence.
func (u UndoConflict) Why() string {
	what := fmt.Sprintf("the change %s of %s", u.ID(), shortTime(u.At))
	switch {
	case u.Answer:
		return what + " is what a user said to an invitation, which only they can say otherwise"
	case u.Forgotten:
		return what + " is too old: the journal has forgotten what was there before"
	case u.By == nil:
		return what + " was made in a calendar that is in the trash"
	}
	text := fmt.Sprintf("%s was followed by the change %s of %s", what, u.By.ID(), shortTime(u.By.At))
	if u.By.Agent != "" {
		text += fmt.Sprintf(" by %.80q", u.By.Agent)
	}
	if len(u.Differs) > 0 {
		text += ", since when there differs " + strings.Join(u.Differs, ", ")
	}
	return text
}

func shortTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// UndoSince says what to take back: all that a token did at that time and later.
type UndoSince struct {
	Token TokenID
	At    time.Time
	// Calendar restricts it to one; empty means all.
	Calendar CalendarID
	// LeaveChanged leaves what was changed by others since, instead of taking back nothing then.
	LeaveChanged bool
	// Preview only tells what would be done.
	Preview bool
}

// maxUndo bounds what is taken back at once: it is one transaction, which others wait for.
const maxUndo = 10_000

// Undo takes one change back, with those that were made together with it, if nothing of it has
// changed since.
func (s *Service) Undo(ctx context.Context, c Caller, id ChangeID) (Undone, error) {
	j, err := s.journalOf(ctx, c, id.Calendar)
	if err != nil {
		if ReasonOf(err) == NotFound {
			err = errNoChange(id.String())
		}
		return Undone{}, err
	}
	unit, err := s.store.Unit(ctx, id)
	if err != nil && ReasonOf(err) == NotFound {
		return Undone{}, errNoChange(id.String())
	}
	if err != nil {
		return Undone{}, err
	}
	u := undoing{Service: s, caller: c, whole: true, chosen: func(e Entry) bool { return contains(unit, e.ID()) }}
	for _, member := range unit {
		line, err := s.line(ctx, member)
		if err == nil && !c.seesEntry(j.Calendar, line.Entry) {
			err = errNoChange(id.String())
		}
		if err == nil {
			err = u.choose(ctx, line.Entry)
		}
		if err != nil {
			return Undone{}, err
		}
	}
	done, err := u.run(ctx)
	if err == nil && (len(done.Left) > 0 || len(done.Steps) == 0) {
		err = s.notUndone(ctx, id, done.Left)
	}
	if err != nil {
		return Undone{}, err
	}
	return done, nil
}

// notUndone says why a change was not taken back.
func (s *Service) notUndone(ctx context.Context, id ChangeID, left []UndoConflict) error {
	by, err := s.undoneBy(ctx, id)
	switch {
	case err != nil:
		return err
	case by != 0:
		return Errorf(Stale, "", "the change %s was taken back already, by the change %s", id, ChangeID{id.Calendar, by})
	case len(left) > 0:
		return conflict(left)
	}
	return Errorf(Stale, "", "the change %s makes no difference any more: all is as it was before it", id)
}

// undoneBy is the change that took another one back, unless that was taken back as well; 0 for none.
func (s *Service) undoneBy(ctx context.Context, id ChangeID) (Version, error) {
	line, err := s.line(ctx, id)
	if err != nil || line.UndoneBy == 0 {
		return 0, err
	}
	undo, err := s.line(ctx, ChangeID{id.Calendar, line.UndoneBy})
	if undo.UndoneBy > 0 {
		return 0, err
	}
	return undo.Version, err
}

// line returns one line of the journal.
func (s *Service) line(ctx context.Context, id ChangeID) (Line, error) {
	for line, err := range s.store.Lines(ctx, id.Calendar, EntryQuery{From: id.Version, Until: id.Version}) {
		return line, err
	}
	return Line{}, errNoChange(id.String())
}

// UndoSince takes back all that a token did since a time, as one unit: all of it, or, when others
// have changed something of it since, nothing but an error that says what.
func (s *Service) UndoSince(ctx context.Context, c Caller, since UndoSince) (Undone, error) {
	u := undoing{Service: s, caller: c, chosen: func(e Entry) bool { return e.Token == since.Token && !e.At.Before(since.At) }}
	if since.Token == "" {
		return Undone{}, Errorf(Invalid, "", "say whose changes are to be taken back: there is no token with an empty id")
	}
	if err := u.chooseSince(ctx, since); err != nil {
		return Undone{}, err
	}
	if len(u.places) == 0 {
		return Undone{}, Errorf(NotFound, "", "the token %q has changed nothing since %s that you may take back", since.Token, shortTime(since.At))
	}
	// What would be done is found out first. A calendar in which nothing is to be done must not
	// get a new version, which is how its lock is taken.
	u.preview = true
	plan, err := u.run(ctx)
	switch {
	case err != nil:
		return Undone{}, err
	case since.Preview:
		return plan, nil
	case len(plan.Left) > 0 && !since.LeaveChanged:
		e := conflict(plan.Left)
		e.Hint = "leave out what has changed since, or take the later changes back first"
		return Undone{}, e
	case len(plan.Steps) == 0:
		return plan, nil
	}
	u.keepPlaces(plan.Steps)
	u.preview, u.whole = false, !since.LeaveChanged
	done, err := u.run(ctx)
	if err == nil && u.whole && len(done.Left) > 0 { // others were quicker
		err = conflict(done.Left)
	}
	if err != nil {
		return Undone{}, err
	}
	done.Left, done.Already = plan.Left, plan.Already
	return done, nil
}

// conflict is the error that says why something is not taken back.
func conflict(left []UndoConflict) *Error {
	const named = 5
	texts := make([]string, 0, named)
	for _, l := range left[:min(named, len(left))] {
		texts = append(texts, l.Why())
	}
	if more := len(left) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	e := Errorf(Stale, "", "%s", strings.Join(texts, "; "))
	e.Hint = "take the later change back first, or change it by hand"
	if left[0].Forgotten {
		e.Reason, e.Hint = Unsupported, "change it by hand"
	}
	if left[0].Answer {
		e.Reason, e.Hint = Unsupported, "share the calendar with them again"
	}
	return e
}
