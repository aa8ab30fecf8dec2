package web_test

import (
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// A guest answers on Home, proposes another time and reads why the event is cancelled; the organizer decides.
func TestInvitationOfUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		users := map[string]calendar.User{}
		for _, name := range []string{"ann", "bob"} {
			u, err := h.auth.CreateUser(h.Context(), auth.NewUser{
				Name: name, Email: name + "@example.com", Password: rightPassword, Timezone: "Europe/Berlin",
			})
			h.must(err)
			users[name] = u
		}
		work := h.made(users["ann"], "Work")
		h.made(users["bob"], "Home")
		ann, bob := h.as("ann"), h.as("bob")
		ann.get("/calendar/new?start=2026-05-05T10:00&calendar="+string(work.ID)).
			submit("/calendar/new", "title", "Plan", "guests", "bob@example.com").
			shows(http.StatusOK, "The event is saved")
		home := bob.get("").shows(http.StatusOK, "Invitations", "Plan", "10:00–11:00")
		home.submit("/answer", "answer", "TENTATIVE", "comment", "Perhaps later").at("?done=answered").
			hides(`id="waiting"`)
		page := bob.get(home.link("Plan"))
		page.submit("/propose", "start", "2026-02-30T14:00").
			shows(http.StatusUnprocessableEntity).hides("Your proposal is sent")
		page.submit("/propose", "start", "2026-05-05T14:00", "end", "2026-05-05T15:00", "comment", "After lunch").
			shows(http.StatusOK, "Your proposal is sent")
		organizer := ann.get(ann.get("/calendar/week/2026-05-05").link("Plan")).
			shows(http.StatusOK, "Perhaps later", "Tue 5 May, 14:00 – Tue 5 May, 15:00", "After lunch")
		organizer.submit("/proposals/", "answer", "accept").shows(http.StatusOK, "The event has the new time", "Plan").
			hides("After lunch")
		data := h.storedBy(users["ann"], work, "Plan")
		if !strings.Contains(data, "DTSTART;TZID=Europe/Berlin:20260505T140000") {
			t.Errorf("the event is:\n%s", data)
		}
		bob.get("").shows(http.StatusOK, "14:00–15:00").hides(`id="waiting"`) // a proposal is the answer of its guest
		ann.get(organizer.link("Delete event")).submit("/delete", "comment", "I am ill").
			shows(http.StatusOK, "The event is deleted")
		bob.get(home.link("Plan")).shows(http.StatusOK, "cancelled", "I am ill")
	})
}
