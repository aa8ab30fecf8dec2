package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// TestAnyArguments calls every tool with random arguments: none of the calls fails, and models can read every refusal.
func TestAnyArguments(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	handler := New(h.config())
	t.Cleanup(handler.Close)
	r := rand.New(rand.NewPCG(1, 2))
	values := []string{
		`null`, `{}`, `[]`, `""`, `" "`, `0`, `-1`, `1e9`, `true`, `"all"`, `"x"`, `[null]`, `[[]]`, `[{}]`,
		`{"tool":null}`, `[{"tool":"create_event"}]`, `[{"title":"x"}]`,
		`"` + string(home) + `"`, `"party"`, `"weekly"`, `"milk"`, `"20260302T140000Z"`, `30`, `"2026-03-03T09:00"`,
		`"9999-99-99"`, `"BEGIN:VEVENT"`, `"a@b.example"`, `"\u0000"`, `"\ud800"`, `"FREQ=DAILY"`,
	}
	for range slowtest.Rounds(t, slowtest.Random, 3000, 50_000) {
		tool := handler.tools[r.IntN(len(handler.tools))]
		args := map[string]json.RawMessage{}
		for _, f := range tool.begin().takes {
			switch n := r.IntN(6); {
			case n < 2:
			case n < 4 && len(f.words) > 0:
				args[f.name], _ = json.Marshal(f.words[r.IntN(len(f.words))])
			default:
				args[f.name] = json.RawMessage(values[r.IntN(len(values))])
			}
		}
		data, err := json.Marshal(args)
		if err != nil {
			continue
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
			tool.name, data)
		q := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.Set(h.Now().Add(1e9))
		handler.ServeMCP(w, q, h.callers["alice"])
		if w.Code >= 500 || strings.Contains(w.Body.String(), "-32603") {
			t.Fatalf("%s %s: %d %s", tool.name, data, w.Code, w.Body)
		}
	}
}
