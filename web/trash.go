package web

import (
	"caldav-mcp-server/calendar"
)

func (h *Handler) trashPages() []page {
	return []page{
		get("trash", people, trashPages.trash),
		post("trash/calendars/{id}", people, trashPages.restoreCalendar),
		postBack("trash/calendars/{id}/forget", proven, "trash", trashPages.forgetCalendar),
		post("trash/objects/{id}", people, trashPages.restoreObject),
	}
}

// mostTrashed limits the deleted objects that the page lists for one calendar.
const mostTrashed = 50

// trashContent is the data of the trash page.
type trashContent struct {
	Calendars []trashedCalendar
	Objects   []trashedObject
	// More is set if the trash has more than is listed.
	More bool
}

type trashedCalendar struct {
	swatch
	ID            calendar.CalendarID
	When, Objects string
}

type trashedObject struct {
	In          swatch
	ID          calendar.CalendarID
	UID         calendar.UID
	Title, When string
	With        string
}

// trashPages list and restore deleted calendars and objects.
type trashPages struct{ *pageRequest }

func (p trashPages) trash() error {
	c := p.clock()
	var content trashContent
	gone, err := p.Service.TrashedCalendars(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	for _, t := range gone {
		content.Calendars = append(content.Calendars, trashedCalendar{
			swatchOf(t.Calendar), t.ID, c.Ago(t.Trashed), p.lang.Text("trash.entries", "count", t.Objects),
		})
	}
	all, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	for _, cal := range all {
		if cal.Access != calendar.OwnerAccess {
			continue
		}
		if err := p.listTrashed(c, cal, &content); err != nil {
			return err
		}
	}
	return p.show("trash", content)
}

func (p trashPages) listTrashed(c clock, cal calendar.Calendar, content *trashContent) error {
	n := 0
	for o, err := range p.Service.TrashedObjects(p.r.Context(), p.caller(), cal) {
		if err != nil {
			return err
		}
		if n++; n > mostTrashed {
			content.More = true
			return nil
		}
		title := excerpt(o.Summary)
		switch {
		case o.Unreadable:
			title = p.lang.Text("trash.damaged", "name", o.Object)
		case title == "":
			title = p.lang.Text("planner.untitled")
		}
		content.Objects = append(content.Objects, trashedObject{
			swatchOf(cal), cal.ID, o.UID, title, c.Ago(o.At), excerpt(o.Agent),
		})
	}
	return nil
}

func (p trashPages) restoreCalendar() error {
	id := calendar.CalendarID(p.r.PathValue("id"))
	_, err := p.Service.RestoreCalendar(p.r.Context(), p.caller(), id, "")
	return p.after(err, "calendars/"+string(id), "restored")
}

func (p trashPages) forgetCalendar() error {
	return p.after(p.Service.ForgetCalendar(p.r.Context(), p.caller(), calendar.CalendarID(p.r.PathValue("id"))),
		"trash", "forgotten")
}

func (p trashPages) restoreObject() error {
	cal, err := p.wanted()
	if err != nil {
		return err
	}
	_, err = p.Service.RestoreDeleted(p.r.Context(), p.caller(), cal, calendar.UID(p.r.PostFormValue("uid")))
	return p.after(err, "trash", "restored")
}
