package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// bookingErrands are errands of visitors of booking pages. Each has its own owner and page.
func bookingErrands() []errand {
	return []errand{
		{"book a time on a computer", false, bookOnComputer},
		{"book, move and cancel without JavaScript", true, bookWithoutScripts},
		{"book on a phone in the dark, in German", false, bookOnPhone},
		{"book and move by keyboard alone", false, bookByKeyboard},
		{"book in the zone of the browser", false, bookFarAway},
		{"book in a week when the clocks change", false, bookAtChange},
		{"book with a late link", false, bookLate},
		{"book a time that another visitor wants, too", false, bookTogether},
		{"book with answers to questions", false, bookWithAnswers},
		{"book with a wrong mail address first", false, bookWrongAddress},
		{"book for half an hour", false, bookShort},
		{"book after a full week", false, bookAfterFullWeek},
		{"book in a zone that does not exist", false, bookNowhere},
		{"book a page that is switched off", false, bookSwitchedOff},
		{"book a page for users", false, bookAsUser},
		{"book a page with a secret address", false, bookSecret},
		{"book a page by a hostile owner", false, bookHostile},
		{"book, press twice and go back", false, bookTwice},
		{"book too often", false, bookTooOften},
		{"book a time that the owner cancels", false, bookCancelledByOwner},
		{"make a booking page", false, makeBookingPage},
	}
}

// The parts of the pages.
const (
	firstTime = "section a.button"
	sendLink  = "main form[method=post] button"
	confirm   = "button[value=confirm]"
)

// pure checks the page with axe-core, and that it fits the screen. Without scripts, axe cannot run.
func (p *person) pure() {
	if over := p.tell(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
		failf("%s is %s pixels too wide", p.tell("location.href"), over)
	}
	if p.axe == "" {
		return
	}
	_, err := p.Eval("(() => {" + p.axe + "\n})()")
	must(err)
	found, err := p.Eval(`axe.run(document, {
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
	}).then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" | "))
		.concat(r.passes.length > 5 ? [] : ["axe looked at nothing"])))`)
	must(err)
	var violations []string
	must(json.Unmarshal([]byte(found), &violations))
	if len(violations) > 0 {
		failf("%s: %s", p.tell("location.href"), strings.Join(violations, "\n  "))
	}
}

// start returns the moment of the first time on the page.
func (p *person) start() time.Time {
	p.there(firstTime)
	at, err := time.Parse(time.RFC3339, p.tell(fmt.Sprintf(
		`new URL(document.querySelector(%q).href).searchParams.get("start")`, firstTime)))
	must(err)
	return at
}

// ask fills in the form for the first time, and returns the time.
func (p *person) ask(who string) time.Time {
	at := p.start()
	p.press(firstTime)
	p.pure()
	p.set("#name", "Eve "+who)
	p.set("#address", who+"@visitor.example")
	return at
}

// hold chooses the first time, and returns it with the link from the mail.
func (o *host) hold(p *person, who string) (time.Time, string) {
	p.visit(o.page())
	p.pure()
	at := p.ask(who)
	p.press(sendLink)
	p.says(who + "@visitor.example")
	p.pure()
	return at, o.link(who + "@visitor.example")
}

// booked checks the page of a booking, and that the owner's calendar has it at a time.
func (o *host) booked(p *person, at time.Time) entry {
	p.says("This time is booked")
	p.pure()
	return o.has(at, "CONFIRMED")
}

// has checks that the owner's calendar has one booking, at a time and with a status.
func (o *host) has(at time.Time, status string) entry {
	all := o.bookings()
	if len(all) != 1 || all[0].value("STATUS") != status {
		failf("the owner has %q, want one that is %s", all, status)
	}
	in, err := time.LoadLocation("Europe/Berlin")
	must(err)
	want := at.In(in).Format("20060102T150405")
	if got := all[0].value("DTSTART"); got != want && got != at.UTC().Format("20060102T150405Z") {
		failf("it begins at %s, want %s", got, want)
	}
	return all[0]
}

func (o *host) bookings() []entry {
	return slices.DeleteFunc(o.h.entries(o.name, "VEVENT", ""), func(e entry) bool {
		return !strings.HasPrefix(e.value("UID"), "booking.")
	})
}

// told returns the number of mails to the owner whose subject begins with a word.
func (o *host) told(word string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.sent {
		if l.to == o.name+"@example.com" && strings.HasPrefix(l.subject, word) {
			n++
		}
	}
	return n
}

func bookOnComputer(h *house) {
	o := h.host("bo1", "text", "By video.", "location", "https://meet.example/bo1")
	p := o.visitor(look{zone: "Europe/Berlin"})
	at, link := o.hold(p, "bo1")
	o.has(at, "TENTATIVE")
	p.visit(link)
	p.says("https://meet.example/bo1")
	p.pure()
	o.has(at, "TENTATIVE") // the link alone books nothing
	p.press(confirm)
	if e := o.booked(p, at); !strings.Contains(strings.Join(e, "\n"), "bo1@visitor.example") {
		failf("the visitor is no guest: %q", e)
	}
	if o.told("Booked: Talk") != 1 {
		failf("the owner got %d mails", o.told("Booked"))
	}
	if !strings.Contains(o.get("/account/booking"), "Eve bo1") {
		failf("the owner's page does not list the booking")
	}
	other := o.visitor(look{})
	other.visit(o.page())
	if !other.start().After(at) {
		failf("the booked time is offered")
	}
}

func bookWithoutScripts(h *house) {
	o := h.host("bo2")
	p := o.visitor(look{noScripts: true})
	at, link := o.hold(p, "bo2")
	p.visit(link)
	p.press(confirm)
	o.booked(p, at)
	p.press(`main a[href*="move=1"]`)
	p.press("section:nth-of-type(2) button[name=start]")
	p.says("This time is booked")
	to, err := time.Parse("20060102T150405", o.bookings()[0].value("DTSTART"))
	must(err)
	if to.Format(time.DateOnly) == at.Format(time.DateOnly) || o.told("Booking moved") != 1 {
		failf("it was moved to %v, and the owner got %d mails", to, o.told("Booking moved"))
	}
	p.press("button[value=cancel]")
	p.says("This booking is cancelled")
	if all := o.bookings(); len(all) > 0 || o.told("Booking cancelled") != 1 {
		failf("the owner has %q", all)
	}
}

func bookOnPhone(h *house) {
	o := h.host("bo3")
	p := o.visitor(look{phone: true, dark: true, language: "de", zone: "Europe/Berlin"})
	at, link := o.hold(p, "bo3")
	if lang := p.tell("document.documentElement.lang"); lang != "de" {
		failf("the page is in %q", lang)
	}
	if mail := o.mailTo("bo3@visitor.example", "/book/r/"); !strings.Contains(mail.text, "Minuten") {
		failf("the mail is not in German: %s", mail.text)
	}
	p.visit(link)
	p.pure()
	p.press(confirm)
	p.says("gebucht")
	p.pure()
	o.has(at, "CONFIRMED")
}

func bookByKeyboard(h *house) {
	o := h.host("bo4")
	p := o.visitor(look{zone: "Europe/Berlin"})
	enter := func(css string) { p.tabTo(css); p.leave(func() { p.keys(keyEnter) }) }
	p.visit(o.page())
	at := p.start()
	enter(firstTime)
	p.tabTo("#name")
	p.keys("Eve")
	p.tabTo("#address")
	p.keys("bo4@visitor.example")
	enter(sendLink)
	p.visit(o.link("bo4@visitor.example"))
	enter(confirm)
	o.booked(p, at)
	enter(`main a[href*="move=1"]`)
	enter("section:nth-of-type(2) button[name=start]")
	p.says("This time is booked")
	enter("button[value=cancel]")
	p.says("This booking is cancelled")
}

// clocks checks that each time on the page is written as the clock of a zone shows it, and returns the dates.
func (p *person) clocks(zone string) []string {
	in, err := time.LoadLocation(zone)
	must(err)
	var shown []struct{ Start, Text string }
	must(json.Unmarshal([]byte(p.tell(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(%q)].map(a => ({
		Start: new URL(a.href).searchParams.get("start"), Text: a.lastChild.textContent})))`, firstTime))), &shown))
	var days []string
	for _, one := range shown {
		at, err := time.Parse(time.RFC3339, one.Start)
		must(err)
		if want := at.In(in).Format("15:04"); one.Text != want {
			failf("%s is written %s, want %s", one.Start, one.Text, want)
		}
		days = append(days, at.In(in).Format(time.DateOnly))
	}
	return slices.Compact(days)
}

func bookFarAway(h *house) {
	o := h.host("bo5")
	p := o.visitor(look{zone: "America/New_York"})
	p.visit(o.page())
	p.clocks("Europe/Berlin")
	p.click("[data-take-zone]")
	p.press("form[method=get] button:not([type])")
	p.pure()
	p.clocks("America/New_York")
	at := p.ask("bo5")
	p.press(sendLink)
	mail := o.mailTo("bo5@visitor.example", "/book/r/")
	in, err := time.LoadLocation("America/New_York")
	must(err)
	if !strings.Contains(mail.text, at.In(in).Format("15:04")+" (America/New_York)") {
		failf("the mail says %s", mail.text)
	}
	p.visit(o.link("bo5@visitor.example"))
	p.says("America/New_York")
	p.press(confirm)
	o.booked(p, at)
}

func bookAtChange(h *house) {
	o := h.host("bo6", "hours-sun", "00:00-05:00, 09:00-17:00", "hours-mon", "09:00-17:00", "hours-sat", "09:00-17:00",
		"own-hours", "1")
	in, err := time.LoadLocation("Europe/Berlin")
	must(err)
	day := time.Now().In(in).AddDate(0, 0, 3)
	for ; ; day = day.AddDate(0, 0, 1) {
		_, before := day.Zone()
		if _, after := day.AddDate(0, 0, 1).Zone(); after != before {
			break
		}
	}
	from := day.AddDate(0, 0, -1).Format(time.DateOnly)
	p := o.visitor(look{zone: "Europe/Berlin"})
	p.visit(o.page() + "?zone=Europe/Berlin&from=" + from)
	p.says("The clocks in this time zone change on")
	p.pure()
	if days := p.clocks("Europe/Berlin"); len(days) < 3 {
		failf("it offers only %v", days)
	}
	p.visit(o.page() + "?zone=Asia/Tokyo&from=" + from)
	if p.clocks("Asia/Tokyo"); strings.Contains(p.tell("document.body.innerText"), "The clocks in this") {
		failf("Tokyo has no change of the clocks")
	}
	p.visit(o.page() + "?zone=Europe/Berlin&from=" + day.AddDate(0, 0, 1).Format(time.DateOnly))
	at := p.ask("bo6")
	p.press(sendLink)
	p.visit(o.link("bo6@visitor.example"))
	p.press(confirm)
	o.booked(p, at)
}

// sql changes the servers' database.
func (h *house) sql(statement string) {
	c := exec.Command("psql", "-q", os.Getenv("DATABASE_URL"), "-c", statement)
	if os.Getenv("DATABASE_URL") == "" {
		const run = `import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=30) as db: db.execute(sys.argv[2])`
		c = exec.Command("python3", "-c", run, os.Getenv("DATA_DIR")+"/calendar.db", statement)
	}
	if said, err := c.CombinedOutput(); err != nil {
		failf("%s: %w: %s", statement, err, said)
	}
}

func bookLate(h *house) {
	o := h.host("bo7")
	p := o.visitor(look{})
	_, link := o.hold(p, "bo7")
	h.sql("UPDATE booking_holds SET expires = 1 WHERE address = 'bo7@visitor.example'")
	p.visit(link)
	p.says("This link has expired")
	p.pure()
	at := p.ask("again7")
	p.press(sendLink)
	again := o.link("again7@visitor.example")
	p.visit(again)
	p.press(confirm)
	p.says("This time is booked")
	late := o.visitor(look{})
	late.visit(link)
	if !late.start().After(at) {
		failf("the late link offers the booked time")
	}
}

func bookTogether(h *house) {
	o := h.host("bo8")
	first, second := o.visitor(look{}), o.visitor(look{phone: true})
	for _, p := range []*person{first, second} { // both see the page before one chooses
		p.visit(o.page())
	}
	at := first.ask("first8")
	if also := second.ask("second8"); !also.Equal(at) {
		failf("one sees %v, the other %v", at, also)
	}
	first.press(sendLink)
	second.press(sendLink)
	first.visit(o.link("first8@visitor.example"))
	second.visit(o.link("second8@visitor.example"))
	first.press(confirm)
	second.press(confirm)
	second.says("not free any more")
	second.pure()
	o.booked(first, at)
	next := second.ask("second8")
	second.press(sendLink)
	second.says("second8@visitor.example")
	if !next.After(at) {
		failf("the next free time is %v", next)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); pause() {
		second.visit(o.link("second8@visitor.example"))
		if second.tell(fmt.Sprintf("Boolean(document.querySelector(%q))", confirm)) == "true" {
			break
		}
	}
	second.press(confirm)
	second.says("This time is booked")
	if n := len(o.bookings()); n != 2 {
		failf("the owner has %d bookings", n)
	}
}

func bookWithAnswers(h *house) {
	o := h.host("bo9", "question-0", "What is it about?", "required-0", "1", "question-1", "Anything else?")
	p := o.visitor(look{})
	p.visit(o.page())
	at := p.ask("bo9")
	p.says("Anything else?")
	p.set("#answer-0", "   ")
	p.set("#answer-1", "No; <b>thanks</b>")
	p.press(sendLink)
	p.says("Answer each required question")
	p.pure()
	for css, want := range map[string]string{
		"#name": "Eve bo9", "#address": "bo9@visitor.example", "#answer-1": "No; <b>thanks</b>",
	} {
		if kept := p.tell(fmt.Sprintf("document.querySelector(%q).value", css)); kept != want {
			failf("%s has %q, want %q", css, kept, want)
		}
	}
	p.set("#answer-0", "Boats\nand sails")
	p.press(sendLink)
	p.visit(o.link("bo9@visitor.example"))
	p.press(confirm)
	e := o.booked(p, at)
	want := `What is it about?\nBoats\nand sails\n\nAnything else?\nNo\; <b>thanks</b>`
	if got := e.value("DESCRIPTION"); got != want {
		failf("the description is %q, want %q", got, want)
	}
}

func bookWrongAddress(h *house) {
	o := h.host("bo10", "question-0", "About?")
	p := o.visitor(look{phone: true})
	p.visit(o.page())
	at := p.ask("bo10")
	p.set("#address", "bo10@example.com") // the owner's
	p.set("#answer-0", "Boats")
	p.press(sendLink)
	p.says("Enter your email address")
	p.pure()
	for css, want := range map[string]string{"#name": "Eve bo10", "#address": "bo10@example.com", "#answer-0": "Boats"} {
		if kept := p.tell(fmt.Sprintf("document.querySelector(%q).value", css)); kept != want {
			failf("%s has %q, want %q", css, kept, want)
		}
	}
	p.set("#address", "bo10@visitor.example")
	p.press(sendLink)
	p.visit(o.link("bo10@visitor.example"))
	p.press(confirm)
	o.booked(p, at)
}

func bookShort(h *house) {
	o := h.host("bo11")
	p := o.visitor(look{})
	p.visit(o.page())
	whole := p.tell(fmt.Sprintf("document.querySelectorAll(%q).length", firstTime))
	p.set("#minutes", "30")
	p.press("form[method=get] button:not([type])")
	if half := p.tell(fmt.Sprintf("document.querySelectorAll(%q).length", firstTime)); half == whole {
		failf("there are %s times for an hour and for half an hour", half)
	}
	at := p.ask("bo11")
	p.press(sendLink)
	p.visit(o.link("bo11@visitor.example"))
	p.press(confirm)
	in, err := time.LoadLocation("Europe/Berlin")
	must(err)
	want := at.Add(30 * time.Minute).In(in).Format("20060102T150405")
	if got := o.booked(p, at).value("DTEND"); got != want {
		failf("it ends at %s, want %s", got, want)
	}
}

func bookAfterFullWeek(h *house) {
	o := h.host("bo12")
	now := time.Now().UTC()
	h.put("bo12", "holiday", "SUMMARY:Holiday", "DTSTART;VALUE=DATE:"+now.AddDate(0, 0, -1).Format("20060102"),
		"DTEND;VALUE=DATE:"+now.AddDate(0, 0, 10).Format("20060102"))
	p := o.visitor(look{})
	p.visit(o.page())
	p.says("There is no free time in these seven days")
	p.pure()
	p.press(`main a[href*="from="]:not([rel~=next])`)
	if at := p.start(); at.Before(now.AddDate(0, 0, 9)) {
		failf("the next free time is %v", at)
	}
}

func bookNowhere(h *house) {
	o := h.host("bo13")
	p := o.visitor(look{noScripts: true})
	p.visit(o.page())
	p.set("#zone", "Mars/Phobos")
	p.press("form[method=get] button:not([type])")
	p.says("There is no time zone “Mars/Phobos”")
	p.start()
}

func bookSwitchedOff(h *house) {
	o := h.host("bo14", "on", "")
	p := o.visitor(look{})
	p.visit(o.page())
	off := p.tell("document.documentElement.outerHTML")
	p.visit("/book/nobody")
	if never := p.tell("document.documentElement.outerHTML"); never != off {
		failf("a page that is switched off is %s", off)
	}
	p.pure()
	o.save(o.id())
	p.visit(o.page())
	p.start()
}

func bookAsUser(h *house) {
	o := h.host("bo15", "access", "users")
	p := o.visitor(look{})
	p.visit(o.page())
	p.says("There is no such page")
	h.newcomer("ben")
	p.visit("/account/sign-in")
	p.set("#name", "ben")
	p.set("#password", h.passwords["ben"])
	p.press(`main form[action$="/sign-in"] button`)
	p.visit(o.page())
	at := p.start()
	p.press(firstTime)
	if got := p.tell(`document.querySelector("#address").value`); got != "ben@example.com" {
		failf("the form has the address %q", got)
	}
	p.press(sendLink)
	outside := o.visitor(look{phone: true}) // where the mail is read
	outside.visit(o.link("ben@example.com"))
	outside.press(confirm)
	o.booked(outside, at)
}

func bookSecret(h *house) {
	o := h.host("bo16", "access", "secret")
	p := o.visitor(look{})
	p.visit(o.page())
	p.says("There is no such page")
	page := regexp.MustCompile(`/book/[\w-]{30,}`).FindString(o.get("/account/booking/" + o.id()))
	p.visit(page)
	at := p.ask("bo16")
	p.press(sendLink)
	p.visit(o.link("bo16@visitor.example"))
	p.press(confirm)
	o.booked(p, at)
}

func bookHostile(h *house) {
	const markup = `<script>document.title="owned"</script><img src=x onerror="document.title='owned'">`
	o := h.host("bo17", "title", markup+"\u202e", "text", markup, "location", "javascript:alert(1)",
		"question-0", markup)
	p := o.visitor(look{phone: true})
	at, link := o.hold(p, "bo17")
	p.visit(link)
	p.says("javascript:alert(1)")
	if p.tell(`document.querySelectorAll("a[href^=javascript], main img").length`) != "0" {
		failf("the owner's markup works")
	}
	p.press(confirm)
	p.says("This time is booked")
	if title := p.tell("document.title"); title == "owned" {
		failf("the owner's script runs")
	}
	o.has(at, "CONFIRMED")
}

func bookTwice(h *house) {
	o := h.host("bo18")
	p := o.visitor(look{})
	at, link := o.hold(p, "bo18")
	p.visit(link)
	tab := o.visitor(look{})
	tab.visit(link)
	p.press(confirm)
	tab.press(confirm)
	o.booked(p, at)
	o.booked(tab, at)
	if o.told("Booked") != 1 {
		failf("the owner got %d mails", o.told("Booked"))
	}
	tab.press("button[value=cancel]")
	p.press("button[value=cancel]")
	p.says("This booking is cancelled")
	if o.told("Booking cancelled") != 1 {
		failf("the owner got %d mails", o.told("Booking cancelled"))
	}
	p.visit(link)
	p.says("This booking is cancelled")
	p.pure()
}

func bookTooOften(h *house) {
	o := h.host("bo19")
	p := o.visitor(look{noScripts: true})
	for range 5 {
		o.hold(p, "bo19")
	}
	p.visit(o.page())
	p.ask("bo19")
	p.press(sendLink)
	p.says("Too many times were chosen")
	if kept := p.tell(`document.querySelector("#name").value`); kept != "Eve bo19" {
		failf("the name is %q", kept)
	}
}

func bookCancelledByOwner(h *house) {
	o := h.host("bo20")
	p := o.visitor(look{})
	at, link := o.hold(p, "bo20")
	p.visit(link)
	p.press(confirm)
	e := o.booked(p, at)
	owner := o.visitor(look{})
	owner.visit("/account/sign-in")
	owner.set("#name", "bo20")
	owner.set("#password", h.passwords["bo20"])
	owner.press(`main form[action$="/sign-in"] button`)
	owner.find("Eve bo20", at.Format(time.DateOnly))
	owner.press("main a.danger")
	owner.send("main button.danger", owner.press)
	if all := o.bookings(); len(all) > 0 {
		failf("the event %s is still there", e.value("UID"))
	}
	p.visit(link)
	p.says("This booking is cancelled")
	p.visit(o.page())
	if !p.start().Equal(at) {
		failf("the time is not free again")
	}
}

func makeBookingPage(h *house) {
	o := h.host("bo21")
	p := o.visitor(look{zone: "Europe/Berlin"})
	p.visit("/account/sign-in")
	p.set("#name", "bo21")
	p.set("#password", h.passwords["bo21"])
	p.press(`main form[action$="/sign-in"] button`)
	p.visit("/account/booking")
	p.pure()
	p.press(`main a[href$="/booking/new"]`)
	p.pure()
	p.set("#title", "Lesson")
	p.set("#name", "lesson-bo21")
	p.set("#minutes", "45")
	p.tick("input[name=own-hours]")
	p.set("#hours-tue", "9 to 12")
	p.press("button[value=save]")
	p.says("Enter hours such as")
	p.pure()
	if kept := p.tell(`document.querySelector("#hours-tue").value`); kept != "9 to 12" {
		failf("the hours are %q", kept)
	}
	p.set("#hours-tue", "09:00-12:00")
	p.press("button[value=save]")
	p.says("Lesson")
	p.visit("/book/lesson-bo21?zone=Europe/Berlin")
	for _, day := range p.clocks("Europe/Berlin") {
		if at, err := time.Parse(time.DateOnly, day); err != nil || at.Weekday() != time.Tuesday {
			failf("it offers %s", day)
		}
	}
}
