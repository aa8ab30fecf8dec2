package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExportKeepsAll: before a user is deleted for good, all their data is written to files.
func TestExportKeepsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"DATA_DIR=" + dir}
	call(t, env, "correct horse\n", "create-user", "bob", "--password-stdin")
	bob := newClient(t, serve(t, env), "bob", "correct horse", "")
	want := make(map[string]bool)
	for i, name := range []string{"lunch", "lunch.ics", "LUNCH.ICS"} {
		text := fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//old//EN\r\nBEGIN:VEVENT\r\nUID:uid-%d\r\n"+
			"DTSTAMP:20260301T080000Z\r\n"+
			"DTSTART:20260302T120000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", i)
		bob.must(t, http.StatusCreated, http.MethodPut, "/dav/calendars/bob/personal/"+name, text)
		want[text] = true
	}
	out := filepath.Join(dir, "out")
	call(t, env, "", "delete-user", "bob", "--yes", "--export", out)
	files, err := filepath.Glob(filepath.Join(out, "personal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "X-CALDAV-MCP-ADDRESS:") { // what says which calendar it is
			got[string(text)] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-there +exported):\n%s", diff)
	}
}
