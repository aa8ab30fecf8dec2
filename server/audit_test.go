package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What changes something has a line, and so have credentials that were refused; what only asks has none, and no line
// has a path.
func TestAudit(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		record := RecordOf(r.Context())
		record.User = "ann"
		switch r.URL.Path {
		case "/people":
			record.Did("people/disable", "bob")
		case "/share":
			record.Did("share", "bob staff")
			record.Details("calendar-id", "read")
		case "/preview":
			record.Quiet()
		case "/sign-in":
			record.RefuseForm()
			record.Did("", "bob")
		case "/asks":
			record.Quiet()
		case "/import":
			record.Token = "token-id"
			record.Changed("a.1")
			record.Changed("b.7")
		case "/tool":
			record.Quiet()
			record.Called("list_events", "ok", false)
			record.Called("create_event", "not_found", true)
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		}
	}, func(c *Config) { c.Audit = &Audit{out: &text, log: slog.New(slog.DiscardHandler)} })
	for _, ask := range []string{
		"PUT /secret", "GET /secret", "PROPFIND /secret", "POST /people", "POST /asks", "POST /tool", "DELETE /missing",
		"POST /import", "POST /share", "POST /preview", "POST /sign-in",
	} {
		method, path, _ := strings.Cut(ask, " ")
		s.ask(t, method, path, nil)
	}
	var got []string
	for line := range strings.Lines(text.String()) {
		var d AuditEvent
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.ID == "" || d.Client == "" || d.At.IsZero() || d.User != "ann" {
			t.Errorf("half a line: %s", line)
		}
		ids := ""
		if d.Changes > 0 {
			ids = fmt.Sprintf(" by %s: %s and %d more", d.Token, d.Change, d.Changes-1)
		}
		if d.Detail != "" {
			ids += " " + d.Calendar + " " + d.Detail
		}
		got = append(got, strings.TrimSpace(strings.Join([]string{d.Did, d.Whom, d.Outcome}, " "))+ids)
	}
	want := []string{
		"PUT other  ok", "people/disable bob ok", "tool create_event  failed", "DELETE other  failed",
		"POST other  ok by token-id: a.1 and 1 more", "share bob staff ok calendar-id read", "POST other bob refused",
	}
	if diff := cmp.Diff(want, got); diff != "" || strings.Contains(text.String(), "secret") {
		t.Errorf("(-want +got):\n%s\n%s", diff, text.String())
	}
}

// A file that a rotation moved away is begun anew, and what was there is kept.
func TestAuditRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	a, err := OpenAudit(path, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	a.Note(AuditEvent{Did: "one"})
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	a.Note(AuditEvent{Did: "two"})
	a.Note(AuditEvent{Did: "three"})
	for file, want := range map[string]int{path + ".1": 1, path: 2} {
		data, err := os.ReadFile(file)
		if err != nil || bytes.Count(data, []byte("\n")) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}
