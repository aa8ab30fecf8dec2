package web

import (
	"strconv"

	"caldav-mcp-server/calendar"
)

func (h *Handler) trashPages() []page {
	return []page{
		get("trash", people, (*visit).trash),
		post("trash/calendars/{id}", people, (*visit).restoreCalendar),
		postBack("trash/calendars/{id}/forget", proven, "trash", (*visit).forgetCalendar),
		post("trash/objects/{id}", people, (*visit).restoreObject),
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

func (v *visit) trash() error {
	c := v.clock()
	var content trashContent
	gone, err := v.Service.TrashedCalendars(v.r.Context(), v.caller())
	if err != nil {
		return err
	}
	for _, t := range gone {
		content.Calendars = append(content.Calendars, trashedCalendar{swatchOf(t.Calendar), t.ID, c.Ago(t.Trashed), entries(t.Objects)})
	}
	all, err := v.Service.Calendars(v.r.Context(), v.caller())
	if err != nil {
		return err
	}
	for _, cal := range all {
		if cal.Access != calendar.OwnerAccess {
			continue
		}
		if err := v.listTrashed(c, cal, &content); err != nil {
			return err
		}
	}
	return v.show("trash", content)
}

func (v *visit) listTrashed(c clock, cal calendar.Calendar, content *trashContent) error {
	n := 0
	for o, err := range v.Service.TrashedObjects(v.r.Context(), v.caller(), cal) {
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
			title = "(" + string(o.Object) + ", damaged: it cannot be restored)"
		case title == "":
			title = "(no title)"
		}
		content.Objects = append(content.Objects, trashedObject{swatchOf(cal), cal.ID, o.UID, title, c.Ago(o.At), excerpt(o.Agent)})
	}
	return nil
}

func (v *visit) restoreCalendar() error {
	id := calendar.CalendarID(v.r.PathValue("id"))
	_, err := v.Service.RestoreCalendar(v.r.Context(), v.caller(), id, "")
	return v.after(err, "calendars/"+string(id), "restored")
}

func (v *visit) forgetCalendar() error {
	return v.after(v.Service.ForgetCalendar(v.r.Context(), v.caller(), calendar.CalendarID(v.r.PathValue("id"))), "trash", "forgotten")
}

func (v *visit) restoreObject() error {
	cal, err := v.wanted()
	if err != nil {
		return err
	}
	_, err = v.Service.RestoreDeleted(v.r.Context(), v.caller(), cal, calendar.UID(v.r.PostFormValue("uid")))
	return v.after(err, "trash", "restored")
}

func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return strconv.FormatInt(n, 10) + " entries"
}
