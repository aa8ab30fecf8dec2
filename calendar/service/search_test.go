package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// search lists what a search finds, as "UTC time title", with a + behind if there is more.
func (h *house) search(c calendar.Caller, q query.EventSearch) string {
	h.t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	found, err := h.SearchEvents(h.ctx, c, q)
	h.must(err)
	var list []string
	for _, o := range found.Occurrences {
		list = append(list, o.Start.Time.UTC().Format("Jan 2 15:04 ")+o.Component.Property("SUMMARY").Text())
	}
	if found.More {
		list = append(list, "+")
	}
	return strings.Join(list, ", ")
}

func TestSearchEvents(t *testing.T) {
	each(t, func(h *house) {
		h.week()
		cal := h.calendar(h.alice, "more")
		h.put(h.alice, cal, "old",
			agendaEvent("old", "DTSTART:20250101T090000Z", "SUMMARY:Old standup", "RRULE:FREQ=DAILY;COUNT=3"))
		h.put(h.alice, cal, "older",
			agendaEvent("older", "DTSTART:20240101T090000Z", "SUMMARY:Older standup", "LOCATION:Café"))
		h.put(h.alice, cal, "now",
			agendaEvent("now", "DTSTART:20260301T070000Z", "DTEND:20260301T090000Z", "SUMMARY:Now",
				"DESCRIPTION:like a standup"))
		h.put(h.alice, cal, "odd",
			agendaEvent("odd", "DTSTART:20260302T090000Z", "SUMMARY:Odd standup", "RRULE:RSCALE=CHINESE;FREQ=MONTHLY"))
		for _, c := range []struct {
			name, want string
			q          query.EventSearch
		}{
			{"to come", "Mar 1 07:00 Now, Mar 1 09:00 Standup", query.EventSearch{Text: "standup"}},
			{
				"past too", "Mar 1 07:00 Now, Mar 1 09:00 Standup, Jan 3 09:00 Old standup, Jan 1 09:00 Older standup",
				query.EventSearch{Text: "STAND", Past: true},
			},
			{"few", "Mar 1 07:00 Now, +", query.EventSearch{Text: "standup", Limit: 1}},
			{"two words in any order", "Mar 5 14:00 Standup with guests", query.EventSearch{Text: "guests standup"}},
			{"a person", "Mar 5 14:00 Standup with guests", query.EventSearch{Text: "zoe@example.com"}},
			{"words of different instances", "", query.EventSearch{Text: "guests standup deploy"}},
			{"accents", "Mar 6 00:00 Café day", query.EventSearch{Text: "cafe"}},
			{
				"accents, asked for with", "Mar 6 00:00 Café day, Jan 1 09:00 Older standup",
				query.EventSearch{Text: "CAFÉ", Past: true},
			},
			{"the middle of a word", "", query.EventSearch{Text: "andup"}},
			{"a letter short", "Mar 1 07:00 Now, Mar 1 09:00 Standup", query.EventSearch{Text: "tandup"}},
			{"what is no event", "", query.EventSearch{Text: "Task"}},
			{"what no text has", "", query.EventSearch{Text: `VEVENT OR "x* NEAR(`, Past: true}},
			{
				"one calendar", "Mar 1 07:00 Now",
				query.EventSearch{Text: "standup", Calendars: []calendar.Calendar{cal}},
			},
		} {
			if got := h.search(h.alice, c.q); got != c.want {
				h.t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		_, err := h.SearchEvents(h.ctx, h.alice, query.EventSearch{Text: " -!", Limit: 1})
		h.refused(err, calendar.Invalid, "", "no word")
	})
}

// TestSearchFindsFarInstances: what only one instance of a series says is found, however many others
// there are before it or since.
func TestSearchFindsFarInstances(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		for _, s := range []struct{ uid, start, moved string }{
			{"far", "20280501T090000Z", "20280501T100000Z"},
			{"old", "20230501T090000Z", "20230502T090000Z"},
			{"both", "20240501T090000Z", "20290501T090000Z"},
			{"now", "20240601T090000Z", "20260301T073000Z"},
		} {
			override := []string{
				"DTSTART:20230101T090000Z", "DTEND:20230101T100000Z", "RRULE:FREQ=DAILY", "SUMMARY:Standup",
				"END:VEVENT", "BEGIN:VEVENT", "UID:" + s.uid, "DTSTAMP:20260301T000000Z",
				"RECURRENCE-ID:" + s.start, "DTSTART:" + s.moved, "DURATION:PT1H", "SUMMARY:Jubilee",
			}
			h.put(h.alice, cal, calendar.ObjectName(s.uid), agendaEvent(s.uid, override...))
		}
		for _, c := range []struct {
			past bool
			want string
		}{
			{false, "Mar 1 07:30 Jubilee, May 1 10:00 Jubilee, May 1 09:00 Jubilee"},
			{true, "Mar 1 07:30 Jubilee, May 1 10:00 Jubilee, May 1 09:00 Jubilee, May 2 09:00 Jubilee"},
		} {
			if got := h.search(h.alice, query.EventSearch{Text: "jubilee", Past: c.past}); got != c.want {
				h.t.Errorf("past %v: %s, want %s", c.past, got, c.want)
			}
		}
	})
}

// TestSearchLooksBehindWhatIsNotWanted: many series that have the words, but never in one instance,
// hide nothing.
func TestSearchLooksBehindWhatIsNotWanted(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		for i := range 60 {
			uid := fmt.Sprintf("series%d", i)
			h.put(h.alice, cal, calendar.ObjectName(uid),
				agendaEvent(uid, "DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY", "SUMMARY:Standup",
					"END:VEVENT", "BEGIN:VEVENT", "UID:"+uid, "DTSTAMP:20260301T000000Z",
					"RECURRENCE-ID:20260102T090000Z", "DTSTART:20260102T090000Z", "SUMMARY:Guests"))
		}
		h.put(h.alice, cal, "one", agendaEvent("one", "DTSTART:20260401T090000Z", "SUMMARY:Standup with guests"))
		if got, want := h.search(h.alice, query.EventSearch{Text: "standup guests", Limit: 1}), "Apr 1 09:00 Standup "+
			"with guests"; got != want {
			h.t.Errorf("found %q, want %q", got, want)
		}
	})
}

// TestSearchSeesWhatItMay: words in what is not shared find nothing, whoever asks.
func TestSearchSeesWhatItMay(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.week()
		all := query.EventSearch{Text: "standup"}
		if got := h.search(h.bob, all); got != "" {
			h.t.Errorf("a stranger sees %s", got)
		}
		h.must(h.give(work.ID, h.bob.User.ID, calendar.FreeBusyAccess))
		if got := h.search(h.bob, all); got != "" {
			h.t.Errorf("who sees busy times sees %s", got)
		}
		h.must(h.give(work.ID, h.bob.User.ID, calendar.ReadAccess))
		if got := h.search(h.bob, all); got != "Mar 1 09:00 Standup" {
			h.t.Errorf("a reader sees %s", got)
		}
		bound := h.alice
		bound.Calendars = []calendar.CalendarID{home.ID}
		if got := h.search(bound, all); got != "" {
			h.t.Errorf("a token for another calendar sees %s", got)
		}
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		if got := h.search(h.alice, all); got != "" {
			h.t.Errorf("in the trash there is %s", got)
		}
	})
}

// TestSearchFollowsWrites: what is changed, deleted or put back is found as it is now.
func TestSearchFollowsWrites(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		at := "DTSTART:" + h.Now().Add(time.Hour).Format("20060102T150405Z")
		for _, step := range []struct{ title, one, two string }{
			{"One", "Mar 1 09:00 One", ""},
			{"Two", "", "Mar 1 09:00 Two"},
			{"", "", ""},
			{"One", "Mar 1 09:00 One", ""},
			{"One two", "Mar 1 09:00 One two", "Mar 1 09:00 One two"},
		} {
			if step.title == "" {
				h.must(h.Delete(h.ctx, h.alice, cal, "a", calendar.Precondition{}))
			} else {
				h.put(h.alice, cal, "a", agendaEvent("a", at, "SUMMARY:"+step.title))
			}
			one, two := h.search(h.alice, query.EventSearch{Text: "one"}), h.search(h.alice,
				query.EventSearch{Text: "two"})
			if one != step.one || two != step.two {
				h.t.Errorf("%q: %q and %q, want %q and %q", step.title, one, two, step.one, step.two)
			}
		}
		h.put(h.alice, cal, "a", agendaEvent("a", "DTSTART:20260101T090000Z", "SUMMARY:One two"))
		if got := h.search(h.alice, query.EventSearch{Text: "one"}); got != "" {
			h.t.Errorf("moved into the past: %s", got)
		}
	})
}
