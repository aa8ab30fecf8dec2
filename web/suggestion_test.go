package web_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// TestSuggestionPages: what an assistant suggests is on pages of its user alone, with the people who would get a
// message. It is accepted once, also after another change, and never when its object has changed since the page was
// shown.
func TestSuggestionPages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		users := map[string]calendar.User{}
		for _, name := range []string{"ann", "bob", "eve"} {
			u, mail := h.user(name), name+"@example.com"
			h.must(h.store.ChangeUser(t.Context(), u.ID, auth.UserEdit{Email: &mail}))
			u.Email = mail
			users[name] = u
		}
		cal := h.made(users["ann"], "Work")
		bobs := h.made(users["bob"], "Work")
		h.put(callerOf(users["ann"]), cal, object("VEVENT", "lunch", "Lunch", "DTSTART:20260503T080000Z",
			"DTEND:20260503T090000Z", "ORGANIZER:mailto:ann@example.com", "ATTENDEE:mailto:bob@example.com"))
		claude := h.assistant(users["ann"], "Claude <b>")
		claude.Scopes = calendar.ScopeRead | calendar.ScopePropose
		suggest := func(do func(*ledger.Batch) error) string {
			m := h.calendars.Meter(t.Context(), claude)
			defer m.Close()
			batch := h.calendars.NewBatch(claude.Proposing(), m, calendar.TellAll)
			h.must(do(batch))
			s, err := batch.Suggest(t.Context())
			h.must(err)
			return "suggestions/" + string(s.ID)
		}
		change := func(c edit.Change) func(*ledger.Batch) error {
			return func(batch *ledger.Batch) error {
				_, err := batch.EditObject(t.Context(), claude.Proposing(), cal, "lunch", ledger.Edit{Change: c})
				return err
			}
		}
		at := func(hour int) edit.Field[ical.Time] {
			return edit.To(ical.Instant(time.Date(2026, 5, 3, hour, 0, 0, 0, time.UTC)))
		}
		state := func(body string) string {
			return html.UnescapeString(regexp.MustCompile(`name="state" value="([^"]*)"`).FindStringSubmatch(body)[1])
		}
		ann, eve := h.as("ann"), h.as("eve")
		path := suggest(change(edit.Change{Times: edit.Times{Start: at(12), End: at(13)}}))
		for _, page := range []string{"", "suggestions"} {
			if body := ann.get(page).shows(http.StatusOK, "Claude <b>", "moved").body; !strings.Contains(body, path) {
				t.Errorf("%s has no link to %s", page, path)
			}
		}
		const week = "/calendar/week/2026-05-03"
		body := ann.get(week).shows(http.StatusOK, "suggested by Claude <b>", "suggests to remove").body
		// A script hangs the class ghost on an entry that is dragged: it lets clicks through.
		if !strings.Contains(body, "suggested") || strings.Contains(body, "ghost") {
			t.Errorf("the entries have other classes:\n%s", body)
		}
		seen := state(ann.get(path).shows(http.StatusOK, "bob@example.com", "14:00").body)
		eve.get("suggestions").shows(http.StatusOK, "No suggestions").hides("Lunch")
		eve.get(path).shows(http.StatusNotFound)
		eve.post(path, "answer", "accept", "state", seen).shows(http.StatusNotFound)
		eve.post(path, "answer", "decline").shows(http.StatusNotFound)

		// Ann renames the lunch after the page was shown.
		h.must(func() error {
			_, err := h.calendars.EditObject(t.Context(), callerOf(users["ann"]), cal, "lunch", ledger.Edit{
				Change: edit.Change{Fields: edit.Fields{Summary: edit.To("Brunch")}},
			})
			return err
		}())
		again := ann.post(path, "answer", "accept", "state", seen).shows(http.StatusConflict, "has changed",
			"Brunch").body
		ann.post(path, "answer", "accept", "state", state(again)).shows(http.StatusOK, "Accepted", "No suggestions")
		ann.get("?from=2026-05-03").shows(http.StatusOK, "Brunch", "14:00–15:00")
		ann.post(path, "answer", "accept", "state", seen).shows(http.StatusOK, "Accepted. The calendar is changed.")
		ann.get(week).shows(http.StatusOK, "Brunch").hides("suggest")

		// Bob's answer, which comes after the suggestion, stays.
		path = suggest(change(edit.Change{Fields: edit.Fields{Location: edit.To("Lido")}}))
		_, err := h.calendars.Respond(t.Context(), callerOf(users["bob"]), bobs, "lunch", ledger.Response{
			Response: schedule.Response{Status: schedule.Accepted},
		})
		h.must(err)
		seen = state(ann.get(path).shows(http.StatusOK, "has changed since").body)
		ann.post(path, "answer", "accept", "state", seen).shows(http.StatusOK, "Accepted")
		stored, err := h.calendars.ObjectByUID(t.Context(), nil, callerOf(users["ann"]), cal, "lunch")
		h.must(err)
		for _, want := range []string{"PARTSTAT=ACCEPTED", "LOCATION:Lido", "SUMMARY:Brunch"} {
			if !strings.Contains(string(stored.Data), want) {
				t.Errorf("the event lacks %s:\n%s", want, stored.Data)
			}
		}

		// Another time loses it, and the page says so.
		path = suggest(change(edit.Change{Times: edit.Times{Start: at(15), End: at(16)}}))
		ann.get(path).shows(http.StatusOK, "These answers are lost, and asked for again: bob@example.com (accepted).")
		ann.post(path, "answer", "decline").shows(http.StatusOK, "Nothing was changed")

		// Both changed the title: Ann chooses her own way, once with and once without what she changed since.
		rename := func(title, place string) {
			t.Helper()
			_, err := h.calendars.EditObject(t.Context(), callerOf(users["ann"]), cal, "lunch", ledger.Edit{
				Change: edit.Change{Fields: edit.Fields{Summary: edit.To(title), Location: edit.To(place)}},
			})
			h.must(err)
		}
		for answer, want := range map[string][]string{
			"accept":   {"SUMMARY:Meal", "LOCATION:Garden", "PARTSTAT=ACCEPTED"},
			"unmerged": {"SUMMARY:Meal", "LOCATION:Lido", "PARTSTAT=ACCEPTED"},
		} {
			rename("Brunch", "Lido")
			path = suggest(change(edit.Change{Fields: edit.Fields{Summary: edit.To("Meal")}}))
			rename("Feast", "Garden")
			shown := ann.get(path).shows(http.StatusOK, "has changed since", "new value of: title",
				"Since then", "Garden", "take back the changes since").body
			ann.post(path, "answer", answer, "state", state(shown)).shows(http.StatusOK, "Accepted")
			stored, err := h.calendars.ObjectByUID(t.Context(), nil, callerOf(users["ann"]), cal, "lunch")
			h.must(err)
			for _, text := range want {
				if !strings.Contains(string(stored.Data), text) {
					t.Errorf("%s: the event lacks %s:\n%s", answer, text, stored.Data)
				}
			}
		}
		rename("Brunch", "Lido")

		path = suggest(change(edit.Change{Fields: edit.Fields{Summary: edit.To("Dinner")}}))
		ann.get(path).shows(http.StatusOK, "people get a message: bob@example.com").hides("answers are lost")
		ann.post(path, "answer", "decline").shows(http.StatusOK, "Nothing was changed", "No suggestions")
		ann.get("?from=2026-05-03").shows(http.StatusOK, "Brunch").hides("Dinner")

		// The event is deleted: the page says that it cannot be accepted.
		path = suggest(change(edit.Change{Fields: edit.Fields{Summary: edit.To("Supper")}}))
		_, err = h.calendars.CancelObject(t.Context(), callerOf(users["ann"]), cal, "lunch", ledger.Cancellation{})
		h.must(err)
		ann.get(path).shows(http.StatusOK, "cannot be accepted", "Decline").hides(`value="accept"`)
		ann.post(path, "answer", "decline").shows(http.StatusOK, "Nothing was changed")
	})
}
