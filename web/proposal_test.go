package web_test

import (
	"bytes"
	"net/http"
	"regexp"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// TestProposals: what a guest proposes is on the organizer's home page, who takes it up, or keeps the time; nobody else
// can.
func TestProposals(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		users := map[string]calendar.User{}
		cals := map[string]calendar.Calendar{}
		for _, name := range []string{"ann", "bob", "eve"} {
			u, mail := h.user(name), name+"@example.com"
			h.must(h.store.ChangeUser(t.Context(), u.ID, auth.UserEdit{Email: &mail}))
			u.Email = mail
			users[name], cals[name] = u, h.made(u, "Work")
		}
		h.put(callerOf(users["ann"]), cals["ann"], object("VEVENT", "lunch", "Lunch", "DTSTART:20260503T080000Z",
			"DTEND:20260503T090000Z", "ORGANIZER:mailto:ann@example.com", "ATTENDEE:mailto:bob@example.com"))
		hours := 1
		propose := func(hour int) {
			start := ical.Instant(time.Date(2026, 5, 3, hour, 0, 0, 0, time.UTC))
			bob := callerOf(users["bob"])
			_, err := h.calendars.Propose(t.Context(), bob, cals["bob"], "lunch", delivery.ProposedTime{
				Times: edit.Times{
					Start: edit.To(start),
					End:   edit.To(ical.Instant(time.Date(2026, 5, 3, hour+hours, 0, 0, 0, time.UTC))),
				}, Comment: "My <b>train</b>",
			})
			h.must(err)
		}
		form := func(b *browser) (path string, fields []string) {
			body := b.get("").body
			path = regexp.MustCompile(`proposals/[^"]+`).FindString(body)
			for _, name := range []string{"which", "start", "end"} {
				fields = append(fields, name,
					regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(body)[1])
			}
			return path, fields
		}
		propose(12)
		ann := h.as("ann")
		ann.get("").shows(http.StatusOK, "bob@example.com proposes", "Sun 3 May 14:00 – Sun 3 May 15:00",
			"Sun 3 May, 10:00–11:00", "My <b>train</b>")
		path, fields := form(ann)
		h.as("eve").post(path, append(fields, "answer", "accept")...).shows(http.StatusNotFound)
		ann.post(path, append(fields, "answer", "perhaps")...).shows(http.StatusUnprocessableEntity)
		ann.post(path, append(fields, "answer", "accept")...).at("?done=proposal-accepted").shows(http.StatusOK,
			"The event has the new time").hides("proposes")
		h.as("bob").get("").shows(http.StatusOK, "14:00–15:00")
		ann.post(path, append(fields, "answer", "accept")...).shows(http.StatusNotFound, "no longer valid")
		propose(16)
		path, fields = form(ann)
		hours = 3
		propose(16) // longer, after the page was shown
		ann.post(path, append(fields, "answer", "accept")...).shows(http.StatusNotFound, "no longer valid")
		path, fields = form(ann)
		ann.post(path, append(fields, "answer", "decline")...).at("?done=proposal-declined").shows(http.StatusOK,
			"The event stays", "14:00–15:00").hides("proposes")
		propose(18)
		for _, name := range []calendar.ObjectName{"long", "longer"} {
			h.must(h.store.Update(t.Context(), func(tx calendar.Tx) error {
				item := calendar.InboxItem{
					Name: name, Method: calendar.MethodCounter, Created: time.Now(),
					Data: bytes.Repeat([]byte("x"), 5<<20),
				}
				return tx.PutInboxItems(t.Context(), []calendar.InboxEntry{{To: users["ann"].ID, InboxItem: item}})
			}))
		}
		ann.get("").shows(http.StatusOK, "bob@example.com proposes", "Sun 3 May 20:00",
			"2 messages are too long for this page")
	})
}
