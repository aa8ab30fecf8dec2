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
		{"month", "/calendar/month/2027-05-01", look{}},
		{"event", "", look{}},
		{"tasks", "/tasks/", look{}},
		{"phone", "/calendar/list/2027-05-03", look{phone: true}},
		{"dark", "/calendar/week/2027-05-03", look{dark: true}},
	} {
		p := h.enter(h.user, picture.look)
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

// demo fills the calendars of a family.
func (h *house) demo() {
	h.command("", "set-user", h.user, "--display-name", "Maria", "--timezone", "Europe/Berlin")
	h.newcomer("ana")
	h.newcomer("ben")
	h.command("", "set-user", "ana", "--display-name", "Ana")
	h.command("", "set-user", "ben", "--display-name", "Ben")
	for _, c := range [][2]string{{"family", "#1f7a4d"}, {"work", "#b3541e"}, {"school", "#7a3fa0"}} {
		h.ask(h.user, "MKCALENDAR", "/dav/calendars/"+h.user+"/"+c[0]+"/", "0",
			`<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/">`+
				`<D:set><D:prop><D:displayname>`+string(c[0][0]-'a'+'A')+c[0][1:]+`</D:displayname><A:calendar-color>`+
				c[1]+`</A:calendar-color></D:prop></D:set></C:mkcalendar>`)
	}
	for i, e := range []struct {
		calendar, title, start, length string
		more                           []string
	}{
		{"personal", "Yoga", "20270503T183000", "PT1H15M", []string{"RRULE:FREQ=WEEKLY", "LOCATION:Studio Nord"}},
		{"personal", "Dentist Dr Lang", "20270505T083000", "PT45M", nil},
		{"personal", "Dinner with Ana", "20270507T190000", "PT2H", []string{"LOCATION:Lido"}},
		{"family", "Swimming", "20270505T160000", "PT1H", []string{"RRULE:FREQ=WEEKLY", "LOCATION:Stadtbad"}},
		{"family", "Piano", "20270504T160000", "PT45M", []string{"RRULE:FREQ=WEEKLY;BYDAY=TU,TH"}},
		{"family", "Flea market", "20270508T100000", "PT3H", []string{"STATUS:TENTATIVE"}},
		{"work", "Standup", "20270503T093000", "PT30M", []string{"RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"}},
		{"work", "Review of the quarter", "20270503T140000", "PT1H30M", []string{"LOCATION:Room 2"}},
		{"work", "Interview", "20270504T103000", "PT1H", nil},
		{"work", "Planning", "20270506T100000", "PT2H", nil},
		{"work", "Lunch talk", "20270506T113000", "PT1H", nil},
		{"work", "Release", "20270518T140000", "PT1H", nil},
		{"school", "Maths test", "20270506T080000", "PT1H", nil},
		{"school", "Parents' evening", "20270504T190000", "PT1H30M", []string{
			"LOCATION:School\\, room 12", "DESCRIPTION:Bring the form for the class trip.",
			"ORGANIZER;CN=Maria:mailto:" + h.user + "@example.com",
			"ATTENDEE;CN=Maria;PARTSTAT=ACCEPTED:mailto:" + h.user + "@example.com",
			"ATTENDEE;CN=Ana;PARTSTAT=ACCEPTED:mailto:ana@example.com",
			"ATTENDEE;CN=Ben;PARTSTAT=NEEDS-ACTION:mailto:ben@example.com",
			"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT30M\r\nDESCRIPTION:Reminder\r\nEND:VALARM",
		}},
	} {
		h.putIn(e.calendar, h.user, fmt.Sprintf("demo%d", i), append([]string{
			"SUMMARY:" + e.title, "DTSTART;TZID=Europe/Berlin:" + e.start, "DURATION:" + e.length,
		}, e.more...)...)
	}
	h.putIn("school", h.user, "trip", "SUMMARY:Class trip", "DTSTART;VALUE=DATE:20270512", "DTEND;VALUE=DATE:20270515")
	h.putIn("family", h.user, "grandma", "SUMMARY:Grandma visits", "DTSTART;VALUE=DATE:20270507",
		"DTEND;VALUE=DATE:20270510")
	h.putIn("family", h.user, "birthday", "SUMMARY:Ben's birthday", "DTSTART;VALUE=DATE:20270521", "RRULE:FREQ=YEARLY")
	p := h.enter(h.user, look{})
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
