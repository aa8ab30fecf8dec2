package web_test

import (
	"net/http"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// The home page tells what assistants did since the visit before this one, on each page of the visit; of the last seven
// days to somebody who was never here before.
func TestLastVisit(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		work := h.made(ann, "Work")
		claude := h.assistant(ann, "Claude")
		did := func(uid, title string) {
			h.put(claude, work, object("VEVENT", uid, title, "DTSTART:20270503T080000Z"))
		}
		seen := func(user calendar.User) { // what the service writes down out of the request's way
			sessions, err := h.auth.Sessions(t.Context(), user)
			h.must(err)
			h.must(h.store.TouchSession(t.Context(), sessions[0].ID, h.Now()))
		}
		did("1", "Aardvark")
		h.pass(8 * 24 * time.Hour)
		did("2", "Badger")
		b := h.as("ann")
		b.get("").shows(http.StatusOK, "in the last seven days", "Badger").hides("Aardvark", "since your last visit")
		h.pass(20 * time.Minute)
		did("3", "Civet")
		b.get("").shows(http.StatusOK, "in the last seven days", "Badger", "Civet")
		seen(ann)

		h.pass(10 * 24 * time.Hour)
		did("4", "Dingo")
		h.pass(time.Minute)
		// Whatever page a visit begins with, and however often the home page is opened.
		b.get("journal").shows(http.StatusOK, "Dingo")
		seen(ann)
		for range 2 {
			b.get("").shows(http.StatusOK, "since your last visit, Sat 9 May 14:20", "Dingo").hides("Badger")
		}
		// Another browser knows of the visit from the session that was here.
		h.pass(2 * time.Hour)
		did("5", "Emu")
		b = h.as("ann")
		b.get("").shows(http.StatusOK, "since your last visit", "Emu").hides("Dingo")
		b.get("").shows(http.StatusOK, "since your last visit", "Emu").hides("Dingo")
		// Another person who signs in there is told nothing of it.
		b.post("sign-out")
		b.post("sign-in", "name", "bob", "password", rightPassword)
		b.get("").shows(http.StatusOK, "in the last seven days").hides("since your last visit", "Emu")
	})
}
