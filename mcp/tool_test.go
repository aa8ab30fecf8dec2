package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// listed is a tool as a client sees it.
type listed struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               map[string]any
}

func listTools(t *testing.T, door string) (tools []listed, size int) {
	t.Helper()
	body := toolList(t, door)
	if err := json.Unmarshal(toolsIn(body), &tools); err != nil {
		t.Fatal(err)
	}
	return tools, len(body)
}

func compile(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestToolsAreDescribed checks that every tool meets the needs of hosts: schemas that compile and use only keywords
// that all of them support, and all four hints, consistent with each other.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	tools, size := listTools(t, h.open(t, h.config()))

	if size > 59_900 {
		t.Errorf("the list has %d bytes; hosts bear 60,000", size)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		if tool.Title == "" || tool.Description == "" || tool.Annotations["title"] != tool.Title {
			t.Errorf("%s: title %q, description %q, annotations %v", tool.Name, tool.Title, tool.Description,
				tool.Annotations)
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool.Annotations[hint].(bool); !ok {
				t.Errorf("%s: %s is missing", tool.Name, hint)
			}
		}
		if tool.Annotations["readOnlyHint"] == true && tool.Annotations["destructiveHint"] == true {
			t.Errorf("%s only reads, and destroys", tool.Name)
		}
		for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			compile(t, schema)
			checkSchema(t, tool.Name, decode(t, string(schema)))
		}
	}
	if diff := cmp.Diff([]string{
		"calendar_auth_status", "change_many", "create_booking_page",
		"create_calendar", "create_event", "create_task", "delete_calendar",
		"delete_event", "delete_task", "fetch", "find_time", "get_calendar",
		"get_event", "get_free_busy", "get_task", "list_bookings",
		"list_calendars", "list_changes", "list_events", "list_invitations",
		"list_people", "list_shared_calendars", "list_tasks", "move_event", "move_task", "patch_event", "query_events",
		"respond_to_event", "restore_event", "search", "search_events", "share_calendar", "subscribe_calendar",
		"sum_hours", "undo_change", "unshare_calendar", "update_calendar", "update_event", "update_linked_account",
		"update_task", "webhooks",
	}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// TestToolsAreShort limits the tokens for the tools' descriptions, at four characters per token. Tokenizers make fewer
// tokens of English and more of brackets. To add a tool, save words elsewhere.
func TestToolsAreShort(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	tools, _ := listTools(t, h.open(t, h.config()))
	all, core := 0, 0
	for _, tool := range tools {
		for name, schema := range decode(t, string(tool.InputSchema)).(map[string]any)["properties"].(map[string]any) {
			if said, _ := schema.(map[string]any)["description"].(string); said == "" {
				t.Errorf("%s: the parameter %s has no description", tool.Name, name)
			}
		}
		size := utf8.RuneCountInString(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":%s}`, tool.Name,
			tool.Description, tool.InputSchema))
		if all += size; slices.Contains(coreTools[:], calendar.ToolName(tool.Name)) {
			core += size
		}
	}

	if all/4 > 7000 || core/4 > 4000 {
		t.Errorf("the tools take %d tokens, those of core %d; they may take 7000 and 4000", all/4, core/4)
	}
	if tokens := utf8.RuneCountInString(instructions) / 4; tokens > 500 {
		t.Errorf("the instructions take %d tokens", tokens)
	}
}

// TestParametersStandInTheirOrder: as a person fills them in, not by the alphabet (mcp D4).
func TestParametersStandInTheirOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	tools, _ := listTools(t, h.open(t, h.config()))
	for _, tool := range tools {
		if tool.Name != "create_event" {
			continue
		}
		at := -1
		for _, name := range []string{
			"calendar_id", "title", "start", "end", "timezone", "location", "attendees",
			"rrule", "url", "idempotency_key",
		} {
			i := strings.Index(string(tool.InputSchema), `"`+name+`":`)
			if i <= at {
				t.Errorf("%s is out of its place in %s", name, tool.InputSchema)
			}
			at = i
		}
	}
}

// TestPlainMistakesAreTaken: values in the wrong type whose meaning is plain (D3), and no others (mcp D3).
func TestPlainMistakesAreTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	draft := `"calendar_id":"` + string(work) + `","start":"2026-03-04T09:00","end":"2026-03-04T10:00"`
	var made struct {
		Title      string
		Alarms     []int
		Categories []string
		AllDay     bool `json:"all_day"`
	}
	for _, args := range []string{
		`"title":1984,"alarms":["15",5.0],"categories":"a","all_day":"true"`,
		`"title":"1984","alarms":"[15, 5]","categories":["a"],"all_day":true`,
	} {
		use(t, door, "alice", "create_event", json.RawMessage("{"+draft+","+args+"}"), &made)
		if made.Title != "1984" || !slices.Equal(made.Alarms, []int{15, 5}) || !slices.Equal(made.Categories,
			[]string{"a"}) || !made.AllDay {
			t.Errorf("%s made %+v", args, made)
		}
	}
	for args, want := range map[string]string{
		`{"limit":5.5}`: `\"limit\" must be a whole number, not 5.5`, `{"limit":"many"}`: `not \"many\"`,
		`{"limit":1e300}`: "must be a whole number",
		`{"limit":true}`:  "must be a whole number, not true", `{"calendar_id":{}}`: "must be a string, not {}",
		`{"keyword":["a"]}`:           "must be a string",
		`{"detail":null,"limit":"0"}`: "must be from 1 to 200, not 0",
	} {
		if said := refusalOf(t, door, "alice", "list_events", args); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", args, said, want)
		}
	}
}

// withAll matches the reference in a result's description to the tool with the other fields.
var withAll = regexp.MustCompile(`^With all fields of (\w+)\.$`)

// closed is a schema that allows only its own properties and those of the tool that it refers to.
func closed(t *testing.T, tools []listed, schema json.RawMessage) json.RawMessage {
	t.Helper()
	doc := decode(t, string(schema))
	// the first tool says so for all
	doc.(map[string]any)["properties"].(map[string]any)["error"] = map[string]any{"type": "object"}
	said, _ := doc.(map[string]any)["description"].(string)
	for reader := withAll.FindStringSubmatch(said); reader != nil; reader = withAll.FindStringSubmatch(said) {
		i := slices.IndexFunc(tools, func(tool listed) bool { return tool.Name == reader[1] })
		other := decode(t, string(tools[i].OutputSchema)).(map[string]any)
		more := other["properties"].(map[string]any)
		maps.Copy(more, doc.(map[string]any)["properties"].(map[string]any))
		doc.(map[string]any)["properties"] = more
		said, _ = other["description"].(string)
	}
	// Some fields are in the schema of one tool only.
	for _, tool := range tools {
		theirs := decode(t, string(tool.OutputSchema)).(map[string]any)["properties"].(map[string]any)
		for _, name := range []string{
			"timezone", "timezone_source", "window", "told", "not_reached", "declined", "nobody_told",
		} {
			if schema, has := theirs[name]; has {
				doc.(map[string]any)["properties"].(map[string]any)[name] = schema
			}
		}
	}
	var walk func(any)
	walk = func(value any) {
		s, _ := value.(map[string]any)
		properties, _ := s["properties"].(map[string]any)
		if len(properties) > 0 {
			properties["untrusted_text_by"] = map[string]any{"type": "string"}
			s["additionalProperties"] = false
		}
		for _, p := range properties {
			walk(p)
		}
		if items, ok := s["items"]; ok {
			walk(items)
		}
	}
	walk(doc)
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkSchema walks a schema: every type is one word.
func checkSchema(t *testing.T, path string, schema any) {
	t.Helper()
	s, _ := schema.(map[string]any)
	kind, _ := s["type"].(string)
	if kind == "" {
		t.Errorf("%s: the type is %v", path, s["type"])
	}
	for key := range s {
		if !strings.Contains(" type properties required additionalProperties description items enum ", " "+key+" ") {
			t.Errorf("%s: not every host reads %s", path, key)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		checkSchema(t, path+"."+name, p)
	}
	if items, ok := s["items"]; ok {
		checkSchema(t, path+"[]", items)
	}
}

// TestResultsKeepTheirSchema calls each tool and validates the result against the declared schema: results and
// refusals.
func TestResultsKeepTheirSchema(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	h.discard(t)
	h.put(t, home, "bread", wrapped(calendar.Todo, "bread", "SUMMARY:Bread"))
	h.put(t, home, "jam", wrapped(calendar.Todo, "jam", "SUMMARY:Jam", "RELATED-TO:milk"))
	errands, err := h.service.CreateCalendar(t.Context(), h.callers["alice"],
		calendar.NewCalendar{Properties: calendar.Properties{Name: "Errands"}})
	if err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	arguments := map[string][]string{
		"list_calendars":       {`{}`},
		"calendar_auth_status": {`{}`},
		"get_calendar":         {`{"calendar_id":"00000000-0000-4000-8000-000000000001"}`},
		"create_calendar": {
			`{"name":"N"}`,
			`{"name":"N","description":"D","color":"#FF5733","timezone":"W. Europe Standard Time"}`,
		},
		"delete_calendar": {`{"calendar_id":"00000000-0000-4000-8000-000000000003"}`},
		"create_event": {
			`{"calendar_id":"00000000-0000-4000-8000-000000000001","title":"T","start":"20260301T090000Z",` +
				`"end":"20260301T100000Z"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000001","title":"T","start":"2026-03-01",` +
				`"end":"2026-03-01","timezone":"Asia/Tokyo"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000001","title":"T","start":"20260301T090000Z",` +
				`"end":"20260301T100000Z","rrule":"FREQ=DAILY;COUNT=2",` +
				`"attendees":["Bob Ray <bob@example.com>"],"alarms":["10"],"status":"CONFIRMED",` +
				`"transparency":"OPAQUE","url":"https://example.com/a","categories":["a"]}`,
		},
		"get_event": {
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"party"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"weekly","recurrence_id":"2026-03-09"}`,
		},
		"update_event": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"party","title":"T",` +
			`"start":"2026-03-07","end":"2026-03-08"}`},
		"patch_event": {
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"party","title":"P"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"weekly",` +
				`"recurrence_id":"2026-03-16","scope":"following","title":"P"}`,
		},
		"move_event": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"party",` +
			`"new_start":"2026-03-07T20:00"}`},
		"delete_event": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","event_uid":"weekly",` +
			`"recurrence_id":"2026-03-23","scope":"following"}`},
		"list_tasks": {`{}`, `{"calendar_id":"00000000-0000-4000-8000-000000000002","status":"all",` +
			`"due_before":"2026-04-01","limit":1}`},
		"create_task": {
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","title":"T"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","title":"T","start":"2026-03-01",` +
				`"due":"2026-03-02","priority":1,"percent":50,"alarms":["5"],"rrule":"FREQ=DAILY;COUNT=3",` +
				`"description":"D","url":"https://example.com/a","categories":["a"]}`,
		},
		"change_many": {
			`{"changes":[{"tool":"patch_event","calendar_id":"00000000-0000-4000-8000-000000000002",` +
				`"event_uid":"party","title":"P"}],"preview":true}`,
			`{"changes":[{"tool":"create_event","calendar_id":"Work","title":"P","start":"2026-03-07T20:00"}]}`,
		},
		"update_task": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","task_uid":"milk",` +
			`"completed":true}`},
		"get_task": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","task_uid":"milk"}`},
		"move_task": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","task_uid":"jam",` +
			`"to_calendar_id":"` + string(errands.ID) + `"}`},
		"delete_task": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","task_uid":"bread"}`},
		"update_calendar": {`{"calendar_id":"00000000-0000-4000-8000-000000000002","name":"N","description":"",` +
			`"color":"#FF5733","timezone":"Asia/Tokyo","hidden":true}`},
		"query_events": {
			`{"calendar_id":"00000000-0000-4000-8000-000000000002"}`,
			`{"calendar_id":"00000000-0000-4000-8000-000000000002","start":"2026-03-01","end":"2026-04-01","limit":1}`,
		},
	}
	h.put(t, home, "gala", wrapped(calendar.Event, "gala", "DTSTART:20260304T090000Z", "SUMMARY:Gala",
		"ORGANIZER:mailto:eve@example.net", "ATTENDEE:/principals/alice"))
	arguments["list_invitations"] = []string{`{}`, `{"limit":1,"timezone":"Asia/Tokyo"}`}
	arguments["respond_to_event"] = []string{`{"calendar_id":"00000000-0000-4000-8000-000000000002",` +
		`"event_uid":"gala","answer":"tentative","comment":"Perhaps"}`}
	use(t, door, "alice", "subscribe_calendar", map[string]any{"url": "https://feeds.example/a", "name": "Choir"},
		new(subscribedView))
	arguments["subscribe_calendar"] = []string{
		`{"url":"https://feeds.example/b","name":"Club"}`,
		`{"url":"https://feeds.example/c"}`,
	}
	arguments["update_linked_account"] = []string{
		`{"account":"Club","action":"refresh"}`,
		`{"account":"Choir","action":"unlink_drop"}`,
	}
	var hook webhooksView
	use(t, door, "alice", "webhooks", params{"action": "add", "url": "https://hooks.example/a"}, &hook)
	arguments["webhooks"] = []string{
		`{"action":"list"}`, `{"action":"add","url":"https://hooks.example/b","kinds":["created"]}`,
		`{"action":"test","webhook_id":"` + string(hook.ID) + `"}`,
		`{"action":"deliveries","webhook_id":"` + string(hook.ID) + `"}`, `{"action":"remove","webhook_id":"` +
			string(hook.ID) + `"}`,
	}
	arguments["list_bookings"] = []string{`{}`}
	arguments["create_booking_page"] = []string{
		`{"calendar_id":"00000000-0000-4000-8000-000000000001","title":"Talk","minutes":[30,60]}`,
	}
	arguments["list_shared_calendars"] = []string{`{}`}
	arguments["share_calendar"] = []string{`{"calendar_id":"00000000-0000-4000-8000-000000000001","username":"bob",` +
		`"permission":"read"}`}
	arguments["unshare_calendar"] = []string{`{"calendar_id":"00000000-0000-4000-8000-000000000001","username":"bob"}`}
	maps.Copy(arguments, readingArguments())
	maps.Copy(arguments, changeArguments())
	always := make(map[string][]string)
	for _, tool := range (toolbox{}).tools() {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(tool.gives)) {
			if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); options == "" && !f.Anonymous {
				always[tool.name] = append(always[tool.name], name)
			}
		}
	}
	tools, _ := listTools(t, door)
	for _, tool := range tools {
		in, out := compile(t, tool.InputSchema), compile(t, closed(t, tools, tool.OutputSchema))
		if len(arguments[tool.Name]) == 0 {
			t.Errorf("%s: no call", tool.Name)
		}
		refused := do(t, request(t, "POST", door, "alice", calling(1, tool.Name), wire.VersionHeader, "2025-11-25"))
		needs, _ := decode(t, string(tool.InputSchema)).(map[string]any)["required"]
		if needs != nil && !strings.Contains(refused.body, `"isError":true`) {
			t.Errorf("%s without arguments: %s", tool.Name, refused.body)
		}
		keeps(t, out, refused)
		for _, args := range arguments[tool.Name] {
			if err := in.Validate(decode(t, args)); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
				tool.Name, args)
			g := do(t, request(t, "POST", door, "alice", body, wire.VersionHeader, "2025-11-25"))
			result := keeps(t, out, g)
			for _, name := range always[tool.Name] {
				if _, ok := result[name]; !ok {
					t.Errorf("%s: no %s in %s", tool.Name, name, g.body)
				}
			}
			if lacks := unsaid(contentText(t, g.body), "", result); lacks != nil {
				t.Errorf("%s: the text lacks %v:\n%s", tool.Name, lacks, g.body)
			}
		}
	}
}

// keeps holds a response's structured content to a schema, and returns it.
func keeps(t *testing.T, schema *jsonschema.Schema, g got) map[string]any {
	t.Helper()
	var r struct {
		Result struct{ StructuredContent map[string]any }
	}
	if err := json.Unmarshal([]byte(g.body), &r); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(r.Result.StructuredContent); err != nil {
		t.Errorf("%v\n%s", err, g.body)
	}
	return r.Result.StructuredContent
}

// TestEventIsStored reads what create_event made, as any other client would.
func TestEventIsStored(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_event",` +
			`"arguments":{"calendar_id":"00000000-0000-4000-8000-000000000001",` +
			`"title":"Plan; then, act","start":"2026-03-02T09:00:00","end":"2026-03-02T10:00:00",` +
			`"description":"one\ntwo","location":"Room"}}}`
		g := do(t, request(t, "POST", h.open(t, h.config()), "alice", body, wire.VersionHeader, "2025-11-25"))
		var r struct {
			Result struct {
				StructuredContent struct {
					UID  calendar.UID
					ETag calendar.ETag
				}
			}
		}
		if err := json.Unmarshal([]byte(g.body), &r); err != nil {
			t.Fatal(err)
		}
		made := r.Result.StructuredContent
		cal, err := h.service.Calendar(t.Context(), h.callers["alice"], "00000000-0000-4000-8000-000000000001")
		if err != nil {
			t.Fatal(err)
		}
		o, err := h.service.Object(t.Context(), nil, h.callers["alice"], cal,
			calendar.ObjectName(string(made.UID)+".ics"))
		if err != nil {
			t.Fatalf("%v; the tool said %s", err, g.body)
		}
		if o.ETag != made.ETag || o.Summary != "Plan; then, act" || o.Kind != calendar.Event {
			t.Errorf("stored %+v", o)
		}
		for _, line := range []string{
			"DTSTART", `SUMMARY:Plan\; then\, act`, `DESCRIPTION:one\ntwo`, "LOCATION:Room",
			"UID:" + string(made.UID),
		} {
			if !strings.Contains(string(o.Data), line) {
				t.Errorf("%s is not in\n%s", line, o.Data)
			}
		}
		nine := time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC).Unix() // in Berlin
		if *o.Span.Start > nine || *o.Span.End < nine+3600 {
			t.Errorf("it is within %d and %d, which does not hold %d", *o.Span.Start, *o.Span.End, nine)
		}
	})
}

// TestVisible: what acts unseen in a text is made visible (security M8) (mcp D5).
func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Plan for Q3\n\tpart two":           "Plan for Q3\n\tpart two",
		"a\u202eb\u2066c\u2069":             `a\u202eb\u2066c\u2069`,
		"a\x00b\x1b[31mc\u0085":             `a\u0000b\u001b[31mc\u0085`,
		"line\u2028break":                   `line\u2028break`,
		"hidden\U000e0041":                  `hidden\U000e0041`,
		"👩\u200d👧 שלום\u200f می\u200cخواهم": "👩\u200d👧 שלום\u200f می\u200cخواهم",
		"":                                 "",
		"zero\u200bwidth\ufeff so\u00adft": `zero\u200bwidth\ufeff so\u00adft`,

		"\u180e\u2060\u2064\u3164\u115f\u1160\uffa0\ufff9\ufffa\ufffb\u034f": "" +
			`\u180e\u2060\u2064\u3164\u115f\u1160\uffa0\ufff9\ufffa\ufffb\u034f`,
		"😀\U000e0154\U000e0155\ufe01":    `😀\U000e0154\U000e0155\ufe01`,
		"❤\ufe0f 1\ufe0f\u20e3 ☎\ufe0e":  "❤\ufe0f 1\ufe0f\u20e3 ☎\ufe0e",
		"❤\ufe0f\ufe0f a\ufe0f 1\ufe0f":  "❤\ufe0f" + `\ufe0f a\ufe0f 1\ufe0f`,
		"👩\u200d❤\ufe0f\u200d👨🏽\u200d🦰":  "👩\u200d❤\ufe0f\u200d👨🏽\u200d🦰",
		"क\u094d\u200dष می\u200c\u200cخ": "क\u094d\u200dष می\u200c" + `\u200c` + "خ",
		"a\u200cb\u200dc\u200ed\u200f":   `a\u200cb\u200dc\u200ed` + "\u200f",
		"\u200e(שלום)\u200e\u200f":       "\u200e(שלום)\u200e" + `\u200f`,
		"\u0600 ١٢ \U00013000\U00013430": "\u0600 ١٢ \U00013000\U00013430",
	} {
		if got := wire.Visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestQuotedTextsEndWhereTheyEnd: nothing in a text ends its quotation, its line, or its place in it.
func TestQuotedTextsEndWhereTheyEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Lunch":                           `"Lunch"`,
		"a\" uid \"b\nc\\":                `"a\" uid \"b\nc\\"`,
		"family 👩\u200d👧 of \u2028\u200b": "\"family 👩\u200d👧 of " + `\u2028\u200b"`,
	} {
		if got := wire.Quoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}
