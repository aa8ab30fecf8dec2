package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestDraft: a backup that is killed leaves no file, and the next one removes an older version's (operation F7).
func TestDraft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{draftPrefix + "old": 2 * draftAge, draftPrefix + "new": 0} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeDrafts(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	f, err := newDraft(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("whole"); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, draftPrefix+"*"))
	if err != nil || runtime.GOOS == "linux" && (len(names) != 1 || filepath.Base(names[0]) != draftPrefix+"new") {
		t.Errorf("the directory has %q, %v", names, err)
	}
	path := filepath.Join(dir, "night.backup")
	if err := errors.Join(f.publish(path), f.discard()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	info, of := os.Stat(path)
	if err := errors.Join(err, of); err != nil || string(text) != "whole" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", text, info, err)
	}
	second, err := newDraft(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.publish(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup of the same name: %v", err)
	}
	_ = second.discard()
}
