package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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
		var said bytes.Buffer
		check.Stdout, check.Stderr = &said, &said
		if err := check.Start(); err != nil {
			t.Fatal(err)
		}
		used, err := highest(check)
		if err == nil || !strings.Contains(said.String(), "nothing was changed") {
			t.Errorf("%s: %v, %s", name, err, said.String())
		}
		t.Logf("%s: %d KiB", name, used)
		if used > most {
			t.Errorf("%s: the check took %d KiB of memory, more than %d", name, used, most)
		}
	}
}

// highest waits for a program, and returns the most memory that it had, in KiB. The kernel's figure after its end also
// counts this process, which started it.
func highest(c *exec.Cmd) (used int, err error) {
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return used, err
		case <-ticker.C:
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if found := highWater.FindSubmatch(status); found != nil {
			used, _ = strconv.Atoi(string(found[1]))
		}
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

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
