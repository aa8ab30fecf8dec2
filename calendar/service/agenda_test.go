package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
)

// event is the text of one, with the lines given.
func agendaEvent(uid string, lines ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
		"\r\nDTSTAMP:20260301T000000Z\r\n" +
		strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

// agenda lists what an agenda holds, as "UTC time title", and what it says beside.
func (h *house) agenda(c calendar.Caller, q query.AgendaQuery) (string, query.Agenda) {
	h.t.Helper()
	if q.From.IsZero() {
		q.From, q.Until = day(2), day(9)
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	a, err := h.Agenda(h.ctx, c, q)
	h.must(err)
	var list []string
	for _, o := range a.Occurrences {
		list = append(list, o.Start.Time.UTC().Format("02T15:04 ")+o.Component.Property("SUMMARY").Text())
	}
	return strings.Join(list, ", "), a
}

func day(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }

// week fills two calendars: a series of which one instance is moved and one cancelled, a
// whole day, an event into the week, one beside it, and what is no event.
func (h *house) week() (work, home calendar.Calendar) {
	work, home = h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
	h.put(h.alice, work, "a", agendaEvent("a", "DTSTART:20260223T090000Z", "DTEND:20260223T093000Z", "SUMMARY:Standup",
		"RRULE:FREQ=DAILY", "EXDATE:20260304T090000Z", "END:VEVENT", "BEGIN:VEVENT", "UID:a",
		"DTSTAMP:20260301T000000Z",
		"RECURRENCE-ID:20260305T090000Z", "DTSTART:20260305T140000Z", "DTEND:20260305T143000Z",
		"SUMMARY:Standup with guests",
		`ATTENDEE;CN=Zoë:mailto:zoe@example.com`))
	h.put(h.alice, work, "b", agendaEvent("b", "DTSTART:20260301T230000Z", "DTEND:20260302T010000Z", "SUMMARY:Deploy"))
	h.put(h.alice, home, "c", agendaEvent("c", "DTSTART;VALUE=DATE:20260306", "SUMMARY:Café day"))
	h.put(h.alice, home, "d", agendaEvent("d", "DTSTART:20260309T000000Z", "DTEND:20260309T010000Z", "SUMMARY:After"))
	h.put(h.alice, home, "e",
		strings.ReplaceAll(agendaEvent("e", "DUE:20260305T000000Z", "SUMMARY:Task"), "VEVENT", "VTODO"))
	return work, home
}

func TestAgenda(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.week()
		const series = "02T09:00 Standup, 03T09:00 Standup, 05T14:00 Standup with guests, "
		berlin, err := zone.Lookup("Europe/Berlin")
		h.must(err)
		for _, c := range []struct {
			name, want string
			q          query.AgendaQuery
		}{
			{
				"all",
				"01T23:00 Deploy, " + series +
					"06T00:00 Café day, 06T09:00 Standup, 07T09:00 Standup, 08T09:00 Standup",
				query.AgendaQuery{},
			},
			{
				"days in Berlin", "05T23:00 Café day",
				query.AgendaQuery{Timezone: berlin, Calendars: []calendar.Calendar{home}},
			},
			{
				"one calendar", "01T23:00 Deploy, " + series + "06T09:00 Standup, 07T09:00 Standup, 08T09:00 Standup",
				query.AgendaQuery{Calendars: []calendar.Calendar{work}},
			},
			{"no calendar", "", query.AgendaQuery{Calendars: []calendar.Calendar{}}},
			{"a word of one instance", "05T14:00 Standup with guests", query.AgendaQuery{Keyword: "GUEST stand"}},
			{"a word without its accent", "06T00:00 Café day", query.AgendaQuery{Keyword: "cafe"}},
			{"somebody", "05T14:00 Standup with guests", query.AgendaQuery{Attendee: "zoe"}},
			{"somebody who is only in a title", "", query.AgendaQuery{Attendee: "guests"}},
			{
				"a moment", "02T09:00 Standup",
				query.AgendaQuery{From: day(2).Add(9 * time.Hour), Until: day(2).Add(9*time.Hour + 1)},
			},
		} {
			if got, _ := h.agenda(h.alice, c.q); got != c.want {
				h.t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
			}
		}
		_, err = h.Agenda(h.ctx, h.alice, query.AgendaQuery{From: day(3), Until: day(3), Limit: 1})
		h.refused(err, calendar.Invalid, "", "after its start")
	})
}

// TestAgendaInPages reads the same week in pages of every size: nothing is missing or comes
// twice, and each page knows how many come after it.
func TestAgendaInPages(t *testing.T) {
	each(t, func(h *house) {
		work, _ := h.week()
		for i := range 30 { // at the same time, so that the place has to tell them apart
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint("x", i)),
				agendaEvent(fmt.Sprint("x", i), "DTSTART:20260304T100000Z", fmt.Sprint("SUMMARY:", i)))
		}
		whole, a := h.agenda(h.alice, query.AgendaQuery{})
		if total := len(a.Occurrences); total != 38 || a.More != 0 {
			h.t.Fatalf("%d and %d more", total, a.More)
		}
		for _, size := range []int{1, 7, 37, 38} {
			var pages []string
			var after *query.Spot
			for left := 38; left > 0; {
				page, a := h.agenda(h.alice, query.AgendaQuery{Limit: size, After: after})
				if left -= len(a.Occurrences); a.More != left || len(a.Occurrences) == 0 {
					h.t.Fatalf("pages of %d: %d and %d more, want %d more", size, len(a.Occurrences), a.More, left)
				}
				spot := a.Occurrences[len(a.Occurrences)-1].Spot()
				pages, after = append(pages, page), &spot
			}
			if got := strings.Join(pages, ", "); got != whole {
				h.t.Errorf("pages of %d:\n%s, want\n%s", size, got, whole)
			}
		}
	})
}

// TestAgendaSeesWhatItMay: of others there is what they share, and not more than they share.
func TestAgendaSeesWhatItMay(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.week()
		h.must(h.give(work.ID, h.bob.User.ID, calendar.FreeBusyAccess))
		h.must(h.give(home.ID, h.bob.User.ID, calendar.ReadAccess))
		if got, _ := h.agenda(h.bob, query.AgendaQuery{}); got != "06T00:00 Café day" {
			h.t.Errorf("bob sees %s", got)
		}
		const busy = "01T23:00 Busy, 02T09:00 Busy, 03T09:00 Busy, 05T14:00 Busy, 06T09:00 Busy, 07T09:00 Busy, " +
			"08T09:00 Busy"
		if got, _ := h.agenda(h.bob, query.AgendaQuery{Calendars: []calendar.Calendar{h.fresh(h.bob, work)}}); got !=
			busy {
			h.t.Errorf("bob sees by name %s", got)
		}
		_, err := h.Agenda(h.ctx, h.bob, query.AgendaQuery{
			Calendars: []calendar.Calendar{h.fresh(h.bob, home), {ID: "none"}}, From: day(2), Until: day(9), Limit: 1,
		})
		h.refused(err, calendar.NotFound, "", "no calendar")
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{home.ID}
		if got, _ := h.agenda(bound, query.AgendaQuery{}); got != "06T00:00 Café day" {
			h.t.Errorf("a bound token sees %s", got)
		}
		deaf := h.alice
		deaf.Scopes = calendar.ScopeWrite
		_, err = h.Agenda(h.ctx, deaf, query.AgendaQuery{From: day(2), Until: day(9), Limit: 1})
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
	})
}

// TestAgendaBounds: what can't be followed is told, and too much is refused.
func TestAgendaBounds(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "odd",
			agendaEvent("odd", "DTSTART:20260302T090000Z", "SUMMARY:Odd", "RRULE:RSCALE=CHINESE;FREQ=MONTHLY"))
		h.put(h.alice, cal, "a", agendaEvent("a", "DTSTART:20260302T090000Z", "SUMMARY:A"))
		got, a := h.agenda(h.alice, query.AgendaQuery{})
		if got != "02T09:00 A" || a.Unread != 1 {
			h.t.Errorf("%q and %d unread", got, a.Unread)
		}
		for i := range 11 {
			h.put(h.alice, cal, calendar.ObjectName(fmt.Sprint(i)),
				agendaEvent(fmt.Sprint(i), "DTSTART:20260302T000000Z", "SUMMARY:X", "RRULE:FREQ=MINUTELY;COUNT=2900"))
		}
		_, a = h.agenda(h.alice, query.AgendaQuery{Limit: 10})
		if len(a.Occurrences) != 10 || a.More != 11*2900-9 {
			h.t.Errorf("%d and %d more", len(a.Occurrences), a.More)
		}
	})
}
