package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// rows returns the tools for the journal: list changes and undo them.
func (b changeTools) rows() []tool {
	return []tool{
		reading(tool{
			name: "list_changes", title: "List changes",
			description: "Lists all changes, latest first, for undo_change and restore_event.",
			begin:       doing(b.listChanges), gives: changesView{},
		}), sending(b.changing(tool{
			name: "undo_change", title: "Undo change",
			description: "Undoes one change (change_id) or all by one token since a time, " +
				"unless the item changed later.",
			begin: doing(b.undoChange), gives: undoView{},
		})), b.once(tool{
			name: "restore_event", title: "Restore deleted event",
			description: "Restores a deleted event or task.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			begin:       within(b.toolbox, b.restoreEvent), gives: restoredView{},
		}),
	}
}

// undoneView is an object or calendar that an undo restored.
type undoneView struct {
	ID       string              `json:"change_id,omitempty" doc:"Of the undo."`
	Did      calendar.ChangeKind `json:"did"`
	Changes  int                 `json:"changes"`
	Undoes   []string            `json:"undoes"`
	Title    shown               `json:"title,omitempty"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	In       shown               `json:"calendar"`
	UID      shown               `json:"event_uid,omitempty"`
	// Untrusted covers the title and the calendar's name.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// leftView is a change that was not undone.
type leftView struct {
	ID  string `json:"change_id"`
	Why shown  `json:"why"`
	// Untrusted covers the names in Why.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// undoView is the result of undo_change.
type undoView struct {
	Changes    int          `json:"changes" doc:"How many were undone."`
	Undone     []undoneView `json:"undone"`
	Left       []leftView   `json:"left"`
	MoreUndone int          `json:"more_undone,omitempty"`
	MoreLeft   int          `json:"more_left,omitempty"`
	Since      string       `json:"since,omitempty"`
	Others     []shown      `json:"not_searched,omitempty" doc:"The calendars of these people: give calendar_id."`
	Timezone   string       `json:"timezone,omitempty"`
	toldView
}

// mostUndone limits the objects listed for an undo, and the changes listed for each of them.
const mostUndone = 50

// undo holds the arguments of undo_change.
type undo struct {
	change, since, token  string
	leaveChanged, preview bool
	inCalendar
	inZone
}

func (in *undo) takes() []field {
	return []field{
		wordTo(&in.change, "change_id", "From list_changes.").upTo(longestID),
		wordTo(&in.since, "since", "As in list_changes."),
		wordTo(&in.token, "token", "With since: this token's; default: yours.").upTo(longestID),
		yesTo(&in.leaveChanged, "leave_changed", "Skip items changed later; else none is."),
		yesTo(&in.preview, "preview", "With since: change nothing."),
		takesOnly(&in.calendar),
		in.takesZone(),
	}
}

func (b changeTools) undoChange(ctx context.Context, c *call, in *undo) (answer, error) {
	done, z, since, err := b.takeBack(ctx, c, in)
	if err != nil {
		if reason := calendar.ReasonOf(err); reason == calendar.Stale || reason == calendar.Unsupported {
			c.about(unknownAuthor) // the refusal may name the program of a later change
		}
		return answer{}, err
	}
	steps, left := done.Steps[:min(len(done.Steps), mostUndone)], done.Left[:min(len(done.Left), mostUndone)]
	v := undoView{
		Undone: []undoneView{}, MoreUndone: len(done.Steps) - len(steps),
		MoreLeft: len(done.Left) - len(left),
	}
	if in.since != "" {
		v.Since, v.Timezone = z.momentOf(since), z.Name()
		if v.Others, err = b.notSearched(ctx, c, in.calendar); err != nil {
			return answer{}, err
		}
	}
	for _, s := range steps {
		step := undoneView{
			Did: s.Did, Changes: len(s.Undoes), Undoes: changeIDs(s.In.ID, s.Undoes[:min(len(s.Undoes), mostUndone)]),
			Title: shown(short(s.Summary, longestListedTitle)), Calendar: s.In.ID,
			In: shown(short(ownName(s.In), longestListedTitle)), UID: shown(s.UID),
			Untrusted: b.writerOf(ctx, c, s),
		}
		if !in.preview {
			step.ID = s.ID().String()
		}
		v.Undone = append(v.Undone, step)
	}
	for _, s := range done.Steps {
		v.Changes += len(s.Undoes)
	}
	rooms := b.undoneRooms(ctx, c, z, done, in.preview)
	v.toldView = toldTo(rooms.accepted(done.Told))
	v.Declined = rooms.shown
	v.Left = each(left, func(l calendar.UndoConflict) leftView {
		return leftView{l.ID().String(), shown(l.Why()), cmp.Or(authorOf(c.caller, l.In), agentOf(c.caller, l.By))}
	})
	return answer{v.prose(z, since, in.preview), v}, nil
}

// undoneRooms returns the rooms that decline an event after an undo. It includes the rooms that had declined an event
// before the undo removed it.
func (b changeTools) undoneRooms(
	ctx context.Context, c *call, z zoned, done calendar.Undone, preview bool,
) (r refusals) {
	if !asksRooms(done.Told) {
		return r
	}
	for _, s := range done.Steps[:min(len(done.Steps), mostUndone)] {
		if s.Subject() != calendar.AboutObject {
			continue
		}
		if s.Did == calendar.Deleted && !preview {
			r.merge(declinedBefore(b.lastText(ctx, c, s), false, done.Told))
			continue
		}
		o, err := b.service.ObjectByUID(ctx, c.meter, c.caller, s.In, s.UID)
		if err != nil {
			continue
		}
		now, err := b.service.InstanceOf(ctx, c.meter, s.In, o, ical.Time{})
		switch {
		case err != nil:
		case preview:
			r.merge(declinedBefore(now, false, done.Told))
		default:
			r.merge(b.refusals(ctx, c, s.In, now, z, done.Told, false))
		}
	}
	return r
}

// lastText returns a deleted object as it was before its deletion.
func (b changeTools) lastText(ctx context.Context, c *call, deleted calendar.Change) (was query.Instance) {
	q := calendar.HistoryQuery{Calendar: deleted.In.ID, UID: deleted.UID, Limit: 2, Described: true}
	past, err := b.service.History(ctx, c.caller, q)
	if err != nil {
		return was
	}
	// The journal describes a deletion without its text.
	for _, change := range past.Changes {
		if was.Object.Data = change.After; change.Did == calendar.Deleted {
			was.Object.Data = change.Before
		}
		if was.Object.Data != nil {
			return was
		}
	}
	return was
}

// takeBack undoes one change, or all changes that a token made since a time.
func (b changeTools) takeBack(ctx context.Context, c *call, in *undo) (
	done calendar.Undone, z zoned, since time.Time, err error,
) {
	switch {
	case (in.change == "") == (in.since == ""):
		err = errArgument(`give either "change_id", for one change, or "since", for all changes by a token`)
		return done, z, since, err
	case in.change == "":
		if z, err = b.zoneFor(c, in.inZone, calendar.Calendar{}); err == nil {
			since, err = b.readSince(c, z, in.since)
		}
		if err == nil {
			done, err = b.takeBackSince(ctx, c, in, since)
		}
		return done, z, since, err
	}
	for _, other := range [...]struct {
		name  string
		given bool
	}{
		{"token", in.token != ""},
		{"leave_changed", in.leaveChanged},
		{"preview", in.preview},
		{"calendar_id", in.calendar != ""},
		{"timezone", in.timezone != ""},
	} {
		if other.given {
			return done, z, since, errArgument("%q goes with \"since\", not with \"change_id\"", other.name)
		}
	}
	id, err := calendar.ParseChangeID(in.change)
	if err != nil {
		return done, z, since, err
	}
	c.calendar, z = id.Calendar, b.usualZone(c, calendar.Calendar{})
	done, err = b.service.Undo(ctx, c.caller, id)
	return done, z, since, err
}

func (b changeTools) takeBackSince(ctx context.Context, c *call, in *undo, at time.Time) (calendar.Undone, error) {
	token, err := b.tokenOf(ctx, c, in.token)
	if err != nil {
		return calendar.Undone{}, err
	}
	cal, err := b.oneCalendar(ctx, c, in.calendar)
	if err != nil {
		return calendar.Undone{}, err
	}
	all := calendar.UndoSince{
		Token: token, At: at, LeaveChanged: in.leaveChanged, Preview: in.preview, Calendar: cal.ID,
	}
	if all.Token == "" {
		all.Token = c.caller.Token
	}
	if c.consent.asks && !in.preview {
		all.Preview = true
		would, err := b.service.UndoSince(ctx, c.caller, all)
		if err == nil {
			err = c.confirmUndo(would)
		}
		if err != nil {
			return calendar.Undone{}, err
		}
		all.Preview = false
	}
	return b.service.UndoSince(ctx, c.caller, all)
}

// undoneWords describe the outcome of an undo.
//
//nolint:exhaustive // an undo has no other outcome
var undoneWords = map[calendar.ChangeKind]string{
	calendar.Created: "is restored", calendar.Modified: "is as before", calendar.Deleted: "is removed again",
}

// prose writes the result as text.
func (v undoView) prose(z zoned, since time.Time, preview bool) prose {
	var b strings.Builder
	heading, from := "Undid %s%s:\n", ""
	if preview {
		heading = "This would undo %s%s:\n"
	}
	if v.Since != "" {
		from = fmt.Sprintf(" since %s (%s)", z.readable(since), v.Timezone)
	}
	fmt.Fprintf(&b, heading, calendar.Counted(v.Changes, "change"), from)
	for i, s := range v.Undone {
		fmt.Fprintf(&b, "%d. %s %s, in %s, calendar_id %s", i+1, quotedTitle(defused(string(s.Title))),
			undoneWords[s.Did], wire.Quoted(defused(string(s.In))), s.Calendar)
		b.WriteString(s.Untrusted.mark())
		if s.UID != "" {
			b.WriteString(", uid " + quotedUID(calendar.UID(s.UID)))
		}
		if s.ID != "" {
			fmt.Fprintf(&b, " (change_id %s)", s.ID)
		}
		b.WriteString("\n")
	}
	if v.MoreUndone > 0 {
		fmt.Fprintf(&b, "%d more are not listed.\n", v.MoreUndone)
	}
	if len(v.Left) > 0 {
		b.WriteString("\nNot undone:\n")
	}
	for _, left := range v.Left {
		fmt.Fprintf(&b, "- %s%s\n", defused(string(left.Why)), left.Untrusted.mark())
	}
	if v.MoreLeft > 0 {
		fmt.Fprintf(&b, "- %d more\n", v.MoreLeft)
	}
	if v.Others != nil {
		fmt.Fprintf(&b, "\nCalendars of these people were not searched: %s. Give calendar_id for each.\n",
			defused(strings.Join(texts(v.Others), ", ")))
	}
	v.toldView.write(&b, preview)
	return prose(strings.TrimSpace(b.String()))
}

// notSearched names the users whose calendars an undo leaves out, although the caller is their delegate.
func (b changeTools) notSearched(ctx context.Context, c *call, in calendar.CalendarID) ([]shown, error) {
	if in != "" || c.caller.MayActFor() != nil {
		return nil, nil
	}
	from, err := b.service.DelegatedTo(ctx, c.caller)
	return few(each(from, func(d calendar.Delegation) string { return d.Owner.Name })), err
}

// restoredView is the result of restore_event.
type restoredView struct {
	UID      shown               `json:"event_uid"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	Title    shown               `json:"title"`
	Kind     string              `json:"kind"`
	ETag     calendar.ETag       `json:"etag"`
	Untold   string              `json:"nobody_told,omitempty"`
	Unbooked []shown             `json:"not_booked,omitempty" doc:"Rooms that the deletion freed."`
	// Untrusted covers the title.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// lost holds the arguments of restore_event.
type lost struct{ reference }

func (in *lost) takes() []field { return in.takesEvent() }

func (b changeTools) restoreEvent(ctx context.Context, c *call, cal calendar.Calendar, in *lost) (answer, error) {
	saved, err := b.service.RestoreDeleted(ctx, c.caller, cal, in.UID)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		e := calendar.Errorf(calendar.NotFound, "", "nothing with the uid %s was deleted in %s, or the journal no "+
			"longer has it", wire.Quote(string(in.UID)), wire.Quote(cal.Name))
		e.Hint, e.Cause = "list_changes shows deletions and their calendars", err
		if marks.MatchString(string(in.UID)) {
			e.Hint = "this uid is truncated: undo the deletion with undo_change and its change_id, from list_changes"
		}
		return answer{}, e
	}
	if err != nil {
		return answer{}, err
	}
	o := saved.Object
	v := restoredView{
		shown(o.UID), cal.ID, shown(o.Summary), kindWord(o.Kind), o.ETag, "", nil,
		cmp.Or(authorOf(c.caller, cal), unknownAuthor),
	}
	now, err := b.service.InstanceOf(ctx, c.meter, cal, o, ical.Time{})
	if err == nil {
		v.Untrusted = standing(c.caller, cal, now.Component).Untrusted
	}
	if err == nil && c.hasOthers(cal, now.Component) {
		v.Untold, v.Unbooked = untoldByTrash, b.unbooked(ctx, c, now)
	}
	name, _ := calendarNames{}.of(cal)
	text := fmt.Sprintf("Restored the %s %s to %s, calendar_id %s, uid %s, etag %s", v.Kind,
		quotedTitle(defused(o.Summary)), name, cal.ID, quotedUID(o.UID), o.ETag) + v.Untrusted.mark()
	if v.Untold != "" {
		text += "\n\nNobody was told: " + v.Untold
	}
	if v.Unbooked != nil {
		text += "\n\nNo longer booked, until the next change asks again: " +
			defused(strings.Join(texts(v.Unbooked), ", "))
	}
	return answer{prose(text), v}, nil
}

// unbooked lists the rooms that a restored event no longer holds.
func (b changeTools) unbooked(ctx context.Context, c *call, now query.Instance) []shown {
	guests := slices.DeleteFunc(edit.AttendeesOf(now.Component), func(a edit.Attendee) bool {
		return !strings.EqualFold(a.Status, noAnswer)
	})
	people, err := b.service.PeopleAt(ctx, c.caller, each(guests, func(a edit.Attendee) string { return a.Address }))
	if err != nil {
		return nil
	}
	var rooms []string
	for i, found := range people {
		if len(found) == 1 && found[0].Room.Bookable() {
			rooms = append(rooms, namedAttendee(guests[i]))
		}
	}
	return few(rooms)
}
