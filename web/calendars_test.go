package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web/booking"
)

// made makes a calendar of a user's.
func (h *house) made(u calendar.User, name string) calendar.Calendar {
	h.Helper()
	cal, err := h.calendars.CreateCalendar(h.Context(), callerOf(u), calendar.NewCalendar{
		Segment: calendar.Segment(strings.ToLower(name)), Properties: calendar.Properties{
			Name: name, Kinds: calendar.Kinds{calendar.Event, calendar.Todo},
		},
	})
	h.must(err)
	return cal
}

// A new calendar whose name sorts first does not become the default for events, lines and booking pages.
func TestDefaultCalendarStays(t *testing.T) {
	t.Parallel()
	eachBooking(t, func(h *house, _ *booking.Service, _ *letters) {
		ann := h.user("ann")
		usual := h.made(ann, "Personal")
		h.pass(time.Hour)
		family := h.made(ann, "Family")
		b := h.as("ann")
		chosen := func(path string) calendar.CalendarID {
			found := chosenCalendar.FindStringSubmatch(b.get(path).shows(http.StatusOK).body)
			if found == nil {
				t.Fatalf("%s has no calendars", path)
			}
			return calendar.CalendarID(found[1])
		}
		for _, path := range []string{
			"/calendar/new", "/calendar/new?start=2026-05-05", "/calendar/new?quick=Lunch+Friday", "booking/new",
		} {
			if got := chosen(path); got != usual.ID {
				t.Errorf("%s proposes the calendar %s, want %s", path, got, usual.ID)
			}
		}
		if got := chosen("/calendar/new?quick=Lunch+Friday+%23Family"); got != family.ID {
			t.Errorf("a line that names a calendar chooses %s", got)
		}
		h.must(h.calendars.PatchScheduling(h.Context(), callerOf(ann), func(s *calendar.Scheduling) error {
			s.Default = family.ID
			return nil
		}))
		for _, path := range []string{"/calendar/new", "booking/new"} {
			if got := chosen(path); got != family.ID {
				t.Errorf("%s proposes the calendar %s, not the chosen default", path, got)
			}
		}
	})
}

// chosenCalendar is the calendar that a form proposes.
var chosenCalendar = regexp.MustCompile(
	`<select id="calendar"[^>]*>(?:<option value="[^"]+">[^<]*</option>)*<option value="([^"]+)" selected>`)

func callerOf(u calendar.User) calendar.Caller {
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"}
}

// object is the text of an event or a task.
func object(kind, uid, summary string, lines ...string) []byte {
	return fmt.Appendf(nil, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:%s\r\nUID:%s\r\n"+
		"DTSTAMP:20260501T000000Z\r\nSUMMARY:%s\r\n%s\r\nEND:%[1]s\r\nEND:VCALENDAR\r\n",
		kind, uid, summary, strings.Join(lines, "\r\n"))
}

func (h *house) put(c calendar.Caller, cal calendar.Calendar, data []byte) {
	h.Helper()
	_, err := h.calendars.Add(h.Context(), c, cal, data)
	h.must(err)
}

// assistant is a caller with a token of the user's.
func (h *house) assistant(u calendar.User, name string) calendar.Caller {
	h.Helper()
	token, _, err := h.auth.CreateToken(h.Context(), tokenSpec(u.Name, name))
	h.must(err)
	c := callerOf(u)
	c.Token, c.Agent, c.Assistant = token.ID, name, true
	return c
}

const evil = `<script>alert(1)</script>"onload='x' ` + "\u202e\u0007 " + `{{.Root}}`

// The home page shows the days to come in the person's zone, what is due, and what assistants did, to be taken back.
func TestHome(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		h.put(callerOf(ann), work,
			object("VEVENT", "1", "Stand-up", "DTSTART:20260501T140000Z", "DTEND:20260501T143000Z", "LOCATION:Room 1"))
		h.put(callerOf(ann), work, object("VEVENT", "2", strings.ReplaceAll(evil, "\u0007", ""),
			"DTSTART;VALUE=DATE:20260502", "DTEND;VALUE=DATE:20260505"))
		h.put(callerOf(ann), work, object("VEVENT", "3", "Gone", "DTSTART:20260601T140000Z"))
		h.put(callerOf(ann), work, object("VTODO", "4", "Taxes", "DUE:20260430T100000Z"))
		h.put(callerOf(ann), work, object("VTODO", "5", "Done", "DUE:20260502T100000Z", "STATUS:COMPLETED"))
		h.put(h.assistant(ann, "Claude"), work,
			object("VEVENT", "6", "By Claude", "DTSTART:20260503T080000Z", "DTEND:20260503T090000Z"))
		b := h.as("ann")
		home := b.get("").shows(http.StatusOK, "Today, Fri 1 May 16:00–16:30", "Stand-up Room 1",
			"Tomorrow, Sat 2 May until Mon 4 May", "Sun 3 May all day, until Mon 4 May",
			"<script>", "Taxes", "overdue", "Created the event “By Claude”",
			"Claude").
			hides("<script>", "Gone", "\u202e", "Done")
		h.must(takeBack(home))
		b.get("").shows(http.StatusOK, "Taken back").hides("By Claude</span>")
	})
}

var changeField = regexp.MustCompile(`name="change" value="([^"]+)"`)

// takeBack presses the first such button of a page.
func takeBack(s shown) error {
	found := changeField.FindStringSubmatch(s.body)
	if found == nil {
		return fmt.Errorf("there is nothing to take back:\n%s", s.text())
	}
	s.b.post("undo", "change", found[1], "next", "").at("?done=undone").shows(http.StatusOK, "Taken back.")
	return nil
}

// An event of several days stands under each of them, and a date is late when it is over.
func TestHomeDays(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		event := func(uid, start, end string) {
			h.put(callerOf(ann), work, object("VEVENT", uid, "Event "+uid, "DTSTART"+start, "DTEND"+end))
		}
		due := func(uid, at string) {
			h.put(callerOf(ann), work, object("VTODO", uid, "Task "+uid, "DUE"+at))
		}
		event("trip", ";VALUE=DATE:20260508", ";VALUE=DATE:20260511")
		event("night", ":20260512T200000Z", ":20260513T040000Z")
		event("late", ":20260504T200000Z", ":20260504T220000Z") // until midnight in Berlin
		event("leave", ";VALUE=DATE:20260420", ";VALUE=DATE:20260503")
		due("yesterday", ";VALUE=DATE:20260430")
		due("today", ";VALUE=DATE:20260501")
		due("hour", ":20260501T110000Z")
		h.as("ann").get("").shows(http.StatusOK,
			"Today, Fri 1 May all day, until tomorrow Event leave · Work",
			"Tomorrow, Sat 2 May all day, last day Event leave",
			"Fri 8 May until Sun 10 May Event trip", "Sat 9 May all day, until Sun 10 May Event trip",
			"Sun 10 May all day, last day Event trip", "Mon 4 May 22:00–00:00 Event late",
			"Tue 12 May 22:00 until Wed 13 May 06:00 Event night", "Wed 13 May until 06:00 Event night",
			"yesterday overdue Task yesterday", "today Task today", "today 13:00 overdue Task hour").
			hides("Tue 5 May until", "Mon 11 May", "00:00 late")
	})
}

// Home has the same days where the clocks skip midnight: in Chile on 6 September 2026, in Egypt on 24 April 2026. It
// used to begin with the last hour of the day before, and its links were a day early.
func TestHomeWithoutMidnight(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		for _, zone := range []string{"Africa/Cairo", "America/Santiago"} {
			today := time.Date(2026, 4, 24, 15, 0, 0, 0, time.UTC)
			if zone == "America/Santiago" {
				today = time.Date(2026, 9, 6, 15, 0, 0, 0, time.UTC)
			}
			_, err := h.auth.ChangeUser(h.Context(), "ann", auth.UserEdit{Timezone: &zone})
			h.must(err)
			h.Set(today)
			location, err := time.LoadLocation(zone)
			h.must(err)
			y, m, d := today.Date()
			put := func(title string, at time.Time) {
				h.put(callerOf(ann), cal, object("VEVENT", title+at.Format("20060102"), title,
					"DTSTART:"+at.UTC().Format("20060102T150405Z"), "DURATION:PT10M"))
			}
			put("Late yesterday", time.Date(y, m, d-1, 23, 30, 0, 0, location))
			put("Early today", time.Date(y, m, d, 1, 10, 0, 0, location))
			put("Last day", time.Date(y, m, d+13, 23, 30, 0, 0, location))
			b := h.as("ann")
			page := b.get("").shows(http.StatusOK, "Today", "Early today", "Last day").hides("Late yesterday")
			later := today.AddDate(0, 0, 14).Format(time.DateOnly)
			if !strings.Contains(page.body, "?from="+later) {
				t.Errorf("%s: the page does not lead to %s:\n%s", zone, later, page.text())
			}
			named := b.get("?from=" + today.Format(time.DateOnly))
			named.shows(http.StatusOK, "Early today", "Last day").hides("Late yesterday")
		}
	})
}

// More events than fit on the home page are on its later pages, day by day.
func TestHomePages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		for n := range 130 {
			h.put(callerOf(ann), work, object("VEVENT", fmt.Sprint(n), fmt.Sprintf("Event %03d.", n),
				fmt.Sprintf("DTSTART:202605%02dT1200%02dZ", 1+n/30, n%30)))
		}
		h.put(callerOf(ann), work, object("VEVENT", "trip", "Trip",
			"DTSTART;VALUE=DATE:20260502", "DTEND;VALUE=DATE:20260506"))
		b := h.as("ann")
		home := b.get("").shows(http.StatusOK, "The next two weeks", "Event 000.", "Event 089.", "The page is full").
			hides("Event 090.", "Mon 4 May")
		if !strings.Contains(home.body, `href="/account/?from=2026-05-04"`) {
			t.Errorf("nothing leads to the rest:\n%s", home.body)
		}
		b.get("?from=2026-05-04").shows(http.StatusOK, "Two weeks from Mon 4 May", "Event 090.", "Event 129.", "Trip").
			hides("Event 089.", "The page is full")
		b.get("?from=2026-04-17").shows(http.StatusOK, "Nothing is planned")
		b.get("?from=soon").shows(http.StatusUnprocessableEntity, "Write it like 2026-05-01")
		for n := range 80 {
			h.put(callerOf(ann), work, object("VEVENT", fmt.Sprint("x", n), "Crowd", "DTSTART:20260501T120000Z"))
		}
		full := b.get("").shows(http.StatusOK, "This day has more events than fit").hides("Sat 2 May")
		if !strings.Contains(full.body, `href="/account/?from=2026-05-02"`) {
			t.Errorf("nothing leads to the next day:\n%s", full.body)
		}
	})
}

// The home page lists what assistants did, however much others did since, and nothing that an app did with a token.
func TestHomeListsAssistants(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		claude := h.assistant(ann, "Claude")
		phone := h.assistant(ann, "Phone")
		phone.Assistant = false
		later := func(uid string) []byte { return object("VEVENT", uid, "On "+uid, "DTSTART:20270503T080000Z") }
		h.put(claude, work, later("claude"))
		for n := range 40 {
			h.put(callerOf(ann), work, later(fmt.Sprint("hand", n)))
		}
		h.put(phone, work, later("phone"))
		b := h.as("ann")
		b.get("").shows(http.StatusOK, "On claude").hides("On phone", "On hand", "All changes")
		for n := range 10 {
			h.put(claude, work, later(fmt.Sprint("more", n)))
		}
		b.get("").shows(http.StatusOK, "On more9", "On more0", "All changes").hides("On claude")
	})
}

// A calendar is made, changed, shared, accepted, left, deleted and brought back, all by its pages.
func TestCalendarsLife(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		ann.post("calendars", "name", " ", "kind", "events").shows(http.StatusUnprocessableEntity,
			"A calendar needs a name.")
		ann.post("calendars", "name", "Choir", "kind", "nothing").shows(http.StatusUnprocessableEntity,
			"events or for tasks").shows(http.StatusUnprocessableEntity)
		first := ann.post("calendars", "name", "First", "kind", "events").shows(http.StatusOK,
			"New events and invitations go here.")
		made := ann.post("calendars", "name", "Choir", "kind", "events").shows(http.StatusOK, "The calendar is made",
			"Choir")
		path := strings.TrimSuffix(made.path, "?done=calendar-made")
		form := []string{
			"name", "Choir & Band", "color", "#123456", "description", "Songs", "timezone", "Europe/Paris", "free", "1",
		}
		ann.post(path, form...).shows(http.StatusOK, "Saved.", "Choir & Band", "Songs").
			hides("New events and invitations go here.")
		ann.post(path, append(form, "default", "1")...).shows(http.StatusOK, "New events and invitations go here.")
		ann.post(path, "name", "Choir", "color", "red", "timezone", "Europe/Paris").
			shows(http.StatusUnprocessableEntity)
		ann.post(path, "name", "Choir", "color", "#123456", "timezone", "Mars/Base").
			shows(http.StatusUnprocessableEntity, "Mars/Base")
		ann.get(path).shows(http.StatusOK, "Choir & Band")

		ann.post(path+"/share", "with", "nobody", "access", "read").shows(http.StatusNotFound, "nobody")
		ann.post(path+"/share", "with", "bob", "access", "all").shows(http.StatusUnprocessableEntity)
		ann.post(path+"/share", "with", "bob", "access", "write").shows(http.StatusOK, "Shared.", "bob",
			"read and change", "not answered yet")
		bob.get(path).shows(http.StatusNotFound).hides("Choir")
		offer := bob.get("").shows(http.StatusOK, "ann offers you the calendar Choir & Band , to read and change")
		invitation := regexp.MustCompile(`invitations/[0-9a-f]+`).FindString(offer.body)
		bob.post(invitation, "answer", "perhaps").shows(http.StatusUnprocessableEntity)
		bob.post(invitation, "answer", "accept").at("calendars?done=invitation-accepted").shows(http.StatusOK,
			"Shared with you", "Choir & Band", "of ann, to read and change")
		bob.get(invitation).shows(http.StatusNotFound, "No such offer waits for you: it was answered or withdrawn.")
		bob.get(path).shows(http.StatusOK, "This calendar belongs to ann.", "Remove from my calendars").
			hides("/unshare", "/links", "timezone")
		bob.post(path, "name", "Singing", "color", "#0E61B9", "hidden", "1").shows(http.StatusOK, "Saved.", "Singing")
		ann.get(path).shows(http.StatusOK, "Choir & Band").hides("Singing")
		bob.post(path + "/delete").shows(http.StatusNotFound)
		bob.post(path+"/leave").shows(http.StatusOK, "given the calendar up").hides("Singing")
		bob.get(path).shows(http.StatusNotFound)

		ann.post(path+"/unshare", "with", "bob").shows(http.StatusOK, "No longer shared.")
		ann.get(path).shows(http.StatusOK, "so it cannot be deleted. Choose another one for them first").
			hides("Delete this calendar")
		ann.post(path+"/delete").shows(http.StatusUnprocessableEntity,
			"open the page of another calendar, and make that the default first")
		ann.get(path+"/delete").shows(http.StatusUnprocessableEntity,
			"open the page of another calendar, and make that the default first")
		ann.post(strings.TrimSuffix(first.path, "?done=calendar-made"), "name", "First", "color", "#123456", "timezone",
			"Europe/Paris", "default", "1").shows(http.StatusOK, "Saved.")
		ann.get(path).shows(http.StatusOK, "Delete this calendar").hides("cannot be deleted")
		ann.get(path+"/delete").shows(http.StatusOK, "Delete Choir & Band", "can restore it").hides("will be told")
		ann.post(path + "/delete").at("calendars?done=calendar-deleted")
		ann.get(path).shows(http.StatusNotFound)
		ann.get("trash").shows(http.StatusOK, "Choir & Band")
		bob.post("trash/" + path).shows(http.StatusNotFound)
		ann.post("trash/"+path).at(path+"?done=restored").shows(http.StatusOK, "It is back.")
		ann.post(path + "/delete")
		h.pass(time.Hour)
		ann.post("trash/" + path + "/forget").at("confirm?next=trash")
		ann.post("confirm", "password", rightPassword, "next", "trash").at("trash")
		ann.post("trash/"+path+"/forget").shows(http.StatusOK, "gone for good").hides("Choir")
	})
}

// Public links are made after a proof, shown once, and ended by who made them only.
func TestLinks(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		path := "calendars/" + string(h.made(ann, "Work").ID)
		b := h.as("ann")
		h.pass(time.Hour)
		b.get(path + "/links").at("confirm?next=" + url.QueryEscape(path+"/links"))
		b.post("confirm", "password", rightPassword, "next", path+"/links").at(path + "/links")
		b.post(path+"/links", "access", "write", "days", "0").shows(http.StatusUnprocessableEntity, "for reading")
		b.post(path+"/links", "access", "read", "days", "3").shows(http.StatusUnprocessableEntity,
			"Choose the access of the link")
		made := b.post(path+"/links", "name", "Grandma", "access", "busy", "days", "7").shows(http.StatusOK,
			"/dav/links/", "shown only now")
		secret := regexp.MustCompile(`dav/links/([\w-]+)`).FindStringSubmatch(made.body)[1]
		if _, err := h.auth.VerifyLink(t.Context(), secret); err != nil {
			t.Error(err)
		}
		listed := b.get(path).shows(http.StatusOK, "Grandma", "see busy times", "until Fri 8 May").hides(secret)
		revoke := regexp.MustCompile(`calendars/[^"]+/revoke`).FindAllString(listed.body, -1)
		h.as("bob").post(revoke[len(revoke)-1]).shows(http.StatusNotFound)
		for _, one := range revoke {
			b.post(one).shows(http.StatusOK, "The link has ended.")
		}
		if _, err := h.auth.VerifyLink(t.Context(), secret); err == nil {
			t.Error("a link that has ended is good")
		}
	})
}

// Nobody sees or touches what is another one's: their pages are those of a calendar that is not there.
func TestStrangers(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("eve")
		work := h.made(ann, "Work")
		h.put(callerOf(ann), work, object("VEVENT", "1", "Secret", "DTSTART:20260503T080000Z"))
		page, err := h.calendars.History(t.Context(), callerOf(ann), calendar.HistoryQuery{Limit: 10})
		h.must(err)
		token := h.assistant(ann, "Claude").Token
		eve, nobody := h.as("eve"), h.browser()
		there, gone := "calendars/"+string(work.ID), "calendars/00000000-0000-4000-8000-999999999999"
		fields := []string{
			"name", "Mine", "color", "#123456", "timezone", "UTC", "with", "eve", "access", "read", "days", "0", "uid",
			"1", "change", page.Changes[0].ID().String(),
			"calendar", string(work.ID), "scope", "read",
		}
		for _, path := range []string{"", "/links", "/export"} {
			a, b := eve.get(there+path).shows(http.StatusNotFound).hides("Work", "Secret"), eve.get(gone+path).
				shows(http.StatusNotFound)
			if id := strings.TrimPrefix; a.text() != strings.ReplaceAll(b.text(), id(gone, "calendars/"),
				id(there, "calendars/")) {
				t.Errorf("%s tells a calendar that is there from one that is not:\n%s\n%s", path, a.text(), b.text())
			}
			nobody.get(there + path).at("sign-in?next=" + url.QueryEscape(there+path))
		}
		for _, path := range []string{
			there, there + "/delete", there + "/leave", there + "/share", there + "/unshare", there + "/links",
			"trash/" + there, "trash/" + there + "/forget", "trash/objects/" + string(work.ID), "undo", "journal/undo",
			"apps/new",
			"apps/" + string(token) + "/revoke",
		} {
			eve.post(path, fields...).shows(http.StatusNotFound).hides("Work", "Secret", "ann")
			nobody.post(path, fields...).shows(http.StatusOK, "Sign in").hides("Work", "Secret", "ann")
		}
		eve.get("journal?calendar="+string(work.ID)).shows(http.StatusNotFound).hides("Work", "Secret")
		eve.get("journal?app="+string(token)).shows(http.StatusOK, "No changes.").hides("Claude")
		h.as("ann").get(there).shows(http.StatusOK, "Work").hides("Mine")
	})
}

// The order of calendars is set on their pages: one change each, and a sharee's own for what others share with them.
func TestCalendarOrder(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, bob := h.user("ann"), h.user("bob")
		choir, dance := h.made(ann, "Choir"), h.made(ann, "Dance")
		mine := h.as("ann")
		names := func(u calendar.User) string {
			all, err := h.calendars.CalendarsInHome(t.Context(), callerOf(u))
			h.must(err)
			var list []string
			for _, cal := range all {
				list = append(list, strings.TrimSuffix(cal.Name, " (ann)"))
			}
			return strings.Join(list, " ")
		}
		place := func(b *browser, cal calendar.Calendar, text string) shown {
			return b.post("calendars/"+string(cal.ID), "name", cal.Name, "color", "#0E61B9", "timezone",
				"Europe/Berlin", "order", text)
		}
		place(mine, choir, "2").shows(http.StatusOK, "Saved.")
		place(mine, dance, "5").shows(http.StatusOK, "Saved.")
		if got := names(ann); got != "Choir Dance" {
			t.Errorf("ann has %s", got)
		}
		before, err := h.calendars.Calendar(t.Context(), callerOf(ann), dance.ID)
		h.must(err)
		place(mine, dance, "-1").shows(http.StatusOK, "Saved.")
		after, err := h.calendars.Calendar(t.Context(), callerOf(ann), dance.ID)
		h.must(err)
		if after.Version != before.Version+1 || names(ann) != "Dance Choir" {
			t.Errorf("from version %d to %d, in the order %s", before.Version, after.Version, names(ann))
		}
		for _, text := range []string{"first", "1.5", "99999999999999999999"} {
			place(mine, dance, text).shows(http.StatusUnprocessableEntity, text, "whole number")
		}
		mine.post("calendars/"+string(dance.ID), "name", "Dance", "color", "#0E61B9", "timezone", "Europe/Berlin").
			shows(http.StatusOK, "Saved.")
		if page := mine.get("calendars/" + string(dance.ID)); !strings.Contains(page.body, `value="-1"`) {
			t.Errorf("a form that says nothing of it, or what is wrong, changed the order:\n%s", page.body)
		}

		for _, cal := range []calendar.Calendar{choir, dance} {
			mine.post("calendars/"+string(cal.ID)+"/share", "with", "bob", "access", "read").shows(http.StatusOK,
				"Shared.")
		}
		his := h.as("bob")
		for _, one := range regexp.MustCompile(`invitations/[0-9a-f]+`).FindAllString(his.get("").body, -1) {
			his.post(one, "answer", "accept").shows(http.StatusOK)
		}
		if got := names(bob); got != "Dance Choir" {
			t.Errorf("bob finds %s", got)
		}
		place(his, dance, "9").shows(http.StatusOK, "Saved.")
		if names(bob) != "Choir Dance" || names(ann) != "Dance Choir" {
			t.Errorf("bob has %s, ann %s", names(bob), names(ann))
		}
		place(his, dance, "").shows(http.StatusOK, "Saved.")
		place(mine, dance, "").shows(http.StatusOK, "Saved.")
		if names(bob) != "Choir Dance" || names(ann) != "Choir Dance" {
			t.Errorf("without a place bob has %s, ann %s", names(bob), names(ann))
		}
	})
}
