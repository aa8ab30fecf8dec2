package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// changeArguments are calls of the tools about changes, for the tests of all tools.
func changeArguments() map[string][]string {
	return map[string][]string{
		"list_changes": {`{}`, `{"since":"2026-03-01","calendar_id":"00000000-0000-4000-8000-000000000002",` +
			`"token":"own","limit":1,"timezone":"Asia/Tokyo"}`},
		"undo_change":   {`{"since":"2026-03-01","preview":true,"leave_changed":true}`},
		"restore_event": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"gone"}`},
	}
}

// discard deletes an event that a test can restore.
func (h *house) discard(t testing.TB) {
	t.Helper()
	h.put(t, home, "gone", wrapped(calendar.Event, "gone", "DTSTART:20260306T200000Z", "SUMMARY:Gone"))
	cal, err := h.service.Calendar(t.Context(), h.callers["alice"], home)
	if err == nil {
		var o calendar.Object
		o, err = h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], cal, "gone")
		if err == nil {
			err = h.service.Delete(t.Context(), h.callers["alice"], cal, o.Name, calendar.Precondition{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// refusalOf returns a tool's refusal for a client of 2025-11-25.
func refusalOf(t *testing.T, door, token, tool, args string) string {
	t.Helper()
	g := do(t, request(t, "POST", door, token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
		`","arguments":`+args+`}}`, wire.VersionHeader, "2025-11-25"))
	if !strings.Contains(g.body, `"isError":true`) {
		t.Errorf("%s %s is not refused: %s", tool, args, g.body)
	}
	return g.body
}

type params = map[string]any

// TestWhatAnAssistantDidIsUndone: the user lists the changes, undoes one, and then the rest (mcp C3).
func TestWhatAnAssistantDidIsUndone(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		door := h.open(t, h.config())
		h.Pass(time.Hour)
		var made, ignored map[string]any
		use(t, door, "alice-other", "create_event", params{
			"calendar_id": home, "title": "Spam",
			"start": "2026-03-03T09:00:00", "end": "2026-03-03T10:00:00",
		}, &made)
		use(t, door, "alice-other", "patch_event", params{
			"calendar_id": home, "event_uid": "party",
			"title": "Wake",
		}, &ignored)
		use(t, door, "alice-other", "delete_event", params{
			"calendar_id": home, "event_uid": "weekly",
			"scope": "all",
		}, &ignored)

		var list changesView
		var words changesView
		use(t, door, "alice", "list_changes", params{"since": "this month", "token": "token-b"}, &words)
		body := use(t, door, "alice", "list_changes", params{"since": "2026-03-01T13:30:00", "token": "token-b"}, &list)
		if len(words.Changes) != len(list.Changes) {
			t.Errorf("this month has %d changes, since a time in it there are %d", len(words.Changes),
				len(list.Changes))
		}
		var did []string
		for _, c := range list.Changes {
			did = append(did, string(c.Did)+" "+c.Kind+" "+string(c.Title))
		}
		if diff := cmp.Diff([]string{"deleted event Weekly", "modified event Wake", "created event Spam"},
			did); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		const renamed = `changed the event "Wake": title changed from "Party" to "Wake"`
		if list.Changes[1].What != renamed || !strings.Contains(resultText(t, body), renamed) ||
			list.Changes[0].What != "" {
			t.Errorf("what was changed reads %q and %q", list.Changes[1].What, list.Changes[0].What)
		}
		if !strings.Contains(body, "Found 3 changes since Sun 2026-03-01 13:30 (times in Europe/Berlin)") ||
			list.Changes[0].Weekday != "Sunday" {
			t.Errorf("it reads %s", body)
		}

		var restored restoredView
		use(t, door, "alice", "restore_event", params{"calendar_id": home, "event_uid": "weekly"}, &restored)
		if restored.Title != "Weekly" || restored.Kind != "event" {
			t.Errorf("restored %+v", restored)
		}
		var undone undoView
		use(t, door, "alice", "undo_change", params{"change_id": list.Changes[1].ID}, &undone)
		if len(undone.Undone) != 1 || undone.Undone[0].Title != "Party" {
			t.Errorf("undone %+v", undone)
		}
		if body := refusalOf(t, door, "alice", "undo_change", `{"change_id":"`+list.Changes[1].ID+
			`"}`); !strings.Contains(body, "taken back already") {
			t.Errorf("a second time: %s", body)
		}

		var plan undoView
		all := params{"since": "2026-03-01T12:30:00Z", "token": "token-b", "preview": true}
		use(t, door, "alice", "undo_change", all, &plan)
		delete(all, "preview")
		use(t, door, "alice", "undo_change", all, &undone)
		if len(plan.Undone) != 1 || len(undone.Undone) != 1 || undone.Undone[0].Title != "Spam" ||
			plan.Undone[0].ID != "" {
			t.Errorf("promised %+v, done %+v", plan, undone)
		}
		var left changesView
		use(t, door, "alice", "list_changes", params{"event_uid": made["uid"]}, &left)
		if len(left.Changes) != 2 || left.Changes[1].UndoneBy != undone.Undone[0].ID ||
			left.Changes[0].Undoes[0] != left.Changes[1].ID {
			t.Errorf("its history is %+v", left.Changes)
		}
	})
}

// TestChangesGoOn: pages of changes have each change once.
func TestChangesGoOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	door := h.open(t, h.config())
	var whole changesView
	use(t, door, "alice", "list_changes", params{}, &whole)
	var paged []changeView
	args := params{"limit": 2}
	for more := true; more; {
		var page changesView
		use(t, door, "alice", "list_changes", args, &page)
		paged = append(paged, page.Changes...)
		more, args["cursor"] = page.Truncated, page.NextCursor
	}
	if diff := cmp.Diff(whole.Changes, paged); diff != "" || len(paged) < 7 {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}

	// A calendar's ctag says since when as well.
	var now struct{ CTag string }
	use(t, door, "alice", "get_calendar", params{"calendar_id": home}, &now)
	h.put(t, home, "new", wrapped(calendar.Event, "new", "DTSTART:20260306T200000Z", "SUMMARY:New"))
	var since changesView
	use(t, door, "alice", "list_changes", params{"since": now.CTag}, &since)
	if len(since.Changes) != 1 || since.Changes[0].UID != "new" {
		t.Errorf("since the ctag: %+v", since.Changes)
	}
}

// TestChangesAreNobodyElses: anyone who may not write learns nothing of a calendar's changes.
func TestChangesAreNobodyElses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	door := h.open(t, h.config())
	var bobs changesView
	use(t, door, "bob", "list_changes", params{}, &bobs)
	for _, c := range bobs.Changes {
		if c.In != "Secret plans" {
			t.Errorf("bob sees %+v", c)
		}
	}
	change, never := string(home)+".2", "00000000-0000-4000-8000-00000000ffff.2"
	foreign := refusalOf(t, door, "bob", "undo_change", `{"change_id":"`+change+`"}`)
	if none := refusalOf(t, door, "bob", "undo_change", `{"change_id":"`+never+`"}`); strings.ReplaceAll(none, never,
		change) != foreign {
		t.Errorf("a foreign change is refused with %s, one that never was with %s", foreign, none)
	}
	refusalOf(t, door, "bob", "list_changes", `{"calendar_id":"`+string(home)+`"}`)
	refusalOf(t, door, "bob", "restore_event", `{"calendar_id":"`+string(home)+`","event_uid":"milk"}`)
	refusalOf(t, door, "bob", "undo_change", `{"since":"2026-03-01","token":"token-a"}`)
	for args, says := range map[string]string{
		`{}`: "either", `{"change_id":"x","since":"2026-03-01"}`: "either",
		`{"change_id":"x","preview":true}`: "goes with",
		`{"change_id":"x"}`:                "no change", `{"since":"soon"}`: "cannot be read",
		`{"since":"2030-01-01"}`: `\"since\" is in the future`, `{"since":"tomorrow"}`: "give a time in the past",
	} {
		if body := refusalOf(t, door, "alice", "undo_change", args); !strings.Contains(body, says) {
			t.Errorf("undo_change %s: %s", args, body)
		}
	}
	for args, says := range map[string]string{
		`{"cursor":"x"}`: "cursor", `{"since":"urn:x"}`: "not a ctag of this server", `{"limit":1000}`: "from 1 to 100",
		`{"calendar_id":"x"}`: "no calendar", `{"since":"2026-03-01T12:05:00Z"}`: `\"since\" is in the future`,
		`{"since":"soon"}`: "or in words, such as yesterday, monday",
	} {
		if body := refusalOf(t, door, "alice", "list_changes", args); !strings.Contains(body, says) {
			t.Errorf("list_changes %s: %s", args, body)
		}
	}
}

// TestSinceLooksBack: a weekday in since is the last one, for lists and for an undo, and the result says which moment
// that is.
func TestSinceLooksBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t)) // a Sunday, 13:00 in Berlin
	h.stock(t)
	door := h.open(t, h.config())
	for since, want := range map[string]string{
		"monday": "2026-02-23T00:00:00+01:00", "since Sunday": "2026-03-01T00:00:00+01:00",
		"noon": "2026-03-01T12:00:00+01:00", "today 12:00": "2026-03-01T12:00:00+01:00",
		"2 hours ago": "2026-03-01T11:00:00+01:00",
	} {
		var list changesView
		text := contentText(t, use(t, door, "alice", "list_changes", params{"since": since}, &list))
		if list.Since != want || len(list.Changes) == 0 || !strings.Contains(text, " since ") {
			t.Errorf("%s: %d changes since %s: %s", since, len(list.Changes), list.Since, text)
		}
		var v undoView
		use(t, door, "alice", "undo_change", params{"since": since, "token": "own", "preview": true}, &v)
		if v.Changes == 0 {
			t.Errorf("%s: nothing to undo", since)
		}
	}
}
