package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestBlockingSharer: one click leaves a calendar, or declines one that is offered, and blocks its owner, until they
// are unblocked.
func TestBlockingSharer(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		bobUser := h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		made := func(name string) string {
			return strings.TrimSuffix(ann.post("calendars", "name", name, "kind", "events").shows(http.StatusOK, name).
				path, "?done=calendar-made")
		}
		choir, dance := made("Choir"), made("Dance")
		ann.post(choir+"/share", "with", "bob", "access", "read").shows(http.StatusOK, "Shared.", "not answered yet")
		ann.post(dance+"/share", "with", "bob", "access", "busy").shows(http.StatusOK, "Shared.", "not answered yet")
		invitations := regexp.MustCompile(`invitations/[0-9a-f]+`)

		// Each has a page of its own, which the mail about it names. Without JavaScript, as here.
		for _, one := range invitations.FindAllString(bob.get("").shows(http.StatusOK, "Offered to you", "Choir",
			"Dance").body, -1) {
			page := bob.get(one).shows(http.StatusOK, "ann offers you the calendar", "Accept", "Decline and block ann")
			if strings.Contains(page.body, "Choir") {
				bob.post(one, "answer", "accept").at("calendars?done=invitation-accepted").shows(http.StatusOK, "Choir")
			}
			ann.get(one).shows(http.StatusNotFound)
		}
		bob.get(choir).shows(http.StatusOK, "Leave and block ann")
		bob.post(choir+"/block").at("calendars?done=sharer-blocked").
			shows(http.StatusOK, "You have left the calendars that this user shares", "Blocked users", "ann").
			hides("Choir", "Dance")
		bob.get(choir).shows(http.StatusNotFound)
		bob.get("").shows(http.StatusOK).hides("Offered to you")
		ann.post(choir+"/share", "with", "bob", "access", "read").shows(http.StatusUnprocessableEntity,
			"takes no calendars at present").hides("Block")

		bob.post("unblock", "name", "carl").shows(http.StatusNotFound, "carl")
		bob.post("unblock", "name", "ann").at("calendars?done=sharer-unblocked").shows(http.StatusOK,
			"can share calendars with you again.").hides("Blocked users")
		ann.post(choir+"/share", "with", "bob", "access", "read").shows(http.StatusOK, "Shared.", "not answered yet")

		one := invitations.FindString(bob.get("").shows(http.StatusOK, "Offered to you", "Choir").body)
		bob.post(one, "answer", "block").at("calendars?done=sharer-blocked").shows(http.StatusOK, "Blocked users").
			hides("Choir")
		bob.get(one).shows(http.StatusNotFound)
		bob.post(one, "answer", "accept").shows(http.StatusUnprocessableEntity, "You have blocked")
		ann.post(choir+"/block").shows(http.StatusUnprocessableEntity, "is yours")
		blocked, err := h.calendars.Blocked(t.Context(), callerOf(bobUser))
		h.must(err)
		if len(blocked) != 1 || blocked[0].Name != "ann" {
			t.Errorf("blocked are %v", blocked)
		}
	})
}

// TestLongNamesOfOthers: other users see the first hundred characters of a name, and whose calendar it is.
func TestLongNamesOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		bobUser := h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		made := ann.post("calendars", "name", strings.Repeat("x", 150), "kind", "events").shows(http.StatusOK)
		ann.post(strings.TrimSuffix(made.path, "?done=calendar-made")+"/share", "with", "bob", "access", "busy").
			shows(http.StatusOK, "Shared.")
		offer := bob.get("").shows(http.StatusOK, "xxx…").hides(strings.Repeat("x", 101))
		bob.post(regexp.MustCompile(`invitations/[0-9a-f]+`).FindString(offer.body), "answer", "accept").
			shows(http.StatusOK)
		all, err := h.calendars.SharedCalendars(t.Context(), callerOf(bobUser))
		h.must(err)
		if len(all) != 1 || all[0].Name != strings.Repeat("x", 100)+"… (ann)" ||
			all[0].Access != calendar.FreeBusyAccess {
			t.Errorf("bob has %+v", all)
		}
	})
}
