package web_test

import (
	"html"
	"net/http"
	"reflect"
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

// TestSuggestionBundles: what one assistant suggests within one conversation is accepted or declined with one button.
// The button decides what its page showed and nothing else, and what would overwrite a later change stays open.
func TestSuggestionBundles(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		user := h.user("ann")
		h.user("eve")
		cal := h.made(user, "Work")
		add := func(name string) {
			h.put(callerOf(user), cal, object("VEVENT", name, name, "DTSTART:20260503T080000Z",
				"DTEND:20260503T090000Z"))
		}
		claude, other := h.assistant(user, "Claude"), h.assistant(user, "Other")
		claude.Scopes = calendar.ScopeRead | calendar.ScopePropose
		other.Scopes = claude.Scopes
		suggest := func(by calendar.Caller, name, title string) string {
			t.Helper()
			m := h.calendars.Meter(t.Context(), by)
			defer m.Close()
			batch := h.calendars.NewBatch(by.Proposing(), m, calendar.TellAll)
			_, err := batch.EditObject(t.Context(), by.Proposing(), cal, calendar.UID(name), ledger.Edit{
				Change: edit.Change{Fields: edit.Fields{Summary: edit.To(title)}},
			})
			h.must(err)
			s, err := batch.Suggest(t.Context())
			h.must(err)
			return string(s.ID)
		}
		edited := func(name string, fields edit.Fields) {
			t.Helper()
			_, err := h.calendars.EditObject(t.Context(), callerOf(user), cal, calendar.UID(name),
				ledger.Edit{Change: edit.Change{Fields: fields}})
			h.must(err)
		}
		titled := func(name, title string) {
			t.Helper()
			stored, err := h.calendars.ObjectByUID(t.Context(), nil, callerOf(user), cal, calendar.UID(name))
			h.must(err)
			if !strings.Contains(string(stored.Data), "SUMMARY:"+title+"\r\n") {
				t.Errorf("%s has not the title %s:\n%s", name, title, stored.Data)
			}
		}
		// bundles are the ids in the forms of a page.
		bundles := func(s shown) (all [][]string) {
			bundles := regexp.MustCompile(`(?s)<form[^>]*/suggestions">.*?</form>`)
			for _, form := range bundles.FindAllString(s.body, -1) {
				var ids []string
				for _, id := range regexp.MustCompile(`name="id" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
					ids = append(ids, id[1])
				}
				all = append(all, ids)
			}
			return all
		}
		wants := func(s shown, want ...[]string) {
			t.Helper()
			if got := bundles(s); !reflect.DeepEqual(got, want) {
				t.Errorf("the bundles are %v, want %v\n%s", got, want, s.body)
			}
		}
		form := func(answer string, ids ...string) (fields []string) {
			for _, id := range ids {
				fields = append(fields, "id", id)
			}
			return append(fields, "answer", answer)
		}
		for _, name := range []string{"one", "two", "three", "four", "five"} {
			add(name)
		}
		one := suggest(claude, "one", "First")
		h.pass(10 * time.Minute)
		foreign := suggest(other, "four", "Foreign")
		two := suggest(claude, "two", "Second")
		h.pass(time.Hour)
		three := suggest(claude, "three", "Third")
		ann, eve := h.as("ann"), h.as("eve")
		wants(ann.get("suggestions").shows(http.StatusOK, "First", "Second", "Third", "Foreign",
			"Claude suggested these shortly after each other", "Accept all", "Decline all"), []string{one, two})
		ann.get("").shows(http.StatusOK, "First").hides("Accept all")

		eve.post("suggestions", form("accept", one, two)...).shows(http.StatusNotFound)
		eve.post("suggestions", form("decline", one, two)...).shows(http.StatusNotFound)
		ann.post("suggestions", form("accept")...).shows(http.StatusNotFound)
		ann.post("suggestions", form("maybe", one, two)...).shows(http.StatusUnprocessableEntity)
		titled("one", "one")
		wants(ann.get("suggestions"), []string{one, two})

		ann.post("suggestions", form("accept", one, two)...).shows(http.StatusOK, "Accepted", "Third", "Foreign")
		ann.post("suggestions", form("accept", one, two)...).shows(http.StatusOK, "Accepted")
		ann.post("suggestions", form("decline", one, two)...).shows(http.StatusNotFound)
		for name, title := range map[string]string{
			"one": "First", "two": "Second", "three": "three", "four": "four",
		} {
			titled(name, title)
		}
		wants(ann.get("suggestions").shows(http.StatusOK, "Third", "Foreign").hides("First"))

		// What joins the bundle after the page was shown stays open. A suggestion that was decided, or an event that
		// changed in another property, does not break it.
		h.pass(25 * time.Minute)
		five := suggest(claude, "five", "Fifth")
		shownIDs := bundles(ann.get("suggestions"))
		wants(ann.get("suggestions"), []string{three, five})
		joined := suggest(claude, "one", "Joined")
		edited("three", edit.Fields{Location: edit.To("Lido")})
		ann.post("suggestions", form("accept", shownIDs[0]...)...).shows(http.StatusOK, "Accepted", "Joined")
		titled("three", "Third")
		titled("five", "Fifth")
		titled("one", "First")
		h.pass(20 * time.Minute)
		late := suggest(claude, "two", "Late")
		wants(ann.get("suggestions"), []string{joined, late})

		// A later change of the same property, and a change of an event that is gone, stay open.
		gone := suggest(claude, "five", "Gone")
		edited("one", edit.Fields{Summary: edit.To("Mine")})
		_, err := h.calendars.CancelObject(t.Context(), callerOf(user), cal, "five", ledger.Cancellation{})
		h.must(err)
		wants(ann.post("suggestions", form("accept", joined, late, gone, late)...).shows(http.StatusConflict,
			"Not all of this could be done", "Accepted: Changed the event “Late”",
			"replaces the new value of: title", "cannot be accepted any more"), []string{joined, gone})
		titled("one", "Mine")
		titled("two", "Late")

		// One that was withdrawn meanwhile is not reported as accepted.
		ended := suggest(claude, "three", "Ended")
		more := suggest(claude, "two", "More")
		h.must(h.calendars.EndSuggestion(t.Context(), claude, calendar.SuggestionID(ended)))
		ann.post("suggestions", form("accept", ended, more)...).shows(http.StatusConflict,
			"Not all of this could be done", "Accepted: Changed the event “More”", "Some of them had ended")
		titled("three", "Third")

		ann.post("suggestions", form("decline", joined, gone)...).shows(http.StatusOK, "Nothing was changed", "Foreign")
		titled("one", "Mine")
		wants(ann.get("suggestions").hides("Joined"))
		ann.get("suggestions/"+foreign).shows(http.StatusOK, "Foreign")
	})
}
