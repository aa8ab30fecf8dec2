package planner

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// Subject is the event or the task that a page is about, or an instance of a series.
type Subject struct {
	Calendar calendar.Calendar
	// At is the recurrence id that the address names; zero for the whole object.
	At ical.Time
	query.Instance
	base string
}

// Find returns the event or task that an address names.
func (p *Planner) Find(ctx context.Context, in calendar.CalendarID, uid calendar.UID, at string) (Subject, error) {
	cal, err := p.Service.Calendar(ctx, p.Caller, in)
	if err != nil {
		return Subject{}, err
	}
	s := Subject{Calendar: cal, base: p.Base}
	o, err := p.Service.ObjectByUID(ctx, p.meter, p.Caller, cal, uid)
	if err != nil {
		return s, err
	}
	if at != "" {
		if s.At, err = timetext.Parse(at, nil); err != nil {
			return s, p.invalid("planner.bad-day", "day", clean(at), "example", p.today().Format(time.DateOnly))
		}
	}
	if s.Instance, err = p.Service.InstanceOf(ctx, p.meter, cal, o, s.At); err != nil {
		return s, err
	}
	s.Component = s.Instance.Component
	return s, nil
}

// Series reports whether the subject belongs to a series.
func (s Subject) Series() bool { return s.Object.Recurring }

// EventView is the page of an event.
type EventView struct {
	Subject
	Swatch
	Title string
	// When is its time in the visitor's zone. Elsewhere is its time in its own zones, if these differ.
	When, Elsewhere string
	// Second is its time in the visitor's second zone, "" if another line shows it.
	Second       string
	Place, Notes []Text
	// Repeats describes its rule, Alarms its reminders.
	Repeats string
	Alarms  []string
	// Link is its URL.
	Link      string
	Organizer string
	Guests    []GuestView
	// Comments are the texts of answers, and of a cancellation.
	Comments []CommentView
	Marks    []string
	Owner    string
	Private  bool
	Free     bool
	// Writable is set if the visitor may change it, Invited if they are invited, with their answer in Answer.
	// Organizes is set if they organize it.
	Writable, Invited, Organizes bool
	Answer                       string
	// Answers are the possible answers.
	Answers []Choice
	// From and To are its times for a proposal of other times, as inputs of the type InputType.
	From, To, InputType string
	// Proposals are the new times that guests propose, if the visitor decides about them.
	Proposals []Proposal
	// Day is its day in the calendar, for the way back.
	Day string
	// Assistant is the program that created it through MCP.
	Assistant string
}

// GuestView is a guest on the page of an event.
type GuestView struct {
	Name, Address, Answer string
	Status                string
	Optional, Self        bool
}

// CommentView is a comment of a guest.
type CommentView struct{ By, Text string }

// Text is a piece of a text: words, or a link.
type Text struct{ Text, Href string }

const (
	// mostGuestRows limits the guests on a page, longestNotes the length of its text.
	mostGuestRows = 300
	longestNotes  = 20_000
)

// Event returns the page of an event.
func (p *Planner) Event(ctx context.Context, s Subject) *EventView {
	c := s.Component
	v := &EventView{
		Subject: s, Swatch: SwatchOf(s.Calendar), Title: p.titleOf(s.Instance), When: p.when(s.Instance),
		Place: texts(content.TextOf(c, "LOCATION")), Notes: texts(content.TextOf(c, "DESCRIPTION")),
		Free: content.Transparent(c), Answer: p.answerIn(s.Calendar, s.Instance), Day: iso(p.here(s.Start.Time)),
		Writable: p.Caller.May(calendar.WriteObjects, s.Calendar) == nil && !p.Caller.SeesBusyAlone(s.Calendar),
	}
	v.Elsewhere, v.Second = p.elsewhere(s.Instance), p.inSecond(s.Instance)
	v.Private = slices.Contains([]string{string(edit.Private), string(edit.Confidential)}, content.WordOf(c, "CLASS"))
	if s.Calendar.Access != calendar.OwnerAccess {
		v.Owner = clean(s.Calendar.OwnerTitle)
	}
	if rule := c.Property("RRULE"); rule != nil {
		v.Repeats = p.Rule(rule.Value(), s.Start)
	} else if master := p.masterRule(s); master != "" {
		v.Repeats = p.Rule(master, s.Start)
	}
	for _, a := range edit.AlarmsOf(c) {
		v.Alarms = append(v.Alarms, p.alarmWords(a.Minutes))
	}
	if link := c.Property("URL"); link != nil {
		v.Link = webLink(link.Value())
	}
	p.learnNames(ctx, true, c)
	p.addPeople(v, c)
	v.Answers = p.answers()
	v.InputType = "datetime-local"
	v.From, v.To = p.here(s.Start.Time).Format(localForm), p.here(s.End.Time).Format(localForm)
	if s.Start.AllDay {
		v.InputType, v.From = "date", iso(s.Start.Time)
		v.To = max(v.From, iso(s.End.Time.AddDate(0, 0, -1)))
	}
	if v.Organizes && v.Writable {
		v.Proposals = p.proposals(ctx, s)
	}
	if content.WordOf(c, "STATUS") == string(edit.Cancelled) {
		v.Marks = append(v.Marks, p.text("planner.mark.cancelled"))
	} else if content.WordOf(c, "STATUS") == string(edit.Tentative) {
		v.Marks = append(v.Marks, p.text("planner.mark.tentative"))
	}
	v.Assistant = p.assistantOf(ctx, s)
	return v
}

// Href returns the address of the subject's page, or of one of its actions.
func (s Subject) Href(action string) string {
	path := s.base + "/calendar/event/"
	if s.Object.Kind == calendar.Todo {
		path = s.base + "/tasks/"
	}
	return path + s.rest(action)
}

// CopyHref returns the address of the form for a copy.
func (s Subject) CopyHref() string {
	return s.base + "/calendar/new?copy=" + url.QueryEscape(string(s.Calendar.ID)) + "&" + s.query()
}

func (s Subject) rest(action string) string {
	path := url.PathEscape(string(s.Calendar.ID))
	if action != "" {
		path += "/" + action
	}
	return path + "?" + s.query()
}

// query names the subject in an address.
func (s Subject) query() string {
	q := url.Values{"uid": {string(s.Object.UID)}}
	if !s.At.IsZero() {
		q.Set("at", s.At.String())
	}
	return q.Encode()
}

// masterRule returns the rule of the series that an overridden instance belongs to.
func (p *Planner) masterRule(s Subject) string {
	read, err := content.Read(s.Object.Data, ical.Limits{})
	if err != nil || read.Master == nil || read.Master.Property("RRULE") == nil {
		return ""
	}
	return read.Master.Property("RRULE").Value()
}

// addPeople adds the organizer and the guests.
func (p *Planner) addPeople(v *EventView, c *ical.Component) {
	if organizer := c.Property("ORGANIZER"); organizer != nil {
		v.Organizer = p.organizerOf(c)
		v.Organizes = lookup.IsOwn(p.Caller, v.Calendar, organizer.Value())
	}
	for _, a := range edit.AttendeesOf(c) {
		self := lookup.IsOwn(p.Caller, v.Calendar, a.Address)
		v.Invited = v.Invited || self && !v.Organizes
		if len(v.Guests) == mostGuestRows {
			continue
		}
		status := strings.ToUpper(cmp.Or(a.Status, schedule.NeedsAction))
		v.Guests = append(v.Guests, GuestView{
			p.nameOf(a.Name, a.Address), clean(a.Address), answerWords(p.Language, status), status,
			strings.EqualFold(a.Role, optionalRole), self,
		})
	}
	if text := content.TextOf(c, "COMMENT"); text != "" && !v.Organizes && v.Invited &&
		content.WordOf(c, "STATUS") == string(edit.Cancelled) {
		v.Comments = append(v.Comments, CommentView{v.Organizer, clean(text)})
	}
	for _, line := range c.All("ATTENDEE") {
		if text := schedule.CommentOf(line); text != "" && len(v.Comments) < mostGuestRows {
			name, _ := line.Param("CN")
			v.Comments = append(v.Comments, CommentView{p.nameOf(name, line.Value()), clean(text)})
		}
	}
}

// bare returns an address without its scheme.
func bare(address string) string {
	address = strings.TrimSpace(address)
	if rest, ok := strings.CutPrefix(strings.ToLower(address[:min(len(address), 7)]), "mailto:"); ok && rest == "" {
		return address[7:]
	}
	return address
}

// answerIDs are the answers in the ids of texts.
var answerIDs = map[string]string{
	schedule.Accepted: "accepted", schedule.Tentative: "tentative", schedule.Declined: "declined",
}

// answerWords returns the words for an answer.
func answerWords(l *locale.Language, status string) string {
	switch status {
	case schedule.Accepted, schedule.Declined, schedule.Tentative:
		return l.Text("planner.answer." + answerIDs[status])
	case "DELEGATED":
		return l.Text("planner.answer.delegated")
	}
	return l.Text("planner.answer.none")
}

// alarmWords describes a reminder.
func (p *Planner) alarmWords(minutes int) string {
	switch {
	case minutes == 0:
		return p.text("planner.alarm-start")
	case minutes < 0:
		return p.text("planner.alarm-after", "time", p.Language.Duration(time.Duration(-minutes)*time.Minute))
	}
	return p.text("planner.alarm-before", "time", p.Language.Duration(time.Duration(minutes)*time.Minute))
}

// AlarmChoices are the reminders that a form offers, in minutes before the start.
func (p *Planner) AlarmChoices() []Choice {
	var list []Choice
	for _, minutes := range []int{0, 5, 10, 15, 30, 60, 120, 24 * 60, 2 * 24 * 60, 7 * 24 * 60} {
		list = append(list, Choice{strconv.Itoa(minutes), p.alarmWords(minutes)})
	}
	return list
}

// AlarmChoice describes a reminder of a form.
func (p *Planner) AlarmChoice(minutes string) Choice {
	n, err := strconv.Atoi(minutes)
	if err != nil {
		return Choice{minutes, clean(minutes)}
	}
	return Choice{minutes, p.alarmWords(n)}
}

// Choice is a value of a field with its words.
type Choice struct{ Value, Words string }

// when formats the time of an instance in the visitor's zone.
func (p *Planner) when(i query.Instance) string {
	l := p.Language
	start, end := p.here(i.Start.Time), p.here(i.End.Time)
	if i.Start.AllDay {
		last := i.End.Civil().AddDays(-1)
		lastDay := time.Date(last.Year, last.Month, last.Day, 0, 0, 0, 0, time.UTC)
		if !i.End.Time.After(i.Start.Time) || iso(lastDay) <= iso(i.Start.Time) {
			return l.Date(i.Start.Time)
		}
		return p.text("planner.range", "first", l.Date(i.Start.Time), "last", l.Date(lastDay))
	}
	if iso(start) == iso(end) || !end.After(start) {
		return l.Date(start) + ", " + p.timesOf(i)
	}
	return p.text("planner.range", "first", l.Date(start)+", "+p.clock(start), "last", l.Date(end)+", "+p.clock(end))
}

// elsewhere formats the times of an instance in its own zones; "" if they are the visitor's.
func (p *Planner) elsewhere(i query.Instance) string {
	if i.Start.AllDay || i.Start.Floating || i.Start.Time.IsZero() {
		return ""
	}
	start, end := i.Start.Time, endThere(i)
	if !p.foreign(start) && !p.foreign(end) {
		return ""
	}
	if !end.After(start) {
		return p.onItsClock(start)
	}
	return p.text("planner.range", "first", p.onItsClock(start), "last", p.onItsClock(end))
}

// inSecond formats the time of an instance in the second zone; "" if another line of the page shows the same.
func (p *Planner) inSecond(i query.Instance) string {
	if p.Second == nil || i.Start.AllDay || i.Start.Floating || i.Start.Time.IsZero() {
		return ""
	}
	name, end := p.Second.Name(), endThere(i)
	if i.Start.Time.Location().String() == name && end.Location().String() == name {
		return ""
	}
	first, last := i.Start.Time.In(p.Second.Location()), end.In(p.Second.Location())
	if !p.foreign(first) && !p.foreign(last) {
		return ""
	}
	clock := func(t time.Time) string { return p.Language.Time(t, p.cycle()) }
	day := func(t time.Time) string { return p.Language.ShortDate(t) + ", " + clock(t) }
	times := p.text("planner.range", "first", day(first), "last", day(last))
	switch {
	case !last.After(first):
		times = day(first)
	case iso(first) == iso(last):
		times = day(first) + "–" + clock(last)
	}
	return p.text("planner.in-second", "place", city(p.Second), "times", times)
}

// foreign reports whether the clock of a time differs from the visitor's.
func (p *Planner) foreign(t time.Time) bool {
	_, there := t.Zone()
	_, here := p.here(t).Zone()
	return there != here && t.Location() != time.UTC
}

// onItsClock formats a time in its own zone.
func (p *Planner) onItsClock(t time.Time) string {
	return p.Language.ShortDate(t) + ", " + p.Language.Time(t, p.cycle()) + " (" + t.Location().String() + ")"
}

// texts splits a text at its links.
func texts(text string) []Text {
	text = strings.TrimSpace(visible(text))
	if runes := []rune(text); len(runes) > longestNotes {
		text = string(runes[:longestNotes]) + "…"
	}
	var list []Text
	for text != "" {
		at := linkAt(text)
		if at < 0 {
			return append(list, Text{Text: text})
		}
		if at > 0 {
			list = append(list, Text{Text: text[:at]})
		}
		end := strings.IndexFunc(text[at:], func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"", r) })
		if end < 0 {
			end = len(text) - at
		}
		link := strings.TrimRight(text[at:at+end], ".,;:!?)]}'")
		if href := webLink(link); href != "" {
			list = append(list, Text{link, href})
		} else {
			list = append(list, Text{Text: link})
		}
		text = text[at+len(link):]
	}
	return list
}

// linkAt returns the place of the next link in a text, or -1.
func linkAt(text string) int {
	at := -1
	for _, scheme := range []string{"https://", "http://"} {
		if i := strings.Index(text, scheme); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// webLink returns an address if a browser may open it, or "".
func webLink(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// assistantOf names the program that created an event through MCP; "" if none did or the journal has forgotten it.
func (p *Planner) assistantOf(ctx context.Context, s Subject) string {
	object := calendar.ObjectUID{Calendar: s.Calendar.ID, UID: s.Object.UID}
	made, err := p.Service.Assistants(ctx, p.Caller, []calendar.Calendar{s.Calendar}, []calendar.ObjectUID{object})
	if err != nil {
		return "" // the page is useful without it
	}
	return clean(made[object])
}

// Target returns the part of a series that an edit changes.
func (s Subject) Target(scope edit.Scope) edit.Target {
	if s.At.IsZero() || !s.Series() {
		return edit.Target{}
	}
	return edit.Target{Instance: s.At, Scope: scope}
}

// Consequences describes an edit in advance: the people who get a message, and the answers that are lost.
type Consequences struct {
	Told, Lost []string
}

// mostNamed limits the people that a question names.
const mostNamed = 20

// Consequences returns the consequences of a change of an event. Only the organizer's changes have any. The change is
// made and rolled back, so that the answer is exact.
func (p *Planner) Consequences(ctx context.Context, s Subject, change edit.Change) (c Consequences, err error) {
	names := p.guestNames(ctx, s)
	if len(names) == 0 {
		return c, nil
	}
	batch := p.Service.NewBatch(p.Caller, p.meter, calendar.TellAll)
	if _, err := batch.EditObject(ctx, p.Caller, s.Calendar, s.Object.UID, ledger.Edit{Change: change}); err != nil {
		return c, err
	}
	seen, err := batch.Foresee(ctx)
	if err != nil {
		return c, err
	}
	for _, one := range seen.Told {
		to := schedule.AddressOf(one.To)
		if name := cmp.Or(names[to], clean(bare(one.To))); !slices.Contains(c.Told, name) {
			c.Told = append(c.Told, name)
		}
	}
	for i := range seen.Lost {
		seen.Lost[i].Name = p.nameOf(seen.Lost[i].Name, string(seen.Lost[i].To))
	}
	c.Lost = LostAnswers(p.Language, seen.Lost)
	return c, nil
}

// ToldOfDeletion returns the people who get a message if an event is deleted.
func (p *Planner) ToldOfDeletion(ctx context.Context, s Subject) Consequences {
	return Consequences{Told: slices.Sorted(maps.Values(p.guestNames(ctx, s)))}
}

// guestNames returns the names of an event's guests, if the visitor organizes it.
func (p *Planner) guestNames(ctx context.Context, s Subject) map[schedule.Address]string {
	organizer := s.Component.Property("ORGANIZER")
	if organizer == nil || !lookup.IsOwn(p.Caller, s.Calendar, organizer.Value()) {
		return nil
	}
	p.learnNames(ctx, true, s.Component)
	names := map[schedule.Address]string{}
	for _, a := range edit.AttendeesOf(s.Component) {
		if !p.hidden(s.Calendar, s.Component, a) {
			names[schedule.AddressOf(a.Address)] = p.nameOf(a.Name, a.Address)
		}
	}
	return names
}

// LostAnswers puts lost answers into words: the name of each guest with the answer.
func LostAnswers(l *locale.Language, lost []schedule.LostAnswer) []string {
	list := make([]string, len(lost))
	for i, one := range lost {
		list[i] = l.Text("planner.lost-answer", "name", clean(cmp.Or(one.Name, bare(string(one.To)))),
			"answer", answerWords(l, one.Status))
	}
	return list
}

// Few returns the first of some names, and the number of the others.
func Few(names []string) (few []string, more int) {
	n := min(len(names), mostNamed)
	return names[:n], len(names) - n
}

// Save changes an event. The precondition is the version that the visitor saw.
func (p *Planner) Save(ctx context.Context, s Subject, change edit.Change, seen calendar.ETag) (ledger.Edited, error) {
	e := ledger.Edit{Change: change, Telling: calendar.TellAll, Meter: p.meter}
	if seen != "" {
		e.When.Match = []calendar.ETag{seen}
	}
	return p.Service.EditObject(ctx, p.Caller, s.Calendar, s.Object.UID, e)
}

// Create makes an event.
func (p *Planner) Create(ctx context.Context, f EventForm) (calendar.Saved, error) {
	cal, err := p.Service.Calendar(ctx, p.Caller, f.Calendar)
	if err != nil {
		return calendar.Saved{}, err
	}
	draft, err := p.Draft(ctx, f)
	if err != nil {
		return calendar.Saved{}, err
	}
	return p.Service.CreateTelling(ctx, p.Caller, cal, draft, calendar.TellAll)
}
