package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// person is a client's user, who answers elicitations.
type person struct {
	mu     sync.Mutex
	action mcpgo.ElicitationResponseAction
	asked  []string
}

// Elicit implements client.ElicitationHandler.
func (p *person) Elicit(_ context.Context, r mcpgo.ElicitationRequest) (*mcpgo.ElicitationResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Params.Message)
	return &mcpgo.ElicitationResult{ElicitationResponse: mcpgo.ElicitationResponse{Action: p.action}}, nil
}

// questions returns the questions since the last call.
func (p *person) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// connect opens a client of mcp-go's at a version, with a person or, without one, without elicitation.
func connect(t *testing.T, door, token, version string, p *person) *client.Client {
	t.Helper()
	carrier, err := transport.NewStreamableHTTP(door,
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}))
	if err != nil {
		t.Fatal(err)
	}
	options := []client.ClientOption{client.WithProtocolVersion(version)}
	if p != nil {
		options = append(options, client.WithElicitationHandler(p))
	}
	c := client.NewClient(carrier, options...)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	opening := mcpgo.InitializeRequest{}
	opening.Params.ProtocolVersion = version
	opening.Params.ClientInfo = mcpgo.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	return c
}

// callBy calls a tool, and returns its text and whether it was refused.
func callBy(t *testing.T, c *client.Client, tool string, args params) (text string, refused bool) {
	t.Helper()
	r := mcpgo.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = tool, args
	result, err := c.CallTool(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(result.Content) == 0 {
		t.Fatalf("%s: no content in %+v", tool, result)
	}
	return result.Content[0].(mcpgo.TextContent).Text, result.IsError
}

// series puts a weekly meeting and six single events into Work.
func (h *house) series(t *testing.T) {
	t.Helper()
	h.put(t, work, "oneonone", wrapped(calendar.Event, "oneonone", "DTSTART;TZID=Europe/Berlin:20260105T140000",
		"DTEND;TZID=Europe/Berlin:20260105T143000",
		"RRULE:FREQ=WEEKLY", "SUMMARY:1:1 with Eve"))
	for i := range 6 {
		uid := fmt.Sprintf("single-%d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, fmt.Sprintf("DTSTART:2026030%dT090000Z", i+2), "DURATION:PT1H",
			"SUMMARY:Meeting "+uid))
	}
}

// deletions are changes for change_many.
func deletions(n int) params {
	var changes []any
	for i := range n {
		changes = append(changes, params{
			"tool": "delete_event", "calendar_id": work,
			"event_uid": fmt.Sprintf("single-%d", i),
		})
	}
	return params{"changes": changes}
}

// TestPersonsAreAsked: large changes are made only if the user agrees. Each case is first declined: nothing has changed
// then, since the same question is asked again.
func TestPersonsAreAsked(t *testing.T) {
	t.Parallel()
	cases := []struct {
		tool string
		args params
		// words are in the question; without any, no question is asked.
		words []string
	}{
		{"move_event", params{
			"calendar_id": work, "event_uid": "oneonone", "recurrence_id": "20260302T130000Z",
			"scope": "all", "new_start": "2026-03-03T16:00",
		}, []string{
			"1:1 with Eve", "moved from", "whole series",
			"Europe/Berlin",
		}},
		{"patch_event", params{
			"calendar_id": work, "event_uid": "oneonone", "recurrence_id": "20260310T150000Z",
			"scope": "this", "start": "2026-03-10T17:00",
		}, nil},
		{"patch_event", params{
			"calendar_id": work, "event_uid": "oneonone", "recurrence_id": "20260303T150000Z",
			"scope": "all", "location": "Room 1",
		}, nil},
		{
			"patch_event",
			params{
				"calendar_id": work, "event_uid": "oneonone", "recurrence_id": "20260317T150000Z",
				"scope": "following", "start": "2026-03-18T16:00",
			},
			[]string{
				"moved \"1:1 with Eve\" from Tuesday 2026-03-17T16:00:00+01:00 on", "all that follow",
				"to Wednesday 2026-03-18T16:00:00+01:00",
			},
		},
		{"delete_event", params{
			"calendar_id": work, "event_uid": "oneonone", "recurrence_id": "20260303T150000Z",
			"scope": "following",
		}, []string{"Tuesday 2026-03-03", "all that follow", "removed \"1:1 with Eve\""}},
		{
			"delete_event",
			params{"calendar_id": work, "event_uid": "oneonone", "scope": "all"},
			[]string{"deleted the event \"1:1 with Eve\"", "\"Work\""},
		},
		{"change_many", deletions(6), []string{"single-0", "single-5", "deleted the event"}},
		{"undo_change", params{"since": "2026-03-01T12:00:30Z"}, []string{"changes in all", "undone"}},
		{
			"share_calendar",
			params{"calendar_id": work, "username": "bob", "permission": "read"},
			[]string{"shared the calendar \"Work\" with \"bob\" to read"},
		},
		{"delete_calendar", params{"calendar_id": work}, []string{
			"deleted the calendar \"Work\"",
			"events, tasks and notes",
		}},
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			h.homeIsDefault(t)
			h.series(t)
			h.Set(noon.Add(time.Minute))
			p := &person{}
			c := connect(t, h.open(t, h.config()), "alice", version, p)
			for _, tt := range cases {
				p.action = mcpgo.ElicitationResponseActionDecline
				said, refused := callBy(t, c, tt.tool, tt.args)
				asked := p.questions()
				if tt.words == nil {
					if refused || asked != nil {
						t.Errorf("%s %v: asked %q and said %s", tt.tool, tt.args, asked, said)
					}
					continue
				}
				if !refused || len(asked) != 1 || !strings.Contains(said, "declined") {
					t.Errorf("%s %v: asked %q, then said %s", tt.tool, tt.args, asked, said)
					continue
				}
				for _, word := range tt.words {
					if !strings.Contains(asked[0], word) {
						t.Errorf("%s: %q is not in %s", tt.tool, word, asked[0])
					}
				}
				p.action = mcpgo.ElicitationResponseActionAccept
				said, refused = callBy(t, c, tt.tool, tt.args)
				if again := p.questions(); refused || !slices.Equal(again, asked) {
					t.Errorf("%s %v: asked %q after %q, then said %s", tt.tool, tt.args, again, asked, said)
				}
			}
		})
	}
}

// TestNobodyIsAsked: clients without elicitation, and small changes.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		h := newHouse(t, testdb.SQLite(t))
		h.homeIsDefault(t)
		h.series(t)
		door := h.open(t, h.config())
		p := &person{action: mcpgo.ElicitationResponseActionDecline}
		asking, silent := connect(t, door, "alice", version, p), connect(t, door, "alice", version, nil)
		many := deletions(6)
		many["preview"] = true
		for _, tt := range []struct {
			by   *client.Client
			tool string
			args params
		}{
			{asking, "change_many", many},
			{asking, "change_many", deletions(5)},
			{asking, "delete_event", params{"calendar_id": work, "event_uid": "single-5"}},
			{silent, "delete_event", params{"calendar_id": work, "event_uid": "oneonone", "scope": "all"}},
			{silent, "delete_calendar", params{"calendar_id": work}},
		} {
			if said, refused := callBy(t, tt.by, tt.tool, tt.args); refused || p.questions() != nil {
				t.Errorf("%s %v: %s", tt.tool, tt.args, said)
			}
		}
	}
}

// modernCall is a call at 2026-07-28 of a client that can ask.
func modernCall(t *testing.T, door, token, tool, args, more string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s,`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, tool, args, more)
	return do(t, request(t, "POST", door, token, body, wire.VersionHeader, "2026-07-28", "Mcp-Method", "tools/call",
		"Mcp-Name", tool)).body
}

// TestConsentFitsOneCall: consent is for that call of that token, and for the event as it was.
func TestConsentFitsOneCall(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.series(t)
		door := h.open(t, h.config())
		h.homeIsDefault(t)
		const args = `{"calendar_id":"` + string(work) + `","event_uid":"oneonone","scope":"all"}`
		state := func() string {
			t.Helper()
			var r struct {
				Result struct{ ResultType, RequestState string }
			}
			said := modernCall(t, door, "alice", "delete_event", args, "")
			if err := json.Unmarshal([]byte(said), &r); err != nil || r.Result.ResultType != "input_required" ||
				r.Result.RequestState == "" {
				t.Fatalf("nobody is asked: %s", said)
			}
			return r.Result.RequestState
		}
		agreed := func(state string) string {
			return fmt.Sprintf(`,"inputResponses":{"confirm":{"action":"accept","content":{}}},`+
				`"requestState":%q`, state)
		}
		seal := state()
		for what, said := range map[string]string{
			"other arguments": modernCall(t, door, "alice", "delete_event", strings.Replace(args, `"all"`,
				`"following","recurrence_id":"20260302T130000Z"`, 1), agreed(seal)),
			"another tool": modernCall(t, door, "alice", "delete_calendar", `{"calendar_id":"`+string(work)+`"}`,
				agreed(seal)),
			"another token": modernCall(t, door, "alice-other", "delete_event", args, agreed(seal)),
			"a made up state": modernCall(t, door, "alice", "delete_event", args,
				agreed("9999999999."+strings.Repeat("0", 64)+".AAAA")),
			"a cut state":      modernCall(t, door, "alice", "delete_event", args, agreed(seal[:len(seal)-1])),
			"no state":         modernCall(t, door, "alice", "delete_event", args, agreed("")),
			"a later deadline": modernCall(t, door, "alice", "delete_event", args, agreed("9"+seal)),
			"the answer of two": modernCall(t, door, "alice", "delete_event", args,
				`,"inputResponses":{"other":{"action":"accept"}},"requestState":"`+seal+`"`),
		} {
			if !strings.Contains(said, "input_required") {
				t.Errorf("%s: %s", what, said)
			}
		}
		for _, action := range []string{"decline", "cancel", "yes"} {
			said := modernCall(t, door, "alice", "delete_event", args, `,"inputResponses":{"confirm":{"action":"`+
				action+`"}},"requestState":"`+seal+`"`)
			if !strings.Contains(said, "nothing was changed") {
				t.Errorf("%s: %s", action, said)
			}
		}
		use(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": "oneonone",
			"recurrence_id": "20260302T130000Z", "scope": "all", "location": "Room 2",
		}, new(any))
		if said := modernCall(t, door, "alice", "delete_event", args, agreed(seal)); !strings.Contains(said,
			"input_required") {
			t.Errorf("an event that changed: %s", said)
		}
		seal = state()
		h.Set(noon.Add(wire.AnswerAge + time.Minute))
		if said := modernCall(t, door, "alice", "delete_event", args, agreed(seal)); !strings.Contains(said,
			"input_required") {
			t.Errorf("much later: %s", said)
		}
		seal = state()
		if said := modernCall(t, door, "alice", "delete_event", args, agreed(seal)); !strings.Contains(said,
			`"deleted":true`) {
			t.Errorf("it is not deleted: %s", said)
		}
		if said := modernCall(t, door, "alice", "delete_event", args, agreed(seal)); strings.Contains(said,
			`"deleted":true`) {
			t.Errorf("it is deleted twice: %s", said)
		}
	})
}

// TestConsentFitsCalendarAsItWas: consent to delete a calendar does not cover objects that were added since, nor
// objects that replaced others, so that the count is the same.
func TestConsentFitsCalendarAsItWas(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.homeIsDefault(t)
		h.series(t)
		door := h.open(t, h.config())
		const args = `{"calendar_id":"` + string(work) + `"}`
		more, asked := "", ""
		ask := func(what string) string {
			t.Helper()
			var r struct {
				Result struct{ ResultType, RequestState string }
			}
			asked = modernCall(t, door, "alice", "delete_calendar", args, more)
			if err := json.Unmarshal([]byte(asked), &r); err != nil {
				t.Fatal(err)
			}
			more = fmt.Sprintf(`,"inputResponses":{"confirm":{"action":"accept","content":{}}},"requestState":%q`,
				r.Result.RequestState)
			if what != "" && r.Result.ResultType != "input_required" {
				t.Fatalf("%s: %s", what, asked)
			}
			return asked
		}
		ask("at first")
		use(t, door, "alice", "delete_event", params{"calendar_id": work, "event_uid": "single-0"}, new(any))
		h.put(t, work, "other", wrapped(calendar.Event, "other", "DTSTART:20260302T090000Z", "DURATION:PT1H",
			"SUMMARY:Another"))
		ask("one event in the place of another")
		use(t, door, "alice", "share_calendar", params{
			"calendar_id": work, "username": "bob",
			"permission": "read",
		}, new(any))
		ask("somebody else has it")
		if said := ask(""); !strings.Contains(said, `"deleted":true`) {
			t.Errorf("it is not deleted: %s", said)
		}
	})
}

// TestConsentIsForOnce: the same response does not repeat a share that has ended, or create an object again.
func TestConsentIsForOnce(t *testing.T) {
	t.Parallel()
	var creations []string
	for i := range mostUnasked + 1 {
		creations = append(creations,
			fmt.Sprintf(`{"tool":"create_event","calendar_id":%q,"title":"New %d","start":"2026-05-04T10:00",`+
				`"end":"2026-05-04T11:00"}`, work, i))
	}
	eachHouse(t, func(t *testing.T, h *house, door string) {
		for _, tt := range []struct{ tool, args, done, back, backArgs string }{
			{
				"share_calendar", `{"calendar_id":"` + string(work) + `","username":"bob","permission":"read"}`,
				`"shared_with"`, "unshare_calendar", `{"calendar_id":"` + string(work) + `","username":"bob"}`,
			},
			{"change_many", `{"changes":[` + strings.Join(creations, ",") + `]}`, `"etag"`, "", ""},
		} {
			var r struct{ Result struct{ RequestState string } }
			asked := modernCall(t, door, "alice", tt.tool, tt.args, "")
			if err := json.Unmarshal([]byte(asked), &r); err != nil || r.Result.RequestState == "" {
				t.Fatalf("nobody is asked: %s", asked)
			}
			agreed := fmt.Sprintf(`,"inputResponses":{"confirm":{"action":"accept","content":{}}},"requestState":%q`,
				r.Result.RequestState)
			if said := modernCall(t, door, "alice", tt.tool, tt.args, agreed); !strings.Contains(said, tt.done) {
				t.Fatalf("%s is not done: %s", tt.tool, said)
			}
			if tt.back != "" {
				modernCall(t, door, "alice", tt.back, tt.backArgs, "")
			}
			if said := modernCall(t, door, "alice", tt.tool, tt.args, agreed); !strings.Contains(said,
				"input_required") || strings.Contains(said, tt.done) {
				t.Errorf("%s is done again: %s", tt.tool, said)
			}
		}
	})
}

// asker is a client before 2026-07-28 that answers by itself.
type asker struct {
	*ear
	session string
}

// openAsker opens a session of alice's that can ask, calls a tool, and returns the stream with the question in it.
func openAsker(t *testing.T, door, tool, args string) (a asker, id string) {
	t.Helper()
	opened := do(t, request(t, "POST", door, "alice",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`))
	a.session = opened.header.Get(wire.SessionHeader)
	a.ear = hears(t, request(t, "POST", door, "alice",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`,
		wire.SessionHeader, a.session))
	var asked struct{ ID, Method string }
	if err := json.Unmarshal([]byte(a.next(t)), &asked); err != nil || asked.Method != "elicitation/create" {
		t.Fatalf("asked %+v: %v", asked, err)
	}
	return a, asked.ID
}

// say answers the question at a door.
func (a asker) say(t *testing.T, door, token, session, id, action string) {
	t.Helper()
	g := do(t, request(t, "POST", door, token,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":%q,"content":{}}}`, id, action),
		wire.SessionHeader, session))
	if g.status != http.StatusAccepted && token == "alice" {
		t.Errorf("%d %s", g.status, g.body)
	}
}

// TestAnswersFindTheirWay: the response to a question may reach another process than the one that asked; a response by
// another token or session does not count.
func TestAnswersFindTheirWay(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.series(t)
		one, two := h.open(t, h.config()), h.open(t, h.config())
		args := `{"calendar_id":"` + string(work) + `","event_uid":"oneonone","scope":"all"}`
		a, id := openAsker(t, one, "delete_event", args)
		other := do(t, request(t, "POST", one, "alice-other",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)).header.Get(wire.SessionHeader)
		for _, door := range []string{one, two} {
			a.say(t, door, "alice-other", other, id, "accept")
			a.say(t, door, "alice-other", a.session, id, "accept")
			a.say(t, door, "alice", a.session, "confirm-made-up.AAAA", "accept")
		}
		a.say(t, two, "alice", a.session, id, "decline")
		if said := a.next(t); !strings.Contains(said, "declined") || !strings.Contains(said, `"id":2`) {
			t.Errorf("it says %s", said)
		}
		a, id = openAsker(t, one, "delete_event", args)
		a.say(t, one, "alice", a.session, id, "accept")
		if said := a.next(t); !strings.Contains(said, `"deleted":true`) {
			t.Errorf("it says %s", said)
		}
	})
}

// TestRevokedWhileAPersonThinks: a token that was revoked while the user was asked changes nothing, and rights that the
// user lost meanwhile are refused as in any other call.
func TestRevokedWhileAPersonThinks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.homeIsDefault(t)
	h.series(t)
	var revoked atomic.Bool
	config := h.config()
	config.Good = func(context.Context, calendar.Caller) error {
		if revoked.Load() {
			return auth.ErrUnauthorized
		}
		return nil
	}
	door := h.open(t, config)
	args := `{"calendar_id":"` + string(work) + `"}`
	a, id := openAsker(t, door, "delete_calendar", args)
	revoked.Store(true)
	a.say(t, door, "alice", a.session, id, "accept")
	if said := a.next(t); !strings.Contains(said, "the token became invalid") {
		t.Errorf("it says %s", said)
	}
	revoked.Store(false)
	a, id = openAsker(t, door, "delete_calendar", args)
	if err := h.service.DeleteCalendar(t.Context(), h.callers["alice"], work); err != nil {
		t.Fatal(err)
	}
	a.say(t, door, "alice", a.session, id, "accept")
	if said := a.next(t); !strings.Contains(said, `"isError":true`) {
		t.Errorf("a calendar that is gone: %s", said)
	}
}

// TestQuestionsAreFew: a token has few questions open at once, and a server that stops waits for none.
func TestQuestionsAreFew(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.homeIsDefault(t)
	h.series(t)
	handler := New(h.config())
	door := h.serve(t, handler)
	args := `{"calendar_id":"` + string(work) + `"}`
	var open []asker
	for range wire.MostAskedAtOnce {
		a, _ := openAsker(t, door, "delete_calendar", args)
		open = append(open, a)
	}
	said := do(t, request(t, "POST", door, "alice",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete_calendar","arguments":`+args+`}}`,
		wire.SessionHeader, open[0].session)).body
	if !strings.Contains(said, "open questions") {
		t.Errorf("one more: %s", said)
	}
	handler.Close()
	for _, a := range open {
		if said := a.next(t); !strings.Contains(said, "did not respond") {
			t.Errorf("the server stops: %s", said)
		}
	}
}

// TestPersonsAreAskedByLines: hosts that start the server themselves can ask, too.
func TestPersonsAreAskedByLines(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.homeIsDefault(t)
	p := h.converseByLines(t, "alice")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"t","version":"1"}}}`)
	p.hear(`"id":1`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete_calendar",` +
		`"arguments":{"calendar_id":"` + string(work) + `"}}}`)
	var asked struct{ ID string }
	if err := json.Unmarshal([]byte(p.hear("elicitation/create", "nothing in it")), &asked); err != nil {
		t.Fatal(err)
	}
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{}}}`, asked.ID))
	p.hear(`"id":2`, `\"deleted\":true`)
}
