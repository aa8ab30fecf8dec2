package service_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// by is who comes by a link of the owner's.
func by(owner calendar.Caller, most calendar.Access, cal calendar.Calendar) calendar.Caller {
	return calendar.Caller{
		User: owner.User, Scopes: calendar.ScopeRead, Calendars: []calendar.CalendarID{cal.ID}, Most: most,
	}
}

// feed returns a feed and its text.
func (h *house) feed(c calendar.Caller, cal calendar.Calendar, form query.FeedForm) (query.Feed, string) {
	h.t.Helper()
	f, err := h.Feed(h.ctx, nil, c, cal.ID, form)
	h.must(err)
	var text strings.Builder
	h.must(f.Write(h.ctx, &text, func(o calendar.Object, err error) { h.t.Errorf("%s: %v", o.Name, err) }))
	return f, strings.ReplaceAll(text.String(), "\r\n", "\n")
}

// TestMostBounds: what a credential gives at most is like having been given no more.
func TestMostBounds(t *testing.T) {
	t.Parallel()
	for most := calendar.NoAccess; most <= calendar.OwnerAccess; most++ {
		for access := calendar.NoAccess; access <= calendar.OwnerAccess; access++ {
			less := access
			if most != calendar.NoAccess {
				less = min(access, most)
			}
			for a := calendar.SeeBusy; a <= calendar.ReadJournal; a++ {
				got := calendar.Caller{Scopes: calendar.ScopeAll, Most: most}.May(a, calendar.Calendar{Access: access})
				want := calendar.Caller{Scopes: calendar.ScopeAll}.May(a, calendar.Calendar{Access: less})
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("action %d with %d, at most %d: %v, want %v", a, access, most, got, want)
				}
			}
		}
	}
}

const head = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//caldav-mcp-server//EN\n"

func TestFeedOfEverything(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Color, p.Description, p.Timezone = "Club", new("#112233"), new("All games"), "Europe/Berlin"
			return nil
		}))
		h.put(h.alice, work, "1.ics",
			text(calendar.Event, "one", "DTSTART:20260309T090000Z", "SUMMARY:Final", "ATTENDEE:mailto:bob@example.com"))
		h.put(h.alice, work, "2.ics",
			text(calendar.Event, "two", "DTSTART:20260310T090000Z", "SUMMARY:Doctor", "CLASS:PRIVATE"))
		h.put(h.alice, work, "3.ics", text(calendar.Todo, "three", "DUE:20260310T090000Z", "SUMMARY:Buy balls"))
		f, got := h.feed(by(h.alice, calendar.ReadAccess, work), work, query.FeedEvents)
		if f.File != "Club.ics" || !f.Modified.Equal(h.fresh(h.alice, work).Modified) {
			h.t.Errorf("%q of %v", f.File, f.Modified)
		}
		alias := uidOf(h, got, "SUMMARY:Busy")
		if len(alias) != 32 {
			h.t.Errorf("what is hidden has the UID %q", alias)
		}
		want := head +
			"NAME:Club\nX-WR-CALNAME:Club\nDESCRIPTION:All games\nX-WR-CALDESC:All games\n" +
			"X-APPLE-CALENDAR-COLOR:#112233\n" +
			"X-WR-TIMEZONE:Europe/Berlin\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\nX-PUBLISHED-TTL:PT1H\n" +
			component(calendar.Event, "one", "DTSTART:20260309T090000Z", "SUMMARY:Final") +
			component(calendar.Event, alias, "DTSTART:20260310T090000Z", "SUMMARY:Busy") +
			component(calendar.Todo, "three", "DUE:20260310T090000Z", "SUMMARY:Buy balls") + "END:VCALENDAR\n"
		if diff := cmp.Diff(want, got); diff != "" {
			h.t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// component is one as text writes it, between the lines of its VCALENDAR.
func component(kind calendar.Kind, uid string, lines ...string) string {
	whole := strings.ReplaceAll(text(kind, uid, lines...), "\r\n", "\n")
	from, until := strings.Index(whole, "BEGIN:"+string(kind)), strings.Index(whole, "END:VCALENDAR")
	return whole[from:until]
}

// uidOf finds the UID of the component with a line.
func uidOf(h *house, feed, line string) string {
	h.t.Helper()
	for part := range strings.SplitSeq(feed, "BEGIN:VEVENT\n") {
		if _, uid, found := strings.Cut(part, "UID:"); found && strings.Contains(part, line+"\n") {
			uid, _, _ = strings.Cut(uid, "\n")
			return uid
		}
	}
	h.t.Fatalf("%q is not in\n%s", line, feed)
	return ""
}

func TestFeedOfBusyTimes(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		for i, lines := range [][]string{
			{"DTSTART:20260302T090000Z", "DURATION:PT1H", "SUMMARY:one"},
			{"DTSTART:20260302T093000Z", "DURATION:PT1H", "SUMMARY:two", "CLASS:PRIVATE"},
			{"DTSTART:20260303T090000Z", "DURATION:PT1H", "STATUS:TENTATIVE"},
			{"DTSTART:20260304T090000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT"},
			{"DTSTART:20260305T090000Z", "DURATION:PT1H", "STATUS:CANCELLED"},
			{"DTSTART;VALUE=DATE:20250131", "RRULE:FREQ=YEARLY;COUNT=5"}, // one day before the window, and a year later
			{"DTSTART;VALUE=DATE:20260201", "SUMMARY:first day"},
			{"DTSTART:20270228T230000Z", "DURATION:PT9H", "SUMMARY:last night"},
			{"DTSTART:20270301T090000Z", "DURATION:PT1H", "SUMMARY:too late"},
		} {
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint(i, ".ics")),
				text(calendar.Event, fmt.Sprint("uid", i), lines...))
		}
		visitor := by(h.alice, calendar.FreeBusyAccess, work)
		f, got := h.feed(visitor, work, query.FeedEvents)
		if f.File != "busy.ics" {
			h.t.Errorf("the file is called %q", f.File)
		}
		want := head +
			"NAME:alice (busy)\nX-WR-CALNAME:alice (busy)\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\nX-PUBLISHED-TTL:PT1H\n"
		for _, p := range [][3]string{
			{"20260201T000000Z", "20260202T000000Z", "SUMMARY:Busy\nSTATUS:CONFIRMED"},
			{"20260302T090000Z", "20260302T103000Z", "SUMMARY:Busy\nSTATUS:CONFIRMED"},
			{"20260303T090000Z", "20260303T100000Z", "SUMMARY:Tentative\nSTATUS:TENTATIVE"},
			{"20270131T000000Z", "20270201T000000Z", "SUMMARY:Busy\nSTATUS:CONFIRMED"},
			{"20270228T230000Z", "20270301T000000Z", "SUMMARY:Busy\nSTATUS:CONFIRMED"},
		} {
			times := "DTSTAMP:20260301T000000Z" + "\nDTSTART:" + p[0] + "\nDTEND:" + p[1]
			want += "BEGIN:VEVENT\nUID:" + uidOf(h, got, "DTSTART:"+p[0]) + "\n" + times + "\n" + p[2] +
				"\nTRANSP:OPAQUE\nEND:VEVENT\n"
		}
		if diff := cmp.Diff(want+"END:VCALENDAR\n", got); diff != "" {
			h.t.Errorf("(-want +got):\n%s", diff)
		}
		if _, again := h.feed(visitor, work, query.FeedEvents); again != got {
			h.t.Error("the same times have another text")
		}
		for _, c := range []calendar.Caller{visitor, by(h.alice, calendar.ReadAccess, work)} {
			f, periods := h.feed(c, work, query.FeedFreeBusy)
			if f.File != "busy.ifb" || strings.Count(periods, "FREEBUSY;FBTYPE=BUSY:") != 4 ||
				strings.Count(periods, "\nFREEBUSY;") != 5 {
				h.t.Errorf("%s:\n%s", f.File, periods)
			}
		}
	})
}

// TestFeedTellsNothingOfBusyTimes: whatever is in the calendar, and whatever it is called, who sees
// busy times sees times.
func TestFeedTellsNothingOfBusyTimes(t *testing.T) {
	each(t, func(h *house) {
		const mark = "SECRET"
		random := rand.New(rand.NewPCG(7, 7))
		work := h.calendar(h.alice, mark)
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Description, p.Timezone = mark, new(mark), "Pacific/Apia"
			return nil
		}))
		names := []string{
			"SUMMARY", "DESCRIPTION", "LOCATION", "URL", "CATEGORIES", "ORGANIZER", "ATTENDEE", "CONTACT", "COMMENT",
			"ATTACH", "X-A",
			"RESOURCES", "RELATED-TO", "CONFERENCE", "CLASS", "STATUS", "TRANSP",
		}
		for i := range 60 {
			lines := []string{
				fmt.Sprintf("DTSTART;TZID=%s/Zone:202603%02dT%02d0000", mark, 1+random.IntN(28), random.IntN(24)),
				"DURATION:PT30M",
			}
			if random.IntN(3) == 0 {
				lines = append(lines, "RRULE:FREQ=WEEKLY;COUNT=3")
			}
			for range random.IntN(6) {
				name := names[random.IntN(len(names))]
				lines = append(lines, name+";X-P="+mark+":"+mark)
			}
			data := text(calendar.Event, fmt.Sprint(mark, i), lines...)
			data = strings.Replace(data, "BEGIN:VEVENT",
				"X-WR-CALNAME:"+mark+"\r\nBEGIN:VTIMEZONE\r\nTZID:"+mark+"/Zone\r\nBEGIN:STANDARD\r\n"+
					"DTSTART:19700101T000000\r\nTZOFFSETFROM:+0130\r\nTZOFFSETTO:+0130\r\nEND:STANDARD\r\n"+
					"END:VTIMEZONE\r\nBEGIN:VEVENT", 1)
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint(mark, i)), data)
		}
		for _, form := range []query.FeedForm{query.FeedEvents, query.FeedFreeBusy} {
			f, got := h.feed(by(h.alice, calendar.FreeBusyAccess, work), work, form)
			if !strings.Contains(got, "0000Z") && !strings.Contains(got, "3000Z") {
				h.t.Fatalf("there are no times in\n%s", got)
			}
			for _, secret := range []string{mark, "Apia", string(work.ID), "RRULE"} {
				if all := got + f.File + string(f.Tag); strings.Contains(all, secret) {
					h.t.Errorf("%q is in %s %s\n%s", secret, f.File, f.Tag, got)
				}
			}
		}
	})
}

// TestFeedTag: a program that has the feed need not fetch it again until it may have changed.
func TestFeedTag(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		tags := func() (all [2]calendar.ETag) {
			for i, most := range []calendar.Access{calendar.ReadAccess, calendar.FreeBusyAccess} {
				f, err := h.Feed(h.ctx, nil, by(h.alice, most, work), work.ID, query.FeedEvents)
				h.must(err)
				all[i] = f.Tag
			}
			return all
		}
		step := func(name string, do func(), changed ...bool) {
			h.t.Helper()
			before := tags()
			do()
			for i, after := range tags() {
				if (after != before[i]) != changed[i] {
					h.t.Errorf("%s: %s after %s", name, after, before[i])
				}
			}
		}
		step("an hour", func() { h.Pass(time.Hour) }, false, false)
		step("a day", func() { h.Pass(24 * time.Hour) }, false, true)
		step("an event", func() { h.put(h.alice, work, "1.ics", event("one", 9, "x")) }, true, true)
		step("another name", func() {
			h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
				p.Name = "x"
				return nil
			}))
		}, true, false)
		step("a restored backup", func() { h.must(h.Store.NewEpoch(h.ctx)) }, true, true)
	})
}

// TestFeedTagTellsNothing: of how many changes there were, a stranger learns nothing by the tag, also
// not by comparing it to that of a calendar of their own.
func TestFeedTagTellsNothing(t *testing.T) {
	each(t, func(h *house) {
		one, two := h.calendar(h.alice, "one"), h.calendar(h.alice, "two")
		for _, most := range []calendar.Access{calendar.ReadAccess, calendar.FreeBusyAccess} {
			var tags []calendar.ETag
			for _, cal := range []calendar.Calendar{one, two} {
				f, err := h.Feed(h.ctx, nil, by(h.alice, most, cal), cal.ID, query.FeedEvents)
				h.must(err)
				if !regexp.MustCompile(`^"` + string(cal.Epoch) + `-[0-9a-f]{32}"$`).MatchString(string(f.Tag)) {
					t.Errorf("the tag is %s", f.Tag)
				}
				tags = append(tags, f.Tag)
			}
			if tags[0] == tags[1] {
				t.Errorf("calendars with as many changes have the tag %s", tags[0])
			}
		}
	})
}

func TestFeedRefused(t *testing.T) {
	each(t, func(h *house) {
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		ask := func(c calendar.Caller, cal calendar.Calendar) error {
			_, err := h.Feed(h.ctx, nil, c, cal.ID, query.FeedEvents)
			return err
		}
		h.refused(ask(by(h.bob, calendar.ReadAccess, work), work), calendar.NotFound, "", "no calendar")
		h.refused(ask(by(h.alice, calendar.ReadAccess, work), home), calendar.NotFound, "", "no calendar")
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		h.refused(ask(by(h.alice, calendar.ReadAccess, work), work), calendar.NotFound, "", "no calendar")
		ended := errors.New("the reader has gone")
		f, err := h.Feed(h.ctx, nil, by(h.alice, calendar.ReadAccess, home), home.ID, query.FeedEvents)
		h.must(err)
		if err := f.Write(h.ctx, broken{ended}, nil); !errors.Is(err, ended) {
			h.t.Errorf("to somebody who has gone: %v", err)
		}
	})
}

// broken is a connection that is no more.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestBusyFeedTellsNothingOfWhatTakesNoTime: that something was changed which shows no busy time is in
// neither tag nor date nor text (security L10).
func TestBusyFeedTellsNothingOfWhatTakesNoTime(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 9, "x"))
		visitor := by(h.alice, calendar.FreeBusyAccess, work)
		before, text1 := h.feed(visitor, work, query.FeedEvents)
		h.Pass(time.Hour)
		h.put(h.alice, work, "2.ics",
			text(calendar.Event, "two", "DTSTART:20260310T090000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT"))
		h.put(h.alice, work, "1.ics", event("one", 9, "another title"))
		after, text2 := h.feed(visitor, work, query.FeedEvents)
		if before.Tag != after.Tag || !after.Modified.IsZero() || text1 != text2 {
			h.t.Errorf("%s, then %s; modified %v\n%s", before.Tag, after.Tag, after.Modified, cmp.Diff(text1, text2))
		}
		h.put(h.alice, work, "2.ics", text(calendar.Event, "two", "DTSTART:20260310T090000Z", "DURATION:PT1H"))
		if last, _ := h.feed(visitor, work, query.FeedEvents); last.Tag == after.Tag {
			h.t.Error("another busy time is not told")
		}
	})
}

// TestFeedAgendaIsThatOfTheFile: a page of a link shows the events that a program shows that subscribes to its file.
func TestFeedAgendaIsThatOfTheFile(t *testing.T) {
	each(t, func(h *house) {
		random := rand.New(rand.NewPCG(3, 7))
		work := h.calendar(h.alice, "work")
		lines := []string{
			"CLASS:PRIVATE", "CLASS:PUBLIC", "TRANSP:TRANSPARENT", "STATUS:TENTATIVE", "STATUS:CANCELLED",
			"LOCATION:Here", "DESCRIPTION:Join https://zoom.us/j/1", "ATTENDEE:mailto:bob@example.com",
		}
		for i := range 60 {
			some := []string{
				fmt.Sprintf("DTSTART;TZID=Europe/Berlin:202603%02dT%02d0000", 1+random.IntN(28), random.IntN(24)),
				"DURATION:PT30M", fmt.Sprint("SUMMARY:", i),
			}
			if random.IntN(3) == 0 {
				some = append(some, "RRULE:FREQ=WEEKLY;COUNT=3")
			}
			for _, line := range random.Perm(len(lines))[:random.IntN(4)] {
				some = append(some, lines[line])
			}
			h.put(h.alice, work, calendar.ObjectName(fmt.Sprint(i, ".ics")),
				text(calendar.Event, fmt.Sprint(i), some...))
		}
		for _, most := range []calendar.Access{calendar.ReadAccess, calendar.FreeBusyAccess} {
			f, file := h.feed(by(h.alice, most, work), work, query.FeedEvents)
			copied := h.calendar(h.bob, calendar.Segment(fmt.Sprint("copy", most)))
			for i, part := range strings.Split(file, "BEGIN:VEVENT\n")[1:] {
				part, _, _ = strings.Cut(part, "END:VEVENT")
				h.put(h.bob, copied, calendar.ObjectName(fmt.Sprint(i, ".ics")), strings.ReplaceAll(
					head+"BEGIN:VEVENT\n"+part+"END:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n"))
			}
			q := query.AgendaQuery{
				From:  time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
				Until: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Limit: 1000,
			}
			shown, err := f.Agenda(h.ctx, q)
			h.must(err)
			q.Calendars = []calendar.Calendar{copied}
			subscribed, err := h.Agenda(h.ctx, h.bob, q)
			h.must(err)
			if len(shown.Occurrences) < 30 {
				h.t.Fatal("only", len(shown.Occurrences))
			}
			if diff := cmp.Diff(seenIn(subscribed), seenIn(shown)); diff != "" {
				h.t.Errorf("%v (-file +page):\n%s", most, diff)
			}
		}
	})
}

// seenIn lists the times and the properties of an agenda.
func seenIn(a query.Agenda) (all []string) {
	for _, o := range a.Occurrences {
		line := fmt.Sprint(o.Start.Time.UTC(), o.End.Time.UTC())
		for p := range o.Component.Properties() {
			if p.Name() != "DTSTAMP" { // busy times have that of their file
				line += " " + p.Name() + ":" + p.Value()
			}
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}
