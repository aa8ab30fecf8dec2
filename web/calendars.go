package web

import (
	"strings"

	"caldav-mcp-server/calendar"
)

func (h *Handler) calendarPages() []page {
	one := "calendars/{id}"
	return []page{
		get("calendars", people, showing("calendars", calendarListPages.calendarList)),
		post("calendars", people, calendarListPages.createCalendar),
		get(one, people, showing("calendar", calendarPages.calendar)),
		post(one, people, calendarPages.changeCalendar),
		get(one+"/delete", people, showing("deletecalendar", calendarPages.deletion)),
		post(one+"/delete", people, calendarPages.deleteCalendar),
		post(one+"/leave", people, calendarPages.leaveCalendar),
		post(one+"/share", people, calendarPages.share),
		post(one+"/unshare", people, calendarPages.unshare),
		get(one+"/links", proven, showing("link", linkPages.linkForm)),
		post(one+"/links", proven, linkPages.createLink),
		post(one+"/links/{link}/revoke", people, linkPages.revokeLink),
		post(one+"/links/{link}/embed", people, linkPages.embedLink),
		get("invitations/{invitation}", people, showing("offer", invitationPages.offer)),
		post("invitations/{invitation}", people, invitationPages.answer),
		post(one+"/block", people, invitationPages.blockSharer),
		post("unblock", people, invitationPages.unblockSharer),
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

// accessIDs are the ends of the ids of texts for each level of access.
var accessIDs = [...]string{"none", "busy", "read", "write", "own"}

// may describes a level of access.
func (p *pageRequest) may(a calendar.Access) string { return p.lang.Text("access." + accessIDs[a]) }

// calendarListPages list the calendars and create new ones.
type calendarListPages struct{ *pageRequest }

func (p calendarListPages) calendarList() (calendarsContent, error) {
	return p.calendarListContent(newCalendarForm{Kind: "events"})
}

func (p calendarListPages) calendarListContent(form newCalendarForm) (calendarsContent, error) {
	content := calendarsContent{Form: form}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, cal := range all {
		listed := listedCalendar{
			swatch: swatchOf(cal), ID: cal.ID, Holds: p.holds(cal), May: p.may(cal.Access),
			Owner:  excerpt(cal.OwnerTitle),
			Hidden: cal.Hidden, Shared: cal.Shared,
		}
		if cal.Access == calendar.OwnerAccess {
			content.Own = append(content.Own, listed)
		} else {
			content.Shared = append(content.Shared, listed)
		}
	}
	if content.Invitations, err = invitationPages(p).invitations(); err != nil {
		return content, err
	}
	blocked, err := p.Service.Blocked(p.r.Context(), p.caller())
	for _, u := range blocked {
		content.Blocked = append(content.Blocked, u.Name)
	}
	return content, err
}

// holds describes the components that a calendar takes.
func (p calendarListPages) holds(cal calendar.Calendar) string {
	switch {
	case cal.Followed():
		return p.lang.Text("calendars.holds-followed")
	case cal.Subscribed():
		return p.lang.Text("calendars.holds-subscribed")
	case !cal.Kinds.Has(calendar.Event):
		return p.lang.Text("calendars.tasks")
	case !cal.Kinds.Has(calendar.Todo):
		return p.lang.Text("calendars.events")
	}
	return p.lang.Text("calendars.holds-both")
}

func (p calendarListPages) createCalendar() error {
	form := newCalendarForm{p.field("name"), p.field("color"), p.field("kind")}
	made, err := p.makeCalendar(form)
	if err == nil {
		return p.done("calendars/"+string(made.ID), "calendar-made")
	}
	content, failed := p.calendarListContent(form)
	if failed != nil {
		return failed
	}
	return p.again("calendars", content, err)
}

func (p calendarListPages) makeCalendar(form newCalendarForm) (calendar.Calendar, error) {
	n := calendar.NewCalendar{Properties: calendar.Properties{Name: form.Name, Kinds: kindChoices[form.Kind]}}
	switch {
	case form.Name == "":
		return calendar.Calendar{}, p.wrong("error.calendar-name")
	case n.Kinds == nil:
		return calendar.Calendar{}, p.wrong("error.calendar-kind")
	}
	if form.Color != "" {
		color, err := calendar.ParseColor(form.Color)
		if err != nil {
			return calendar.Calendar{}, err
		}
		n.Color = &color
	}
	return p.Service.CreateCalendar(p.r.Context(), p.caller(), n)
}

// wanted returns the calendar that the path names. One that the visitor cannot see is not found.
func (p *pageRequest) wanted() (calendar.Calendar, error) {
	return p.Service.Calendar(p.r.Context(), p.caller(), calendar.CalendarID(p.r.PathValue("id")))
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
	// Accesses are the choices of access in the forms that share it.
	Accesses []choice
	Links    []listedLink
}

// calendarPages are the page of one calendar, and the actions on it.
type calendarPages struct{ *pageRequest }

func (p calendarPages) calendar() (calendarContent, error) {
	cal, err := p.wanted()
	if err != nil {
		return calendarContent{}, err
	}
	return p.calendarContent(cal)
}

func (p calendarPages) calendarContent(cal calendar.Calendar) (calendarContent, error) {
	content := calendarContent{
		Calendar: cal, swatch: swatchOf(cal), Owned: cal.Access == calendar.OwnerAccess,
		MayWord:  p.may(cal.Access),
		Objects:  p.caller().May(calendar.ReadObjects, cal) == nil && (cal.Followed() || !cal.Subscribed()),
		Writable: p.caller().May(calendar.WriteObjects, cal) == nil && !cal.Subscribed(),
	}
	if cal.Description != nil {
		content.Describes = *cal.Description
	}
	if !content.Owned || cal.Subscribed() {
		return content, nil
	}
	said, err := p.Service.Scheduling(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	content.Chosen, content.Choosable = said.Default == cal.ID, cal.Receives()
	if content.Shares, err = p.shares(cal); err != nil {
		return content, err
	}
	for access := calendar.FreeBusyAccess; access < calendar.OwnerAccess; access++ {
		content.Accesses = append(content.Accesses, choice{accessIDs[access], p.may(access), false})
	}
	content.Links, err = p.links(cal)
	return content, err
}

// onCalendar runs an action on a calendar and shows its page with the outcome.
func (p calendarPages) onCalendar(notice string, do func(calendar.Calendar) error) error {
	return p.onCalendarTo("calendars/"+p.r.PathValue("id"), notice, do)
}

// onCalendarTo is onCalendar for actions that lead to another page.
func (p calendarPages) onCalendarTo(path, notice string, do func(calendar.Calendar) error) error {
	cal, err := p.wanted()
	if err != nil {
		return err
	}
	if err := do(cal); err != nil {
		return showAgain(p.pageRequest, "calendar", p.calendar, err)
	}
	return p.done(path, notice)
}

func (p calendarPages) changeCalendar() error {
	return p.onCalendar("saved", func(cal calendar.Calendar) error {
		err := p.Service.PatchCalendar(p.r.Context(), p.caller(),
			cal.ID, func(props *calendar.Properties) ([]calendar.DeadProperty, error) {
				return nil, p.fillIn(props, cal)
			})
		if err != nil || p.field("default") == "" {
			return err
		}
		return p.Service.PatchScheduling(p.r.Context(), p.caller(), func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
	})
}

// fillIn copies the form's values into a calendar's properties.
func (p calendarPages) fillIn(props *calendar.Properties, cal calendar.Calendar) error {
	if props.Name = p.field("name"); props.Name == "" {
		return p.wrong("error.calendar-name")
	}
	color, err := calendar.ParseColor(p.field("color"))
	if err != nil {
		return err
	}
	// A colour set by a client may be transparent; keep it unless the field was changed.
	if !strings.EqualFold(swatchOf(cal).Hue(), color) {
		props.Color = &color
	}
	if text := p.field("description"); text != "" {
		props.Description = &text
	} else {
		props.Description = nil
	}
	props.Hidden = p.field("hidden") != ""
	// A form without the field leaves the order unchanged; an empty field removes it.
	if text := p.field("order"); text != "" {
		n, err := calendar.ParseOrder(text)
		if err != nil {
			return err
		}
		props.Order = &n
	} else if p.r.PostForm.Has("order") {
		props.Order = nil
	}
	if cal.Access != calendar.OwnerAccess {
		return nil
	}
	props.Transparent = p.field("free") != ""
	name, err := p.timezone()
	if err != nil {
		return err
	}
	if name != props.Timezone {
		props.Timezone, props.TimezoneData = name, nil
	}
	return nil
}

// deletionContent is the data of the page that confirms a deletion.
type deletionContent struct {
	calendar.Calendar
	// Told is the number of people who will be notified.
	Told int
}

func (p calendarPages) deletion() (deletionContent, error) {
	cal, err := p.wanted()
	if err != nil {
		return deletionContent{}, err
	}
	people, err := p.Service.DeletionAudience(p.r.Context(), p.caller(), cal.ID, calendar.TellAll)
	return deletionContent{cal, people.People}, err
}

func (p calendarPages) deleteCalendar() error {
	return p.onCalendarTo("calendars", "calendar-deleted", func(cal calendar.Calendar) error {
		return p.Service.DeleteCalendar(p.r.Context(), p.caller(), cal.ID)
	})
}

func (p calendarPages) leaveCalendar() error {
	return p.onCalendarTo("calendars", "calendar-left", func(cal calendar.Calendar) error {
		return p.Service.Leave(p.r.Context(), p.caller(), cal.ID)
	})
}

// blockSharer leaves a calendar and blocks its owner.
func (p invitationPages) blockSharer() error {
	return calendarPages(p).onCalendarTo("calendars", "sharer-blocked", func(cal calendar.Calendar) error {
		_, err := p.Service.Block(p.r.Context(), p.caller(), cal.ID)
		return err
	})
}

func (p invitationPages) unblockSharer() error {
	return p.after(p.Service.Unblock(p.r.Context(), p.caller(), p.field("name")), "calendars", "sharer-unblocked")
}
