package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	usualChanges = 30
	mostChanges  = 100
	// longestChangedTitle is how much of a title is shown, so that as many fit into an answer.
	longestChangedTitle = 120
)

// changeTools are the tools about the journal: who changed what, and taking it back.
func (b toolbox) changeTools() []tool {
	return []tool{
		{
			name: "list_changes", title: "List changes",
			description: "Lists who changed what in the calendars that the user may write to, the latest first: by any app or assistant, deletions and changes of calendars included. undo_change takes a change_id.",
			scope:       calendar.ScopeRead,
			hints:       hints{readOnly: true, idempotent: true},
			takes: []field{
				{name: "since", kind: text, doc: "Only changes since then: a time, or a calendar's ctag.", optional: true, longest: longestID},
				{name: "calendar_id", kind: text, doc: "The only calendar to look in. If missing: all.", optional: true},
				{name: "event_uid", kind: text, doc: "Only changes of this event or task.", optional: true, longest: longestID},
				{name: "token", kind: text, doc: "Only what this token did: its name or id, as listed; own is the one in use.", optional: true, longest: longestID},
				{name: "limit", kind: number, doc: "How many, 30 if missing, 100 at most.", optional: true, least: 1, most: mostChanges},
				takesCursor, takesZone,
			},
			gives: changesView{},
			run:   b.listChanges,
		}, b.once(tool{
			name: "undo_change", title: "Undo change",
			description: "Takes back one change (change_id), with what was done together with it, if nothing has changed it since; or, with since, all that a token did since then, as one. The undo is a change itself and can be undone.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			hints:       hints{destructive: true, idempotent: true},
			takes: []field{
				{name: "change_id", kind: text, doc: "The change, from list_changes.", optional: true, longest: longestID},
				{name: "since", kind: text, doc: "Instead of change_id: take back all since this time.", optional: true},
				{name: "token", kind: text, doc: "With since: whose changes, by name or id. If missing: those of the token in use.", optional: true, longest: longestID},
				{name: "leave_changed", kind: yesNo, doc: "With since: leave what others have changed after it. If missing, nothing at all is taken back then.", optional: true},
				{name: "preview", kind: yesNo, doc: "With since: only tell what would be taken back.", optional: true},
				takesZone,
			},
			gives: undoView{},
			run:   b.undoChange,
		}), b.once(tool{
			name: "restore_event", title: "Restore deleted event",
			description: "Brings back an event or a task that was deleted, as it was last, while the journal keeps it. list_changes shows what was deleted.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			takes:       []field{calendarID, takesEvent},
			gives:       restoredView{},
			run:         b.restoreEvent,
		}),
	}
}

// changeView is a change in a list. What most changes have not is left out.
type changeView struct {
	ID      string `json:"change_id"`
	At      string `json:"at"`
	Weekday string `json:"weekday"`
	User    shown  `json:"user,omitempty"`
	// With is the app, or the name of the token.
	With  shown               `json:"with,omitempty"`
	Token calendar.TokenID    `json:"token,omitempty"`
	Did   calendar.ChangeKind `json:"did"`
	Kind  string              `json:"kind"`
	Title shown               `json:"title,omitempty"`
	// Whom a share is with, and what they were offered then.
	Whom     shown               `json:"shared_with,omitempty"`
	Given    string              `json:"permission,omitempty"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	In       shown               `json:"calendar"`
	UID      shown               `json:"event_uid,omitempty"`
	// Together is the change that it is undone with.
	Together string   `json:"together_with,omitempty"`
	Undoes   []string `json:"undoes,omitempty"`
	UndoneBy string   `json:"undone_by,omitempty"`
	// Lost tells that it is too old to be undone.
	Lost bool `json:"forgotten,omitempty"`
}

// changesView is what list_changes returns.
type changesView struct {
	Changes    []changeView `json:"changes"`
	Truncated  bool         `json:"truncated"`
	NextCursor string       `json:"next_cursor,omitempty"`
	NotShown   []shown      `json:"not_shown,omitempty"`
	zoneView
}

func (b toolbox) listChanges(ctx context.Context, c *call) (answer, error) {
	cal, err := b.journalCalendar(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return answer{}, err
	}
	q := calendar.HistoryQuery{
		Calendar: cal.ID, UID: calendar.UID(c.args.text("event_uid")),
		Limit: c.limit(usualChanges),
	}
	if _, err = c.place(&q.Cursor); err != nil {
		return answer{}, err
	}
	if q.Token, err = b.tokenOf(ctx, c); err != nil {
		return answer{}, err
	}
	since := given(c, "since")
	if strings.HasPrefix(since, "urn:") {
		q.After, err = calendar.ParseSyncToken(since)
	} else if since != "" {
		q.Since, err = z.readInstant("since", since)
	}
	if err != nil {
		return answer{}, err
	}
	found, err := b.service.History(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	v := changesView{Changes: make([]changeView, len(found.Changes)), Truncated: found.Cursor != "", zoneView: z.view()}
	if v.Truncated {
		v.NextCursor = c.next(found.Cursor)
	}
	for i, change := range found.Changes {
		v.Changes[i] = z.change(change)
	}
	var closed []string
	for _, cal := range found.Closed {
		closed = append(closed, cal.Name)
	}
	v.NotShown = few(closed)
	return answer{v.prose(z, found.Changes), v}, nil
}

// journalCalendar finds the calendar that a call may name. It may be in the trash, where only
// its journal is left to be seen; so an unknown one is for the service to refuse.
func (b toolbox) journalCalendar(ctx context.Context, c *call) (calendar.Calendar, error) {
	cal, err := b.oneCalendar(ctx, c)
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		return cal, err
	}
	trashed, failed := b.service.TrashedCalendars(ctx, c.caller)
	if failed != nil {
		return cal, failed
	}
	for _, t := range trashed {
		if string(t.ID) == given(c, "calendar_id") {
			c.calendar = t.ID
			return t.Calendar, nil
		}
	}
	return cal, err
}

// tokenOf is the token whose changes a call means; "" if it names none.
func (b toolbox) tokenOf(ctx context.Context, c *call) (calendar.TokenID, error) {
	switch name := given(c, "token"); name {
	case "":
		return "", nil
	case "own", string(c.caller.Token):
		return c.caller.Token, nil
	default:
		return b.service.TokenNamed(ctx, c.caller, name)
	}
}

func (z zoned) change(c calendar.Change) changeView {
	at := c.At.In(z.Location())
	v := changeView{
		ID: c.ID().String(), At: at.Format(time.RFC3339), Weekday: at.Weekday().String(),
		User: shown(c.By), With: shown(c.Agent), Token: c.Token, Did: c.Line.Change, Kind: kindWord(c.Kind),
		Title: shown(short(c.Summary, longestChangedTitle)), Calendar: c.In.ID, In: shown(short(c.In.Name, longestListedTitle)),
		UID: shown(c.UID), Undoes: changeIDs(c.In.ID, c.Undoes), Lost: c.Forgotten(),
	}
	switch c.Subject() {
	case calendar.AboutObject:
	case calendar.AboutCalendar:
		v.Kind, v.Title = string(calendar.AboutCalendar), v.In
	case calendar.AboutShare:
		v.Kind, v.Title, v.Whom = string(calendar.AboutShare), "", shown(c.Line.With)
		if c.Given > calendar.NoAccess {
			v.Given = permissions[c.Given]
		}
	}
	if c.Unit != c.ID() {
		v.Together = c.Unit.String()
	}
	if c.UndoneBy > 0 {
		v.UndoneBy = calendar.ChangeID{Calendar: c.In.ID, Version: c.UndoneBy}.String()
	}
	return v
}

// kindWord is a kind in lower case. What nothing is left of was most likely an event.
func kindWord(k calendar.Kind) string {
	return strings.ToLower(strings.TrimPrefix(string(cmp.Or(k, calendar.Event)), "V"))
}

func changeIDs(in calendar.CalendarID, versions []calendar.Version) []string {
	var ids []string
	for _, v := range versions {
		ids = append(ids, calendar.ChangeID{Calendar: in, Version: v}.String())
	}
	return ids
}

// prose says it for reading.
func (v changesView) prose(z zoned, found []calendar.Change) prose {
	var b strings.Builder
	fmt.Fprintf(&b, "Found %s (times in %s):\n\n", changesWord(len(v.Changes)), z.Name())
	for i, c := range v.Changes {
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, z.readable(found[i].At), c.sentence(found[i].In))
	}
	if v.Truncated {
		fmt.Fprintf(&b, "\nThere are more: call again with cursor %s\n", v.NextCursor)
	}
	if v.NotShown != nil {
		fmt.Fprintf(&b, "\nNot shown, since they are shared for reading only: %s\n", strings.Join(texts(v.NotShown), ", "))
	}
	return prose(strings.TrimSpace(b.String()))
}

func changesWord(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

func (c changeView) sentence(cal calendar.Calendar) string {
	who := cmp.Or(string(c.User), "somebody")
	if c.With != "" {
		who += fmt.Sprintf(" (%s)", quote(string(c.With)))
	}
	in, _ := calendarNames{}.of(cal)
	text := fmt.Sprintf("%s %s %s %s", who, c.Did, c.Kind, quotedTitle(short(string(c.Title), maxQuoted)))
	switch c.Kind {
	case string(calendar.AboutShare):
		text = strings.TrimSpace(fmt.Sprintf("%s %s the share of %s in %s %s", who, c.Did, quote(string(c.Whom)), in, c.Given))
	case string(calendar.AboutCalendar):
	default:
		text += fmt.Sprintf(" in %s, uid %s", in, quotedUID(calendar.UID(c.UID)))
	}
	switch {
	case c.UndoneBy != "":
		text += ", undone since"
	case len(c.Undoes) > 0:
		text += ", an undo"
	case c.Lost:
		text += ", too old to undo"
	}
	return text + " change_id " + c.ID
}
