package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pictures writes pictures of the pages with demo data into a directory. The week is always the same one.
func (h *house) pictures(dir string) {
	must(os.MkdirAll(dir, 0o755))
	h.demo()
	for _, picture := range []struct {
		name, path string
		look       look
	}{
		{"week", "/calendar/week/2027-05-03", look{}},
		{"month", "/calendar/month/2027-05-01", look{tall: true}},
		{"event", "", look{}},
		{"tasks", "/tasks/", look{}},
		{"phone", "/calendar/list/2027-05-03", look{phone: true}},
		{"dark", "/calendar/week/2027-05-03", look{dark: true}},
	} {
		p := h.enter(maria, picture.look)
		if picture.path == "" {
			p.find("Parents' evening", "2027-05-04")
		} else {
			p.visit(picture.path)
		}
		p.there("main")
		quality := int64(80)
		shot, err := chromedp.Call(p.browser.(*chromium).tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
		})
		must(err)
		must(os.WriteFile(filepath.Join(dir, picture.name+".webp"), shot.Data, 0o644))
		if len(shot.Data) > 100_000 {
			failf("the picture %s has %d bytes", picture.name, len(shot.Data))
		}
	}
}

// maria is the user of the demo.
const maria = "maria"

// demo fills the calendars of a family: Maria and Ben, with Mia and Leo, and their friend Ana.
func (h *house) demo() {
	for _, name := range [][2]string{{maria, "Maria Keller"}, {"ben", "Ben Keller"}, {"ana", "Ana Costa"}} {
		h.newcomer(name[0])
		h.command("", "set-user", name[0], "--display-name", name[1], "--timezone", "Europe/Berlin")
	}
	for _, c := range [][2]string{{"family", "#1f7a4d"}, {"work", "#b3541e"}, {"school", "#7a3fa0"}} {
		h.ask(maria, "MKCALENDAR", "/dav/calendars/"+maria+"/"+c[0]+"/", "0",
			`<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/">`+
				`<D:set><D:prop><D:displayname>`+string(c[0][0]-'a'+'A')+c[0][1:]+`</D:displayname><A:calendar-color>`+
				c[1]+`</A:calendar-color></D:prop></D:set></C:mkcalendar>`)
	}
	h.ask(maria, "PROPPATCH", "/dav/calendars/"+maria+"/personal/", "0",
		`<D:propertyupdate xmlns:D="DAV:" xmlns:A="http://apple.com/ns/ical/"><D:set><D:prop>`+
			`<A:calendar-color>#3a5fc8</A:calendar-color></D:prop></D:set></D:propertyupdate>`)
	for i, e := range []struct {
		calendar, title, start, length string
		more                           []string
	}{
		{"personal", "Yoga", "20270503T183000", "PT1H15M", []string{"RRULE:FREQ=WEEKLY", "LOCATION:Studio Nord"}},
		{"personal", "Dentist Dr Lang", "20270505T083000", "PT45M", nil},
		{"personal", "Dinner with Ana", "20270507T190000", "PT2H", []string{"LOCATION:Lido"}},
		{"family", "Leo: swimming", "20270505T160000", "PT1H", []string{"RRULE:FREQ=WEEKLY", "LOCATION:Stadtbad"}},
		{"family", "Mia: piano", "20270504T160000", "PT45M", []string{"RRULE:FREQ=WEEKLY;BYDAY=TU,TH"}},
		{"family", "Flea market", "20270508T100000", "PT3H", []string{"STATUS:TENTATIVE"}},
		{"work", "Standup", "20270503T093000", "PT30M", []string{"RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"}},
		{"work", "Quarterly review", "20270503T140000", "PT1H30M", []string{"LOCATION:Room 2"}},
		{"work", "Interview", "20270504T103000", "PT1H", nil},
		{"work", "Hiring", "20270506T100000", "PT2H", nil},
		{"work", "Lunch talk", "20270506T113000", "PT1H", nil},
		{"work", "Release", "20270518T140000", "PT1H", nil},
		{"school", "Leo: maths test", "20270506T080000", "PT1H", nil},
		{"school", "Parents' evening", "20270504T190000", "PT1H30M", []string{
			"LOCATION:School\\, room 12", "DESCRIPTION:Bring the form for the class trip.",
			"ORGANIZER;CN=Maria Keller:mailto:maria@example.com",
			"ATTENDEE;CN=Maria Keller;PARTSTAT=ACCEPTED:mailto:maria@example.com",
			"ATTENDEE;CN=Ben Keller;PARTSTAT=NEEDS-ACTION:mailto:ben@example.com",
			"ATTENDEE;CN=Ana Costa;PARTSTAT=NEEDS-ACTION:mailto:ana@example.com",
			"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT30M\r\nDESCRIPTION:Reminder\r\nEND:VALARM",
		}},
	} {
		h.putIn(e.calendar, maria, fmt.Sprintf("demo%d", i), append([]string{
			"SUMMARY:" + e.title, "DTSTART;TZID=Europe/Berlin:" + e.start, "DURATION:" + e.length,
		}, e.more...)...)
	}
	h.putIn("school", maria, "trip", "SUMMARY:Class trip", "DTSTART;VALUE=DATE:20270512", "DTEND;VALUE=DATE:20270515")
	h.putIn("family", maria, "grandma", "SUMMARY:Grandma visits", "DTSTART;VALUE=DATE:20270507",
		"DTEND;VALUE=DATE:20270510")
	h.putIn("family", maria, "birthday", "SUMMARY:Ben's birthday", "DTSTART;VALUE=DATE:20270521", "RRULE:FREQ=YEARLY")
	for guest, answer := range map[string]string{"ben": "ACCEPTED", "ana": "TENTATIVE"} {
		p := h.enter(guest, look{})
		p.find("Parents' evening", "2027-05-04")
		p.press("button[name=answer][value=" + answer + "]")
	}
	p := h.enter(maria, look{})
	for _, task := range [][2]string{
		{"Buy paint", "2027-05-06"},
		{"Call the plumber", ""},
		{"Form for the class trip", "2027-05-11"},
		{"Book the train", ""},
	} {
		p.visit("/tasks/")
		p.set("form.add input[name=title]", task[0])
		p.set("form.add input[name=due]", task[1])
		p.press("form.add button")
	}
	p.press(`button[aria-label*="Book the train"]`)
}
