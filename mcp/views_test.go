package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

// showing are the capabilities of a client that shows views.
const showing = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"other":1}}`

// asking returns a function that makes requests of a client with some capabilities, in a version with sessions or one
// without.
func asking(t *testing.T, door, token, version, capabilities string) func(method, params string) string {
	t.Helper()
	if !wire.Version(version).Modern() {
		g := do(t, request(t, "POST", door, token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
			`"protocolVersion":"`+version+`","capabilities":`+capabilities+
			`,"clientInfo":{"name":"test","version":"1"}}}`))
		session := g.header.Get(wire.SessionHeader)
		return func(method, params string) string {
			return do(t, request(t, "POST", door, token, fmt.Sprintf(
				`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, strings.TrimPrefix(params, ",")),
				wire.SessionHeader, session, wire.VersionHeader, version)).body
		}
	}
	name := regexp.MustCompile(`"(?:name|uri)":"([^"]*)"`)
	return func(method, params string) string {
		header := []string{wire.VersionHeader, version, "Mcp-Method", method}
		if m := name.FindStringSubmatch(params); m != nil {
			header = append(header, "Mcp-Name", m[1])
		}
		return do(t, request(t, "POST", door, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":`+
			`{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}%s}}`, method, version,
			capabilities, params), header...)).body
	}
}

// callOf returns the params of a call.
func callOf(t *testing.T, tool string, args params) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`,"name":%q,"arguments":%s`, tool, data)
}

// viewIn takes the data of a view out of an answer.
func viewIn(t *testing.T, body string, into any) (rest string) {
	t.Helper()
	answer := objectIn(t, body)
	result := objectIn(t, string(answer["result"]))
	meta := map[string]json.RawMessage{}
	if result["_meta"] != nil {
		meta = objectIn(t, string(result["_meta"]))
	}
	if data := meta[views.Key]; data != nil && into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	delete(meta, views.Key)
	delete(result, "_meta")
	if len(meta) > 0 {
		result["_meta"], _ = json.Marshal(meta)
	}
	text, _ := json.Marshal(result)
	return string(text)
}

func objectIn(t *testing.T, body string) map[string]json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return all
}

// viewCalls are calls of all tools with views.
var viewCalls = []struct {
	tool string
	args params
}{
	{"list_events", params{"date_range": "next week"}},
	{"list_events", params{"date_range": "next week", "limit": 1}},
	{"query_events", params{"calendar_id": work}},
	{"query_events", params{"calendar_id": work, "start": "2026-03-01", "end": "2026-03-31"}},
	{"get_free_busy", params{"start_time": "2026-03-02", "end_time": "2026-03-08"}},
	{"get_free_busy", params{
		"start_time": "2026-03-02", "end_time": "2026-03-08", "usernames": []string{"alice", "bob"},
	}},
	{"find_time", params{"duration_minutes": 30, "usernames": []string{"bob"}}},
	{"change_many", params{"preview": true, "changes": []params{
		{"tool": "move_event", "calendar_id": work, "event_uid": "plan", "new_start": "2026-03-05T09:00:00Z"},
		{"tool": "delete_event", "calendar_id": work, "event_uid": "plan"},
	}}},
}

// TestViewsChangeNothingElse: a host with the extension gets byte for byte the same texts and structures, and only the
// metadata on top. A host without it sees no difference.
func TestViewsChangeNothingElse(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		h.proposer(t)
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
			"SUMMARY:<b>Plan</b>", "LOCATION:Lido"))
		door := h.open(t, h.config())
		for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			without := asking(t, door, "alice", version, `{"extensions":{}}`)
			with := asking(t, door, "alice", version, showing)
			for _, call := range viewCalls {
				said := without("tools/call", callOf(t, call.tool, call.args))
				if strings.Contains(said, views.Key) || !strings.Contains(said, "structuredContent") {
					t.Fatalf("%s %s without views: %s", version, call.tool, said)
				}
				var view struct{ Lang string }
				rest := viewIn(t, with("tools/call", callOf(t, call.tool, call.args)), &view)
				if diff := cmp.Diff(viewIn(t, said, nil), rest); diff != "" {
					t.Errorf("%s %s (-without +with):\n%s", version, call.tool, diff)
				}
				if view.Lang != "en" {
					t.Errorf("%s %s has no view", version, call.tool)
				}
			}
			// What an assistant proposes, and the list of it.
			change := params{
				"tool": "create_event", "calendar_id": work, "title": "<b>Tea</b>", "start": "2026-03-06T15:00:00Z",
			}
			once := params{"changes": []params{change}, "idempotency_key": version}
			withoutP := asking(t, door, "claude", version, `{"extensions":{}}`)
			withP := asking(t, door, "claude", version, showing)
			for _, call := range []struct {
				tool string
				args params
			}{{manyName, once}, {"list_proposals", params{}}} {
				said := withoutP("tools/call", callOf(t, call.tool, call.args))
				var view reviewView
				rest := viewIn(t, withP("tools/call", callOf(t, call.tool, call.args)), &view)
				if diff := cmp.Diff(viewIn(t, said, nil), rest); diff != "" || strings.Contains(said, views.Key) {
					t.Errorf("%s %s of proposals (-without +with):\n%s", version, call.tool, diff)
				}
				if call.tool != manyName && len(view.Bundles) == 0 || !strings.Contains(said, "structuredContent") {
					t.Errorf("%s %s has no view: %s", version, call.tool, said)
				}
			}
			tools := with("tools/list", "")
			if n := strings.Count(tools, "ui://caldav-mcp-server/"); n != 5 {
				t.Errorf("%s: %d tools have views", version, n)
			}
			bare := regexp.MustCompile(`"_meta":\{"ui":\{"resourceUri":"ui://caldav-mcp-server/\w+"\}\},`).
				ReplaceAllString(tools, "")
			if diff := cmp.Diff(without("tools/list", ""), bare); diff != "" {
				t.Errorf("%s: the tools (-without +with):\n%s", version, diff)
			}
			if diff := cmp.Diff(without("resources/list", ""), with("resources/list", "")); diff != "" ||
				strings.Contains(diff, "ui://") {
				t.Errorf("%s: the resources (-without +with):\n%s", version, diff)
			}
		}
	})
}

// TestViewsArePages: each is one file, whose policy has the hashes of its only script and style.
func TestViewsArePages(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	ask := asking(t, h.open(t, h.config()), "alice-few", "2025-11-25", showing)
	for _, name := range views.Names {
		var read struct {
			Result struct {
				Contents []struct {
					URI, MimeType, Text string
					Meta                struct{ UI struct{ CSP map[string]any } } `json:"_meta"`
				}
			}
		}
		body := ask("resources/read", `,"uri":"`+views.URI(name)+`"`)
		if err := json.Unmarshal([]byte(body), &read); err != nil || len(read.Result.Contents) != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		page := read.Result.Contents[0]
		if page.URI != views.URI(name) || page.MimeType != "text/html;profile=mcp-app" || page.Meta.UI.CSP == nil ||
			len(page.Meta.UI.CSP) > 0 {
			t.Errorf("%s: %.300s", name, body)
		}
		for _, part := range []string{"script", "style"} {
			text := regexp.MustCompile("(?s)<"+part+">(.*?)</"+part+">").FindAllStringSubmatch(page.Text, -1)
			if len(text) != 1 {
				t.Fatalf("%s has %d of %s", name, len(text), part)
			}
			hash := sha256.Sum256([]byte(text[0][1]))
			want := part + "-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"
			if !strings.Contains(page.Text, want) {
				t.Errorf("%s: the policy lacks %s", name, want)
			}
		}
		// Texts of others never become markup, and nothing is loaded.
		for _, never := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "://", "src=",
			"import ",
		} {
			if strings.Contains(page.Text, never) {
				t.Errorf("%s has %s", name, never)
			}
		}
	}
}

type reviewView struct {
	Bundles []struct {
		Title, Link, Withdraw string

		Changes []struct {
			What, When   string
			Notes        []string
			Call         params
			Object, ETag string
		}
	}
	Accept, Done bool
}

// TestReviewMakesWhatItShows: a change that was previewed is refused if the event has changed since. Only a token that
// may write gets the calls, and one that may propose gets the address of the page.
func TestReviewMakesWhatItShows(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.proposer(t)
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
			"SUMMARY:Plan", "RRULE:FREQ=DAILY;COUNT=5"))
		door := h.open(t, h.config())
		many := func(token string, preview bool, changes ...params) (v reviewView, body string) {
			body = asking(t, door, token, "2025-11-25", showing)("tools/call",
				callOf(t, manyName, params{"preview": preview, "changes": changes}))
			viewIn(t, body, &v)
			return v, body
		}
		move := params{
			"tool": "move_event", "calendar_id": work, "event_uid": "plan", "recurrence_id": "20260304T090000Z",
			"scope": "following", "new_start": "2026-03-04T11:00:00Z",
		}
		v, body := many("alice", true, move)
		if !v.Accept || v.Done || len(v.Bundles) != 1 || len(v.Bundles[0].Changes) != 1 {
			t.Fatalf("preview: %+v, %s", v, body)
		}
		seen := v.Bundles[0].Changes[0]
		if diff := cmp.Diff(fmt.Sprint(move), fmt.Sprint(seen.Call)); diff != "" || seen.ETag == "" {
			t.Errorf("the call (-want +got): %s, etag %q", diff, seen.ETag)
		}
		use(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": "plan", "title": "Other", "scope": "all",
			"recurrence_id": "20260303T090000Z",
		}, &params{})
		seen.Call["if_match"] = seen.ETag
		if _, body := many("alice", false, seen.Call); !strings.Contains(body, `"isError":true`) {
			t.Errorf("another version was moved: %s", body)
		}
		v, _ = many("alice", true, move)
		move["if_match"] = v.Bundles[0].Changes[0].ETag
		if v, body := many("alice", false, move); !v.Done || v.Accept {
			t.Errorf("made: %+v, %s", v, body)
		}

		draft := params{"tool": "create_event", "calendar_id": work, "title": "Tea", "start": "2026-03-05T15:00:00Z"}
		if v, body := many("claude", true, draft); v.Accept || v.Done || v.Bundles[0].Changes[0].Call != nil {
			t.Errorf("a preview of an assistant that may propose: %+v, %s", v, body)
		}
		v, body = many("claude", false, draft)
		if page := "https://cal.example/dav/account/suggestions/"; v.Accept || v.Done ||
			!strings.HasPrefix(v.Bundles[0].Link, page) || len(v.Bundles[0].Link) == len(page) {
			t.Errorf("proposed: %+v, %s", v, body)
		}
		link := v.Bundles[0].Link
		v = reviewView{}
		viewIn(t, asking(t, door, "claude", "2025-11-25", showing)("tools/call",
			callOf(t, "list_proposals", params{})), &v)
		if v.Accept || len(v.Bundles) != 1 || v.Bundles[0].Link != link ||
			!strings.Contains(v.Bundles[0].Changes[0].What, "Tea") ||
			!strings.HasSuffix(link, "/"+v.Bundles[0].Withdraw) {
			t.Errorf("listed: %+v", v)
		}
		use(t, door, "claude", "withdraw_proposal", params{"id": v.Bundles[0].Withdraw}, new(withdrawnView))
		v = reviewView{}
		viewIn(t, asking(t, door, "claude", "2025-11-25", showing)("tools/call",
			callOf(t, "list_proposals", params{})), &v)
		if len(v.Bundles) != 0 {
			t.Errorf("listed after the withdrawal: %+v", v)
		}
	})
}

// TestEditsTakeIfMatch: the view adds it to each change of a stored object.
func TestEditsTakeIfMatch(t *testing.T) {
	t.Parallel()
	for _, name := range together {
		if made := strings.HasPrefix(name, "create_"); takes(newHouse(t, testdb.SQLite(t)).config().toolbox(), name,
			"if_match") == made {
			t.Errorf("%s takes if_match: %v", name, !made)
		}
	}
}

// TestTimesAreBooked: the view gets the call that books a slot, if the token may make it.
func TestTimesAreBooked(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.proposer(t)
		door := h.open(t, h.config())
		type timesView struct {
			Slots []struct{ Day, Time, Start, End string }
			Book  *views.Booking
		}
		find := func(token string) (v timesView) {
			viewIn(t, asking(t, door, token, "2025-11-25", showing)("tools/call", callOf(t, "find_time",
				params{"duration_minutes": 30, "usernames": []string{"bob"}})), &v)
			return v
		}
		v := find("alice")
		if v.Book == nil || v.Book.Note == "" || len(v.Slots) == 0 || v.Slots[0].Day != "Monday 2 March 2026" {
			t.Fatalf("%+v", v)
		}
		v.Book.Arguments["title"], v.Book.Arguments["start"], v.Book.Arguments["end"] = "Tea", v.Slots[0].Start,
			v.Slots[0].End
		var made struct {
			Start     string `json:"start_local"`
			Attendees []string
		}
		said := use(t, door, "alice", v.Book.Tool, v.Book.Arguments, &made)
		if made.Start != v.Slots[0].Start || !strings.Contains(said, "bob@example.com") {
			t.Errorf("booked: %s", said)
		}
		if v := find("alice-read"); v.Book != nil || len(v.Slots) == 0 {
			t.Errorf("a token that only reads: %+v", v)
		}
		if v := find("claude"); v.Book == nil {
			t.Errorf("a token that proposes: %+v", v)
		}
	})
}

// TestWeeksAreTurned: the view of a week has the call that gets the next one, with the same filters.
func TestWeeksAreTurned(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "tea", wrapped(calendar.Event, "tea", "DTSTART:20260311T090000Z", "DTEND:20260311T100000Z",
		"SUMMARY:Tea"))
	ask := asking(t, h.open(t, h.config()), "alice-read", "2025-11-25", showing)
	args := params{"start": "2026-03-03", "end": "2026-03-04", "calendar_id": work, "keyword": "tea"}
	type day struct{ Start, End string }
	var v struct {
		Weeks  []struct{ Title string }
		Events []struct{ Title string }
		Turn   struct {
			Tool          string
			Arguments     params
			Before, After day
		}
	}
	viewIn(t, ask("tools/call", callOf(t, "list_events", args)), &v)
	if len(v.Events) != 0 || v.Turn.Before != (day{"2026-02-23", "2026-03-01"}) ||
		v.Turn.After != (day{"2026-03-09", "2026-03-15"}) || v.Turn.Arguments["keyword"] != "tea" {
		t.Fatalf("%+v", v)
	}
	next := v.Turn.Arguments
	next["start"], next["end"] = v.Turn.After.Start, v.Turn.After.End
	viewIn(t, ask("tools/call", callOf(t, v.Turn.Tool, next)), &v)
	if len(v.Events) != 1 || v.Events[0].Title != "Tea" || v.Turn.After != (day{"2026-03-16", "2026-03-22"}) {
		t.Errorf("the next week: %+v", v)
	}
}

// TestViewsSpeakTheLanguageOfTheUser: texts and dates.
func TestViewsSpeakTheLanguageOfTheUser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.callers["alice"]
	c.User.Language = "de"
	h.callers["alice"] = c
	var v struct {
		Lang  string
		Words map[string]string
		Weeks []struct{ Days []struct{ Title string } }
	}
	viewIn(t, asking(t, h.open(t, h.config()), "alice", "2025-11-25", showing)("tools/call",
		callOf(t, "list_events", params{"date_range": "2026-03-02"})), &v)
	if v.Lang != "de" || v.Words["planner.later"] != "Später" || v.Weeks[0].Days[0].Title != "Montag, 2. März 2026" {
		t.Errorf("%+v", v)
	}
}
