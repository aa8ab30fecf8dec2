package main

import (
	"archive/zip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// guestsAndRoom invites two people and a room at the first time when all are free.
func guestsAndRoom(h *house) {
	h.three()
	h.command("", "create-room", "blue", "--email", "blue@example.com")
	// Ana and Ben leave only the time from 13:00 to 14:00.
	h.put("ana", "busy", "SUMMARY:Busy", "DTSTART:20271206T080000Z", "DTEND:20271206T130000Z")
	h.put("ben", "busy", "SUMMARY:Busy", "DTSTART:20271206T140000Z", "DTEND:20271206T190000Z")
	p := h.enter(h.user, look{noScripts: true})
	p.visit("/calendar/new?start=2027-12-06T09:00")
	p.set("#title", "Workshop")
	p.set("#guests", "ana@example.com\nben@example.com\nblue@example.com")
	p.press("button[name=times]")
	p.press(".slots button[name=take]")
	p.send("form.event > button", p.press)
	e := h.starts("ana", "Workshop", "20271206T000000Z/20271207T000000Z", "20271206T130000Z")
	if room := strings.Join(h.one(h.user, "VEVENT", "Workshop"), "\n"); !strings.Contains(room, "PARTSTAT=ACCEPTED") {
		failf("the room did not accept: %s, %s", room, e)
	}
}

// holidays subscribes to a feed.
func holidays(h *house) {
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/calendar")
		fmt.Fprint(w, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//school//EN\r\nBEGIN:VEVENT\r\nUID:summer\r\n"+
			"DTSTAMP:20260101T000000Z\r\nSUMMARY:Summer holidays\r\nDTSTART;VALUE=DATE:20290702\r\n"+
			"DTEND;VALUE=DATE:20290811\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	}))
	defer feed.Close()
	p := h.enter(h.user, look{})
	p.visit("/account/linked")
	p.set("#feed-url", feed.URL+"/holidays.ics")
	p.set("#feed-name", "School holidays")
	p.press("form:has(#feed-url) button")
	for range 100 {
		p.visit("/calendar/month/2029-07-01")
		if p.tell(`document.querySelector("main").innerText.includes("Summer holidays")`) == "true" {
			h.starts(h.user, "Summer holidays", "20290701T000000Z/20290801T000000Z", "20290702")
			return
		}
		pause()
	}
	failf("the holidays do not come")
}

// takeout imports an archive of 15,000 events, as Google makes it.
func takeout(h *house) {
	dir, err := os.MkdirTemp("", "takeout")
	must(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "takeout.zip")
	f, err := os.Create(name)
	must(err)
	z := zip.NewWriter(f)
	w, err := z.Create("judge@example.com.ics")
	must(err)
	fmt.Fprint(w, "BEGIN:VCALENDAR\r\nPRODID:-//Google Inc//Google Calendar 70.9054//EN\r\nVERSION:2.0\r\n"+
		"CALSCALE:GREGORIAN\r\nMETHOD:PUBLISH\r\nX-WR-CALNAME:Takeout\r\nX-WR-TIMEZONE:Europe/Berlin\r\n")
	for i := range 15_000 {
		start := time.Date(2005, 1, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i) * 12 * time.Hour)
		fmt.Fprintf(w, "BEGIN:VEVENT\r\nDTSTART:%s\r\nDTEND:%s\r\nDTSTAMP:20261101T000000Z\r\nUID:g%d@google.com\r\n"+
			"SUMMARY:Event %d\r\nSEQUENCE:0\r\nSTATUS:CONFIRMED\r\nTRANSP:OPAQUE\r\nEND:VEVENT\r\n",
			start.Format("20060102T150405Z"), start.Add(time.Hour).Format("20060102T150405Z"), i, i)
	}
	fmt.Fprint(w, "END:VCALENDAR\r\n")
	must(z.Close())
	must(f.Close())
	p := h.enter(h.user, look{})
	p.visit("/account/import")
	must(p.Attach("#file", name))
	p.press("form:has(#file) button")
	wait := func(css string) {
		for range 600 {
			if p.tell(fmt.Sprintf(`Boolean(document.querySelector(%q))`, css)) == "true" {
				return
			}
			time.Sleep(time.Second)
			p.visit(p.tell("location.pathname"))
		}
		failf("%s does not come", css)
	}
	wait("button[value=start]")
	p.press("button[value=start]")
	wait("main form[action$='/undo']")
	h.starts(h.user, "Event 14999", "20250714T000000Z/20250716T000000Z", "20250714T200000Z")
	count := 0
	for _, e := range h.entries(h.user, "VEVENT", "") {
		if strings.HasSuffix(e.value("UID"), "@google.com") {
			count++
		}
	}
	if count != 15_000 {
		failf("%d events came", count)
	}
}

// partner invites a user, who gets two calendars and the zone of their phone, within a minute.
func partner(h *house) {
	p := h.enter(h.user, look{})
	p.visit("/account/calendars")
	p.set("#name", "Family")
	p.press("#new ~ form button")
	p.visit("/account/invite")
	began := time.Now()
	p.set("#name", "dora")
	p.set("#display-name", "Dora")
	p.set("#language", "de")
	for _, name := range []string{"Personal", "Family"} {
		id := p.tell(fmt.Sprintf(`[...document.querySelectorAll("label[for^=share-]")]
			.find(l => l.innerText == %q).htmlFor`, name))
		p.set("#"+id, "write")
	}
	p.press("form:has(#display-name) > button")
	link, err := url.Parse(p.tell(`document.querySelector(".secret").innerText.trim()`))
	must(err)
	d := h.stranger(look{phone: true, zone: "America/New_York"})
	d.visit(link.Path)
	d.says("Passwort")
	d.set("#password", "dora has a password")
	d.set("#again", "dora has a password")
	d.press("main form button")
	h.passwords["dora"] = "dora has a password"
	h.put(h.user, "school-run", "SUMMARY:School run", "DTSTART:20291105T150000Z", "DURATION:PT1H")
	d.visit("/calendar/day/2029-11-05")
	d.says("School run 10:00")
	for _, name := range []string{"Personal", "Family"} {
		d.until("for "+name, fmt.Sprintf(`[...document.querySelectorAll(".ticks label")].some(l =>
			l.textContent.includes(%q) && l.textContent.includes(%q))`, name, h.user))
	}
	h.starts("dora", "School run", "20291105T000000Z/20291106T000000Z", "20291105T150000Z")
	if took := time.Since(began); took > time.Minute {
		failf("it took %s", took)
	}
}
