package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// errand is a task as people do it. Each has weeks of its own, so that they do not meet.
type errand struct {
	name string
	// often says that it is also done for each commit.
	often bool
	do    func(*house)
}

func errands() []errand {
	return []errand{
		{"a lesson on Tuesdays and Thursdays until Easter, without JavaScript", true, lesson},
		{"move one lesson by form", false, moveOne},
		{"drag over empty time, then the event, then one lesson", true, dragging},
		{"drag whole days in a month", false, dragDays},
		{"add in one line, by keyboard alone", true, quickAdd},
		{"delete and undo", true, deleteAndUndo},
		{"answer an invitation for one day, on a phone", false, answerOne},
		{"find the dentist of last year", true, dentist},
		{"tick a task on a phone, without JavaScript", true, tickTask},
		{"print May", true, printMay},
		{"see a flight with both zones", false, flight},
		{"see a change made elsewhere within two seconds", true, elsewhere},
		{"a meeting of four by keyboard alone: make it, move one, cancel one", false, meetingByKeyboard},
		{"a meeting of four without JavaScript: make it, move one, cancel one", false, meetingByForms},
		{"add on a phone in the dark", false, phoneInDark},
		{"two tabs edit one event", false, twoTabs},
		{"move an event to another calendar", false, carry},
		{"invite two people and a room at the first time when all are free", false, guestsAndRoom},
		{"add a guest with Enter, without saving", false, guestByEnter},
		{"start later, so that the event also ends later", false, endFollows},
		{"subscribe to school holidays", false, holidays},
		{"invite a partner, who sees two calendars in the zone of the phone within a minute", false, partner},
		{"import Google's archive of 15,000 events", false, takeout},
		{"accept one of two suggestions of an assistant, in the calendar", false, suggestions},
		{"accept and undo what an assistant suggests together, and solve a conflict", false, together},
		{"see, book and accept in the views of a conversation", true, conversation},
		{"find a time by poll: two guests answer on a phone without an account, one of them without JavaScript", false, byPoll},
	}
}

func lesson(h *house) {
	p := h.enter(h.user, look{noScripts: true})
	p.visit("/calendar/new?start=2027-02-02T16:00")
	p.set("#title", "Lesson")
	p.set("#repeat", "weekly")
	p.tick("input[name=days][value=TU]")
	p.tick("input[name=days][value=TH]")
	p.tick("input[name=ends][value=until]")
	p.set("#until", "2027-03-25")
	p.set("#alarm0", "15")
	p.press("form.event > button")
	var days []string
	for day := time.Date(2027, 2, 2, 16, 0, 0, 0, time.UTC); day.Month() < 4; day = day.AddDate(0, 0, 7) {
		days = append(days, day.Format("20060102T150405Z"), day.AddDate(0, 0, 2).Format("20060102T150405Z"))
	}
	// The last Thursday is the 25th: the next week is after it.
	days = days[:16]
	h.starts(h.user, "Lesson", "20270101T000000Z/20270601T000000Z", days...)
	if e := h.one(h.user, "VEVENT", "Lesson"); e.value("TRIGGER") != "-PT15M" {
		failf("the reminder is %q", e.value("TRIGGER"))
	}
	p.visit("/calendar/day/2027-03-25")
	p.says("Lesson")
}

// find opens an event from the page of its day.
func (p *person) find(title, day string) {
	p.visit("/calendar/day/" + day)
	p.says(title)
	href := p.tell(fmt.Sprintf(`[...document.querySelectorAll("main .sheet a[href*='/calendar/event/']")]
		.find(a => a.innerText.includes(%q)).getAttribute("href")`, title))
	p.press(fmt.Sprintf(".sheet a[href=%q]", href))
}

// send submits a form, and confirms that guests get a message.
func (p *person) send(css string, press func(css string)) {
	press(css)
	if p.tell(`Boolean(document.querySelector("button[name=confirmed]"))`) == "true" {
		press("button[name=confirmed]")
	}
}

func moveOne(h *house) {
	h.put(h.user, "choir", "SUMMARY:Choir", "DTSTART:20270405T180000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
	p := h.enter(h.user, look{})
	p.find("Choir", "2027-04-12")
	p.press(`main a[href*="/edit"]`)
	p.tick("input[name=scope][value=this]")
	p.set("#start", "2027-04-13")
	p.set("#start-time", "19:30")
	p.set("#end", "2027-04-13")
	p.set("#end-time", "20:30")
	p.press("form.event > button")
	h.starts(h.user, "Choir", "20270401T000000Z/20270501T000000Z",
		"20270405T180000Z", "20270413T193000Z", "20270419T180000Z")
}

// place returns the point of a time of a day on the screen.
func (p *person) place(day string, hour float64) [2]float64 {
	at := p.tell(fmt.Sprintf(`(() => {
		const week = document.querySelector(".week"), box = document.querySelector(".hours > .day[data-day='%s']");
		week.scrollTop = box.offsetHeight * 8 / 24;
		const r = box.getBoundingClientRect();
		return (r.left + r.width / 2) + " " + (r.top + r.height * %f / 24);
	})()`, day, hour))
	var x, y float64
	_, err := fmt.Sscan(at, &x, &y)
	must(err)
	return [2]float64{x, y}
}

// drag moves the mouse with the button down, in eight steps.
func (p *person) drag(from, to [2]float64) {
	path := [][2]float64{from}
	for i := 1; i <= 8; i++ {
		part := float64(i) / 8
		path = append(path, [2]float64{from[0] + (to[0]-from[0])*part, from[1] + (to[1]-from[1])*part})
	}
	must(p.Drag(path))
}

func dragging(h *house) {
	h.put(h.user, "piano", "SUMMARY:Piano", "DTSTART:20270427T150000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
	p := h.enter(h.user, look{})
	p.visit("/calendar/week/2027-05-04")
	p.leave(func() { p.drag(p.place("2027-05-04", 9.02), p.place("2027-05-04", 11)) })
	p.there("#title")
	p.set("#title", "Dragged")
	p.press("form.event > button")
	if e := h.one(h.user, "VEVENT", "Dragged"); e.value("DTEND") != "20270504T110000Z" {
		failf("it ends at %s", e.value("DTEND"))
	}
	p.visit("/calendar/week/2027-05-04")
	p.drag(p.place("2027-05-04", 9.5), p.place("2027-05-06", 13.5))
	p.until("for the move", `[...document.querySelectorAll(".block")]
		.find(b => b.innerText.includes("Dragged")).dataset.start == "2027-05-06T13:00" &&
		!document.querySelector(".ghost")`)
	h.starts(h.user, "Dragged", "20270501T000000Z/20270601T000000Z", "20270506T130000Z")
	p.drag(p.place("2027-05-04", 15.5), p.place("2027-05-07", 16.5))
	p.until("for the move", `[...document.querySelectorAll(".block")]
		.find(b => b.innerText.includes("Piano")).dataset.start == "2027-05-07T16:00" &&
		!document.querySelector(".ghost")`)
	h.starts(h.user, "Piano", "20270401T000000Z/20270601T000000Z",
		"20270427T150000Z", "20270507T160000Z", "20270511T150000Z")
}

// middle returns the middle of an element, moved into view.
func (p *person) middle(css string) [2]float64 {
	p.there(css)
	at := p.tell(fmt.Sprintf(`(e => { const r = e.getBoundingClientRect();
		return (r.left + r.width / 2) + " " + (r.top + r.height / 2); })(document.querySelector(%q))`, css))
	var x, y float64
	_, err := fmt.Sscan(at, &x, &y)
	must(err)
	return [2]float64{x, y}
}

func dragDays(h *house) {
	h.put(h.user, "fair", "SUMMARY:Fair", "DTSTART;VALUE=DATE:20270811", "DTEND;VALUE=DATE:20270813")
	p := h.enter(h.user, look{})
	p.visit("/calendar/month/2027-08-01")
	// A bar is as wide as its days; the mouse takes it by its first one.
	from := p.middle(`td[data-day="2027-08-11"]`)
	from[1] = p.middle(`td[data-day="2027-08-11"] a.bar`)[1]
	p.drag(from, p.middle(`td[data-day="2027-08-18"]`))
	p.until("for the move", `document.querySelector("a.bar[data-start^='2027-08-18']")`)
	h.starts(h.user, "Fair", "20270801T000000Z/20270901T000000Z", "20270818")
}

func quickAdd(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/calendar/week/2027-06-01")
	p.tabTo("#quick")
	p.leave(func() { p.keys("Brunch 5 June 2027 11:30 at Lido" + keyEnter) })
	p.says("Understood as follows")
	p.until("for the focus", `document.activeElement.id == "title"`)
	p.leave(func() { p.keys(keyEnter) })
	p.says("11:30–12:30")
	if e := h.starts(h.user, "Brunch", "20270605T000000Z/20270606T000000Z", "20270605T113000Z"); e[0].value(
		"LOCATION") != "Lido" {
		failf("the place is %q", e[0].value("LOCATION"))
	}
}

func deleteAndUndo(h *house) {
	const day = "20270612T000000Z/20270613T000000Z"
	h.put(h.user, "picnic", "SUMMARY:Picnic", "DTSTART:20270612T120000Z", "DURATION:PT2H")
	p := h.enter(h.user, look{})
	p.find("Picnic", "2027-06-12")
	p.press("main a.danger")
	p.press("main button.danger")
	h.starts(h.user, "Picnic", day)
	p.press("form.undo button")
	h.starts(h.user, "Picnic", day, "20270612T120000Z")
}

func answerOne(h *house) {
	h.newcomer("ben")
	h.put("ben", "review", "SUMMARY:Review", "DTSTART:20270614T090000Z", "DURATION:PT1H",
		"RRULE:FREQ=DAILY;COUNT=3", "ORGANIZER:mailto:ben@example.com", "ATTENDEE:mailto:ben@example.com",
		"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:"+h.user+"@example.com")
	p := h.enter(h.user, look{phone: true})
	p.find("Review", "2027-06-15")
	p.tick("input[name=scope][value=this]")
	p.set("#comment", "At the dentist")
	p.press("button[name=answer][value=no], button[name=answer][value=DECLINED], button[name=answer][value=declined]")
	for _, e := range h.starts("ben", "Review", "20270614T000000Z/20270620T000000Z",
		"20270614T090000Z", "20270615T090000Z", "20270616T090000Z") {
		declined := strings.Contains(strings.Join(e, "\n"), "PARTSTAT=DECLINED")
		if declined != strings.HasPrefix(e.value("DTSTART"), "20270615") {
			failf("the answer for %s is wrong:\n%s", e.value("DTSTART"), strings.Join(e, "\n"))
		}
	}
}

func dentist(h *house) {
	last := time.Now().UTC().AddDate(-1, 0, -20)
	h.put(h.user, "dentist", "SUMMARY:Dentist Dr Lang", "DTSTART:"+last.Format("20060102T150405Z"))
	p := h.enter(h.user, look{})
	p.visit("/calendar/")
	p.leave(func() { p.write("#find", "dentist"+keyEnter) })
	p.tick("main input[name=past]")
	p.press("main form[role=search] button")
	p.says("Dentist Dr Lang")
}

func tickTask(h *house) {
	p := h.enter(h.user, look{phone: true, noScripts: true})
	p.visit("/tasks/")
	p.unfold("header .opener", "#menu")
	p.set("form.add input[name=title]", "Buy paint")
	p.press("form.add button")
	p.says("Buy paint")
	if e := h.one(h.user, "VTODO", "Buy paint"); e.value("STATUS") == "COMPLETED" {
		failf("the task is finished from the start")
	}
	p.press(`button[aria-label*="Buy paint"]`)
	if e := h.one(h.user, "VTODO", "Buy paint"); e.value("STATUS") != "COMPLETED" {
		failf("the task is not finished")
	}
}

func byPoll(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/calendar/new?start=2027-06-07T09:00")
	p.set("#title", "Walk in the park")
	p.press(`button[formaction$="/polls/new"]`)
	p.set("#start-1", "2027-06-08")
	p.set("#start-time-1", "09:00")
	p.press("button[value=save]")
	p.says("Link for everyone")
	page := p.tell(`location.pathname`)
	link := p.tell(`new URL(document.querySelector(".secret").innerText).pathname`)
	for name, look := range map[string]look{"Max": {phone: true, noScripts: true}, "Tom": {phone: true}} {
		g := h.stranger(look)
		g.visit(link)
		g.says("Walk in the park")
		g.tick("input[name=time-1][value=maybe]")
		g.tick("input[name=time-2][value=yes]")
		g.set("#name", name)
		g.press("form[method=post] button")
		g.says("Your answers are saved")
	}
	p.visit(page)
	p.says("Yes: 2")
	p.press(`a[href*="pick=2"]`)
	p.press("button[value=pick]")
	p.says("The event is created")
	h.starts(h.user, "Walk in the park", "20270601T000000Z/20270701T000000Z", "20270608T090000Z")
}

// pdfPage is a page of a PDF, and not the list of pages.
var pdfPage = regexp.MustCompile(`/Type\s*/Page[^s]`)

// pagesOf counts the pages of a PDF, which Firefox describes in compressed streams.
func pagesOf(pdf []byte) int {
	text := slices.Clone(pdf)
	for _, part := range bytes.Split(pdf, []byte("stream"))[1:] {
		if r, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(part, "\r\n"))); err == nil {
			inflated, _ := io.ReadAll(r) // the end of the stream is followed by other bytes
			text = append(text, inflated...)
		}
	}
	return len(pdfPage.FindAll(text, -1))
}

func printMay(h *house) {
	h.put(h.user, "maypole", "SUMMARY:Maypole", "DTSTART;VALUE=DATE:20280501")
	p := h.enter(h.user, look{})
	p.visit("/calendar/month/2028-05-01")
	p.says("Maypole")
	pdf, err := p.PDF()
	must(err)
	if pages := pagesOf(pdf); len(pdf) < 5000 || pages != 1 {
		failf("May is printed as %d bytes on %d pages", len(pdf), pages)
	}
	const long = " with a title that no cell of a month can show on one line"
	for n := range 8 {
		h.put(h.user, fmt.Sprint("full", n), fmt.Sprint("SUMMARY:Talk ", n, long),
			fmt.Sprintf("DTSTART:202806%dT080000Z", 13+n/7), "DURATION:PT5M")
	}
	h.put(h.user, "fair", "SUMMARY:Fair"+long, "DTSTART;VALUE=DATE:20280612", "DTEND;VALUE=DATE:20280615")
	for _, view := range []string{"month", "week"} {
		p.visit("/calendar/" + view + "/2028-06-13")
		p.says("Talk 0")
		p.tell(`[...document.styleSheets].flatMap(s => [...s.cssRules]).forEach(r => {
			if (r.media?.mediaText == "print") r.media.mediaText = "all";
		})`)
		if shown := p.tell(`[...document.querySelectorAll(".month b, .week b")].filter(e => e.checkVisibility() &&
			/^Talk/.test(e.innerText)).length`); shown != "8" {
			failf("a print of the %s has %s of 8 titles", view, shown)
		}
		if cut := p.tell(`[...document.querySelectorAll(".month a, .week a, .month .text, .week .text, .printed")].filter(e =>
			e.checkVisibility() && getComputedStyle(e).overflow != "visible" &&
			(e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)).map(e => e.innerText).join()`); cut != "" {
			failf("a print of the %s cuts %s", view, cut)
		}
	}
}

// guestByEnter adds a guest with Enter, and leaves another one in the field.
func guestByEnter(h *house) {
	h.three()
	p := h.enter(h.user, look{})
	p.visit("/calendar/new?start=2027-10-18T10:00")
	p.write("#pick", "ana"+keyEnter)
	if list := p.tell(`document.querySelector("#guests").value`); list != "ana" {
		failf("the list of guests has %q", list)
	}
	p.set("#title", "Rehearsal")
	p.write("#pick", "be")
	p.press("form.event > button")
	p.says("There is no user or room “be”")
	p.set("#guests", "ana")
	p.write("#pick", "ben")
	p.press("form.event > button")
	p.until("to see that it is saved", `!document.querySelector("form.event")`)
	event := strings.Join(h.one(h.user, "VEVENT", "Rehearsal"), "\n")
	for _, guest := range []string{"ana@example.com", "ben@example.com"} {
		if !strings.Contains(event, guest) {
			failf("%s is not invited:\n%s", guest, event)
		}
	}
}

// endFollows moves the start of an event in the form: later, on another day, and back over midnight.
func endFollows(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/calendar/new?start=2027-10-20T17:00")
	ends := func(want string) {
		if got := p.tell(`["end", "end-time"].map(id => document.getElementById(id).value).join(" ")`); got != want {
			failf("it ends at %s, want %s", got, want)
		}
	}
	p.set("#end-time", "18:30")
	p.set("#start-time", "19:00")
	ends("2027-10-20 20:30")
	p.set("#start", "2027-10-22")
	ends("2027-10-22 20:30")
	p.set("#start-time", "23:15")
	ends("2027-10-23 00:45")
	p.set("#start-time", "")
	p.set("#start-time", "09:00")
	ends("2027-10-22 10:30")
	p.set("#title", "Swimming")
	p.press("form.event > button")
	p.until("to see that it is saved", `!document.querySelector("form.event")`)
	if e := h.one(h.user, "VEVENT", "Swimming"); e.value("DTEND") != "20271022T103000Z" {
		failf("the saved event ends at %s", e.value("DTEND"))
	}
}

func flight(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/calendar/new?start=2027-09-06T10:00")
	p.set("#title", "Flight LH 716")
	p.set("#zone", "Europe/Berlin")
	p.set("#end-zone", "Asia/Tokyo")
	p.set("#end", "2027-09-07")
	p.set("#end-time", "06:00")
	p.press("form.event > button")
	e := h.starts(h.user, "Flight LH 716", "20270906T000000Z/20270908T000000Z", "20270906T080000Z")
	if e[0].value("DTEND") != "20270906T210000Z" {
		failf("it lands at %s", e[0].value("DTEND"))
	}
	p.find("Flight LH 716", "2027-09-06")
	p.says("Europe/Berlin")
	p.says("Asia/Tokyo")
	p.says("06:00")
}

func elsewhere(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/calendar/week/2027-07-05")
	time.Sleep(time.Second) // the stream opens
	h.put(h.user, "far", "SUMMARY:From my phone", "DTSTART:20270706T100000Z", "DURATION:PT1H")
	began := time.Now()
	p.says("From my phone")
	if took := time.Since(began); took > 2*time.Second {
		failf("the change appeared after %s", took)
	}
}

// three creates the attendees of a meeting.
func (h *house) three() []string {
	all := []string{"ana", "ben", "cem"}
	for _, name := range all {
		h.newcomer(name)
	}
	return all
}

// met checks the times of a meeting in all calendars. Cancelled ones are not counted.
func (h *house) met(title, span string, want ...string) {
	for _, name := range append(h.three(), h.user) {
		var got []string
		for _, e := range h.entries(name, "VEVENT", span) {
			if e.value("SUMMARY") == title && e.value("STATUS") != "CANCELLED" {
				got = append(got, e.value("DTSTART"))
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			failf("%s meets at %q, want %q", name, got, want)
		}
	}
}

func meetingByKeyboard(h *house) {
	const span = "20271101T000000Z/20271120T000000Z"
	guests := strings.Join(h.three(), "@example.com"+keyEnter) + "@example.com"
	p := h.enter(h.user, look{})
	press := func(css string) { p.tabTo(css); p.leave(func() { p.keys(keyEnter) }) }
	p.visit("/calendar/week/2027-11-01")
	p.tabTo("#quick")
	p.leave(func() { p.keys("Standup 2 November 2027 10:00 every Tuesday until 16 November 2027" + keyEnter) })
	p.tabTo("#guests")
	p.keys(guests)
	p.send("form.event > button", press)
	h.met("Standup", span, "20271102T100000Z", "20271109T100000Z", "20271116T100000Z")

	open := func(day string) {
		p.visit("/calendar/day/" + day)
		p.tabTo("[role=grid] a, [role=gridcell]")
		for range 30 {
			at := p.tell(`document.activeElement.tagName + document.activeElement.innerText`)
			if strings.HasPrefix(at, "AStandup") {
				break
			}
			p.keys(keyDown)
		}
		p.leave(func() { p.keys(keyEnter) })
	}
	open("2027-11-09")
	press(`main a[href*="/edit"]`)
	p.tabTo("#start-time")
	p.typeTime("11", "30")
	p.tabTo("#end-time")
	p.typeTime("12", "30")
	p.send("form.event > button", press)
	h.met("Standup", span, "20271102T100000Z", "20271109T113000Z", "20271116T100000Z")

	open("2027-11-16")
	press("main a.danger")
	press("main button.danger")
	h.met("Standup", span, "20271102T100000Z", "20271109T113000Z")
}

func meetingByForms(h *house) {
	const span = "20280201T000000Z/20280220T000000Z"
	p := h.enter(h.user, look{noScripts: true})
	p.visit("/calendar/new?start=2028-02-01T10:00")
	p.set("#title", "Planning")
	p.set("#repeat", "weekly")
	p.tick("input[name=ends][value=count]")
	p.set("#count", "3")
	p.set("#guests", strings.Join(h.three(), "@example.com\n")+"@example.com")
	p.send("form.event > button", p.press)
	h.met("Planning", span, "20280201T100000Z", "20280208T100000Z", "20280215T100000Z")

	p.find("Planning", "2028-02-08")
	p.press(`main a[href*="/edit"]`)
	p.set("#start-time", "11:30")
	p.set("#end-time", "12:30")
	p.send("form.event > button", p.press)
	h.met("Planning", span, "20280201T100000Z", "20280208T113000Z", "20280215T100000Z")

	p.find("Planning", "2028-02-15")
	p.press("main a.danger")
	p.press("main button.danger")
	h.met("Planning", span, "20280201T100000Z", "20280208T113000Z")
}

func phoneInDark(h *house) {
	p := h.enter(h.user, look{phone: true, dark: true})
	p.visit("/calendar/week/2027-10-04")
	shade := p.tell(`getComputedStyle(document.body).backgroundColor + " " +
		getComputedStyle(document.documentElement).backgroundColor`)
	if strings.Contains(shade, "255, 255, 255") {
		failf("the page is white: %s", shade)
	}
	if over := p.tell(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
		failf("the page is %s pixels too wide", over)
	}
	for _, view := range []string{"week", "month", "list"} {
		p.visit("/calendar/" + view + "/2027-10-04")
		if top := p.number(`document.querySelector(".week, .month, .days").getBoundingClientRect().top`); top > 112 {
			failf("the %s begins at %.0f", view, top)
		}
		if small := p.tell(`[...document.querySelectorAll("header a, header > button, .top a, .top > button")].filter(e =>
			e.checkVisibility() && (e.offsetHeight < 44 || e.offsetWidth < 44 && !e.closest(".brand, nav")))
			.map(e => e.outerHTML).join()`); small != "" {
			failf("a finger misses %s", small)
		}
	}
	p.unfold("header .opener", "#menu")
	p.unfold(".top .opener", "#kinds")
	p.click("header .opener")
	p.there("#menu a[href$='connect']")
	p.there("#menu input[type=search]")
	p.click("header .opener")
	p.click(".top .opener")
	p.click(`#kinds a[href*="/week/"]`)
	p.until("for the week", `document.querySelector(".week")`)
	p.press("a.button.new")
	p.set("#title", "Cinema")
	p.set("#start", "2027-10-08")
	p.set("#start-time", "20:00")
	p.set("#end", "2027-10-08")
	p.set("#end-time", "22:00")
	p.press("form.event > button")
	h.starts(h.user, "Cinema", "20271001T000000Z/20271101T000000Z", "20271008T200000Z")
}

func twoTabs(h *house) {
	h.put(h.user, "dinner", "SUMMARY:Dinner", "DTSTART:20271203T180000Z", "DURATION:PT2H", "LOCATION:Lido")
	first, second := h.enter(h.user, look{}), h.enter(h.user, look{})
	for _, p := range []*person{first, second} {
		p.find("Dinner", "2027-12-03")
		p.press(`main a[href*="/edit"]`)
	}
	first.set("#title", "Dinner with Ana")
	first.press("form.event > button")
	second.set("#title", "Dinner with Ben")
	second.set("#notes", "Bring wine")
	second.press("form.event > button")
	second.says("Dinner with Ana")
	if kept := second.tell(`document.querySelector("#title").value`); kept != "Dinner with Ben" {
		failf("the title of the later one is lost: %s", kept)
	}
	if e := h.one(h.user, "VEVENT", "Dinner with Ana"); e.value("DESCRIPTION") != "" {
		failf("the later one overwrote it: %q", e)
	}
	second.press("form.event > button")
	if e := h.one(h.user, "VEVENT", "Dinner with Ben"); e.value("DESCRIPTION") != "Bring wine" {
		failf("it has %q", e)
	}
}

func carry(h *house) {
	h.put(h.user, "yoga", "SUMMARY:Yoga", "DTSTART:20270503T100000Z", "DURATION:PT1H")
	p := h.enter(h.user, look{})
	p.visit("/account/calendars")
	p.set("#name", "Sport")
	p.press("#new ~ form button")
	p.find("Yoga", "2027-05-03")
	p.click("details:has(#to) summary")
	p.tell(`(o => { o.selected = true; })([...document.querySelectorAll("#to option")]
		.find(o => o.text.includes("Sport")))`)
	p.press("button[name=do][value=move]")
	p.says("Sport")
	h.one(h.user, "VEVENT", "Yoga")
}
