package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The errands use the calendar as people do. Each has a week of its own, so that they do not meet.
func errands() []trial {
	return []trial{
		{"errand: a weekly lesson by form, without JavaScript", (*walker).lesson},
		{"errand: drag over empty time, then drag the event", (*walker).dragging},
		{"errand: add in one line, by keyboard alone", (*walker).quickAdd},
		{"errand: delete and undo", (*walker).deleteAndUndo},
		{"errand: find the dentist of last year", (*walker).dentist},
		{"errand: tick a task", (*walker).tickTask},
		{"errand: print a month", (*walker).printMonth},
		{"errand: see a change made elsewhere within two seconds", (*walker).elsewhere},
	}
}

// says checks that the page shows a text.
func (w *walker) says(text string) error {
	var got string
	for range 100 {
		var err error
		if got, err = ask[string](w, `document.querySelector("main")?.innerText ?? ""`); err == nil &&
			strings.Contains(got, text) {
			return nil
		}
		pause()
	}
	return fmt.Errorf("the page %s does not say %q:\n%s", w.where(), text, got)
}

func (w *walker) lesson() error {
	off := func(v bool) error {
		_, err := chromedp.Call(w.tab, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: v})
		return err
	}
	if err := off(true); err != nil {
		return err
	}
	defer func() { _ = off(false) }()
	if err := w.open("/calendar/new?start=2027-02-02T16:00"); err != nil {
		return err
	}
	err := w.follow(
		chromedp.SetValue("#title", "Lesson"), chromedp.SetValue("#repeat", "weekly"),
		chromedp.Click("fieldset:has(#repeat) summary"),
		chromedp.Click("input[name=days][value=TU]"), chromedp.Click("input[name=days][value=TH]"),
		chromedp.Click("input[name=ends][value=until]"), chromedp.SetValue("#until", "2027-03-25"),
		chromedp.SetValue("#alarm0", "15"), chromedp.Click("form.event > button"),
	)
	if err != nil {
		return err
	}
	if err := w.says("The event is saved."); err != nil {
		return err
	}
	for day, want := range map[string]bool{
		"2027-02-04": true, "2027-02-05": false, "2027-03-25": true, "2027-03-30": false,
	} {
		if err := w.open("/calendar/day/" + day); err != nil {
			return err
		}
		text, err := chromedp.Run(w.tab, chromedp.Text("main"))
		if err != nil || strings.Contains(text, "Lesson") != want {
			return fmt.Errorf("the lesson is wrong on %s: %w", day, err)
		}
	}
	return nil
}

// point returns the place of a time of a day on the screen.
func (w *walker) point(day string, hour float64) (x, y float64, err error) {
	at, err := ask[[]float64](w, fmt.Sprintf(`(() => {
		const week = document.querySelector(".week"), box = document.querySelector(".hours > .day[data-day='%s']");
		week.scrollTop = box.offsetHeight * 8 / 24;
		const r = box.getBoundingClientRect();
		return [r.left + r.width / 2, r.top + r.height * %f / 24];
	})()`, day, hour))
	if err != nil {
		return 0, 0, err
	}
	return at[0], at[1], nil
}

// drag moves the mouse with the button down between two times.
func (w *walker) drag(fromDay string, from float64, toDay string, to float64) error {
	x, y, err := w.point(fromDay, from)
	if err != nil {
		return err
	}
	toX, toY, err := w.point(toDay, to)
	if err != nil {
		return err
	}
	steps := []chromedp.Action[chromedp.Void]{
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft,
			chromedp.ClickCount(1)),
	}
	for i := 1; i <= 8; i++ {
		part := float64(i) / 8
		steps = append(steps, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x+(toX-x)*part,
			y+(toY-y)*part, chromedp.ButtonLeft))
	}
	return w.do(append(steps,
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, toX, toY, chromedp.ButtonLeft,
			chromedp.ClickCount(1)))...)
}

func (w *walker) dragging() error {
	if err := errors.Join(w.do(chromedp.EmulateViewport(1280, 900)), w.open("/calendar/week/2027-05-04")); err != nil {
		return err
	}
	if err := w.drag("2027-05-04", 9.02, "2027-05-04", 11); err != nil {
		return err
	}
	if err := w.do(chromedp.WaitVisible("#title")); err != nil {
		return err
	}
	times, err := ask[string](w, `["start", "start-time", "end", "end-time"]
		.map(id => document.getElementById(id).value).join(" ")`)
	if err != nil || times != "2027-05-04 09:00 2027-05-04 11:00" {
		return fmt.Errorf("the drag chose %s, %w", times, err)
	}
	if err := w.follow(chromedp.SetValue("#title", "Dragged"), chromedp.Click("form.event > button")); err != nil {
		return err
	}
	if err := w.open("/calendar/week/2027-05-04"); err != nil {
		return err
	}
	if err := w.drag("2027-05-04", 9.5, "2027-05-06", 13.5); err != nil {
		return err
	}
	if err := w.says("The event is moved."); err != nil {
		return err
	}
	at, err := ask[string](w, `[...document.querySelectorAll(".block")]
		.find(b => b.innerText.includes("Dragged")).dataset.start`)
	if err != nil || at != "2027-05-06T13:00" {
		return fmt.Errorf("the event is at %s, %w", at, err)
	}
	return nil
}

func (w *walker) quickAdd() error {
	if err := w.open("/calendar/week/2027-06-01"); err != nil {
		return err
	}
	if err := w.do(chromedp.Focus("#quick")); err != nil {
		return err
	}
	if err := w.follow(chromedp.KeyEvent("Brunch 5 June 2027 11:30 at Lido" + kb.Enter)); err != nil {
		return err
	}
	if err := w.says("Understood as follows"); err != nil {
		return err
	}
	if err := w.follow(chromedp.Focus("#title"), chromedp.KeyEvent(kb.Enter)); err != nil {
		return err
	}
	if err := w.says("The event is saved."); err != nil {
		return err
	}
	return w.says("11:30–12:30")
}

func (w *walker) deleteAndUndo() error {
	if err := w.open("/calendar/day/2027-06-05"); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click(".block")); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click("main a.danger")); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click("main button.danger")); err != nil {
		return err
	}
	if err := w.says("The event is deleted."); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click("form.undo button")); err != nil {
		return err
	}
	if err := w.open("/calendar/day/2027-06-05"); err != nil {
		return err
	}
	return w.says("Brunch")
}

func (w *walker) dentist() error {
	last := time.Now().UTC().AddDate(-1, 0, -20)
	err := w.put("dentist", "VEVENT", "SUMMARY:Dentist Dr Lang\r\nDTSTART:"+last.Format("20060102T150405Z"))
	if err != nil {
		return err
	}
	if err := w.open("/calendar/"); err != nil {
		return err
	}
	if err := w.follow(chromedp.Focus("#find"), chromedp.KeyEvent("dentist"+kb.Enter)); err != nil {
		return err
	}
	err = w.follow(chromedp.Click("main input[name=past]"), chromedp.Click("main form[role=search] button"))
	if err != nil {
		return err
	}
	return w.says("Dentist Dr Lang")
}

func (w *walker) tickTask() error {
	if err := w.open("/tasks/"); err != nil {
		return err
	}
	err := w.follow(chromedp.SetValue("form.add input[name=title]", "Buy paint"), chromedp.Click("form.add button"))
	if err != nil {
		return err
	}
	if err := w.says("Buy paint"); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click(`button[aria-label*="Buy paint"]`)); err != nil {
		return err
	}
	return w.says("The task is finished.")
}

func (w *walker) printMonth() error {
	if err := w.open("/calendar/month/2027-05-01"); err != nil {
		return err
	}
	pdf, err := chromedp.Run(w.tab, chromedp.PrintToPDF())
	if err == nil && len(pdf) < 5000 {
		err = fmt.Errorf("the month is printed as %d bytes", len(pdf))
	}
	return err
}

func (w *walker) elsewhere() error {
	if err := w.open("/calendar/week/2027-07-05"); err != nil {
		return err
	}
	time.Sleep(time.Second) // the stream opens
	if err := w.put("far", "VEVENT", "SUMMARY:From my phone\r\nDTSTART:20270706T100000Z"); err != nil {
		return err
	}
	began := time.Now()
	if err := w.says("From my phone"); err != nil {
		return err
	}
	if took := time.Since(began); took > 2*time.Second {
		return fmt.Errorf("the change appeared after %s", took)
	}
	return nil
}

// put stores an object as a calendar app does.
func (w *walker) put(uid, kind, lines string) error {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//walker//EN\r\nBEGIN:" + kind + "\r\nUID:" + uid +
		"\r\nDTSTAMP:20260101T000000Z\r\n" + lines + "\r\nEND:" + kind + "\r\nEND:VCALENDAR\r\n"
	r, err := http.NewRequest(http.MethodPut, w.origin()+"/dav/calendars/"+w.user+"/personal/"+uid+".ics",
		strings.NewReader(text))
	if err != nil {
		return err
	}
	r.SetBasicAuth(w.user, w.password)
	r.Header.Set("Content-Type", "text/calendar")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return errors.New(res.Status)
	}
	return nil
}
