package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

var update = flag.Bool("update", false, "write the answers into testdata")

// TestConversations replays the conversations in testdata with a server with the real tools. Each is a list of "name:
// request" and "name: response". A request is its method, its headers in addition to the usual ones ("Token" stands for
// the bearer token, alice's by default), a blank line, and a body. $SESSION is the last session that was opened. Tools
// are given as differences from tools.json.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) { converse(t, file, url) })
		})
	}
}

func converse(t *testing.T, file, url string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, door := houseFor(t, file, url)
	spoken := &txtar.Archive{Comment: archive.Comment}
	session := ""
	for _, f := range archive.Files {
		name, isRequest := strings.CutSuffix(f.Name, ": request")
		if !isRequest {
			continue
		}
		g := do(t, readRequest(t, door, strings.ReplaceAll(string(f.Data), "$SESSION", session)))
		if id := g.header.Get(wire.SessionHeader); id != "" {
			session = id
		}
		g.body = abridge(t, door, g.body)
		spoken.Files = append(spoken.Files, f, txtar.File{Name: name + ": response", Data: transcribe(t, g)})
	}
	now := txtar.Format(spoken)
	if *update {
		if strings.HasPrefix(url, "sqlite:") {
			if err := os.WriteFile(file, now, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(archive)), string(now)); diff != "" {
		t.Errorf("the conversation went another way (-want +got):\n%s\nthe log: %s", diff, h.Log.String())
	}
}

// houseFor is the house for a conversation: one about mail if a user has linked some.
func houseFor(t *testing.T, file, url string) (h *house, door string) {
	t.Helper()
	if filepath.Base(file) == "mail.txtar" {
		p := newPost(t, url)
		p.link(t, keyWord)
		return p.house, p.door
	}
	h = newHouse(t, url)
	return h, h.open(t, h.config())
}

// readRequest makes the request that a conversation has.
func readRequest(t *testing.T, url, text string) *http.Request {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := bufio.NewScanner(strings.NewReader(head))
	lines.Scan()
	method := strings.TrimSpace(lines.Text())
	token, fields := "alice", []string(nil)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if value = strings.TrimSpace(value); name == "Token" {
			token = value
			continue
		}
		fields = append(fields, name, value)
	}
	return request(t, method, url, token, strings.TrimSpace(body), fields...)
}

// shownFields are the header fields that a conversation shows.
var shownFields = []string{
	"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
	"Allow", "Content-Type", wire.SessionHeader, "Retry-After", "Vary", "X-Accel-Buffering",
}

// epoch is different in each store.
var epoch = regexp.MustCompile(`(urn:caldav-mcp-server:sync:)[0-9a-z]+`)

// transcribe writes a response as a conversation has it.
func transcribe(t *testing.T, g got) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, g.status)
	for _, name := range shownFields {
		for _, value := range g.header.Values(name) {
			if name == wire.SessionHeader {
				value = "$SESSION"
			}
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	if g.body != "" {
		b.WriteString("\n")
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, []byte(g.body), "", "  "); err != nil {
			t.Fatalf("the body is no JSON: %v\n%s", err, g.body)
		}
		b.WriteString(strings.TrimSpace(pretty.String()) + "\n")
	}
	return epoch.ReplaceAll(b.Bytes(), []byte("${1}EPOCH"))
}

// TestSeedExamples compares the conversation at 2025-03-26 with the promised text word for word, so that -update cannot
// change it.
func TestSeedExamples(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/first.txtar")
	if err != nil {
		t.Fatal(err)
	}
	promised := map[string]string{
		"initialize": `{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":false}},` +
			`"serverInfo":{"name":"caldav-mcp-server","version":"0.1.0"}}`,
		"ping": `{}`,
		"create_event": `{"calendar_id":"00000000-0000-4000-8000-000000000001","title":"Team Standup",` +
			`"start":"20260301T090000Z","end":"20260301T093000Z"}`,
		"list_calendars": `[{"id":"00000000-0000-4000-8000-000000000001","name":"Work",
			"description":"Where the money comes from","color":"#0E61B9","timezone":"UTC","owner_id":"alice-id"},
			{"id":"00000000-0000-4000-8000-000000000002","name":"Home\\u202e","description":null,"color":"#FF5733",
			"timezone":"America/New_York","owner_id":"alice-id"}]`,
	}
	for name, want := range promised {
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name+": response" })
		if i < 0 {
			t.Errorf("%s: not in the conversation", name)
			continue
		}
		_, body, _ := strings.Cut(string(archive.Files[i].Data), "\n\n")
		contains(t, name, decode(t, resultOf(t, body)), decode(t, want))
	}
}

// resultOf returns a response's result, or the text of its content where it has one.
func resultOf(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		Result  json.RawMessage `json:"result"`
		Content struct {
			Content []struct{ Type, Text string } `json:"content"`
		} `json:"-"`
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Result, &r.Content); err != nil {
		t.Fatal(err)
	}
	if c := r.Content.Content; len(c) == 1 && c[0].Type == "text" {
		return c[0].Text
	}
	return string(r.Result)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// contains reports whether have contains all of want, field by field; it may have more fields.
func contains(t *testing.T, path string, have, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		fields, _ := have.(map[string]any)
		for name, value := range want {
			contains(t, path+"."+name, fields[name], value)
		}
	case []any:
		items, _ := have.([]any)
		for i, value := range want {
			if i >= len(items) {
				t.Errorf("%s: %d items, want at least %d", path, len(items), len(want))
				return
			}
			contains(t, fmt.Sprintf("%s[%d]", path, i), items[i], value)
		}
	default:
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
