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

func TestFileName(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"a.ics": "a.ics", "wörk": "wörk", "": "_", ".": "_.", "..": "_..", "../x": "..%2Fx", "a b:c%": "a%20b%3Ac%25", "a\x00\n": "a%00%0A",
	} {
		if got := fileName(word); got != want {
			t.Errorf("%q becomes %q, want %q", word, got, want)
		}
	}
}

// TestFileNamesDiffer: a file that is written over another one is an object lost.
func TestFileNamesDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 120)
	names := fileNames{}
	var got []string
	for _, word := range []string{
		"foo", "foo.ics", "FOO.ICS", "foo%2.ics", "b.txt", "\u00fc.ics", "u\u0308.ics", ".ics", "%\x10.ics", long + "1.ics", long + "2.ics",
	} {
		got = append(got, names.object(word))
	}
	cut := long[:mostStem]
	want := []string{
		"foo.ics", "foo%2.ics", "FOO%3.ICS", "foo%252.ics", "b.txt.ics", "\u00fc.ics", "u\u0308%2.ics", "_.ics", "%25%10.ics",
		cut + ".ics", cut + "%2.ics",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExportKeepsAll: before a user is deleted for good, all their data is written to files.
func TestExportKeepsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"DATA_DIR=" + dir}
	call(t, env, "correct horse\n", "create-user", "bob", "--password-stdin")
	bob := newClient(t, serve(t, env), "bob", "correct horse", "")
	want := make(map[string]bool)
	for i, name := range []string{"lunch", "lunch.ics", "LUNCH.ICS"} {
		text := fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//old//EN\r\nBEGIN:VEVENT\r\nUID:uid-%d\r\nDTSTAMP:20260301T080000Z\r\n"+
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
