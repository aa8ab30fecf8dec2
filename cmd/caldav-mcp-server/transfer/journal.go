package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const journalDetails = `
The journal records every change by any client or assistant, with its author. The previous state is kept for
JOURNAL_DAYS. During that time a change can be undone, if nothing has changed the object since.
  journal list           lists the changes in calendars that the user can write to, the latest first
  journal show CHANGE    shows a change in full; CHANGE is its id in the list
  journal undo CHANGE    undoes a change, with all changes that were made together with it; the undo can be undone too
  journal undo --token ID --since WHEN
                         undoes all changes of an assistant since then (list-tokens shows the ids): all or nothing,
                         unless --leave-changed skips objects that others have changed since
--since takes a span before now (30m, 2h, 7d, 2w), a date (2027-01-31, its start in UTC) or a time (2027-01-31T09:00 in
UTC, 2027-01-31T09:00:00+01:00).
`

// journalOptions are the flags of journal.
type journalOptions struct {
	calendar, since, token, uid string
	limit                       int
	leaveChanged, dryRun        bool
	// from is the parsed value of since.
	from time.Time
}

// JournalCommand is the command journal.
func JournalCommand() command.Command {
	var o journalOptions
	return command.Command{
		Name: "journal", User: "`NAME` of the user", Operands: []string{"list|show|undo"}, Optional: []string{"CHANGE"},
		Settings: settings.StoreGroup | settings.PostGroup, JSON: true,
		Summary: "show the changes by users and assistants, and undo them", Details: journalDetails, Flags: o.declare,
		Check: o.check,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			return journalActions[operands[0]](&logbook{d, o}, ctx, operands[1:])
		},
	}
}

func (o *journalOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.calendar, "calendar", "", "only this `CALENDAR`, by name, address or id")
	f.StringVar(&o.since, "since", "", "only changes since `WHEN`")
	f.StringVar(&o.token, "token", "", "only changes by the token `ID`")
	f.StringVar(&o.uid, "uid", "", "only changes of the event or task with this `UID`")
	f.IntVar(&o.limit, "limit", 50, "list at most `N`")
	f.BoolVar(&o.leaveChanged, "leave-changed", false, "skip objects that others have changed since")
	f.BoolVar(&o.dryRun, "dry-run", false, "only show what would be undone")
}

var journalActions = map[string]func(l *logbook, ctx context.Context, changes []string) error{
	"list": (*logbook).list, "show": (*logbook).show, "undo": (*logbook).undo,
}

// check validates the action and its arguments.
func (o *journalOptions) check(d *command.Context, operands []string) (err error) {
	if o.from, err = parseSince(o.since, d.Now()); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	given := len(operands) > 1
	switch {
	case journalActions[operands[0]] == nil:
		err = fmt.Errorf("there is no %q: use list, show or undo", operands[0])
	case operands[0] == "list" && given:
		err = fmt.Errorf("%q is one argument too many", operands[1])
	case operands[0] == "show" && !given:
		err = errors.New("show needs a CHANGE, as list shows it")
	case operands[0] == "undo" && given == (o.token != ""):
		err = errors.New("undo needs either a CHANGE, as list shows it, or --token and --since")
	case operands[0] == "undo" && o.token != "" && o.since == "":
		err = errors.New("undo --token needs --since")
	case o.limit < 1:
		err = errors.New("--limit must be at least 1")
	case (o.dryRun || o.leaveChanged) && (operands[0] != "undo" || given):
		err = errors.New("--dry-run and --leave-changed are for undo --token")
	}
	return err
}

// minuteOfDay is a time without a zone, which is UTC like a date alone.
const minuteOfDay = "2006-01-02T15:04"

// parseSince parses a past time: a span before now, a day or a time. An empty word means no limit.
func parseSince(word string, now time.Time) (time.Time, error) {
	if word == "" {
		return time.Time{}, nil
	}
	if span, err := time.ParseDuration(word); err == nil && span > 0 {
		return now.Add(-span), nil
	}
	for _, layout := range []string{time.DateOnly, minuteOfDay, time.RFC3339} {
		if at, err := time.Parse(layout, word); err == nil {
			return at, nil
		}
	}
	if console.SpanForm.MatchString(word) {
		until, err := console.ParseExpiry(word, now)
		return now.Add(now.Sub(until)), err
	}
	return time.Time{},
		fmt.Errorf("%q is neither a span (30m, 7d), a date (2027-01-31) nor a time (2027-01-31T09:00, "+
			"2027-01-31T09:00:00Z)", word)
}

// logbook is the journal as a user may see it.
type logbook struct {
	*command.Context
	journalOptions
}

// journalLine is a change in JSON and in the list.
type journalLine struct {
	Change   string              `json:"change"`
	At       time.Time           `json:"at"`
	User     string              `json:"user"`
	For      string              `json:"as_delegate_of,omitempty"`
	Token    calendar.TokenID    `json:"token,omitempty"`
	Agent    string              `json:"agent,omitempty"`
	Did      calendar.ChangeKind `json:"did"`
	What     string              `json:"what"`
	Type     calendar.Subject    `json:"type"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	In       string              `json:"calendar"`
	Name     calendar.ObjectName `json:"name,omitempty"`
	UID      calendar.UID        `json:"uid,omitempty"`
	Kind     calendar.Kind       `json:"kind,omitempty"`
	Title    string              `json:"title,omitempty"`
	Whom     string              `json:"shared_with,omitempty"`
	Given    string              `json:"permission,omitempty"`
	With     string              `json:"together_with,omitempty"`
	Undoes   []string            `json:"undoes,omitempty"`
	UndoneBy string              `json:"undone_by,omitempty"`
	Lost     bool                `json:"forgotten,omitempty"`
	Changed  []journalDifference `json:"differences,omitempty"`
	// by names the author and, for a delegate's change, the other user.
	by string
}

type journalDifference struct {
	In     string   `json:"in,omitempty"`
	Name   string   `json:"name"`
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// inQuotes quotes user-supplied text in a sentence.
func inQuotes(text string) string { return fmt.Sprintf("%q", console.Shown(text)) }

func lineOf(c calendar.Change) journalLine {
	l := journalLine{
		Change: c.ID().String(), At: c.At.UTC(), User: c.UserName, For: c.ForName, by: c.By(), Token: c.Token,
		Agent: describe.Program(c.Agent),
		Did:   c.Did, What: describe.English(time.UTC, inQuotes).Change(c), Type: c.Subject(),
		Calendar: c.In.ID, In: c.In.Name, Name: c.Object, UID: c.UID, Kind: c.Kind, Title: c.Summary,
		Lost: c.Forgotten(),
	}
	switch c.Subject() {
	case calendar.AboutObject:
	case calendar.AboutCalendar:
		l.Title = c.In.Name
	case calendar.AboutShare:
		l.Title, l.Whom = "", c.WhomName
		if c.Given > calendar.NoAccess {
			l.Given = c.Given.Word()
		}
	}
	if c.Unit != c.ID() {
		l.With = c.Unit.String()
	}
	for _, v := range c.Undoes {
		l.Undoes = append(l.Undoes, calendar.ChangeID{Calendar: c.In.ID, Version: v}.String())
	}
	if c.UndoneBy > 0 {
		l.UndoneBy = calendar.ChangeID{Calendar: c.In.ID, Version: c.UndoneBy}.String()
	}
	return l
}

// did is the action in a table.
func (l journalLine) did() string {
	if l.Type == calendar.AboutObject {
		return strings.TrimSpace(string(l.Did) + " " + strings.ToLower(strings.TrimPrefix(string(l.Kind), "V")))
	}
	return string(l.Did) + " " + string(l.Type)
}

// title is the subject of the change.
func (l journalLine) title() string {
	switch {
	case l.Type != calendar.AboutShare:
		return l.Title
	case l.Given == "":
		return l.Whom
	}
	return l.Whom + ": " + l.Given
}

func (l journalLine) state() string {
	switch {
	case l.UndoneBy != "":
		return "undone"
	case len(l.Undoes) > 0:
		return "an undo"
	case l.Lost:
		return "forgotten"
	}
	return ""
}

func (l journalLine) row() []string {
	return []string{
		console.ShownTime(l.At), l.by, l.Agent, l.did(), l.title(), l.In, l.state(), briefChange(l.Change),
	}
}

func (l *logbook) list(ctx context.Context, _ []string) error {
	q := calendar.HistoryQuery{
		Since: l.from, Token: calendar.TokenID(l.token), UID: calendar.UID(l.uid), Limit: l.limit, Described: true,
	}
	var err error
	if q.Calendar, err = l.chosen(ctx); err != nil {
		return err
	}
	page, err := l.Calendars.History(ctx, l.Caller(), q)
	if err != nil {
		return err
	}
	lines := console.Each(page.Changes, lineOf)
	if l.JSON {
		return l.PrintJSON(lines)
	}
	if err := l.PrintTable([]string{"WHEN", "WHO", "WITH", "DID", "TITLE", "CALENDAR", "STATE", "CHANGE"},
		console.Each(lines, journalLine.row)); err != nil {
		return err
	}
	if page.Cursor != "" {
		l.Say("there are more; use a higher --limit\n")
	}
	return nil
}

// chosen is the id of the calendar that --calendar names, which may be in the trash.
func (l *logbook) chosen(ctx context.Context) (calendar.CalendarID, error) {
	if l.calendar == "" {
		return "", nil
	}
	trashed, err := l.Calendars.TrashedCalendars(ctx, l.Caller())
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(trashed, func(t calendar.TrashedCalendar) bool { return string(t.ID) == l.calendar }) {
		return calendar.CalendarID(l.calendar), nil
	}
	cal, err := l.FindCalendar(ctx, l.Who, l.calendar)
	return cal.ID, err
}

// briefChange is a change's id in a table: the calendar's id is shortened, the number is not.
func briefChange(id string) string {
	at := strings.LastIndexByte(id, '.')
	return console.BriefID(id[:at]) + id[at:]
}

// changeNamed parses the id of a change, also in its short form.
func (l *logbook) changeNamed(ctx context.Context, word string) (calendar.ChangeID, error) {
	id, err := calendar.ParseChangeID(word)
	if err != nil || len(id.Calendar) != console.BriefLength {
		return id, err
	}
	seen, err := l.Calendars.Calendars(ctx, l.Caller())
	if err != nil {
		return id, err
	}
	trashed, err := l.Calendars.TrashedCalendars(ctx, l.Caller())
	if err != nil {
		return id, err
	}
	ids := console.Each(seen, func(c calendar.Calendar) calendar.CalendarID { return c.ID })
	ids = append(ids, console.Each(trashed, func(t calendar.TrashedCalendar) calendar.CalendarID { return t.ID })...)
	id.Calendar, err = console.ByID(ids, func(c calendar.CalendarID) string { return string(c) }, "change",
		string(id.Calendar))
	return id, err
}

func (l *logbook) show(ctx context.Context, changes []string) error {
	id, err := l.changeNamed(ctx, changes[0])
	if err != nil {
		return err
	}
	change, err := l.Calendars.Change(ctx, l.Caller(), id)
	if err != nil {
		return err
	}
	line := lineOf(change)
	for _, d := range describe.Differences(change) {
		line.Changed = append(line.Changed, journalDifference{d.In, d.Name, d.Before, d.After})
	}
	if l.JSON {
		return l.PrintJSON(line)
	}
	_, err = fmt.Fprint(l.Stdout, line.text())
	return err
}

// text describes a change in full.
func (l journalLine) text() string {
	rows := [][]string{
		{"change", l.Change},
		{"when", console.ShownTime(l.At)},
		{"who", console.Shown(l.by)},
		{"with", console.Shown(l.Agent)},
		{"what", l.What},
		{"calendar", console.Shown(l.In)},
	}
	for _, optional := range [][]string{
		{"uid", string(l.UID)},
		{"token", string(l.Token)},
		{"together with", l.With},
		{"undoes", strings.Join(l.Undoes, ", ")},
		{"undone by", l.UndoneBy},
	} {
		if optional[1] != "" {
			rows = append(rows, []string{optional[0], console.Shown(optional[1])})
		}
	}
	var b strings.Builder
	b.WriteString(console.Columns(rows))
	if l.Lost {
		b.WriteString("\nThe previous state is no longer kept.\n")
	}
	for _, d := range l.Changed {
		for _, line := range d.Before {
			fmt.Fprintf(&b, "- %s\n", console.Shown(strings.TrimSpace(d.In+" "+d.naming(line))))
		}
		for _, line := range d.After {
			fmt.Fprintf(&b, "+ %s\n", console.Shown(strings.TrimSpace(d.In+" "+d.naming(line))))
		}
	}
	return b.String()
}

// naming adds the name to a line of a calendar's property; other lines already contain it.
func (d journalDifference) naming(line string) string {
	if d.In == "" {
		return d.Name + " " + line
	}
	return line
}
