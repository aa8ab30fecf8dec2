// Package goldentest compares results with golden files: txtar archives in testdata with inputs and results as parts.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the results into testdata")

// Part returns a part of a golden file, "" if there is none.
func Part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setPart(a *txtar.Archive, name, data string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(data)})
}

// Archives runs a test for each golden file of a directory in testdata. With -update it writes the changed files.
func Archives(t *testing.T, dir string, least int, check func(t *testing.T, a *txtar.Archive)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) < least {
		t.Fatalf("%d files, want %d: %v", len(files), least, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			check(t, a)
			if *Update {
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Golden compares a part with a result, or replaces it.
func Golden(t *testing.T, a *txtar.Archive, name, got string) {
	t.Helper()
	if *Update {
		setPart(a, name, got)
		return
	}
	if diff := cmp.Diff(Part(a, name), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// Settle compares the result of a whole file. With -update it writes the file.
func Settle(t *testing.T, file string, want, got *txtar.Archive) {
	t.Helper()
	diff := cmp.Diff(string(txtar.Format(want)), string(txtar.Format(got)))
	if diff == "" {
		return
	}
	if !*Update {
		t.Errorf("%s (-want +got); -update takes it:\n%s", file, diff)
		return
	}
	if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
		t.Fatal(err)
	}
}

// LF returns a text as a golden file has it, with line feeds and without VTIMEZONEs, which have their own tests.
func LF(data []byte) string {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	for {
		from, to := strings.Index(text, "BEGIN:VTIMEZONE\n"), strings.Index(text, "END:VTIMEZONE\n")
		if from < 0 {
			return text
		}
		text = text[:from] + text[to+len("END:VTIMEZONE\n"):]
	}
}

// CRLF returns a text with the line breaks of iCalendar.
func CRLF(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }
