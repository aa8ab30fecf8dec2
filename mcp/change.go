package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/mcp/wire"
)

const (
	usualChanges = 30
	mostChanges  = 100
	// longestChangedTitle limits titles, so that more changes fit into a result.
	longestChangedTitle = 120
	// mostTold limits the total length of the change descriptions in a result.
	mostTold = 8 << 10
)

// changeTools are the tools for past changes.
type changeTools struct{ toolbox }

// changesQuestion holds the arguments of list_changes.
type changesQuestion struct {
	since string
	inCalendar
	uid   calendar.UID
	token string
	paged
	inZone
}

func (in *changesQuestion) takes() []field {
	return []field{
		wordTo(&in.since, "since", "A time, monday (the last), 2 hours ago, or a ctag.").upTo(longestID),
		takesOnly(&in.calendar),
		textTo(&in.uid, "event_uid", "Only this event or task.").upTo(longestID),
		wordTo(&in.token, "token", "Only by this token (name or id); own: yours.").upTo(longestID),
		numberTo(&in.limit, "limit", "Default 30.").between(1, mostChanges),
		in.takesCursor(), in.takesZone(),
	}
}

// changeView is a change in a list. Fields that most changes lack are omitted.
type changeView struct {
	ID       string              `json:"change_id"`
	At       string              `json:"at"`
	Weekday  string              `json:"weekday"`
	User     shown               `json:"user,omitempty"`
	For      shown               `json:"as_delegate_of,omitempty"`
	With     shown               `json:"with,omitempty"`
	Token    calendar.TokenID    `json:"token,omitempty"`
	Did      calendar.ChangeKind `json:"did"`
	Kind     string              `json:"kind"`
	Title    shown               `json:"title,omitempty"`
	What     shown               `json:"what,omitempty"`
	Whom     shown               `json:"shared_with,omitempty"`
	Given    string              `json:"permission,omitempty"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	In       shown               `json:"calendar"`
	UID      shown               `json:"event_uid,omitempty"`
	Together string              `json:"together_with,omitempty" doc:"The change it is undone with."`
	Undoes   []string            `json:"undoes,omitempty"`
	UndoneBy string              `json:"undone_by,omitempty"`
	Lost     bool                `json:"forgotten,omitempty" doc:"Too old to be undone."`
	// Untrusted covers the title, the description of the change and the calendar's name.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// changesView is the result of list_changes.
type changesView struct {
	Changes    []changeView `json:"changes"`
	Truncated  bool         `json:"truncated"`
	NextCursor string       `json:"next_cursor,omitempty"`
	NotShown   []shown      `json:"not_shown,omitempty" doc:"Hidden: shared read-only."`
	Since      string       `json:"since,omitempty"`
	zoneView
}

func (b changeTools) listChanges(ctx context.Context, c *call, in *changesQuestion) (answer, error) {
	cal, err := b.journalCalendar(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	if marks.MatchString(string(in.uid)) {
		return answer{}, errArgument(`"event_uid" %s is truncated: leave it out, and ask for the calendar or a time`,
			wire.Quote(string(in.uid)))
	}
	q := calendar.HistoryQuery{
		Calendar: cal.ID, UID: in.uid,
		Limit: cmp.Or(in.limit, usualChanges), Described: true,
	}
	if _, err = in.place(c, &q.Cursor); err != nil {
		return answer{}, err
	}
	if q.Token, err = b.tokenOf(ctx, c, in.token); err != nil {
		return answer{}, err
	}
	if strings.HasPrefix(in.since, "urn:") {
		if q.After, err = calendar.ParseSyncToken(in.since); err != nil {
			err = errArgument(`"since" is not a ctag of this server: %s; take it from get_calendar, or give a time`,
				wire.Quote(in.since))
		}
	} else if in.since != "" {
		q.Since, err = c.fixed("since", func() (time.Time, error) { return b.readSince(c, z, in.since) })
	}
	if err != nil {
		return answer{}, err
	}
	found, err := b.service.History(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	v := changesView{
		Changes: make([]changeView, len(found.Changes)), Truncated: found.Cursor != "", Since: z.momentOf(q.Since),
		zoneView: z.view(),
	}
	if v.Truncated {
		v.NextCursor = c.next(found.Cursor)
	}
	told := z.toldOf(found.Changes)
	for i, change := range found.Changes {
		v.Changes[i] = z.change(change)
		v.Changes[i].Untrusted = b.writerOf(ctx, c, change)
		if change.Did == calendar.Modified {
			v.Changes[i].What = shown(told[i])
		}
	}
	v.NotShown = few(each(found.Closed, func(cal calendar.Calendar) string { return markedName(c.caller, cal) }))
	return answer{v.prose(c.caller, z, found.Changes, told, q.Since), v}, nil
}

// mostAhead is how far a client's clock may be ahead of the server's.
const mostAhead = time.Minute

// readSince parses a time in the past, also in words.
func (b changeTools) readSince(c *call, z zoned, since string) (time.Time, error) {
	at, err := z.readInstant("since", since)
	if err != nil {
		said, unread := b.reader(c, z).Since(since)
		if unread != nil {
			return at, errUnread(err, unread,
				`; or in words, such as yesterday, monday, noon, today 12:00 or 2 hours ago`)
		}
		at = said
	}
	if at.After(b.now().Add(mostAhead)) {
		return at, errArgument(`"since" is in the future: %s means %s, %s`, wire.Quote(since), z.readable(at),
			z.Name()).
			Advising("give a time in the past, such as 2026-03-01T09:00, yesterday or monday, which is the last one")
	}
	return at, nil
}

// journalCalendar finds the calendar that a call names. It may be in the trash, where only its journal is readable. An
// unknown one is refused.
func (b changeTools) journalCalendar(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := b.oneCalendar(ctx, c, id)
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		return cal, err
	}
	trashed, failed := b.service.TrashedCalendars(ctx, c.caller)
	if failed != nil {
		return cal, failed
	}
	for _, t := range trashed {
		if t.ID == id {
			c.calendar = t.ID
			return t.Calendar, nil
		}
	}
	return cal, err
}

// tokenOf returns the token that a call asks about, or "" for all tokens.
func (b changeTools) tokenOf(ctx context.Context, c *call, name string) (calendar.TokenID, error) {
	switch name {
	case "":
		return "", nil
	case "own", string(c.caller.Token):
		return c.caller.Token, nil
	default:
		return b.service.TokenNamed(ctx, c.caller, name)
	}
}

// writerOf names the author of the texts in a change, unless that is the user. If the change has no copy of the object,
// the current object decides.
func (b changeTools) writerOf(ctx context.Context, c *call, change calendar.Change) shown {
	author := authorOf(c.caller, change.In)
	switch {
	case author != "":
		return author
	case change.InTrash || calendar.FromSource(change.Agent):
		return unknownAuthor // it may mirror one elsewhere no longer
	case change.Subject() != calendar.AboutObject:
		return agentOf(c.caller, &change)
	case change.User != c.caller.Author().ID:
		return cmp.Or(shown(change.UserName), unknownAuthor)
	}
	for _, text := range [...][]byte{change.After, change.Before} {
		if text != nil {
			return writerIn(c, change.In, calendar.Object{Data: text})
		}
	}
	o, err := b.service.ObjectByUID(ctx, c.meter, c.caller, change.In, change.UID)
	if err != nil {
		return unknownAuthor
	}
	return writerIn(c, change.In, o)
}

// agentOf names the user who named the program or the token of a change, unless that is the caller or it says nothing
// of one.
func agentOf(who calendar.Caller, change *calendar.Change) shown {
	if change == nil || change.Agent == "" || change.User == who.Author().ID && !calendar.FromSource(change.Agent) {
		return ""
	}
	return cmp.Or(shown(change.UserName), unknownAuthor)
}

func (z zoned) change(c calendar.Change) changeView {
	at := c.At.In(z.Location())
	v := changeView{
		ID: c.ID().String(), At: at.Format(time.RFC3339), Weekday: at.Weekday().String(),
		User: shown(c.UserName), For: shown(c.ForName), With: shown(c.Agent),
		Token: c.Token, Did: c.Did, Kind: kindWord(c.Kind),
		Title: shown(short(c.Summary, longestChangedTitle)), Calendar: c.In.ID,
		In:  shown(short(c.In.Name, longestListedTitle)),
		UID: shown(c.UID), Undoes: changeIDs(c.In.ID, c.Undoes), Lost: c.Forgotten(),
	}
	switch c.Subject() {
	case calendar.AboutObject:
	case calendar.AboutCalendar:
		v.Kind, v.Title = string(calendar.AboutCalendar), v.In
	case calendar.AboutShare:
		v.Kind, v.Title, v.Whom = string(calendar.AboutShare), "", shown(c.WhomName)
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

func changeIDs(in calendar.CalendarID, versions []calendar.Version) []string {
	var ids []string
	for _, v := range versions {
		ids = append(ids, calendar.ChangeID{Calendar: in, Version: v}.String())
	}
	return ids
}

// prose writes the result as text.
func (v changesView) prose(
	who calendar.Caller, z zoned, found []calendar.Change, told []string, since time.Time,
) prose {
	var b strings.Builder
	fmt.Fprintf(&b, "Found %s", calendar.Counted(len(v.Changes), "change"))
	if !since.IsZero() {
		fmt.Fprintf(&b, " since %s", z.readable(since))
	}
	fmt.Fprintf(&b, " (times in %s):\n\n", z.Name())
	names, legend := calendarNames{}, []string(nil)
	for i, c := range v.Changes {
		in := names.tell(who, found[i].In, &legend)
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, z.readable(found[i].At), c.sentence(told[i], in))
	}
	writeLegend(&b, legend)
	if v.Truncated {
		fmt.Fprintf(&b, "\nThere are more: call again with cursor %s\n", v.NextCursor)
	}
	if v.NotShown != nil {
		fmt.Fprintf(&b, "\nNot shown, because they are shared for reading only: %s\n",
			defused(strings.Join(texts(v.NotShown), "; ")))
	}
	return prose(strings.TrimSpace(b.String()))
}

// toldOf describes each change. After mostTold bytes the descriptions no longer compare old and new values.
func (z zoned) toldOf(changes []calendar.Change) []string {
	told, room := make([]string, len(changes)), mostTold
	wording := describe.English(z.Location(), func(s string) string {
		return wire.Quoted(defused(short(s, longestTold)))
	})
	for i, c := range changes {
		if room < 0 {
			c.Before = nil
		}
		told[i] = wording.Change(c)
		room -= len(told[i])
	}
	return told
}

func (c changeView) sentence(told, in string) string {
	who := cmp.Or(string(c.User), "somebody")
	if c.With != "" {
		who += fmt.Sprintf(" (%s)", wire.Quote(defused(string(c.With))))
	}
	text := who + " " + told
	if c.UID != "" {
		text += fmt.Sprintf(" in %s, uid %s", in, quotedUID(calendar.UID(c.UID)))
	}
	text += c.Untrusted.mark()
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
