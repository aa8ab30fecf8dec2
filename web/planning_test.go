package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/storetest"
)

// submit sends the form of a page whose action contains a text, as a browser without scripts does: with all its fields,
// except those that the test replaces. A name that appears in the test replaces all fields of that name.
func (s shown) submit(action string, fields ...string) shown {
	s.b.Helper()
	doc, err := html.Parse(strings.NewReader(s.body))
	s.b.must(err)
	form := find(doc, func(n *html.Node) bool {
		return n.Data == "form" && strings.Contains(attr(n, "action"), action)
	})
	if form == nil {
		s.b.Fatalf("/account/%s has no form for %q:\n%s", s.path, action, s.text())
	}
	sent := url.Values{}
	collect(form, sent)
	for pair := range slices.Chunk(fields, 2) {
		sent.Del(pair[0])
	}
	for pair := range slices.Chunk(fields, 2) {
		if pair[1] != "" {
			sent.Add(pair[0], pair[1])
		}
	}
	var pairs []string
	for name, values := range sent {
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	return s.b.post(attr(form, "action"), pairs...)
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func find(n *html.Node, is func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && is(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, is); found != nil {
			return found
		}
	}
	return nil
}

// collect adds the fields of a form that a browser sends.
func collect(n *html.Node, to url.Values) {
	name := attr(n, "name")
	switch {
	case n.Type != html.ElementNode || name == "":
	case n.Data == "textarea":
		text := ""
		if n.FirstChild != nil {
			text = n.FirstChild.Data
		}
		to.Add(name, strings.ReplaceAll(text, "\n", "\r\n"))
	case n.Data == "select":
		options := slices.Collect(n.ChildNodes())
		options = slices.DeleteFunc(options, func(o *html.Node) bool { return o.Data != "option" })
		chosen := attr(options[0], "value")
		for _, o := range options {
			if has(o, "selected") {
				chosen = attr(o, "value")
			}
		}
		to.Add(name, chosen)
		return
	case n.Data == "input" && (attr(n, "type") == "checkbox" || attr(n, "type") == "radio"):
		if has(n, "checked") {
			to.Add(name, attr(n, "value"))
		}
	case n.Data == "input":
		to.Add(name, attr(n, "value"))
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		collect(c, to)
	}
}

// link returns the address of the link with a text.
func (s shown) link(text string) string {
	s.b.Helper()
	doc, err := html.Parse(strings.NewReader(s.body))
	s.b.must(err)
	a := find(doc, func(n *html.Node) bool { return n.Data == "a" && strings.Contains(textOf(n), text) })
	if a == nil {
		s.b.Fatalf("/account/%s has no link %q:\n%s", s.path, text, s.text())
	}
	return attr(a, "href")
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

// stored returns the text of an object.
func (h *house) stored(u calendar.User, cal calendar.Calendar, uid calendar.UID) string {
	h.Helper()
	o, err := h.calendars.ObjectByUID(h.Context(), nil, callerOf(u), cal, uid)
	h.must(err)
	return string(o.Data)
}

// The root opens the calendar in the view that was used last; each view shows an event on its day.
func TestViews(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "one", evil, "DTSTART:20260505T070000Z", "DTEND:20260505T080000Z",
			"LOCATION:Lido"))
		h.put(callerOf(ann), cal, object("VEVENT", "trip", "Trip", "DTSTART;VALUE=DATE:20260504",
			"DTEND;VALUE=DATE:20260507"))
		h.put(callerOf(ann), cal, object("VTODO", "pay", "Pay rent", "DUE:20260506T100000Z"))
		b := h.as("ann")
		b.get("/").at("/calendar/week/")
		phone := h.browser()
		phone.agent = "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile"
		phone.post("sign-in", "name", "ann", "password", rightPassword).at("/calendar/days/")
		phone.get("/").at("/calendar/days/")
		for _, view := range []string{"day", "days", "workweek", "week", "month", "list"} {
			page := b.get("/calendar/"+view+"/2026-05-05").shows(http.StatusOK, "<script>alert(1)</script>", "Trip")
			page.hides("<script>alert", "\u202e", "\a", "ZgotmplZ")
			if view != "day" {
				page.shows(http.StatusOK, "Pay rent")
			}
			if view == "week" {
				page.shows(http.StatusOK, "4–10 May 2026", "09:00–10:00", "Lido")
				if !strings.Contains(page.body, "block t108 h12 c0of1") {
					t.Errorf("the block of 09:00 to 10:00 is elsewhere:\n%s", page.body)
				}
			}
			b.get("/").at("/calendar/" + view + "/")
		}
		b.get("/calendar/week/2026-02-30").shows(http.StatusUnprocessableEntity, "“2026-02-30” is not a date")
		b.get("/calendar/year/2026-02-03").shows(http.StatusNotFound)
		b.get("/calendar/go?view=month&date=2026-05-05").at("/calendar/month/2026-05-05")
		// A calendar that is not ticked is not shown, and comes back.
		page := b.get("/calendar/week/2026-05-05")
		page = page.submit("/calendar/tick", "shown", "").at("/calendar/week/2026-05-05").hides("Trip")
		page.submit("/calendar/tick", "shown", string(cal.ID)).shows(http.StatusOK, "Trip")
		h.browser().get("/calendar/week/2026-05-05").shows(http.StatusOK, "Sign in")
	})
}

// A mark shows the events that an assistant created, until a person creates the event anew.
func TestAssistantMark(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, bob := h.user("ann"), h.user("bob")
		cal := h.made(ann, "Work")
		robot := callerOf(ann)
		robot.Agent, robot.Assistant = evil, true
		event := func(uid, title string) []byte {
			return object("VEVENT", uid, title, "DTSTART:20260505T070000Z", "DTEND:20260505T080000Z")
		}
		h.put(robot, cal, event("made", "Robot lunch"))
		h.put(callerOf(ann), cal, event("own", "Own lunch"))
		own, err := h.calendars.ObjectByUID(h.Context(), nil, robot, cal, "own")
		h.must(err)
		_, err = h.calendars.Put(h.Context(), robot, cal, calendar.Draft{
			Name: own.Name, Data: event("own", "Own dinner"),
		})
		h.must(err) // the assistant changed it, and did not create it
		b := h.as("ann")
		for _, view := range []string{"day", "week", "month", "list"} {
			page := b.get("/calendar/"+view+"/2026-05-05").shows(http.StatusOK, "Robot lunch", "Own dinner")
			if n := strings.Count(page.body, "added by an assistant"); n != 1 {
				t.Errorf("%s marks %d events:\n%s", view, n, page.text())
			}
		}
		week := b.get("/calendar/week/2026-05-05")
		b.get(week.link("Robot lunch")).shows(http.StatusOK, "Created by", "<script>alert(1)</script>").
			hides("<script>alert")
		b.get(week.link("Own dinner")).hides("Created by")
		// Users who may only read do not see who changed a calendar.
		h.must(storetest.Share(h.Context(), h.store, cal.ID, bob.ID, calendar.ReadAccess))
		h.as("bob").get("/calendar/week/2026-05-05").shows(http.StatusOK, "Robot lunch").hides("added by an assistant")
	})
}

// The list has more days where the address says so, up to a year, and links to the days before and after them.
func TestLongList(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		for _, date := range []string{"20260505", "20260710", "20270601"} {
			h.put(callerOf(ann), cal, object("VEVENT", date, "Event "+date, "DTSTART;VALUE=DATE:"+date))
		}
		b := h.as("ann")
		b.get("/calendar/list/2026-05-05").shows(http.StatusOK, "Event 20260505").hides("Event 20260710", "?days")
		for days, later := range map[string]string{
			"90": "2026-08-03", "99999999": "2027-04-30", "-1": "2026-06-04",
			"x": "2026-06-04",
		} {
			page := b.get("/calendar/list/2026-05-05?days="+days).shows(http.StatusOK, "Event 20260505").
				hides("Event 20270601")
			if !strings.Contains(page.body, `rel="next" href="/calendar/list/`+later) ||
				!strings.Contains(page.body, `rel="prev" href="/calendar/list/2026-04-05`) {
				t.Errorf("the links of %s days lead elsewhere:\n%s", days, page.body)
			}
		}
	})
}

// The settings of the view: a second zone, the clock, and switches for numbers of weeks, working hours and shortcuts.
func TestViewSettings(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "call", "Call", "DTSTART:20260505T130000Z",
			"DTEND:20260505T140000Z"))
		h.put(callerOf(ann), cal, object("VEVENT", "there", "Dinner", "DTSTART;TZID=America/New_York:20260505T190000",
			"DURATION:PT1H"))
		b := h.as("ann")
		week := b.get("/calendar/week/2026-05-05").shows(http.StatusOK, "W19", "09:00").hides("New York")
		for _, part := range []string{`class="off t0 h108"`, `class="off t204 h84"`, `class="off t0 h288"`} {
			if !strings.Contains(week.body, part) {
				t.Errorf("the week lacks %s", part)
			}
		}
		hours := "09:00-12:00, 13:00-17:00"
		h.must(h.store.ChangeUser(h.Context(), ann.ID, auth.UserEdit{WorkingHours: &hours}))
		week = b.get("/calendar/week/2026-05-05")
		for _, part := range []string{`class="off t144 h12"`, `class="off t204 h84"`} {
			if !strings.Contains(week.body, part) {
				t.Errorf("the week with a break lacks %s", part)
			}
		}
		form := b.get(b.get("settings").link("Change the calendar view"))
		form.submit("settings/view", "timezone", "Atlantis").shows(http.StatusUnprocessableEntity, "Atlantis")
		form.submit("settings/view", "clock", "13").shows(http.StatusUnprocessableEntity, "is no clock")
		form.submit("settings/view", "timezone", "america/new_york", "clock", "12", "week-numbers", "",
			"working-hours", "", "shortcuts", "").shows(http.StatusOK, "Saved")
		if u, err := h.auth.User(h.Context(), "ann"); err != nil || u.View != (calendar.ViewSettings{
			SecondZone: "America/New_York", Clock: "12", WeekNumbersOff: true, WorkingHoursOff: true,
			ShortcutsOff: true,
		}) {
			t.Errorf("the settings are %+v (%v)", u.View, err)
		}
		week = b.get("/calendar/week/2026-05-05").shows(http.StatusOK, "New York", "Berlin", "3:00 am 9:00 am",
			"3:00 pm–4:00 pm").hides("W19", `class="off`, "09:00")
		if !strings.Contains(week.body, `data-shortcuts="off"`) {
			t.Error("the shortcuts are still on")
		}
		b.get("/calendar/month/2026-05-05").shows(http.StatusOK, "3:00 pm").hides("Week 19")
		b.get(week.link("Call")).shows(http.StatusOK, "In New York: Tue 5 May, 9:00 am–10:00 am")
		b.get(week.link("Dinner")).shows(http.StatusOK, "7:00 pm (America/New_York)").hides("In New York")
		b.get("/calendar/keys").shows(http.StatusOK, "The shortcuts of single keys are off").hides("<kbd>j")
		// Europe's clocks change a week earlier than America's: on the Sunday at the end of this week.
		b.get("/calendar/week/2026-10-22").shows(http.StatusOK,
			"The hours of New York are right on Thursday 22 October 2026")
		b.get("/calendar/week/2026-11-04").hides("The hours of New York are")
		b.get("settings/view").submit("settings/view", "timezone", "", "clock", "", "shortcuts", "1")
		b.get("/calendar/week/2026-05-05").shows(http.StatusOK, "09:00").hides("New York", "data-shortcuts")
		b.get("/calendar/keys").shows(http.StatusOK, "Single keys work")
	})
}

// In Chile the clocks skip midnight on 6 September 2026: the day begins at 01:00. The pages of that day and the links
// to it used to lead to the day before.
func TestDayWithoutMidnight(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		zone := "America/Santiago"
		_, err := h.auth.ChangeUser(h.Context(), "ann", auth.UserEdit{Timezone: &zone})
		h.must(err)
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "one", "Regatta", "DTSTART:20260906T150000Z",
			"DTEND:20260906T160000Z"))
		h.put(callerOf(ann), cal, object("VEVENT", "two", "Holiday", "DTSTART;VALUE=DATE:20260906", "DURATION:P1D"))
		b := h.as("ann")
		b.get("/calendar/day/2026-09-06").shows(http.StatusOK, "Sunday 6 September 2026", "Regatta", "Holiday")
		b.get("/calendar/day/2026-09-07").hides("Holiday")
		for from, link := range map[string]string{"2026-09-05": "Later", "2026-09-07": "Earlier"} {
			if href := b.get("/calendar/day/" + from).link(link); href != "/calendar/day/2026-09-06" {
				t.Errorf("%s of %s leads to %s", link, from, href)
			}
		}
		if page := b.get("/calendar/new?start=2026-09-06"); !strings.Contains(page.body, `value="2026-09-06"`) {
			t.Errorf("the form of a new event has another day:\n%s", page.text())
		}
	})
}

// A form without scripts makes an event, changes one field and leaves all other bytes, and the change can be undone.
func TestEventForm(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		b := h.as("ann")
		page := b.get("/calendar/new?start=2026-05-05T10:00&calendar=" + string(cal.ID))
		page.submit("/calendar/new", "title", "Brunch", "end-time", "09:00").shows(http.StatusUnprocessableEntity,
			"The event ends before it starts").hides(`value=""Brunch`)
		page = page.submit("/calendar/new", "title", "Brunch", "location", "Lido", "alarm", "15", "repeat", "weekly",
			"days", "TU", "days", "TH", "ends", "until", "until", "2026-05-20").
			shows(http.StatusOK, "The event is saved", "Undo", "Brunch")
		data := h.storedBy(ann, cal, "Brunch")
		for _, line := range []string{
			"DTSTART;TZID=Europe/Berlin:20260505T100000", "DTEND;TZID=Europe/Berlin:20260505T110000", "LOCATION:Lido",
			"RRULE:FREQ=WEEKLY;UNTIL=20260520T215959Z;BYDAY=TU,TH", "TRIGGER:-PT15M",
		} {
			if !strings.Contains(data, line+"\r\n") {
				t.Errorf("the event lacks %s:\n%s", line, data)
			}
		}
		page.submit("/account/undo").shows(http.StatusOK, "Taken back").hides("Brunch")

		// Properties that the form does not know stay, byte for byte.
		strange := object("VEVENT", "odd", "Odd", "DTSTART;TZID=Europe/Berlin:20260506T120000", "DURATION:PT45M",
			"X-SOMETHING;A=\"b;c\":kept", "DESCRIPTION:One\\nTwo  three", "CATEGORIES:A,B", "PRIORITY:5")
		h.put(callerOf(ann), cal, strange)
		page = b.get(b.get("/calendar/week/2026-05-06").link("Odd")).shows(http.StatusOK, "12:00–12:45")
		form := b.get(page.link("Edit event"))
		form.submit("/edit").at("/calendar/week/2026-05-06") // nothing changes
		if got := h.stored(ann, cal, "odd"); got != string(strange) {
			t.Errorf("saving without a change changed the event:\n%s", got)
		}
		form.submit("/edit", "title", "Odder").shows(http.StatusOK, "Saved")
		want := strings.Replace(string(strange), "SUMMARY:Odd", "SUMMARY:Odder", 1)
		if got := unstamped(h.stored(ann, cal, "odd")); got != unstamped(want) {
			t.Errorf("the change of the title changed more:\n%s\nwant\n%s", got, want)
		}
		// A second form from the same time: what others changed meanwhile stays, and both are shown.
		clash := form.submit("/edit", "title", "Oddest", "location", "Here").
			shows(http.StatusConflict, "The event changed while you edited it", "Odder")
		clash.submit("/edit").shows(http.StatusOK, "Saved")
		if got := h.stored(ann, cal, "odd"); !strings.Contains(got, "SUMMARY:Oddest") ||
			!strings.Contains(got, "LOCATION:Here") || !strings.Contains(got, "X-SOMETHING") {
			t.Errorf("after the clash it is:\n%s", got)
		}
	})
}

// The end of a flight is on the clock where it lands: on the event's page, in the form, and after a change.
func TestFlight(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		flight := object("VEVENT", "lh400", "Flight", "DTSTART;TZID=Europe/Berlin:20260506T100000",
			"DTEND;TZID=America/New_York:20260506T130000")
		h.put(callerOf(ann), cal, flight)
		b := h.as("ann")
		page := b.get(b.get("/calendar/week/2026-05-06").link("Flight")).shows(http.StatusOK,
			"10:00–19:00", "10:00 (Europe/Berlin) – Wed 6 May, 13:00 (America/New_York)")
		form := b.get(page.link("Edit event"))
		for _, value := range []string{`value="13:00"`, `value="America/New_York"`} {
			if !strings.Contains(form.body, value) {
				t.Errorf("no field of the form has %s", value)
			}
		}
		form.submit("/edit")
		if got := h.stored(ann, cal, "lh400"); got != string(flight) {
			t.Errorf("saving without a change changed the event:\n%s", got)
		}
		form.submit("/edit", "end-time", "14:15").shows(http.StatusOK, "Saved")
		for _, line := range []string{
			"DTSTART;TZID=Europe/Berlin:20260506T100000", "DTEND;TZID=America/New_York:20260506T141500",
		} {
			if got := h.stored(ann, cal, "lh400"); !strings.Contains(got, line+"\r\n") {
				t.Errorf("the flight lacks %s:\n%s", line, got)
			}
		}
		b.get(page.link("Edit event")).submit("/edit", "title", "Flight home").shows(http.StatusOK, "Saved")
		got := h.stored(ann, cal, "lh400")
		if !strings.Contains(got, "DTEND;TZID=America/New_York:20260506T141500\r\n") {
			t.Errorf("a change of the title moved the end:\n%s", got)
		}
	})
}

// One line fills the form, and the page shows how it was understood.
func TestQuickAdd(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		b := h.as("ann")
		line := "Lunch with Ana Monday 13:00 at Lido"
		page := b.get("/calendar/new?quick="+url.QueryEscape(line)).shows(http.StatusOK, "Understood as follows",
			"Day: Monday", "Time: 13:00")
		page.submit("/calendar/new").shows(http.StatusOK, "The event is saved")
		data := h.storedBy(ann, cal, "Lunch with Ana")
		if !strings.Contains(data, "DTSTART;TZID=Europe/Berlin:20260504T130000") ||
			!strings.Contains(data, "LOCATION:Lido") {
			t.Errorf("the event is:\n%s", data)
		}
		b.get("/calendar/new?quick="+url.QueryEscape("Sport every tuesday 18:00 for 90 minutes until 1 July")).
			submit("/calendar/new").shows(http.StatusOK, "The event is saved")
		if data := h.storedBy(ann, cal, "Sport"); !strings.Contains(data, "RRULE:FREQ=WEEKLY;UNTIL=20260701T215959Z") ||
			!strings.Contains(data, "T193000") {
			t.Errorf("the series is:\n%s", data)
		}
	})
}

// unstamped is an event without the times of its last change.
func unstamped(data string) string {
	lines := strings.Split(data, "\r\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "DTSTAMP") || strings.HasPrefix(line, "LAST-MODIFIED") ||
			strings.HasPrefix(line, "SEQUENCE")
	}), "\r\n")
}

// storedBy returns the text of the event with a title.
func (h *house) storedBy(u calendar.User, cal calendar.Calendar, title string) string {
	h.Helper()
	for o, err := range h.calendars.Objects(h.Context(), nil, callerOf(u), cal, calendar.ObjectQuery{WithData: true}) {
		h.must(err)
		if o.Summary == title {
			return string(o.Data)
		}
	}
	h.Fatalf("there is no event %q", title)
	return ""
}

// One event of a series moves by a drag and by the form, the following ones change their title, and one is deleted.
func TestSeriesOnPages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "s", "Piano", "DTSTART;TZID=Europe/Berlin:20260504T160000",
			"DTEND;TZID=Europe/Berlin:20260504T170000", "RRULE:FREQ=WEEKLY"))
		b := h.as("ann")
		at := func(day string) string { return b.get("/calendar/day/" + day).link("Piano") }
		u, err := url.Parse(at("2026-05-11"))
		h.must(err)
		b.post(u.Path+"/move?"+u.RawQuery, "start", "2026-05-12T09:30", "next", "/calendar/week/2026-05-12").
			shows(http.StatusOK, "The event is moved", "09:30–10:30")
		b.get("/calendar/day/2026-05-11").hides("Piano")
		b.get(b.get(at("2026-05-18")).link("Edit event")).submit("/edit", "title", "Organ", "scope", "following")
		b.get("/calendar/day/2026-05-25").shows(http.StatusOK, "Organ")
		b.get("/calendar/day/2026-05-04").shows(http.StatusOK, "Piano")
		b.get("/calendar/day/2026-05-12").shows(http.StatusOK, "Piano")
		organ := b.get("/calendar/day/2026-05-25").link("Organ")
		b.get(b.get(organ).link("Delete event")).shows(http.StatusOK, "This event only").
			submit("/delete").shows(http.StatusOK, "The event is deleted")
		b.get("/calendar/day/2026-05-25").hides("Organ")
		whole := b.get(b.get(b.get("/calendar/day/2026-06-01").link("Organ")).link("Delete event"))
		gone := whole.submit("/delete", "scope", "all").shows(http.StatusOK, "The event is deleted")
		b.get("/calendar/day/2026-06-01").hides("Organ")
		gone.submit("/account/undo").shows(http.StatusOK, "Taken back")
		b.get("/calendar/day/2026-06-01").shows(http.StatusOK, "Organ")
	})
}

// An invitation is answered, the organizer sees the answer, and confirms a change that guests get a message about.
func TestGuestsOnPages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, ben := h.user("ann"), h.user("ben")
		for _, u := range []*calendar.User{&ann, &ben} {
			h.mail(u, u.Name+"@example.org")
		}
		cal := h.made(ann, "Work")
		h.made(ben, "Home")
		b, guest := h.as("ann"), h.as("ben")
		page := b.get("/calendar/new?start=2026-05-05T10:00&calendar=" + string(cal.ID))
		page.hides("They get no invitation")
		h.made(h.user("cem"), "Without address")
		h.as("cem").get("/calendar/new").shows(http.StatusOK, "They get no invitation, because you have no")
		page.submit("/calendar/new", "title", "Talk", "guests", "nobody here").
			shows(http.StatusUnprocessableEntity, "There is no user or room “nobody here”")
		page.submit("/calendar/new", "title", "Talk", "guests", "cem").
			shows(http.StatusUnprocessableEntity, "“cem” has no mail address yet")
		page.submit("/calendar/new", "title", "Talk", "guests", "Ben <ben@example.org>").shows(http.StatusOK, "saved")
		invited := guest.get(
			guest.get("/calendar/day/2026-05-05").shows(http.StatusOK, "not answered yet").link("Talk"),
		)
		invited.submit("/answer", "answer", "ACCEPTED", "comment", "With pleasure").
			shows(http.StatusOK, "Your answer is sent")
		own := b.get(b.get("/calendar/day/2026-05-05").link("Talk"))
		own.shows(http.StatusOK, "accepted", "With pleasure")
		b.get("/calendar/met").shows(http.StatusOK, `["Ben`, "ben@example.org")
		guest.get("/calendar/met").shows(http.StatusOK, "ann@example.org").hides("ben@")
		h.browser().get("/calendar/met").at("sign-in?next=%2Fcalendar%2Fmet")
		ask := b.get(own.link("Edit event")).submit("/edit", "start-time", "12:00", "end-time", "13:00").
			shows(http.StatusOK, "These people get a message: Ben",
				"These answers are lost, and asked for again: Ben (accepted)")
		if !strings.Contains(h.storedBy(ann, cal, "Talk"), ":20260505T100000") {
			t.Error("the change was made before it was confirmed")
		}
		ask.submit("/edit", "confirmed", "1").shows(http.StatusOK, "Saved")
		guest.get("/calendar/day/2026-05-05").shows(http.StatusOK, "12:00–13:00", "not answered yet")
		// A drag asks, too, and keeps the length.
		path, query, _ := strings.Cut(b.get("/calendar/day/2026-05-05").link("Talk"), "?")
		dragged := b.post(path+"/move?"+query, "start", "2026-05-06T15:30").
			shows(http.StatusOK, "These people get a message: Ben")
		guest.get("/calendar/day/2026-05-05").shows(http.StatusOK, "12:00–13:00")
		dragged.submit("/edit", "confirmed", "1").shows(http.StatusOK, "Saved")
		guest.get("/calendar/day/2026-05-06").shows(http.StatusOK, "15:30–16:30")
	})
}

// A guest who was typed but not added to the list is invited, or named by an error beside everything that was typed.
func TestTypedGuest(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, tom := h.user("ann"), h.user("tom")
		for _, u := range []*calendar.User{&ann, &tom} {
			h.mail(u, u.Name+"@example.org")
		}
		cal := h.made(ann, "Work")
		b := h.as("ann")
		page := b.get("/calendar/new?start=2026-05-05T10:00&calendar=" + string(cal.ID))
		again := page.submit("/calendar/new", "title", "Talk", "guests", "zoe@example.org", "guest", "to").
			shows(http.StatusUnprocessableEntity, "There is no user or room “to”")
		h.refilled(again, "/calendar/new", "guests", []string{"Talk", "zoe@example.org\n" + "to"})
		again.submit("/calendar/new", "guests", "zoe@example.org", "guest", "tom").shows(http.StatusOK, "saved")
		stored := h.storedBy(ann, cal, "Talk")
		if !strings.Contains(stored, "tom@example.org") || !strings.Contains(stored, "zoe@example.org") {
			t.Errorf("the event is:\n%s", stored)
		}
		form := b.get(b.get(b.get("/calendar/day/2026-05-05").link("Talk")).link("Edit event"))
		form.submit("/edit", "guest", "Eve <eve@example.org>", "times", "2026-05-05").
			shows(http.StatusOK, "Eve <eve@example.org>")
		form.submit("/edit", "guest", "Eve <eve@example.org>").submit("/edit", "confirmed", "1").
			shows(http.StatusOK, "Saved")
		if stored := h.storedBy(ann, cal, "Talk"); !strings.Contains(stored, "eve@example.org") ||
			!strings.Contains(stored, "tom@example.org") {
			t.Errorf("the changed event is:\n%s", stored)
		}
	})
}

// mail gives a user a main address.
func (h *house) mail(u *calendar.User, address string) {
	h.Helper()
	changed, err := h.auth.ChangeUser(h.Context(), u.Name, auth.UserEdit{Email: &address})
	h.must(err)
	*u = changed
}

// share shares a calendar, and the other user accepts.
func (h *house) share(owner calendar.User, cal calendar.Calendar, with calendar.User, access calendar.Access) {
	h.Helper()
	_, err := h.calendars.Share(h.Context(), callerOf(owner), cal.ID, with.Name, access)
	h.must(err)
	offer := h.as(with.Name).get("")
	if action := regexp.MustCompile(`invitations/[0-9a-f]+`).FindString(offer.body); action != "" {
		offer.b.post(action, "answer", "accept").shows(http.StatusOK)
	}
}

// Strangers find nothing, readers change nothing, and a calendar that shares only busy times tells no title.
func TestPlanningRights(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, ben := h.user("ann"), h.user("ben")
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "x", "Secret talk", "DTSTART:20260505T080000Z",
			"DTEND:20260505T090000Z", "LOCATION:Vault"))
		own := h.as("ann")
		href := own.get("/calendar/day/2026-05-05").link("Secret talk")
		path, query, _ := strings.Cut(href, "?")
		stranger := h.as("ben")
		for _, page := range []string{href, path + "/edit?" + query, path + "/delete?" + query} {
			stranger.get(page).shows(http.StatusNotFound).hides("Secret", "Vault")
		}
		for _, action := range []string{"/edit", "/delete", "/move", "/answer", "/carry"} {
			stranger.post(path+action+"?"+query, "title", "x", "start", "2026-05-06T10:00", "answer", "DECLINED",
				"to", string(cal.ID)).shows(http.StatusNotFound).hides("Secret")
		}
		h.share(ann, cal, ben, calendar.FreeBusyAccess)
		page := stranger.get("/calendar/day/2026-05-05").shows(http.StatusOK, "only busy times are shared")
		page.hides("Secret", "Vault", "data-movable")
		h.share(ann, cal, ben, calendar.ReadAccess)
		stranger.get("/calendar/day/2026-05-05").shows(http.StatusOK, "Secret talk").hides("data-movable")
		stranger.get(href).shows(http.StatusOK, "Vault").hides("Edit event", "Delete event")
		for _, action := range []string{"/edit", "/delete", "/move"} {
			stranger.post(path+action+"?"+query, "title", "x", "start", "2026-05-06T10:00").
				shows(http.StatusUnprocessableEntity, "You may read this calendar, but not change it")
		}
		if !strings.Contains(h.storedBy(ann, cal, "Secret talk"), "20260505T080000Z") {
			t.Error("a reader changed the event")
		}
	})
}

// Tasks are added, ticked, changed, and have subtasks; the search finds events and tasks.
func TestTasksAndSearch(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Chores")
		b := h.as("ann")
		b.get("/tasks/").shows(http.StatusOK, "No open tasks")
		page := b.post("/tasks/", "calendar", string(cal.ID), "title", "Paint the fence", "due", "2026-04-30").
			shows(http.StatusOK, "The task is added", "Paint the fence", "overdue")
		task := b.get(page.link("Paint the fence"))
		task.submit("/tasks/"+string(cal.ID)+"?", "notes", "Blue", "due", "2026-05-09", "priority", "1").
			shows(http.StatusOK, "Saved", "due Sat 9 May").hides("overdue")
		if data := h.storedBy(ann, cal, "Paint the fence"); !strings.Contains(data, "DUE;VALUE=DATE:20260509") ||
			!strings.Contains(data, "PRIORITY:1") || !strings.Contains(data, "DESCRIPTION:Blue") {
			t.Errorf("the task is:\n%s", data)
		}
		task.submit("/tasks/", "title", "Buy paint")
		b.get("/calendar/month/2026-05-09").shows(http.StatusOK, "Paint the fence")
		b.get("/tasks/").submit("/tick", "done", "1").shows(http.StatusOK, "The task is finished")
		b.get("/tasks/?finished=1").shows(http.StatusOK, "Paint the fence")
		h.put(callerOf(ann), cal, object("VEVENT", "d", "Dentist", "DTSTART:20250505T080000Z"))
		b.get("/calendar/search?q=dentist").shows(http.StatusOK, "Nothing found").hides(">Dentist<")
		b.get("/calendar/search?past=1&q=dentist").shows(http.StatusOK, "Dentist", "5 May 2025")
		b.get("/calendar/search?q=%21").shows(http.StatusOK, "Nothing found")
	})
}

// The stream of changes tells about a change elsewhere within seconds, and ends with the session.
func TestChangesStream(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		cal := h.made(ann, "Work")
		b := h.as("ann")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.address("/calendar/changes"), nil)
		h.must(err)
		res, err := b.client.Do(r)
		h.must(err)
		t.Cleanup(func() { _ = res.Body.Close() })
		got, begun := make(chan string, 10), make(chan struct{})
		go func() {
			buffer := make([]byte, 1024)
			for {
				n, err := res.Body.Read(buffer)
				if err != nil {
					close(got)
					return
				}
				if text := string(buffer[:n]); strings.Contains(text, "event:") {
					got <- text
				} else if strings.Contains(text, "retry:") {
					close(begun)
				}
			}
		}()
		<-begun
		h.put(callerOf(ann), cal, object("VEVENT", "n", "New", "DTSTART:20260505T080000Z"))
		select {
		case text := <-got:
			if !strings.Contains(text, "event: change") {
				t.Errorf("the stream said %q", text)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the stream said nothing of a change")
		}
		b.post("sign-out")
		h.put(callerOf(ann), cal, object("VEVENT", "m", "More", "DTSTART:20260505T080000Z"))
		select {
		case text, open := <-got:
			if open {
				t.Errorf("the stream of an ended session said %q", text)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the stream of an ended session goes on")
		}
	})
}

// A guest who also sees the organizer's calendar sees an event once: their own copy, which can be answered.
func TestGuestSharesOrganizersCalendar(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, ben := h.user("ann"), h.user("ben")
		for _, u := range []*calendar.User{&ann, &ben} {
			h.mail(u, u.Name+"@example.org")
		}
		cal, own := h.made(ann, "Work"), h.made(ben, "Home")
		h.share(ann, cal, ben, calendar.ReadAccess)
		b, guest := h.as("ann"), h.as("ben")
		b.get("/calendar/new?start=2026-05-05T10:00&calendar="+string(cal.ID)).submit("/calendar/new",
			"title", "Talk", "guests", "Ben <ben@example.org>", "repeat", "daily", "ends", "count", "count", "3",
		).shows(http.StatusOK, "saved")
		h.put(callerOf(ann), cal, object("VEVENT", "alone", "Talk alone", "DTSTART:20260505T120000Z"))
		href := regexp.MustCompile(`href="[^"]*/calendar/event/([^?"]+)\?[^"]*"[^>]*>`)
		once := func(page shown, days int) {
			t.Helper()
			var mine, theirs int
			for _, link := range href.FindAllStringSubmatch(page.shows(http.StatusOK).body, -1) {
				if strings.Contains(link[0], "uid=alone") {
					continue
				}
				switch link[1] {
				case string(own.ID):
					mine++
				case string(cal.ID):
					theirs++
				default:
					mine++ // the default calendar of the guest
				}
			}
			if mine != days || theirs != 0 {
				t.Errorf("%s links to %d own copies and %d of the organizer, want %d and 0", page.path, mine, theirs,
					days)
			}
		}
		once(guest.get("/calendar/day/2026-05-06"), 1)
		once(guest.get("/calendar/week/2026-05-05"), 3)
		once(guest.get("/calendar/month/2026-05-05"), 3)
		once(guest.get("/calendar/list/2026-05-05"), 3)
		once(guest.get("/calendar/search?q=talk"), 1)
		guest.get("/calendar/day/2026-05-05").shows(http.StatusOK, "Talk alone")
		guest.get("/calendar/search?q=talk").shows(http.StatusOK, "Talk alone")
		guest.get("?from=2026-05-06").shows(http.StatusOK, "10:00–11:00 Talk · Home").hides("Work (ann)")
		guest.get(guest.get("/calendar/search?q=talk").link("Talk")).submit("/answer", "answer", "DECLINED").
			shows(http.StatusOK, "Your answer is sent")
		once(guest.get("/calendar/day/2026-05-06"), 1)
		guest.get("/calendar/day/2026-05-06").shows(http.StatusOK, "declined")
	})
}

// The page of an event names people who have only an address in it, if the visitor sees these users or met the people
// in own events. It does not name other users.
func TestNamesOfGuests(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		named := map[string]string{"ann": "Ann Lee", "ben": "Ben Ode", "cem": "Cem Kaya"}
		users := map[string]calendar.User{}
		for name, title := range named {
			u := h.user(name)
			_, err := h.auth.ChangeUser(h.Context(), name, auth.UserEdit{DisplayName: &title})
			h.must(err)
			h.mail(&u, name+"@example.org")
			users[name] = u
		}
		ann, ben := users["ann"], users["ben"]
		cal, own := h.made(ann, "Work"), h.made(ben, "Home")
		h.share(ann, h.made(ann, "Other"), ben, calendar.ReadAccess)
		h.put(callerOf(ann), cal, object("VEVENT", "n", "Talk", "DTSTART:20260505T080000Z",
			"ORGANIZER:mailto:ann@example.org", "ATTENDEE:mailto:ann@example.org", "ATTENDEE:mailto:Ben@example.org",
			"ATTENDEE;CN=cem@example.org:mailto:cem@example.org", "ATTENDEE:mailto:dora@example.com"))
		guest := h.as("ben")
		guest.get("").shows(http.StatusOK, "Talk , Tuesday 5 May 2026, 10:00 · Ann Lee")
		talk := guest.get("/calendar/day/2026-05-05").link("Talk")
		guest.get(talk).shows(http.StatusOK, "Organizer Ann Lee", "Ann Lee ann@example.org —",
			"Ben Ode Ben@example.org", "Guests", "cem@example.org —", "dora@example.com —").hides("Cem Kaya")
		h.put(callerOf(ben), own, object("VEVENT", "o", "Lunch", "DTSTART:20260506T080000Z",
			"ORGANIZER:mailto:ben@example.org", "ATTENDEE;CN=Dora Diaz:mailto:DORA@example.com"))
		guest.get(talk).shows(http.StatusOK, "Dora Diaz dora@example.com —").hides("Cem Kaya")
		guest.get(talk).submit("/answer", "answer", "ACCEPTED", "comment", "With pleasure")
		b := h.as("ann")
		theirs := b.get(b.get("/calendar/day/2026-05-05").link("Talk")).
			shows(http.StatusOK, "Ben Ode : With pleasure").hides("Cem Kaya")
		b.get(theirs.link("Edit event")).submit("/edit", "start-time", "12:00", "end-time", "13:00").
			shows(http.StatusOK, "Ben Ode (accepted)", "dora@example.com").hides("Cem Kaya")
	})
}

// TestNewlyShared: the calendar tells of a calendar that another user shares, until the visitor dismisses it or
// answers.
func TestNewlyShared(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann, bobUser := h.user("ann"), h.user("bob")
		family := h.made(ann, "Family")
		color := "#aa00bb"
		h.must(h.calendars.PatchCalendar(h.Context(), callerOf(ann), family.ID,
			func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
				p.Color = &color
				return nil, nil
			}))
		settled := calendar.ShareEdit{With: bobUser, Access: calendar.WriteAccess, Settled: true}
		_, err := h.calendars.Reshare(h.Context(), callerOf(ann), family.ID, []calendar.ShareEdit{settled})
		h.must(err)
		_, err = h.calendars.Share(h.Context(), callerOf(ann), h.made(ann, "Choir").ID, "bob", calendar.ReadAccess)
		h.must(err)

		bob := h.as("bob")
		const told, offered = "ann shares the calendar Family with you. You may read and change.",
			"ann offers you the calendar Choir"
		week := bob.get("/calendar/week/2026-05-04").shows(http.StatusOK, told, offered)
		if line := regexp.MustCompile(`(?s)<div class="news">.*?</div>`).FindAllString(week.body, -1); len(line) != 2 ||
			!strings.Contains(line[1], color) {
			t.Errorf("the lines are %q", line)
		}
		week.submit("/calendar/seen", "notice", regexp.MustCompile(`name="notice" value="([^"]+)`).
			FindStringSubmatch(week.body)[1]).at("/calendar/week/2026-05-04").shows(http.StatusOK, offered, "Family").
			hides(told)
		bob.get("/calendar/month/2026-05-04").shows(http.StatusOK, offered).submit("invitations/", "answer", "accept").
			at("/calendar/month/2026-05-04?done=invitation-accepted").shows(http.StatusOK, "Choir").hides(told, offered)

		// A notice that nobody dismissed ends after a month, and one of a calendar that is gone at once.
		settled.Access = calendar.ReadAccess
		_, err = h.calendars.Reshare(h.Context(), callerOf(ann), family.ID, []calendar.ShareEdit{settled})
		h.must(err)
		bob.get("/calendar/week/2026-05-04").shows(http.StatusOK, "You may read.")
		h.pass(31 * 24 * time.Hour)
		h.as("bob").get("/calendar/week/2026-05-04").shows(http.StatusOK, "Family").hides("You may read.")
	})
}

// TestFormOfEvent: an event of whole days that gets times starts at the next full hour. Guests have the names that the
// visitor knows. Any shade becomes the nearest colour that an event can have. All without a script.
func TestFormOfEvent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.mail(&ann, "ann@example.org")
		cal := h.made(ann, "Work")
		h.put(callerOf(ann), cal, object("VEVENT", "x", "Fair", "DTSTART;VALUE=DATE:20260505",
			"ORGANIZER:mailto:ann@example.org", "ATTENDEE:mailto:ann@example.org", "ATTENDEE:mailto:eve@example.net"))
		h.put(callerOf(ann), cal, object("VEVENT", "y", "Chat", "DTSTART:20260401T080000Z",
			"DTEND:20260401T090000Z", "ORGANIZER:mailto:ann@example.org", "ATTENDEE:mailto:ann@example.org",
			"ATTENDEE;CN=Eve Adams:mailto:eve@example.net"))
		b := h.as("ann")
		edit := strings.Replace(b.get("/calendar/day/2026-05-05").link("Fair"), "?", "/edit?", 1)
		form := b.get(edit)
		for _, want := range []string{
			`id="start-time" name="start-time" type="time" value="15:00"`, `value="16:00"`,
			"Eve Adams &lt;eve@example.net&gt;",
		} {
			if !strings.Contains(form.body, want) {
				t.Errorf("the form has no %s:\n%s", want, form.body)
			}
		}
		form.submit("/edit", "title", "Fair", "color", "other", "shade", "#0a7f82", "all-day", "", "confirmed", "1").
			shows(http.StatusOK, "Saved")
		if stored := h.storedBy(ann, cal, "Fair"); !strings.Contains(stored, "COLOR:teal") ||
			!strings.Contains(stored, "DTSTART;TZID=Europe/Berlin:20260505T150000") {
			t.Errorf("the event is:\n%s", stored)
		}
		// A form without times comes back with times.
		again := b.post("/calendar/new", "calendar", string(cal.ID), "title", "Tea", "start", "2026-05-06",
			"start-time", "", "end", "2026-05-06", "end-time", "").shows(http.StatusUnprocessableEntity)
		if !strings.Contains(again.body, `value="15:00"`) {
			t.Errorf("the form has no time:\n%s", again.body)
		}
	})
}
