package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

var takes = regexp.MustCompile(`name="take" value="([^"]+)"[^>]*>([^<]+)<`)

// The form shows everyone's day and the first times when all are free, and a button sets the time. It saves nothing.
func TestFreeTimes(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		mail, zone, hours := "bob@example.com", "America/New_York", "08:00-12:00"
		bob, err := h.auth.ChangeUser(h.Context(), "bob", auth.UserEdit{
			Email: &mail, Timezone: &zone, WorkingHours: &hours,
		})
		h.must(err)
		work, home := h.made(ann, "Work"), h.made(bob, "Home")
		b := h.as("ann")
		ask := func(fields ...string) shown {
			fields = append([]string{
				"title", "Plan", "guests", "bob@example.com\r\nZoe <zoe@example.org>", "times", "2026-05-05",
			}, fields...)
			return b.get("/calendar/new?start=2026-05-05T10:00&calendar="+string(work.ID)).
				submit("/calendar/new", fields...)
		}
		// The hours and the zone of a user whom Ann does not know stay secret, the busy times do not.
		h.put(callerOf(bob), home, object("VEVENT", "one", "Secret", "DTSTART:20260505T120000Z",
			"DTEND:20260505T130000Z"))
		h.put(callerOf(bob), home, object("VEVENT", "two", "Secret too", "DTSTART:20260505T070000Z", "STATUS:TENTATIVE",
			"DTEND:20260505T080000Z"))
		page := ask().shows(http.StatusOK, "Zoe", "Not known, because this guest has no account here",
			"busy 14:00–15:00", "maybe busy 09:00–10:00", "Tue 5 May, 10:00–11:00").
			hides("Secret", "08:00-12:00")
		if found := takes.FindStringSubmatch(page.body); found == nil || found[1] != "2026-05-05T08:00:00Z" {
			t.Errorf("the first time is %q, want 10:00 in Berlin", found)
		}
		// A user who shares a calendar with Ann shows both.
		h.share(ann, work, bob, calendar.ReadAccess)
		page = ask().shows(http.StatusOK, "08:00-12:00 America/New_York", "Tue 5 May, 15:00–16:00").hides("Secret")
		if !strings.Contains(page.body, `class="tentative" x="540" width="60"`) ||
			!strings.Contains(page.body, `class="open" x="840" width="240"`) ||
			!strings.Contains(page.body, `class="meeting" x="600" width="60"`) {
			t.Errorf("the bars are elsewhere:\n%s", page.body)
		}
		taken := takes.FindStringSubmatch(page.body)[1]
		page = page.submit("/calendar/new", "take", taken).shows(http.StatusOK, "Tuesday 5 May 2026")
		if !strings.Contains(page.body, `value="15:00"`) || !strings.Contains(page.body, `value="16:00"`) {
			t.Errorf("the time is not set:\n%s", page.body)
		}
		page = page.submit("/calendar/new").shows(http.StatusOK, "The event is saved")
		data := h.storedBy(ann, work, "Plan")
		if !strings.Contains(data, "DTSTART;TZID=Europe/Berlin:20260505T150000") || !strings.Contains(data, "zoe@") {
			t.Errorf("the event is:\n%s", data)
		}
		// The event itself does not make its guests busy while its time is changed.
		form := b.get(b.get(page.link("Plan")).link("Edit event"))
		form.submit("/edit", "times", "2026-05-05").shows(http.StatusOK, "Tue 5 May, 15:00–16:00")
		form.submit("/edit", "times", "2026-05-05", "guests", "nosuch").
			shows(http.StatusUnprocessableEntity, "nosuch").hides(`name="take"`)
		form.submit("/edit", "times", "2026-05-05", "all-day", "1").shows(http.StatusOK, "Times are offered for events")
		form.submit("/edit", "take", "yesterday").shows(http.StatusUnprocessableEntity, "“yesterday” is not a date")
		if got := h.storedBy(ann, work, "Plan"); got != data {
			t.Errorf("asking for free times changed the event:\n%s", got)
		}
	})
}

// If no time suits everyone, the page says why and offers times when optional guests are busy.
func TestFreeTimesOfOptionalGuests(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		for _, name := range []string{"bob", "carl"} {
			mail := name + "@example.com"
			u, err := h.auth.CreateUser(h.Context(), auth.NewUser{
				Name: name, Email: mail, Password: rightPassword, Timezone: "Europe/Berlin",
			})
			h.must(err)
			from := map[string]string{"bob": "20260501T000000Z", "carl": "20260511T120000Z"}[name]
			h.put(callerOf(u), h.made(u, "Own"), object("VEVENT", "x", "Away", "DTSTART:"+from,
				"DTEND:20260701T000000Z"))
		}
		page := h.as("ann").get("/calendar/new?start=2026-05-05T10:00&calendar="+string(work.ID)).
			submit("/calendar/new", "guests", "carl@example.com", "optional", "bob@example.com", "times", "2026-05-11")
		page.shows(http.StatusOK, "Someone is busy at every possible time", "Mon 11 May, 09:00–10:00",
			"busy: bob@example.com").hides("busy: carl")
	})
}
