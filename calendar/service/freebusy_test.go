package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
)

// busy lists when somebody is busy on a day of March 2026.
func (h *house) busy(c calendar.Caller, day int, calendars ...calendar.Calendar) string {
	h.t.Helper()
	from := time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)
	busy, err := h.FreeBusy(h.ctx, c, query.BusyQuery{Calendars: calendars, From: from, Until: from.AddDate(0, 0, 1)})
	h.must(err)
	var list []string
	for _, p := range busy.Periods {
		list = append(list, fmt.Sprintf("%s-%s %s", p.Start.Format("15:04"), p.End.Format("15:04"), p.Type))
	}
	return strings.Join(list, ", ")
}

func TestFreeBusy(t *testing.T) {
	each(t, func(h *house) {
		work, home, birthdays := h.calendar(h.alice, "work"), h.calendar(h.alice, "home"), h.calendar(h.alice,
			"birthdays")
		h.must(h.ChangeCalendar(h.ctx, h.alice, birthdays.ID, func(p *calendar.Properties) error {
			p.Transparent = true
			return nil
		}))
		birthdays = h.fresh(h.alice, birthdays)
		h.put(h.alice, work, "1.ics", event("one", 9, "x"))
		h.put(h.alice, home, "1.ics",
			text(calendar.Event, "two", "DTSTART:20260302T093000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY"))
		h.put(h.alice, home, "2.ics",
			text(calendar.Event, "three", "DTSTART:20260309T120000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT"))
		h.put(h.alice, home, "3.ics",
			text(calendar.Event, "four", "DTSTART:20260309T120000Z", "DURATION:PT1H", "STATUS:CANCELLED"))
		h.put(h.alice, home, "4.ics", text(calendar.Todo, "five", "DTSTART:20260309T120000Z", "DUE:20260309T140000Z"))
		h.put(h.alice, birthdays, "1.ics",
			text(calendar.Event, "six", "DTSTART;VALUE=DATE:20000309", "RRULE:FREQ=YEARLY"))
		for _, c := range []struct {
			day       int
			calendars []calendar.Calendar
			want      string
		}{
			{9, nil, "09:00-10:30 BUSY"},
			{9, []calendar.Calendar{work}, "09:00-10:00 BUSY"},
			{9, []calendar.Calendar{home}, "09:30-10:30 BUSY"},
			{9, []calendar.Calendar{birthdays}, "00:00-00:00 BUSY"},
			{9, []calendar.Calendar{}, ""},
			{10, nil, ""},
		} {
			if got := h.busy(h.alice, c.day, c.calendars...); got != c.want {
				h.t.Errorf("day %d of %d calendars: %q, want %q", c.day, len(c.calendars), got, c.want)
			}
		}
	})
}

// TestBusyTimesOfOthers takes no more than leave to see them, and the answers of the owner.
func TestBusyTimesOfOthers(t *testing.T) {
	each(t, func(h *house) {
		carol := calendar.Caller{
			User:   calendar.User{ID: "user-carol", Name: "carol", Email: "carol@example.com", Created: h.Now()},
			Scopes: calendar.ScopeAll,
		}
		h.must(h.Store.InsertUser(h.ctx, carol.User, ""))
		work := h.calendar(carol, "work")
		h.put(carol, work, "1.ics",
			text(calendar.Event, "one", "DTSTART:20260309T090000Z", "DURATION:PT1H",
				"ATTENDEE;PARTSTAT=DECLINED:mailto:Carol@example.com"))
		h.put(carol, work, "2.ics",
			text(calendar.Event, "two", "DTSTART:20260309T120000Z", "DURATION:PT1H",
				"ATTENDEE;PARTSTAT=ACCEPTED:mailto:carol@example.com"))
		shared := work
		shared.Access = calendar.FreeBusyAccess
		const want = "12:00-13:00 BUSY"
		if got := h.busy(carol, 9); got != want {
			h.t.Errorf("carol herself: %q, want %q", got, want)
		}
		if got := h.busy(h.bob, 9, shared); got != want {
			h.t.Errorf("bob: %q, want %q", got, want)
		}
		if got := h.busy(h.bob, 9); got != "" {
			h.t.Errorf("bob's own time: %q", got)
		}
		shared.Access = calendar.NoAccess
		_, err := h.FreeBusy(h.ctx, h.bob,
			query.BusyQuery{Calendars: []calendar.Calendar{shared}, From: h.Now(), Until: h.Now().Add(time.Hour)})
		h.refused(err, calendar.NotFound, "", string(work.ID))
	})
}

func TestFreeBusyIsRefused(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		for _, until := range []time.Time{{}, h.Now(), h.Now().Add(-time.Hour)} {
			_, err := h.FreeBusy(h.ctx, h.alice,
				query.BusyQuery{Calendars: []calendar.Calendar{cal}, From: h.Now(), Until: until})
			h.refused(err, calendar.Invalid, "", "after its start")
		}
		// Each stays below what one object may have, together they are too many.
		for i := range 75 {
			h.put(h.alice, cal, calendar.ObjectName(fmt.Sprintf("%d.ics", i)),
				text(calendar.Event, fmt.Sprint(i), "DTSTART:20260301T000000Z", "DURATION:PT1S", "RRULE:FREQ=HOURLY"))
		}
		_, err := h.FreeBusy(h.ctx, h.alice, query.BusyQuery{From: h.Now(), Until: h.Now().AddDate(0, 4, 0)})
		h.refused(err, calendar.TooLarge, calendar.RuleTooManyMatches, "a shorter time")
	})
}

func TestBusyText(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "1.ics", event("one", 9, "x"))
		q := query.BusyQuery{From: h.Now(), Until: h.Now().AddDate(0, 0, 14)}
		busy, err := h.FreeBusy(h.ctx, h.alice, q)
		h.must(err)
		want := strings.Join([]string{
			"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//caldav-mcp-server//EN", "BEGIN:VFREEBUSY",
			"UID:id-2@caldav-server",
			"DTSTAMP:20260301T080000Z", "DTSTART:20260301T080000Z", "DTEND:20260315T080000Z",
			"FREEBUSY;FBTYPE=BUSY:20260309T090000Z/20260309T100000Z", "END:VFREEBUSY", "END:VCALENDAR", "",
		}, "\r\n")
		if diff := cmp.Diff(want, string(h.BusyText(q, busy))); diff != "" {
			h.t.Errorf("-want +got\n%s", diff)
		}
	})
}

// TestDaysOfOthersAreTheirs: a day off lasts from midnight to midnight where its owner's calendar
// is, whoever asks and from wherever; the caller's own is on the clock that they read (time F5).
func TestDaysOfOthersAreTheirs(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Timezone = "America/New_York"
			return nil
		}))
		work = h.fresh(h.alice, work)
		h.put(h.alice, work, "1.ics", text(calendar.Event, "off", "DTSTART;VALUE=DATE:20270301"))
		h.put(h.alice, work, "2.ics", text(calendar.Event, "floating", "DTSTART:20270303T100000", "DURATION:PT1H"))
		berlin, err := zone.Lookup("Europe/Berlin")
		h.must(err)
		shared := work
		shared.Access = calendar.FreeBusyAccess
		const newYork, local = "01 05:00-02 05:00, 03 15:00-03 16:00", "28 23:00-01 23:00, 03 09:00-03 10:00"
		for _, c := range []struct {
			who  calendar.Caller
			cal  calendar.Calendar
			in   *zone.Zone
			want string
		}{
			{h.alice, work, nil, newYork},
			{h.alice, work, berlin, local},
			{h.bob, shared, nil, newYork},
			{h.bob, shared, berlin, newYork},
		} {
			from := time.Date(2027, 2, 27, 0, 0, 0, 0, time.UTC)
			busy, err := h.FreeBusy(h.ctx, c.who, query.BusyQuery{
				Calendars: []calendar.Calendar{c.cal}, From: from, Until: from.AddDate(0, 0, 7), Timezone: c.in,
			})
			h.must(err)
			var got []string
			for _, p := range busy.Periods {
				got = append(got, p.Start.Format("02 15:04")+"-"+p.End.Format("02 15:04"))
			}
			if strings.Join(got, ", ") != c.want {
				h.t.Errorf("%s in %v: %q, want %q", c.who.User.Name, c.in, got, c.want)
			}
		}
	})
}

// TestBusyTimesThatAreNotAllKnown: anyone who asks is told that something could not be followed.
func TestBusyTimesThatAreNotAllKnown(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "1.ics",
			text(calendar.Event, "chinese", "DTSTART:20260309T090000Z", "DURATION:PT1H",
				"RRULE:RSCALE=CHINESE;FREQ=YEARLY"))
		q := query.BusyQuery{From: h.Now(), Until: h.Now().AddDate(0, 0, 14)}
		busy, err := h.FreeBusy(h.ctx, h.alice, q)
		h.must(err)
		if busy.Unread != 1 ||
			!strings.Contains(string(h.BusyText(q, busy)),
				"\r\nCOMMENT:Incomplete: objects that could not be evaluated: 1.") {
			h.t.Errorf("%d are unread, and it is said:\n%s", busy.Unread, h.BusyText(q, busy))
		}
	})
}
