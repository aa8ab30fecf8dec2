package mirror_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// deeds are what can be done with any calendar, and what is to come of it with a linked one, which has the event
// "Dentist" at nine. Each complains of what is wrong.
var deeds = map[string]func(*house, calendar.Calendar) string{
	"agenda": func(h *house, _ calendar.Calendar) string {
		got, err := h.Agenda(h.ctx, h.alice,
			query.AgendaQuery{From: nine.Add(-time.Hour), Until: nine.Add(time.Hour), Limit: 10})
		h.must(err)
		return expect(len(got.Occurrences), 1)
	},
	"search": func(h *house, _ calendar.Calendar) string {
		got, err := h.SearchEvents(h.ctx, h.alice, query.EventSearch{Text: "dent", Past: true, Limit: 10})
		h.must(err)
		return expect(len(got.Occurrences), 1)
	},
	"busy times, of which the sharee of busy times is told as well": func(h *house, cal calendar.Calendar) string {
		_, err := h.Share(h.ctx, h.alice, cal.ID, "bob", calendar.FreeBusyAccess)
		h.must(err)
		shared := h.as("u2", cal)
		for _, c := range []calendar.Caller{h.alice, bob} {
			got, err := h.FreeBusy(h.ctx, c, query.BusyQuery{
				Calendars: []calendar.Calendar{shared}, From: nine.Add(-time.Hour), Until: nine.Add(time.Hour),
			})
			h.must(err)
			if len(got.Periods) != 1 {
				return fmt.Sprintf("%s is told of %d", c.User.Name, len(got.Periods))
			}
		}
		return ""
	},
	"a reader reads, and writes nothing": func(h *house, cal calendar.Calendar) string {
		_, err := h.Share(h.ctx, h.alice, cal.ID, "bob", calendar.ReadAccess)
		h.must(err)
		shared := h.as("u2", cal)
		got, err := h.SearchEvents(h.ctx, bob,
			query.EventSearch{Text: "dentist", Calendars: []calendar.Calendar{shared}, Past: true, Limit: 10})
		h.must(err)
		_, err = h.Put(h.ctx, bob, shared, calendar.Draft{Name: "x.ics", Data: []byte(event("x", "his"))})
		if calendar.ReasonOf(err) != calendar.Forbidden || h.model.writes != 0 {
			return fmt.Sprint("he writes: ", err)
		}
		return expect(len(got.Occurrences), 1)
	},
	"a writer writes there": func(h *house, cal calendar.Calendar) string {
		_, err := h.Share(h.ctx, h.alice, cal.ID, "bob", calendar.WriteAccess)
		h.must(err)
		_, err = h.Put(h.ctx, bob, h.as("u2", cal), calendar.Draft{Name: "x.ics", Data: []byte(event("x", "his"))})
		h.must(err)
		return expect(h.model.writes, 1)
	},
	"export": func(h *house, cal calendar.Calendar) string {
		var file bytes.Buffer
		n, err := h.Export(h.ctx, h.Meter(h.ctx, h.alice), h.alice, cal, nil, &file, func(calendar.Object, error) {})
		h.must(err)
		if !strings.Contains(file.String(), "SUMMARY:Dentist") {
			return file.String()
		}
		return expect(n, 1)
	},
	"a public link": func(h *house, cal calendar.Calendar) string {
		feed, err := h.Feed(h.ctx, h.Meter(h.ctx, h.alice), h.alice, cal.ID, query.FeedEvents)
		h.must(err)
		var file bytes.Buffer
		h.must(feed.Write(h.ctx, &file, func(calendar.Object, error) {}))
		if !strings.Contains(file.String(), "SUMMARY:Dentist") {
			return file.String()
		}
		return ""
	},
	"the journal says where it was changed": func(h *house, cal calendar.Calendar) string {
		page, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{Calendar: cal.ID, UID: "dentist", Limit: 10})
		h.must(err)
		if len(page.Changes) != 1 || page.Changes[0].Agent != "changed at Work" {
			return fmt.Sprintf("%+v", page.Changes)
		}
		return ""
	},
	"what is taken back is taken back there": func(h *house, cal calendar.Calendar) string {
		name := h.nameOf(cal, "dentist")
		h.must(h.Delete(h.ctx, h.alice, cal, name, calendar.Precondition{}))
		page, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{Calendar: cal.ID, UID: "dentist", Limit: 1})
		h.must(err)
		_, err = h.Undo(h.ctx, h.alice, page.Changes[0].ID())
		h.must(err)
		return expect(h.model.writes, 2)
	},
	"what is brought back of the trash is there again, and its guests hear nothing": func(
		h *house, cal calendar.Calendar,
	) string {
		h.must(h.Delete(h.ctx, h.alice, cal, h.nameOf(cal, "dentist"), calendar.Precondition{}))
		_, err := h.RestoreDeleted(h.ctx, h.alice, cal, "dentist")
		h.must(err)
		if !h.model.quiet {
			return "they do"
		}
		return expect(h.model.writes, 2)
	},
	"a deletion that was mailed is taken back with a mail": func(h *house, cal calendar.Calendar) string {
		_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "party.ics", Data: []byte(invitation)})
		h.must(err)
		h.must(h.Delete(h.ctx, h.alice, cal, "party.ics", calendar.Precondition{}))
		h.model.quiet = true
		h.must(h.takeBack(cal, "party"))
		if h.model.quiet {
			return "guests hear nothing"
		}
		return expect(h.model.writes, 3)
	},
	"an import goes there, and no guest hears of it": func(h *house, cal calendar.Calendar) string {
		_, err := h.NewImporter(h.alice, calendar.ImportOptions{}).
			Store(h.ctx, cal, []calendar.Import{{Data: []byte(invitation)}})
		h.must(err)
		if !h.model.quiet {
			return "they do"
		}
		return expect(h.model.writes, 1)
	},
	"an invitation is sent by its source, and by nobody here": func(h *house, cal calendar.Calendar) string {
		saved, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "party.ics", Data: []byte(invitation)})
		h.must(err)
		if h.model.quiet || len(saved.Told) != 0 || saved.Object.ScheduleTag != "" {
			return fmt.Sprintf("quiet: %v, told %v, tag %q", h.model.quiet, saved.Told, saved.Object.ScheduleTag)
		}
		return expect(h.model.writes, 1)
	},
	"nobody is told of what moves, nor when that is taken back": func(h *house, cal calendar.Calendar) string {
		own, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Properties: calendar.Properties{Name: "Own"}})
		h.must(err)
		_, err = h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "party.ics", Data: []byte(invitation)})
		h.must(err)
		for _, move := range []func() error{
			func() error { return h.moved(cal, "party", own) }, func() error {
				return h.moved(own, "party", cal)
			}, func() error { return h.takeBack(own, "party") },
			func() error { return h.takeBack(own, "party") },
		} {
			h.must(move())
			if !h.model.quiet {
				return fmt.Sprintf("they are, by write %d", h.model.writes)
			}
			h.model.quiet = false
		}
		return expect(h.model.writes, 5)
	},
	"a deletion is told there, unless that is not wanted": func(h *house, cal calendar.Calendar) string {
		for _, tell := range []calendar.Telling{calendar.TellAll, calendar.TellNobody} {
			_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "party.ics", Data: []byte(invitation)})
			h.must(err)
			h.must(h.DeleteTelling(h.ctx, h.alice, cal, "party.ics", calendar.Precondition{}, tell))
			if want := tell == calendar.TellNobody; h.model.quiet != want {
				return fmt.Sprintf("%v: quiet is %v", tell, h.model.quiet)
			}
		}
		return ""
	},
	"it moves to a calendar of one's own, and goes there": func(h *house, cal calendar.Calendar) string {
		own, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Properties: calendar.Properties{Name: "Own"}})
		h.must(err)
		_, err = h.MoveToCalendar(h.ctx, h.alice, cal, "dentist", own, calendar.Precondition{})
		h.must(err)
		return expect(len(h.model.refs()), 0)
	},
	"what is one's own moves into it": func(h *house, cal calendar.Calendar) string {
		own, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Properties: calendar.Properties{Name: "Own"}})
		h.must(err)
		_, err = h.Put(h.ctx, h.alice, own, calendar.Draft{Name: "mine.ics", Data: []byte(event("mine", "Mine"))})
		h.must(err)
		_, err = h.MoveToCalendar(h.ctx, h.alice, own, "mine", cal, calendar.Precondition{})
		h.must(err)
		return expect(len(h.model.refs()), 2)
	},
	"no invitation is put into it": func(h *house, cal calendar.Calendar) string {
		err := h.PatchScheduling(h.ctx, h.alice, func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if calendar.RuleOf(err) != calendar.RuleDefaultCalendar {
			return fmt.Sprint("it is chosen: ", err)
		}
		if got := (calendar.Scheduling{}).Reception([]calendar.Calendar{cal}); got != "" {
			return "it is where they go unasked"
		}
		return ""
	},
	"a calendar that is deleted here stays there": func(h *house, cal calendar.Calendar) string {
		h.must(h.DeleteCalendar(h.ctx, h.alice, cal.ID))
		h.must(h.refresh())
		if all, err := h.Calendars(h.ctx, h.alice); err != nil ||
			slices.ContainsFunc(all, func(c calendar.Calendar) bool { return c.Origin.Mirrors() }) {
			return fmt.Sprint("it comes back: ", err)
		}
		return expect(len(h.model.refs()), 1)
	},
}

var (
	nine = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	bob  = calendar.Caller{User: calendar.User{ID: "u2", Name: "bob"}, Scopes: calendar.ScopeAll}
	// invitation has guests, and their organizer.
	invitation = strings.Replace(event("party", "Party"), "SUMMARY:",
		"ORGANIZER:mailto:alice@example.com\r\nATTENDEE:mailto:alice@example.com\r\n"+
			"ATTENDEE:mailto:eve@example.net\r\nSUMMARY:", 1)
)

func expect(got, want int) string {
	if got != want {
		return fmt.Sprintf("there are %d, want %d", got, want)
	}
	return ""
}

// as is a calendar as a user sees it.
func (h *house) as(user calendar.UserID, cal calendar.Calendar) calendar.Calendar {
	h.t.Helper()
	got, err := h.Store.Calendar(h.ctx, user, cal.ID)
	h.must(err)
	return got
}

func (h *house) nameOf(cal calendar.Calendar, uid calendar.UID) calendar.ObjectName {
	h.t.Helper()
	o, err := h.Store.ObjectByUID(h.ctx, cal.ID, uid)
	h.must(err)
	return o.Name
}

func (h *house) moved(from calendar.Calendar, uid calendar.UID, to calendar.Calendar) error {
	_, err := h.MoveToCalendar(h.ctx, h.alice, from, uid, to, calendar.Precondition{})
	return err
}

// takeBack takes back the last change of an object.
func (h *house) takeBack(cal calendar.Calendar, uid calendar.UID) error {
	page, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{Calendar: cal.ID, UID: uid, Limit: 1})
	if err == nil {
		_, err = h.Undo(h.ctx, h.alice, page.Changes[0].ID())
	}
	return err
}

// TestALinkedCalendarIsLikeAnyOther, whatever is done with it.
func TestALinkedCalendarIsLikeAnyOther(t *testing.T) {
	t.Parallel()
	for _, what := range slices.Sorted(maps.Keys(deeds)) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			each(t, func(h *house) {
				text := strings.Replace(event("dentist", "Dentist"), "DTSTART:20260302T090000Z",
					"DTSTART:20260302T090000Z\r\nDTEND:20260302T093000Z", 1)
				h.model.set("", "dentist", text)
				cal := h.link()
				if complaint := deeds[what](h, h.as(h.alice.User.ID, cal)); complaint != "" {
					h.t.Error(complaint)
				}
				if all, err := h.Calendars(h.ctx, h.alice); err == nil &&
					slices.ContainsFunc(all, func(c calendar.Calendar) bool { return c.ID == cal.ID }) {
					h.must(h.refresh())
					h.same(cal)
				}
			})
		})
	}
}
