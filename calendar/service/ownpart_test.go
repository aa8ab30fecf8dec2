package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
)

// reminders are the alarms that somebody finds in an object, in minutes.
func (h *house) reminders(c calendar.Caller, cal calendar.Calendar, uid calendar.UID) string {
	h.t.Helper()
	o, err := h.ObjectByUID(h.ctx, nil, c, h.fresh(c, cal), uid)
	h.must(err)
	var list []string
	for line := range strings.Lines(string(o.Data)) {
		if of, ok := strings.CutPrefix(strings.TrimSpace(line), "TRIGGER"); ok {
			list = append(list, of[strings.Index(of, ":")+1:])
		}
	}
	return strings.Join(list, " ")
}

func alarms(minutes ...int) edit.Fields {
	var list []edit.Alarm
	for _, m := range minutes {
		list = append(list, edit.Alarm{Minutes: m})
	}
	return edit.Fields{Alarms: edit.To(list)}
}

// TestOwnReminders: what assistants set is their user's own, as what programs set is.
func TestOwnReminders(t *testing.T) {
	each(t, func(h *house) {
		carol := h.user("carol")
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", weekly())
		for _, c := range []calendar.Caller{h.bob, carol} {
			h.must(h.give(work.ID, c.User.ID, calendar.WriteAccess))
		}
		change := func(c calendar.Caller, ch edit.Change) ledger.Edited {
			t.Helper()
			edited, err := h.EditObject(h.ctx, c, h.fresh(c, work), "one", ledger.Edit{Change: ch})
			h.must(err)
			return edited
		}
		all := edit.Target{Scope: edit.All, Instance: monday(9)}
		change(h.alice, edit.Change{Target: all, Fields: alarms(5)})
		first, version := h.reminders(h.alice, work, "one"), h.fresh(h.alice, work).Version
		edited := change(h.bob, edit.Change{Target: all, Fields: alarms(60)})
		change(carol, edit.Change{Target: all, Fields: alarms(10, 20)})
		want := func(what string, uid calendar.UID, a, b, c string) {
			t.Helper()
			for user, want := range map[*calendar.Caller]string{&h.alice: a, &h.bob: b, &carol: c} {
				if got := h.reminders(*user, work, uid); got != want {
					t.Errorf("%s: %s has %q, want %q", what, user.User.Name, got, want)
				}
			}
		}
		want("set", "one", first, "-PT1H", "-PT20M -PT10M")
		if now := h.fresh(h.alice, work).Version; now != version {
			t.Errorf("alice's calendar moved from %d to %d", version, now)
		}
		// What was answered is what may be demanded.
		_, err := h.EditObject(h.ctx, h.bob, h.fresh(h.bob, work), "one", ledger.Edit{
			Change: edit.Change{Target: all, Fields: edit.Fields{Summary: edit.To("y")}},
			When:   calendar.Precondition{Match: []calendar.ETag{edited.Saved.Object.ETag}},
		})
		h.must(err)
		want("retitled", "one", first, "-PT1H", "-PT20M -PT10M")
		h.undo(h.bob, h.latest(h.alice, work).ID())
		want("taken back", "one", first, "-PT1H", "-PT20M -PT10M")
		split := change(h.bob, edit.Change{
			Target: edit.Target{Instance: monday(16), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("z")},
		})
		if split.Split == nil {
			t.Fatal("the series was not split")
		}
		want("split", split.Split.Object.UID, first, "-PT1H", "-PT20M -PT10M")
		want("what is before", "one", first, "-PT1H", "-PT20M -PT10M")
		h.must(h.Delete(h.ctx, h.bob, h.fresh(h.bob, work), "1.ics", calendar.Precondition{}))
		_, err = h.RestoreDeleted(h.ctx, h.bob, h.fresh(h.bob, work), "one")
		h.must(err)
		want("restored", "one", first, "-PT1H", "-PT20M -PT10M")
	})
}

// TestOwnRemindersSync: page by page or at once, a sharee's programs hear of what is theirs, and nobody else's.
func TestOwnRemindersSync(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		for i := range 4 {
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint(i, ".ics")), event(fmt.Sprint(i), 2, "x"))
		}
		h.must(h.give(work.ID, h.bob.User.ID, calendar.WriteAccess))
		hers, his := h.token(h.alice, work), h.token(h.bob, work)
		tags := map[calendar.ObjectName]calendar.ETag{}
		for i := range 2 {
			o, err := h.EditObject(h.ctx, h.bob, h.fresh(h.bob, work), calendar.UID(fmt.Sprint(i)),
				ledger.Edit{Change: edit.Change{Fields: alarms(i + 1)}})
			h.must(err)
			tags[o.Saved.Object.Name] = o.Saved.Object.ETag
		}
		if got := h.changes(h.alice, work, hers); got != "" || h.token(h.alice, work) != hers {
			t.Errorf("alice is told of %s", got)
		}
		now := h.fresh(h.bob, work)
		since, err := calendar.ParseSyncToken(his)
		h.must(err)
		var told []calendar.Object
		told = append(told, h.all(h.Changes(h.ctx, nil, h.bob, now, since))...)
		if len(told) != 2 || told[0].ETag != tags[told[0].Name] || told[1].ETag != tags[told[1].Name] {
			t.Fatalf("bob is told of %v, want %v", told, tags)
		}
		// Anyone who stopped behind the first goes on with the second.
		since.Own = told[0].Own
		if rest := h.all(h.Changes(h.ctx, nil, h.bob, now, since)); len(rest) != 1 || rest[0].Name != told[1].Name {
			t.Errorf("behind the first: %v", rest)
		}
		if got := h.changes(h.bob, work, now.SyncToken().String()); got != "" {
			t.Errorf("at the end: %s", got)
		}
		for _, o := range h.all(h.Objects(h.ctx, nil, h.bob, now, calendar.ObjectQuery{})) {
			if want, own := tags[o.Name]; own && o.ETag != want {
				t.Errorf("%s is listed as %s, want %s", o.Name, o.ETag, want)
			}
		}
	})
}

// TestOwnRemindersAreBounded: what is too much is refused, and nothing of it is kept.
func TestOwnRemindersAreBounded(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.must(h.give(work.ID, h.bob.User.ID, calendar.WriteAccess))
		long := strings.Replace(event("one", 2, "x"), "END:VEVENT",
			"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT1M\r\nDESCRIPTION:"+strings.Repeat("x", calendar.MaxOwnPart)+
				"\r\nEND:VALARM\r\nEND:VEVENT", 1)
		_, err := h.Put(h.ctx, h.bob, h.fresh(h.bob, work), calendar.Draft{Name: "1.ics", Data: []byte(long)})
		h.refused(err, calendar.TooLarge, calendar.RuleMaxSize, "reminders")
		if got := h.reminders(h.bob, work, "one"); got != "" {
			t.Errorf("kept %s", got)
		}
	})
}

// TestOwnRemindersInAnExport: anyone who writes a calendar to a file writes it as they see it.
func TestOwnRemindersInAnExport(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.must(h.give(work.ID, h.bob.User.ID, calendar.WriteAccess))
		for c, m := range map[*calendar.Caller]int{&h.alice: 5, &h.bob: 7} {
			_, err := h.EditObject(h.ctx, *c, h.fresh(*c, work), "one",
				ledger.Edit{Change: edit.Change{Fields: alarms(m)}})
			h.must(err)
		}
		for c, want := range map[*calendar.Caller]string{&h.alice: "-PT5M", &h.bob: "-PT7M"} {
			var out bytes.Buffer
			_, err := h.Export(h.ctx, nil, *c, h.fresh(*c, work), nil, &out, nil)
			h.must(err)
			if strings.Count(out.String(), "TRIGGER") != 1 || !strings.Contains(out.String(), want) {
				t.Errorf("%s: %s", c.User.Name, out.String())
			}
			found, err := h.SearchEvents(h.ctx, *c, query.EventSearch{Text: "x", Limit: 5, Past: true})
			h.must(err)
			if len(found.Occurrences) != 1 ||
				!strings.Contains(fmt.Sprint(edit.AlarmsOf(found.Occurrences[0].Component)), want[3:4]) {
				t.Errorf("%s finds %v", c.User.Name, found.Occurrences)
			}
		}
	})
}
