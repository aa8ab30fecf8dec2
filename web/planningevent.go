package web

import (
	"errors"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/web/planner"
)

func (h *Handler) eventPages() []page {
	large := func(p page) page {
		p.body = maxEventForm
		return p
	}
	return []page{
		get("/calendar/new", people, showing("event", planningPages.newEvent)),
		large(post("/calendar/new", people, planningPages.createEvent)),
		get("/calendar/event/{calendar}", people, showing("details", planningPages.event)),
		get("/calendar/event/{calendar}/edit", people, showing("event", planningPages.editEvent)),
		large(post("/calendar/event/{calendar}/edit", people, planningPages.saveEvent)),
		post("/calendar/event/{calendar}/move", people, planningPages.dragEvent),
		get("/calendar/event/{calendar}/delete", people, showing("deleteevent", planningPages.deleteEventForm)),
		post("/calendar/event/{calendar}/delete", people, planningPages.deleteEvent),
		post("/calendar/event/{calendar}/answer", people, planningPages.answerEvent),
		post("/calendar/event/{calendar}/propose", people, planningPages.proposeTime),
		post("/calendar/event/{calendar}/carry", people, planningPages.carryEvent),
	}
}

// detailsContent is the data of the page of an event.
type detailsContent struct {
	*planner.EventView
	// Targets are the calendars that it can be moved or copied to.
	Targets    []planner.SideCalendar
	Undo, Here string
	// Why is the text with a proposed time that could not be sent; Proposes is set if there is one.
	Why      string
	Proposes bool
}

func (p planningPages) event() (c detailsContent, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return c, err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return c, err
	}
	return p.details(pl, s)
}

// details returns the data of the page of an event.
func (p planningPages) details(pl *planner.Planner, s planner.Subject) (c detailsContent, err error) {
	if s.Object.Kind != calendar.Event {
		return c, errMissing()
	}
	c = detailsContent{EventView: pl.Event(p.r.Context(), s), Undo: p.undoable(), Here: p.here()}
	all, err := pl.Writable(p.r.Context(), calendar.Event)
	c.Targets = slices.DeleteFunc(all, func(cal planner.SideCalendar) bool { return cal.ID == s.Calendar.ID })
	return c, err
}

// eventContent is the data of the form for an event.
type eventContent struct {
	planner.EventForm
	// Fresh is set for a new event. Action is the address of the form.
	Fresh bool
	// NoAddress is set if guests get no invitation, because the visitor has no mail address.
	NoAddress bool
	Action    string
	Calendars []planner.SideCalendar
	Alarms    []alarmField
	Days      []dayField
	Freqs     []planner.Choice
	Colors    []planner.Choice
	Zones     []string
	People    []planner.Choice
	// Series is set if it is an instance of a series; Scope is the chosen part of it.
	Series bool
	Scope  string
	// Guest is set if another person organizes the event: most fields are theirs.
	Guest bool
	// Understood are the parts of a line that the form was filled from.
	Understood []planner.Choice
	// Both lists the parts that another person changed meanwhile, with their present values.
	Both []planner.Choice
	// Ask lists the effects of the change, if the visitor has to confirm it.
	Ask *askContent
	// FreeTimes compares the times of everyone who takes part, if the visitor asked for it.
	FreeTimes *planner.FreeTimes
	// Field is the name of the field with an error.
	Field string
}

// alarmField is a choice of reminders.
type alarmField struct {
	Chosen  string
	Choices []planner.Choice
}

// dayField is a weekday of a weekly rule.
type dayField struct {
	Code, Name string
	Ticked     bool
}

// askContent is a question before a change.
type askContent struct {
	Told, Lost         []string
	MoreTold, MoreLost int
}

func (p planningPages) newEvent() (eventContent, error) {
	pl, end, err := p.planner()
	if err != nil {
		return eventContent{}, err
	}
	defer end()
	all, err := pl.Writable(p.r.Context(), calendar.Event)
	if err != nil {
		return eventContent{}, err
	}
	q := p.r.URL.Query()
	form, err := pl.NewForm(q.Get("start"), all)
	if err != nil {
		return eventContent{}, err
	}
	if from := q.Get("copy"); from != "" {
		s, err := pl.Find(p.r.Context(), calendar.CalendarID(from), calendar.UID(q.Get("uid")), q.Get("at"))
		if err != nil {
			return eventContent{}, err
		}
		form = pl.CopyOf(p.r.Context(), s)
	}
	pl.Prefill(&form, q)
	var understood []planner.Choice
	if line := strings.TrimSpace(q.Get("quick")); line != "" {
		understood = pl.Quick(line, &form, all)
	}
	c, err := p.eventContent(pl, form, nil)
	c.Understood = understood
	return c, err
}

// eventContent returns the data of the form. The subject is nil for a new event.
func (p planningPages) eventContent(
	pl *planner.Planner, f planner.EventForm, s *planner.Subject,
) (c eventContent, err error) {
	pl.ProposeTimes(&f)
	c = eventContent{
		EventForm: f, Colors: pl.ColorChoices(f.Color), Fresh: s == nil, NoAddress: p.user().Email == "",
		Action: p.base + "/calendar/new",
		Zones:  zone.Places(),
	}
	if c.Calendars, err = pl.Writable(p.r.Context(), calendar.Event); err != nil {
		return c, err
	}
	if s != nil {
		c.Action = s.Href("edit")
		c.Series, c.Guest = s.Series() && !s.At.IsZero(), pl.Foreign(*s)
	}
	for _, chosen := range append(slices.Clone(f.Alarms), "") {
		choices := pl.AlarmChoices()
		if chosen != "" && !slices.ContainsFunc(choices, func(c planner.Choice) bool { return c.Value == chosen }) {
			choices = append(choices, pl.AlarmChoice(chosen))
		}
		c.Alarms = append(c.Alarms, alarmField{chosen, choices})
	}
	for _, day := range pl.Weekdays() {
		c.Days = append(c.Days, dayField{day.Value, day.Words, slices.Contains(f.Repeat.Days, day.Value)})
	}
	c.Freqs = pl.FreqChoices(f)
	c.People, err = pl.People(p.r.Context())
	return c, err
}

func (p planningPages) createEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	form := p.typed()
	if planner.AsksForTimes(p.r.PostForm) {
		return p.freeTimes(pl, form, nil)
	}
	saved, err := pl.Create(p.r.Context(), form)
	if err == nil {
		return p.changed(p.back(form.Start), "event-created", saved.Object)
	}
	return p.formAgain(pl, form, nil, err, nil)
}

// typed reads the form of an event. A guest who was typed but not added joins the list, and stays there if the form
// comes back.
func (p planningPages) typed() planner.EventForm {
	if guest := p.field("guest"); guest != "" {
		p.r.PostForm.Set("guests", strings.TrimSpace(p.r.PostForm.Get("guests")+"\n"+guest))
		p.r.PostForm.Del("guest")
	}
	return planner.ReadForm(p.r.PostForm)
}

// freeTimes shows the form of an event again, with the times of everyone who takes part. A button sets one of them.
func (p planningPages) freeTimes(pl *planner.Planner, f planner.EventForm, s *planner.Subject) error {
	if at := p.field("take"); at != "" {
		if err := pl.Take(&f, at); err != nil {
			return p.formAgain(pl, f, s, err, nil)
		}
	}
	free, err := pl.Free(p.r.Context(), f, s, p.field("times"))
	if err != nil {
		return p.formAgain(pl, f, s, err, nil)
	}
	c, err := p.eventContent(pl, f, s)
	if err != nil {
		return err
	}
	c.Scope, c.FreeTimes = p.r.PostFormValue("scope"), free
	return p.show("event", c)
}

// formAgain shows the form of an event again, with an error.
func (p planningPages) formAgain(
	pl *planner.Planner, f planner.EventForm, s *planner.Subject, wrong error, more func(*eventContent),
) error {
	c, err := p.eventContent(pl, f, s)
	if err != nil {
		return err
	}
	if field := (*planner.FormError)(nil); errors.As(wrong, &field) {
		c.Field = field.Field
	}
	p.r.PostForm.Set("start-time", c.StartTime) // with proposals instead of nothing
	p.r.PostForm.Set("end-time", c.EndTime)
	c.Scope = p.r.PostFormValue("scope")
	if more != nil {
		more(&c)
	}
	return p.again("event", c, wrong)
}

// back returns the address of the calendar on a day, in the view that the visitor used last.
func (p planningPages) back(day string) string {
	view := planner.Kind(p.cookie(viewCookie))
	if !slices.Contains(planner.Kinds, view) {
		view = planner.Week
	}
	return "/calendar/" + string(view) + "/" + day
}

func (p planningPages) editEvent() (eventContent, error) {
	pl, end, err := p.planner()
	if err != nil {
		return eventContent{}, err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return eventContent{}, err
	}
	if s.Object.Kind != calendar.Event {
		return eventContent{}, errMissing()
	}
	if err := pl.Require(s); err != nil {
		return eventContent{}, err
	}
	c, err := p.eventContent(pl, pl.FormOf(p.r.Context(), s.Calendar, s.Instance), &s)
	c.Scope = string(edit.This)
	return c, err
}

// scope returns the part of a series that a form names.
func (p planningPages) scope() edit.Scope {
	switch scope := edit.Scope(p.r.PostFormValue("scope")); scope {
	case edit.This, edit.Following, edit.All:
		return scope
	}
	return edit.This
}

func (p planningPages) saveEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	if err := pl.Require(s); err != nil {
		return err
	}
	typed, now := p.typed(), pl.FormOf(p.r.Context(), s.Calendar, s.Instance)
	typed.Calendar = s.Calendar.ID
	if planner.AsksForTimes(p.r.PostForm) {
		return p.freeTimes(pl, typed, &s)
	}
	if typed.ETag != "" && typed.ETag != s.Object.ETag {
		merged, both := pl.Merge(typed, now)
		stale := calendar.Errorf(calendar.Stale, "", "%s", p.lang.Text("planner.changed-meanwhile"))
		return p.formAgain(pl, merged, &s, stale, func(c *eventContent) { c.Both = pl.Parts(now, both) })
	}
	change, differs, err := pl.Change(p.r.Context(), typed, now, s.Instance)
	if err != nil {
		return p.formAgain(pl, typed, &s, err, nil)
	}
	day := typed.Start
	if !differs {
		return p.leadTo(p.back(day))
	}
	change.Target = s.Target(p.scope())
	if p.field("confirmed") == "" {
		told, err := pl.Consequences(p.r.Context(), s, change)
		if err != nil {
			return p.formAgain(pl, typed, &s, err, nil)
		}
		if len(told.Told) > 0 {
			c, err := p.eventContent(pl, typed, &s)
			if err != nil {
				return err
			}
			c.Scope, c.Ask = p.r.PostFormValue("scope"), ask(told)
			return p.show("event", c)
		}
	}
	saved, err := pl.Save(p.r.Context(), s, change, now.ETag)
	if err != nil {
		return p.formAgain(pl, typed, &s, err, nil)
	}
	return p.changed(p.back(day), "saved", saved.Saved.Object)
}

func ask(c planner.Consequences) *askContent {
	a := &askContent{}
	a.Told, a.MoreTold = planner.Few(c.Told)
	a.Lost, a.MoreLost = planner.Few(c.Lost)
	return a
}

// dragEvent moves an event to another time. The script sends it after a drag.
func (p planningPages) dragEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	if err := pl.Require(s); err != nil {
		return err
	}
	change, err := pl.Move(s, p.field("start"), p.field("end"))
	if err != nil {
		return err
	}
	change.Target = s.Target(p.scope())
	told, err := pl.Consequences(p.r.Context(), s, change)
	if err != nil {
		return err
	}
	if len(told.Told) > 0 {
		// The form asks before guests get a message.
		form := pl.FormOf(p.r.Context(), s.Calendar, s.Instance)
		if err := pl.Retime(&form, s, p.field("start"), p.field("end")); err != nil {
			return err
		}
		c, err := p.eventContent(pl, form, &s)
		if err != nil {
			return err
		}
		c.Scope, c.Ask = string(p.scope()), ask(told)
		return p.show("event", c)
	}
	saved, err := pl.Save(p.r.Context(), s, change, calendar.ETag(p.field("etag")))
	if err != nil {
		return err
	}
	return p.changed(p.nextOr(p.back("")), "event-moved", saved.Saved.Object)
}

// deleteEventContent is the data of the question before an event is deleted.
type deleteEventContent struct {
	*planner.EventView
	Ask *askContent
}

func (p planningPages) deleteEventForm() (c deleteEventContent, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return c, err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return c, err
	}
	return deleteEventContent{pl.Event(p.r.Context(), s), ask(pl.ToldOfDeletion(p.r.Context(), s))}, nil
}

func (p planningPages) deleteEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	if err := pl.Require(s); err != nil {
		return err
	}
	gone, err := pl.Delete(p.r.Context(), s, p.scope(), p.field("comment"), calendar.ETag(p.field("etag")))
	if err != nil {
		return err
	}
	return p.changed(p.back(pl.DayOf(s)), "event-deleted", gone.Saved.Object)
}

func (p planningPages) answerEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	status := strings.ToUpper(p.field("answer"))
	if !slices.Contains([]string{schedule.Accepted, schedule.Tentative, schedule.Declined}, status) {
		return calendar.Errorf(calendar.Invalid, "", "%s", p.lang.Text("planner.bad-answer"))
	}
	one := p.scope() == edit.This && s.Series()
	if err := pl.Answer(p.r.Context(), s, status, p.field("comment"), one); err != nil {
		return err
	}
	return p.done(p.nextOr(strings.TrimPrefix(s.Href(""), p.base)), "answered")
}

// proposeTime sends the organizer another time.
func (p planningPages) proposeTime() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	one := p.scope() == edit.This && s.Series()
	err = pl.Propose(p.r.Context(), s, p.field("start"), p.field("end"), p.field("comment"), one)
	if err == nil {
		return p.done(strings.TrimPrefix(s.Href(""), p.base), "proposed")
	}
	c, failed := p.details(pl, s)
	if failed != nil {
		return failed
	}
	c.From, c.To, c.Why, c.Proposes = p.field("start"), p.field("end"), p.field("comment"), true
	return p.again("details", c, err)
}

// carryEvent moves or copies an event to another calendar.
func (p planningPages) carryEvent() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	saved, err := pl.Carry(p.r.Context(), s, calendar.CalendarID(p.field("to")), p.field("do") == "copy")
	if err != nil {
		return err
	}
	notice := "event-carried"
	if p.field("do") == "copy" {
		notice = "event-copied"
	}
	return p.changed(p.back(pl.DayOf(s)), notice, saved.Object)
}
