package mcp

import (
	"context"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
)

// undoneView is one thing that was brought back as it was.
type undoneView struct {
	ID       string              `json:"change_id,omitempty"`
	Did      calendar.ChangeKind `json:"did"`
	Undoes   []string            `json:"undoes"`
	Title    shown               `json:"title,omitempty"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	UID      shown               `json:"event_uid,omitempty"`
}

// leftView is a change that was not taken back.
type leftView struct {
	ID  string `json:"change_id"`
	Why shown  `json:"why"`
}

// undoView is what undo_change returns.
type undoView struct {
	Undone []undoneView `json:"undone"`
	Left   []leftView   `json:"left"`
}

func (b toolbox) undoChange(ctx context.Context, c *call) (answer, error) {
	done, err := b.takeBack(ctx, c)
	if err != nil {
		return answer{}, err
	}
	preview := c.args.yes("preview")
	v := undoView{Undone: []undoneView{}, Left: []leftView{}}
	for _, s := range done.Steps {
		step := undoneView{
			Did: s.Change, Undoes: changeIDs(s.In.ID, s.Undoes), Title: shown(short(s.Summary, longestListedTitle)),
			Calendar: s.In.ID, UID: shown(s.UID),
		}
		if !preview {
			step.ID = s.ID().String()
		}
		v.Undone = append(v.Undone, step)
	}
	for _, left := range done.Left {
		v.Left = append(v.Left, leftView{left.ID().String(), shown(left.Why())})
	}
	return answer{v.prose(preview), v}, nil
}

// takeBack undoes the one change, or all that a token did.
func (b toolbox) takeBack(ctx context.Context, c *call) (calendar.Undone, error) {
	change, since := given(c, "change_id"), given(c, "since")
	switch {
	case change != "" && since != "", change == "" && since == "":
		return calendar.Undone{}, errArgument(`give either "change_id", for one change, or "since", for all that a token did`)
	case change == "":
		return b.takeBackSince(ctx, c, since)
	}
	for _, other := range [...]string{"token", "leave_changed", "preview", "timezone"} {
		if c.args.has(other) {
			return calendar.Undone{}, errArgument("%q goes with \"since\", not with \"change_id\"", other)
		}
	}
	id, err := calendar.ParseChangeID(change)
	if err != nil {
		return calendar.Undone{}, err
	}
	c.calendar = id.Calendar
	return b.service.Undo(ctx, c.caller, id)
}

func (b toolbox) takeBackSince(ctx context.Context, c *call, since string) (calendar.Undone, error) {
	z, err := b.zoneFor(c, calendar.Calendar{})
	if err != nil {
		return calendar.Undone{}, err
	}
	at, err := z.readInstant("since", since)
	if err != nil {
		return calendar.Undone{}, err
	}
	token, err := b.tokenOf(ctx, c)
	if err != nil {
		return calendar.Undone{}, err
	}
	all := calendar.UndoSince{Token: token, At: at, LeaveChanged: c.args.yes("leave_changed"), Preview: c.args.yes("preview")}
	if all.Token == "" {
		all.Token = c.caller.Token
	}
	return b.service.UndoSince(ctx, c.caller, all)
}

// undoneWords say what has become of something.
//
//nolint:exhaustive // an undo does nothing else
var undoneWords = map[calendar.ChangeKind]string{
	calendar.Created: "is there again", calendar.Modified: "is as it was", calendar.Deleted: "is gone again",
}

// prose says it for reading.
func (v undoView) prose(preview bool) prose {
	var b strings.Builder
	heading := "Took back %s:\n"
	if preview {
		heading = "This would take back %s:\n"
	}
	count := 0
	for _, s := range v.Undone {
		count += len(s.Undoes)
	}
	fmt.Fprintf(&b, heading, changesWord(count))
	for i, s := range v.Undone {
		fmt.Fprintf(&b, "%d. %s %s", i+1, quotedTitle(string(s.Title)), undoneWords[s.Did])
		if s.ID != "" {
			fmt.Fprintf(&b, " (change_id %s)", s.ID)
		}
		b.WriteString("\n")
	}
	if len(v.Left) > 0 {
		b.WriteString("\nNot taken back:\n")
	}
	for _, left := range v.Left {
		fmt.Fprintf(&b, "- %s\n", left.Why)
	}
	return prose(strings.TrimSpace(b.String()))
}

// restoredView is what restore_event returns.
type restoredView struct {
	UID      shown               `json:"event_uid"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	Title    shown               `json:"title"`
	Kind     string              `json:"kind"`
	ETag     calendar.ETag       `json:"etag"`
}

func (b toolbox) restoreEvent(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	uid := c.args.text("event_uid")
	saved, err := b.service.RestoreDeleted(ctx, c.caller, cal, calendar.UID(uid))
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		e := calendar.Errorf(calendar.NotFound, "", "nothing with the uid %s was deleted in %s, or the journal has forgotten it", quote(uid), quote(cal.Name))
		e.Hint, e.Cause = "list_changes shows what was deleted, and where", err
		return answer{}, e
	}
	if err != nil {
		return answer{}, err
	}
	o := saved.Object
	v := restoredView{shown(o.UID), cal.ID, shown(o.Summary), kindWord(o.Kind), o.ETag}
	in, _ := calendarNames{}.of(cal)
	return answer{prose(fmt.Sprintf("Restored the %s %s to %s, uid %s", v.Kind, quotedTitle(o.Summary), in, quotedUID(o.UID))), v}, nil
}
