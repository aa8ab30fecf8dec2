package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// TestHostileBackupTakesLittleMemory checks files with lines of any length, or as long as they may be (operation F8).
func TestHostileBackupTakesLittleMemory(t *testing.T) {
	t.Parallel()
	const most = 100 << 10 // KiB
	for name, lines := range map[string][]int{"one line": {600e6}, "long lines": {10e6, 10e6, 10e6, 10e6, 10e6}} {
		path := filepath.Join(t.TempDir(), "hostile.backup")
		if err := writeHostile(path, lines); err != nil {
			t.Fatal(err)
		}
		check := exec.CommandContext(t.Context(), console.Program, "restore", "--check", path)
		check.Env = []string{"PATH=" + os.Getenv("PATH"), "DATA_DIR=" + t.TempDir()}
		said, err := check.CombinedOutput()
		if err == nil || !strings.Contains(string(said), "nothing was changed") {
			t.Errorf("%s: %v, %s", name, err, said)
		}
		used := check.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%s: %d KiB", name, used)
		if used > most {
			t.Errorf("%s: the check took %d KiB of memory, more than %d", name, used, most)
		}
	}
}

// writeHostile writes a backup with a table of one column, and lines of some lengths.
func writeHostile(path string, lines []int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	entry, err := w.Create("tables/users.jsonl")
	if err != nil {
		return err
	}
	text, block := bufio.NewWriter(entry), bytes.Repeat([]byte("a"), 100_000)
	for _, n := range lines {
		_, _ = text.WriteString(`["`)
		for range n / len(block) {
			_, _ = text.Write(block)
		}
		_, _ = text.WriteString("\"]\n")
	}
	if err := text.Flush(); err != nil {
		return err
	}
	if entry, err = w.Create("backup.json"); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(entry, `{"format":"caldav-mcp-server backup","version":1,"tables":[{"name":"users",`+
		`"columns":[{"name":"name","kind":"bytes"}],"rows":%d,"sha256":""}]}`, len(lines)+1); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
