package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// trash lists what was deleted from a calendar, by title.
func (h *house) trash(c calendar.Caller, cal calendar.Calendar) []string {
	h.t.Helper()
	var titles []string
	for o, err := range h.TrashedObjects(h.ctx, c, cal) {
		h.must(err)
		titles = append(titles, string(o.Kind)+" "+o.Summary)
	}
	return titles
}

func TestADeletedObjectIsRestored(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		text := event("one", 2, "dinner")
		h.put(h.alice, work, "1.ics", text)
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		since := h.token(h.alice, work)
		if got := h.trash(h.alice, work); len(got) != 1 || got[0] != "VEVENT dinner" {
			h.t.Errorf("the trash has %q", got)
		}
		saved, err := h.RestoreObject(h.ctx, h.alice, work, "one", "")
		h.must(err)
		if saved.Object.Name != "1.ics" || string(saved.Object.Data) != text || !saved.Created {
			h.t.Errorf("restored %+v", saved)
		}
		if got := h.changes(h.alice, work, since); got != "1.ics@4" {
			h.t.Errorf("clients hear of %q", got)
		}
		if got := h.trash(h.alice, work); len(got) != 0 {
			h.t.Errorf("the trash still has %q", got)
		}
		_, err = h.RestoreObject(h.ctx, h.alice, work, "one", "2.ics")
		h.refused(err, calendar.Exists, calendar.RuleUIDConflict, "UID")
		_, err = h.RestoreObject(h.ctx, h.alice, work, "never", "")
		h.refused(err, calendar.NotFound, "", "never")
	})
}

func TestARestoreNeverOverwrites(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "old"))
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		h.put(h.alice, work, "1.ics", event("two", 2, "new"))
		_, err := h.RestoreObject(h.ctx, h.alice, work, "one", "")
		h.refused(err, calendar.Exists, "", "another name")
		saved, err := h.RestoreObject(h.ctx, h.alice, work, "one", "other.ics")
		h.must(err)
		now, err := h.Object(h.ctx, nil, h.alice, work, "1.ics")
		h.must(err)
		if now.Summary != "new" || saved.Object.Summary != "old" {
			h.t.Errorf("at 1.ics is %q, restored is %q", now.Summary, saved.Object.Summary)
		}
	})
}

func TestADeletedCalendarIsRestored(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		since := h.token(h.alice, work)
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		h.calendar(h.alice, "work")
		_, err := h.RestoreCalendar(h.ctx, h.alice, work.ID, "")
		h.refused(err, calendar.Exists, calendar.RuleResourceMustBeNil, `"work"`)
		_, err = h.RestoreCalendar(h.ctx, h.alice, work.ID, "inbox")
		h.refused(err, calendar.Forbidden, calendar.RuleCalendarsOnlyHere, "scheduling")
		back, err := h.RestoreCalendar(h.ctx, h.alice, work.ID, "work-2")
		h.must(err)
		if got := h.fresh(h.alice, back.Calendar); got.Segment != "work-2" || got.Version != back.Version ||
			back.Version != 4 {
			h.t.Errorf("restored %+v, it is %+v", back, got)
		}
		if got := h.changes(h.alice, back.Calendar, since); got != "" {
			h.t.Errorf("a client that knew it hears of %q", got)
		}
		_, err = h.RestoreCalendar(h.ctx, h.alice, work.ID, "")
		h.refused(err, calendar.NotFound, "", "trash")
	})
}

// TestTheTrashIsTheOwners: nobody else sees it, brings anything back or empties it, and no more
// than its scopes say does a token.
func TestTheTrashIsTheOwners(t *testing.T) {
	each(t, func(h *house) {
		work, gone := h.calendar(h.alice, "work"), h.calendar(h.alice, "gone")
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, gone.ID))
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		h.must(h.give(work.ID, h.bob.User.ID, calendar.WriteAccess))
		shared := h.fresh(h.bob, work)

		seen, err := h.TrashedCalendars(h.ctx, h.bob)
		h.must(err)
		if len(seen) != 0 {
			h.t.Errorf("bob sees %+v", seen)
		}
		_, err = h.RestoreCalendar(h.ctx, h.bob, gone.ID, "")
		h.refused(err, calendar.NotFound, "", "trash")
		h.refused(h.ForgetCalendar(h.ctx, h.bob, gone.ID), calendar.NotFound, "", "trash")
		h.refused(h.ForgetObjects(h.ctx, h.bob, shared), calendar.Forbidden, calendar.RulePrivileges, "")

		reader, bound := h.alice, h.alice
		reader.Scopes = calendar.ScopeRead
		bound.Calendars = []calendar.CalendarID{work.ID}
		_, err = h.RestoreCalendar(h.ctx, reader, gone.ID, "")
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
		_, err = h.RestoreObject(h.ctx, reader, work, "one", "")
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
		h.refused(h.ForgetCalendar(h.ctx, reader, gone.ID), calendar.Forbidden, calendar.RulePrivileges, "scope")
		_, err = h.RestoreCalendar(h.ctx, bound, gone.ID, "")
		h.refused(err, calendar.NotFound, "", "trash")

		_, err = h.RestoreObject(h.ctx, h.bob, shared, "one", "")
		h.must(err)
	})
}

func TestTheTrashIsEmptied(t *testing.T) {
	each(t, func(h *house) {
		work, gone := h.calendar(h.alice, "work"), h.calendar(h.alice, "gone")
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, gone.ID))
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		before := h.token(h.alice, work)
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		h.must(h.ForgetCalendar(h.ctx, h.alice, gone.ID))
		h.must(h.ForgetObjects(h.ctx, h.alice, work))
		_, err := h.RestoreObject(h.ctx, h.alice, work, "one", "")
		h.refused(err, calendar.NotFound, "", "one")
		_, err = h.RestoreCalendar(h.ctx, h.alice, gone.ID, "")
		h.refused(err, calendar.NotFound, "", "trash")
		if got := h.changes(h.alice, work, before); got != "-1.ics@3" {
			h.t.Errorf("clients hear of %q", got)
		}
	})
}

// TestADamagedLineHidesNothingElse: what the journal keeps of one event is damaged. The trash shows the others and that
// it is there, nothing is made of it by a restore or an undo, and its UID may be used again. The log names the line
// once.
func TestADamagedLineHidesNothingElse(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		logged, err := store.Open(g.ctx, g.URL, store.Options{Now: g.Now, Logger: g.Logger()})
		g.must(err)
		defer logged.Close()
		g.config.Store = logged
		g.Service = service.New(g.config)
		p := g.people["ann"]
		text := meetingOf(organizedByAnn, attendees("bob"), "DESCRIPTION:"+strings.Repeat("so it goes ", 9))
		for _, uid := range []string{"one", "meeting", "two"} {
			g.put(p.Caller, p.cal, calendar.ObjectName(uid+".ics"), replaceUID(text, "UID:"+uid))
			g.must(g.Delete(g.ctx, p.Caller, p.cal, calendar.ObjectName(uid+".ics"), calendar.Precondition{}))
		}
		damaged := []byte{1, 200, 1, 255, 255}
		g.must(behind(t, g.URL,
			`UPDATE journal SET before = $1 WHERE uid = 'meeting' AND calendar_id = $2 AND change = 'deleted'`, damaged,
			string(p.cal.ID)))
		var seen []string
		for o, err := range g.TrashedObjects(g.ctx, p.Caller, p.cal) {
			g.must(err)
			if o.Unreadable {
				o.Summary = "damaged"
			}
			seen = append(seen, string(o.UID)+" "+o.Summary)
		}
		g.want("the trash", strings.Join(seen, ", "), "two Plans, meeting damaged, one Plans")
		_, err = g.RestoreDeleted(g.ctx, p.Caller, p.cal, "meeting")
		g.refused(err, calendar.Unsupported, "", "cannot be read")
		_, err = g.RestoreDeleted(g.ctx, p.Caller, p.cal, "one")
		g.must(err)
		for e, err := range g.Store.Journal(g.ctx, p.cal.ID, calendar.JournalQuery{}) {
			g.must(err)
			if e.UID == "meeting" && e.Did == calendar.Deleted {
				_, err := g.Undo(g.ctx, p.Caller, e.ID())
				g.refused(err, calendar.Unsupported, "", "no longer has")
			}
		}
		_, made := g.has("ann")
		if made {
			t.Error("an undo has made something of it")
		}
		g.save("ann", text)
		g.want("bob is invited anew", g.line("bob", "SUMMARY"), "SUMMARY:Plans")
		if n := strings.Count(g.Log.String(), "is damaged"); n != 1 || !strings.Contains(g.Log.String(), "version=") {
			t.Errorf("told %d times:\n%s", n, g.Log)
		}
	})
}
