package service_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/ical"
)

// text is what is stored under a UID, without the time zones.
func (h *house) text(c calendar.Caller, cal calendar.Calendar, uid calendar.UID) string {
	h.t.Helper()
	o, err := h.ObjectByUID(h.ctx, nil, c, cal, uid)
	h.must(err)
	read, err := content.Read(o.Data, ical.DefaultLimits())
	h.must(err)
	for _, z := range read.Calendar.AllComponents("VTIMEZONE") {
		read.Calendar.RemoveComponent(z)
	}
	return strings.ReplaceAll(read.Document.String(), "\r\n", "\n")
}

func (h *house) same(want, got string) {
	h.t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
		h.t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCreateEventWithAllItCanHave(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		start := ical.CivilDate(2026, 3, 2)
		start.Hour = 9
		end := start
		end.Hour = 10
		saved, err := h.Create(h.ctx, h.alice, work, edit.Draft{
			Kind: content.Event,
			Times: edit.Times{
				Start: edit.To(ical.Zoned(start, "W. Europe Standard Time")),
				End:   edit.To(ical.Zoned(end, "Europe/Berlin")),
			},
			Fields: edit.Fields{
				Summary: edit.To("Plan; next, week"), Description: edit.To("a\nb"), Location: edit.To("Room 5"),
				Rule: edit.To("FREQ=WEEKLY;UNTIL=20260601"), URL: edit.To("https://example.com/a"),
				Categories: edit.To([]string{"a,b", "c"}),
				Organizer:  edit.To(edit.Attendee{Address: "alice@example.com"}),
				Attendees:  edit.To([]edit.Attendee{{Address: "bob@example.com", Name: "Bob"}}),
				Alarms:     edit.To([]edit.Alarm{{Minutes: 15}}),
				Status:     edit.To(edit.Tentative), Transparency: edit.To(edit.Transparent),
				Class: edit.To(edit.Private),
			},
		})
		h.must(err)
		if o := saved.Object; !saved.Created || !o.Recurring || !o.Transparent || o.Status != "TENTATIVE" {
			h.t.Errorf("derived %+v", o.Derived)
		}
		if !strings.Contains(string(saved.Object.Data), "BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n") {
			h.t.Errorf("no VTIMEZONE in %s", saved.Object.Data)
		}
		h.same(`
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//caldav-mcp-server//EN
BEGIN:VEVENT
UID:id-2@caldav-server
DTSTAMP:20260301T080000Z
DTSTART;TZID=Europe/Berlin:20260302T090000
DTEND;TZID=Europe/Berlin:20260302T100000
SUMMARY:Plan\; next\, week
DESCRIPTION:a\nb
LOCATION:Room 5
URL:https://example.com/a
CATEGORIES:a\,b,c
STATUS:TENTATIVE
TRANSP:TRANSPARENT
CLASS:PRIVATE
ORGANIZER:mailto:alice@example.com
ATTENDEE;CN=Bob;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto
 :bob@example.com
RRULE:FREQ=WEEKLY;UNTIL=20260601T215959Z
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Plan\; next\, week
TRIGGER:-PT15M
END:VALARM
END:VEVENT
END:VCALENDAR`, h.text(h.alice, work, saved.Object.UID))
	})
}

func TestCreateTask(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		saved, err := h.Create(h.ctx, h.alice, work, edit.Draft{
			Kind:   content.Todo,
			Times:  edit.Times{End: edit.To(ical.Date(ical.CivilDate(2026, 3, 9)))},
			Fields: edit.Fields{Summary: edit.To("Stamps"), Priority: edit.To(1), Percent: edit.To(100)},
		})
		h.must(err)
		h.same(`
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//caldav-mcp-server//EN
BEGIN:VTODO
UID:id-2@caldav-server
DTSTAMP:20260301T080000Z
DUE;VALUE=DATE:20260309
SUMMARY:Stamps
STATUS:COMPLETED
PRIORITY:1
COMPLETED:20260301T080000Z
PERCENT-COMPLETE:100
END:VTODO
END:VCALENDAR`, h.text(h.alice, work, saved.Object.UID))
	})
}

func TestCreateRefuses(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		start, later := ical.CivilDate(2026, 3, 2), ical.CivilDate(2026, 3, 3)
		at := edit.Times{Start: edit.To(ical.Floating(start)), End: edit.To(ical.Floating(later))}
		for _, c := range []struct {
			times  edit.Times
			fields edit.Fields
			says   string
		}{
			{
				edit.Times{Start: edit.To(ical.Floating(later)), End: edit.To(ical.Floating(start))},
				edit.Fields{},
				"before it begins",
			},
			{
				edit.Times{Start: edit.To(ical.Zoned(start, "Europe/Berlim"))},
				edit.Fields{},
				"did you mean Europe/Berlin",
			},
			{at, edit.Fields{Rule: edit.To("FREQ=SOMETIMES")}, "SOMETIMES"},
			{at, edit.Fields{Status: edit.To(edit.Status("DONE"))}, "TENTATIVE, CONFIRMED, CANCELLED"},
			{at, edit.Fields{Attendees: edit.To([]edit.Attendee{{Address: "bob"}})}, "e-mail"},
			{at, edit.Fields{URL: edit.To("page")}, "https://"},
		} {
			_, err := h.Create(h.ctx, h.alice, work, edit.Draft{Kind: content.Event, Times: c.times, Fields: c.fields})
			h.refused(err, calendar.Invalid, "", c.says)
		}
	})
}

// weekly is a series on Mondays from 2026-03-02 on, at nine in UTC.
func weekly() string {
	return strings.Replace(event("one", 2, "usual"), "SUMMARY", "RRULE:FREQ=WEEKLY;COUNT=10\r\nSUMMARY", 1)
}

func monday(day int) ical.Time {
	c := ical.CivilDate(2026, 3, day)
	c.Hour = 9
	return ical.UTC(c)
}

// TestSplitIsOneChange: of the two halves of a series there are both or none.
func TestSplitIsOneChange(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", weekly())
		change := edit.Change{
			Target: edit.Target{Instance: monday(16), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("later")},
		}
		// The UID that the second half is going to get is taken.
		h.put(h.alice, work, "taken.ics", event("id-2@caldav-server", 5, "x"))
		before := h.token(h.alice, work)
		_, err := h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: change})
		h.refused(err, calendar.Exists, calendar.RuleUIDConflict, "id-2@caldav-server")
		if h.token(h.alice, work) != before {
			h.t.Error("half of a split was stored")
		}
		edited, err := h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: change})
		h.must(err)
		if edited.Split == nil || !edited.Split.Created || edited.Saved.Created {
			h.t.Fatalf("%+v", edited)
		}
		if got := h.changes(h.alice, work, before); got != "1.ics@4 id-3@caldav-server.ics@5" {
			h.t.Errorf("changes %s", got)
		}
		h.same(strings.ReplaceAll(strings.Replace(weekly(), "COUNT=10", "COUNT=2", 1), "\r\n", "\n"),
			strings.Replace(strings.Replace(h.text(h.alice, work, "one"), "SEQUENCE:1\n", "", 1),
				"DTSTAMP:20260301T080000Z", "DTSTAMP:20260301T000000Z", 1))
		if got := h.text(h.alice, work, "id-3@caldav-server"); !strings.Contains(got,
			"RELATED-TO;RELTYPE=SIBLING:one\n") || !strings.Contains(got, "COUNT=8") {
			h.t.Errorf("the second half:\n%s", got)
		}
	})
}

func TestEditObject(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		first := h.put(h.alice, work, "1.ics", event("one", 2, "x")).Object
		title := edit.Change{Fields: edit.Fields{Summary: edit.To("y")}}
		edited, err := h.EditObject(h.ctx, h.alice, work, "one",
			ledger.Edit{Change: title, When: calendar.Precondition{Match: []calendar.ETag{first.ETag}}})
		h.must(err)
		if got := edited.Saved.Object; got.Summary != "y" || got.Version != first.Version+1 || got.Name != "1.ics" {
			h.t.Errorf("%+v", got)
		}
		// What is so already is no change.
		again, err := h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: title})
		h.must(err)
		if again.Saved.Object.Version != edited.Saved.Object.Version {
			h.t.Errorf("version %d", again.Saved.Object.Version)
		}
		_, err = h.EditObject(h.ctx, h.alice, work, "one",
			ledger.Edit{Change: title, When: calendar.Precondition{Match: []calendar.ETag{first.ETag}}})
		h.refused(err, calendar.Stale, "", "not what you expect")
		_, err = h.EditObject(h.ctx, h.alice, work, "two", ledger.Edit{Change: title})
		h.refused(err, calendar.NotFound, "", `"two"`)
		foreign := work
		foreign.Access = calendar.NoAccess
		_, err = h.EditObject(h.ctx, h.bob, foreign, "one", ledger.Edit{Change: title})
		h.refused(err, calendar.NotFound, "", "no calendar")
		reader := h.alice
		reader.Scopes = calendar.ScopeRead | calendar.ScopeDelete
		_, err = h.EditObject(h.ctx, reader, work, "one", ledger.Edit{Change: title})
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
	})
}

func TestCancelObject(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", weekly())
		cancel := func(c calendar.Caller, t edit.Target) (ledger.Edited, error) {
			return h.CancelObject(h.ctx, c, work, "one", ledger.Cancellation{Target: t})
		}
		writer := h.alice
		writer.Scopes = calendar.ScopeRead | calendar.ScopeWrite
		_, err := cancel(writer, edit.Target{Instance: monday(9), Scope: edit.This})
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "delete")
		_, err = cancel(h.alice, edit.Target{Instance: monday(10), Scope: edit.This})
		h.refused(err, calendar.NotFound, "", "the next one is 20260316T090000Z")
		_, err = cancel(h.alice, edit.Target{Instance: monday(9)})
		h.refused(err, calendar.Invalid, "", `"this"`)

		edited, err := cancel(h.alice, edit.Target{Instance: monday(9), Scope: edit.This})
		h.must(err)
		if edited.Saved.Object.Deleted || !strings.Contains(h.text(h.alice, work, "one"), "EXDATE:20260309T090000Z\n") {
			h.t.Errorf("%s", edited.Saved.Object.Data)
		}
		edited, err = cancel(h.alice, edit.Target{Instance: monday(2), Scope: edit.Following})
		h.must(err)
		if !edited.Saved.Object.Deleted {
			h.t.Error("the whole series, and something is left")
		}
		_, err = h.ObjectByUID(h.ctx, nil, h.alice, work, "one")
		h.refused(err, calendar.NotFound, "", "one")
	})
}

// TestEditsAtOnce: of edits that are made at the same time none is lost.
func TestEditsAtOnce(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		fields := []edit.Fields{
			{Summary: edit.To("a")},
			{Location: edit.To("b")},
			{Description: edit.To("c")},
			{URL: edit.To("https://example.com/d")},
		}
		var wait sync.WaitGroup
		failed := make([]error, len(fields))
		for i, f := range fields {
			wait.Go(func() {
				_, failed[i] = h.EditObject(h.ctx, h.alice, work, "one", ledger.Edit{Change: edit.Change{Fields: f}})
			})
		}
		wait.Wait()
		h.must(errors.Join(failed...))
		text := h.text(h.alice, work, "one")
		for _, line := range []string{"SUMMARY:a\n", "LOCATION:b\n", "DESCRIPTION:c\n", "URL:https://example.com/d\n"} {
			if !strings.Contains(text, line) {
				h.t.Errorf("%q is lost:\n%s", line, text)
			}
		}
	})
}
