package transfer

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// undoneStep is an undo of one or more changes, in JSON.
type undoneStep struct {
	// Change is the id of the undo, which can be undone too. It is empty in a dry run.
	Change   string              `json:"change,omitempty"`
	Did      calendar.ChangeKind `json:"did"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	In       string              `json:"calendar"`
	Name     calendar.ObjectName `json:"name,omitempty"`
	UID      calendar.UID        `json:"uid,omitempty"`
	Title    string              `json:"title,omitempty"`
	Undoes   []string            `json:"undoes"`
}

// leftChange is a change that was not undone.
type leftChange struct {
	Change string `json:"change"`
	Why    string `json:"why"`
}

type undoneJSON struct {
	Steps []undoneStep `json:"steps"`
	Left  []leftChange `json:"left"`
}

func (l *logbook) undo(ctx context.Context, changes []string) error {
	done, err := l.takeBack(ctx, changes)
	if err != nil {
		return err
	}
	return l.undone(done)
}

// undone prints the undone changes.
func (l *logbook) undone(done calendar.Undone) error {
	out := undoneJSON{
		console.Each(done.Steps, l.step), console.Each(done.Left, func(u calendar.UndoConflict) leftChange {
			return leftChange{u.ID().String(), u.Why()}
		}),
	}
	if l.JSON {
		return l.PrintJSON(out)
	}
	return l.tell(out)
}

// takeBack undoes one change, or all changes that the flags select.
func (l *logbook) takeBack(ctx context.Context, changes []string) (calendar.Undone, error) {
	if len(changes) > 0 {
		id, err := l.changeNamed(ctx, changes[0])
		if err != nil {
			return calendar.Undone{}, err
		}
		return l.Calendars.Undo(ctx, l.Caller(), id)
	}
	in, err := l.chosen(ctx)
	if err != nil {
		return calendar.Undone{}, err
	}
	return l.Calendars.UndoSince(ctx, l.Caller(), calendar.UndoSince{
		Token: calendar.TokenID(l.token), At: l.from.Truncate(time.Second), Calendar: in,
		LeaveChanged: l.leaveChanged, Preview: l.dryRun,
	})
}

func (l *logbook) step(s calendar.Change) undoneStep {
	step := undoneStep{
		Did: s.Did, Calendar: s.In.ID, In: s.In.Name, Name: s.Object, UID: s.UID, Title: s.Summary,
		Undoes: console.Each(s.Undoes, func(v calendar.Version) string {
			return calendar.ChangeID{Calendar: s.In.ID, Version: v}.String()
		}),
	}
	if !l.dryRun {
		step.Change = s.ID().String()
	}
	return step
}

// undoneWords describe the outcome of an undo.
//
//nolint:exhaustive // an undo has no other outcome
var undoneWords = map[calendar.ChangeKind]string{
	calendar.Created: "it exists again", calendar.Modified: "its earlier state is back",
	calendar.Deleted: "it is deleted again",
}

// undoneMost is the highest number of objects that are listed. More, as after an import, are only counted.
const undoneMost = 20

// sumUp counts the undone objects by calendar and outcome.
func (l *logbook) sumUp(steps []undoneStep) error {
	type sort struct {
		in  string
		did calendar.ChangeKind
	}
	var order []sort
	counts := map[sort]int{}
	for _, s := range steps {
		of := sort{s.In, s.Did}
		if counts[of]++; counts[of] == 1 {
			order = append(order, of)
		}
	}
	form := "undid the changes of %d objects in %q: for each, %s\n"
	if l.dryRun {
		form = "would undo the changes of %d objects in %q: for each, %s\n"
	}
	for _, of := range order {
		if _, err := fmt.Fprintf(l.Stdout, form, counts[of], console.Shown(of.in), undoneWords[of.did]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(l.Stdout, "(--json lists them)")
	return err
}

// tell prints the result as text.
func (l *logbook) tell(out undoneJSON) error {
	form := "undid %d of %s: %s (%s)\n"
	if l.dryRun {
		form = "would undo %d of %s: %s%s\n"
	}
	steps := out.Steps
	if len(steps) > undoneMost {
		if err := l.sumUp(steps); err != nil {
			return err
		}
		steps = nil
	}
	for _, s := range steps {
		what := fmt.Sprintf("%q in %q", console.Shown(s.Title), console.Shown(s.In))
		if s.Name == "" {
			what = fmt.Sprintf("the calendar %q", console.Shown(s.In))
		}
		if _, err := fmt.Fprintf(l.Stdout, form, len(s.Undoes), what, undoneWords[s.Did], s.Change); err != nil {
			return err
		}
	}
	if len(out.Steps) == 0 {
		if _, err := fmt.Fprintln(l.Stdout, "there is nothing to undo"); err != nil {
			return err
		}
	}
	for _, left := range out.Left {
		l.Say("left: %s\n", left.Why)
	}
	return nil
}
