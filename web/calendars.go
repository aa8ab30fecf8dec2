package web

import (
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) calendarPages() []page {
	one := "calendars/{id}"
	upload := post(one+"/import", people, (*visit).importFile)
	upload.body = h.Service.Limits().ObjectBytes
	return []page{
		get("calendars", people, showing("calendars", newCalendarForm{Kind: "events"}.content)),
		post("calendars", people, (*visit).createCalendar),
		get(one, people, showing("calendar", (*visit).calendar)),
		post(one, people, (*visit).changeCalendar),
		get(one+"/delete", people, showing("deletecalendar", (*visit).deletion)),
		post(one+"/delete", people, (*visit).deleteCalendar),
		post(one+"/leave", people, (*visit).leaveCalendar),
		post(one+"/share", people, (*visit).share),
		post(one+"/unshare", people, (*visit).unshare),
		get(one+"/links", proven, showing("link", (*visit).linkForm)),
		post(one+"/links", proven, (*visit).createLink),
		post(one+"/links/{link}/revoke", people, (*visit).revokeLink),
		upload,
		get(one+"/export", people, (*visit).exportCalendar),
		get("invitations/{invitation}", people, showing("offer", (*visit).offer)),
		post("invitations/{invitation}", people, (*visit).answer),
		post(one+"/block", people, (*visit).blockSharer),
		post("unblock", people, (*visit).unblockSharer),
	}
}

// calendarsContent is the data of the page that lists all calendars.
type calendarsContent struct {
	Own, Shared []listedCalendar
	Invitations []invitation
	// Blocked are the names of the users whom the visitor has blocked.
	Blocked []string
	// Form is the form for a new calendar with the values entered so far.
	Form newCalendarForm
}

// listedCalendar is a calendar in a list.
type listedCalendar struct {
	swatch
	ID calendar.CalendarID
	// Holds says whether it takes events or tasks, May the visitor's access; Owner is its owner.
	Holds, May, Owner string
	Hidden, Shared    bool
}

type newCalendarForm struct{ Name, Color, Kind string }

// kindChoices are the kinds that people can create. Apple's apps show a calendar among the events or among the tasks,
// not in both.
var kindChoices = map[string]calendar.Kinds{"events": {calendar.Event}, "tasks": {calendar.Todo}}

// accessWords describe each level of access.
var accessWords = [...]string{"nothing", "see when you are busy", "read", "read and change", "own"}

// content returns the data of the page with this form.
func (form newCalendarForm) content(v *visit) (calendarsContent, error) {
	content := calendarsContent{Form: form}
	all, err := v.Service.CalendarsInHome(v.r.Context(), v.caller())
	if err != nil {
		return content, err
	}
	for _, cal := range all {
		listed := listedCalendar{
			swatch: swatchOf(cal), ID: cal.ID, Holds: holds(cal), May: accessWords[cal.Access], Owner: excerpt(cal.OwnerTitle),
			Hidden: cal.Hidden, Shared: cal.Shared,
		}
		if cal.Access == calendar.OwnerAccess {
			content.Own = append(content.Own, listed)
		} else {
			content.Shared = append(content.Shared, listed)
		}
	}
	if content.Invitations, err = v.invitations(); err != nil {
		return content, err
	}
	blocked, err := v.Service.Blocked(v.r.Context(), v.caller())
	for _, u := range blocked {
		content.Blocked = append(content.Blocked, u.Name)
	}
	return content, err
}

// holds describes the components that a calendar takes.
func holds(cal calendar.Calendar) string {
	switch {
	case cal.Followed():
		return "a subscription of your apps, which this server follows too"
	case cal.Subscribed():
		return "a subscription of your apps"
	case !cal.Kinds.Has(calendar.Event):
		return "tasks"
	case !cal.Kinds.Has(calendar.Todo):
		return "events"
	}
	return "events and tasks"
}

func (v *visit) createCalendar() error {
	form := newCalendarForm{v.field("name"), v.field("color"), v.field("kind")}
	made, err := v.makeCalendar(form)
	if err == nil {
		return v.done("calendars/"+string(made.ID), "calendar-made")
	}
	return showAgain(v, "calendars", form.content, err)
}

func (v *visit) makeCalendar(form newCalendarForm) (calendar.Calendar, error) {
	n := calendar.NewCalendar{Properties: calendar.Properties{Name: form.Name, Kinds: kindChoices[form.Kind]}}
	switch {
	case form.Name == "":
		return calendar.Calendar{}, calendar.Errorf(calendar.Invalid, "", "a calendar needs a name")
	case n.Kinds == nil:
		return calendar.Calendar{}, calendar.Errorf(calendar.Invalid, "", "say whether the calendar is for events or for tasks")
	}
	if form.Color != "" {
		color, err := calendar.ParseColor(form.Color)
		if err != nil {
			return calendar.Calendar{}, err
		}
		n.Color = &color
	}
	return v.Service.CreateCalendar(v.r.Context(), v.caller(), n)
}

// wanted returns the calendar that the path names. One that the visitor cannot see is not found.
func (v *visit) wanted() (calendar.Calendar, error) {
	return v.Service.Calendar(v.r.Context(), v.caller(), calendar.CalendarID(v.r.PathValue("id")))
}

// calendarContent is the data of the page of one calendar.
type calendarContent struct {
	calendar.Calendar
	swatch
	// Owned is set for the visitor's own calendar; Objects is set if it has objects that they may read.
	Owned, Objects, Writable bool
	MayWord                  string
	Describes                string
	// Chosen is set if new events and invitations go into it, Choosable if the visitor can choose it for that.
	Chosen, Choosable bool
	Shares            []listedShare
	Links             []listedLink
	// Imported is the outcome of an import.
	Imported *imported
}

func (v *visit) calendar() (calendarContent, error) {
	cal, err := v.wanted()
	if err != nil {
		return calendarContent{}, err
	}
	return v.calendarContent(cal)
}

func (v *visit) calendarContent(cal calendar.Calendar) (calendarContent, error) {
	content := calendarContent{
		Calendar: cal, swatch: swatchOf(cal), Owned: cal.Access == calendar.OwnerAccess, MayWord: accessWords[cal.Access],
		Objects:  v.caller().May(calendar.ReadObjects, cal) == nil && (cal.Followed() || !cal.Subscribed()),
		Writable: v.caller().May(calendar.WriteObjects, cal) == nil && !cal.Subscribed(),
	}
	if cal.Description != nil {
		content.Describes = *cal.Description
	}
	if !content.Owned || cal.Subscribed() {
		return content, nil
	}
	said, err := v.Service.Scheduling(v.r.Context(), v.caller())
	if err != nil {
		return content, err
	}
	content.Chosen, content.Choosable = said.Default == cal.ID, cal.Receives()
	if content.Shares, err = v.shares(cal); err != nil {
		return content, err
	}
	content.Links, err = v.links(cal)
	return content, err
}

// onCalendar runs an action on a calendar and shows its page with the outcome.
func (v *visit) onCalendar(notice string, do func(calendar.Calendar) error) error {
	return v.onCalendarTo("calendars/"+v.r.PathValue("id"), notice, do)
}

// onCalendarTo is onCalendar for actions that lead to another page.
func (v *visit) onCalendarTo(path, notice string, do func(calendar.Calendar) error) error {
	cal, err := v.wanted()
	if err != nil {
		return err
	}
	if err := do(cal); err != nil {
		return showAgain(v, "calendar", (*visit).calendar, err)
	}
	return v.done(path, notice)
}

func (v *visit) changeCalendar() error {
	return v.onCalendar("saved", func(cal calendar.Calendar) error {
		err := v.Service.PatchCalendar(v.r.Context(), v.caller(), cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			return nil, v.fillIn(p, cal)
		})
		if err != nil || v.field("default") == "" {
			return err
		}
		return v.Service.PatchScheduling(v.r.Context(), v.caller(), func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
	})
}

// fillIn copies the form's values into a calendar's properties.
func (v *visit) fillIn(p *calendar.Properties, cal calendar.Calendar) error {
	if p.Name = v.field("name"); p.Name == "" {
		return calendar.Errorf(calendar.Invalid, "", "a calendar needs a name")
	}
	color, err := calendar.ParseColor(v.field("color"))
	if err != nil {
		return err
	}
	// A colour set by a client may be transparent; keep it unless the field was changed.
	if !strings.EqualFold(swatchOf(cal).Hue(), color) {
		p.Color = &color
	}
	if text := v.field("description"); text != "" {
		p.Description = &text
	} else {
		p.Description = nil
	}
	p.Hidden = v.field("hidden") != ""
	// A form without the field leaves the order unchanged; an empty field removes it.
	if text := v.field("order"); text != "" {
		n, err := calendar.ParseOrder(text)
		if err != nil {
			return err
		}
		p.Order = &n
	} else if v.r.PostForm.Has("order") {
		p.Order = nil
	}
	if cal.Access != calendar.OwnerAccess {
		return nil
	}
	p.Transparent = v.field("free") != ""
	if name := v.field("timezone"); name != p.Timezone {
		if err := auth.CheckTimezone(name); err != nil {
			return err
		}
		p.Timezone, p.TimezoneData = name, nil
	}
	return nil
}

// deletionContent is the data of the page that confirms a deletion.
type deletionContent struct {
	calendar.Calendar
	// Told describes how many people will be notified; "" if none.
	Told string
}

func (v *visit) deletion() (deletionContent, error) {
	cal, err := v.wanted()
	if err != nil {
		return deletionContent{}, err
	}
	people, err := v.Service.DeletionAudience(v.r.Context(), v.caller(), cal.ID, calendar.TellAll)
	content := deletionContent{Calendar: cal}
	if people.People > 0 {
		content.Told = sentenceCase(people.String())
	}
	return content, err
}

func (v *visit) deleteCalendar() error {
	return v.onCalendarTo("calendars", "calendar-deleted", func(cal calendar.Calendar) error {
		return v.Service.DeleteCalendar(v.r.Context(), v.caller(), cal.ID)
	})
}

func (v *visit) leaveCalendar() error {
	return v.onCalendarTo("calendars", "calendar-left", func(cal calendar.Calendar) error {
		return v.Service.Leave(v.r.Context(), v.caller(), cal.ID)
	})
}

// blockSharer leaves a calendar and blocks its owner.
func (v *visit) blockSharer() error {
	return v.onCalendarTo("calendars", "sharer-blocked", func(cal calendar.Calendar) error {
		_, err := v.Service.Block(v.r.Context(), v.caller(), cal.ID)
		return err
	})
}

func (v *visit) unblockSharer() error {
	return v.after(v.Service.Unblock(v.r.Context(), v.caller(), v.field("name")), "calendars", "sharer-unblocked")
}
