package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// triedBlock is a block of docs/clients.md that is marked as tried.
func triedBlock(t *testing.T, of string) string {
	t.Helper()
	_, rest, found := strings.Cut(readDoc(t, "docs/clients.md"), "<!-- tried: "+of+" -->\n```")
	_, rest, fenced := strings.Cut(rest, "\n")
	block, _, ended := strings.Cut(rest, "```")
	if !found || !fenced || !ended {
		t.Fatalf("there is no block of %s", of)
	}
	return block
}

// aliceAtHome is a server with the user of the docs, who has an event.
func aliceAtHome(t *testing.T) *running {
	t.Helper()
	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "alice", "--password-stdin")
	r := serveProgram(t, console.Program, env, "--no-first-user")
	newClient(t, r, "alice", "correct horse", "").must(t, http.StatusCreated, "PUT",
		"/dav/calendars/alice/personal/choir.ics",
		strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:choir\n"+
			"DTSTAMP:20260101T000000Z\n"+
			"DTSTART:20270101T100000Z\nDURATION:PT1H\nSUMMARY:Choir practice\nEND:VEVENT\nEND:VCALENDAR\n", "\n",
			"\r\n"))
	return r
}

// inHome runs a program of the system with a home of its own.
func inHome(t *testing.T, home, input, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "PATH=/usr/bin:/bin", "CALCURSE_CALDAV_PASSWORD=correct horse")
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %q: %v %s", program, args, err, out)
	}
	return string(out)
}

// TestPagesSayWhatThunderbirdSays: its words are the same wherever it is set up (clients §4).
func TestPagesSayWhatThunderbirdSays(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"README.md", "docs/clients.md", "docs/sharing.md"} {
		text := readDoc(t, page)
		if !strings.Contains(text, "Add Calendar… → On the Network") &&
			!strings.Contains(text, "Add Calendar…, On the Network") {
			t.Errorf("%s does not say how Thunderbird is set up", page)
		}
		if strings.Contains(text, "New calendar → On the network") {
			t.Errorf("%s names a button that Thunderbird does not have", page)
		}
	}
}

// needsPython skips a test where the system's Python lacks a module.
func needsPython(t *testing.T, module string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import "+module)
	cmd.Dir = "/" // no directory of ours may look like the module
	if err := cmd.Run(); err != nil {
		t.Skipf("the system's Python has no %s", module)
	}
}

// TestVdirsyncerBlock runs vdirsyncer with the block of docs/clients.md, where it is there (clients §4).
func TestVdirsyncerBlock(t *testing.T) {
	t.Parallel()
	block := triedBlock(t, "vdirsyncer")
	for _, line := range []string{"status_path = ", "conflict_resolution = ", "collections = ", "metadata = "} {
		if !strings.Contains(block, "\n"+line) {
			t.Errorf("there is no %q in it, without which vdirsyncer stops, or leaves conflicts", line)
		}
	}
	vdirsyncer, err := exec.LookPath("vdirsyncer")
	if err != nil {
		t.Skip("there is no vdirsyncer here")
	}
	r, home := aliceAtHome(t), t.TempDir()
	file := filepath.Join(home, "config")
	block = strings.NewReplacer(
		"https://calendar.example.org/", r.caldav("/"), `["command", "secret-tool", "lookup", "service", "calendar"]`,
		`["command", "echo", "correct horse"]`,
	).Replace(block)
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"discover", "sync"} {
		inHome(t, home, strings.Repeat("y\n", 10), vdirsyncer, "-c", file, word)
	}
	if found, err := filepath.Glob(filepath.Join(home, ".calendars", "personal", "*.ics")); err != nil ||
		len(found) != 1 {
		t.Errorf("it has fetched %q: %v", found, err)
	}
}

// TestCalcurseBlock runs calcurse-caldav with the block of docs/clients.md, and with the lines that are said for a
// server without a proxy, where it is there (clients §4).
func TestCalcurseBlock(t *testing.T) {
	t.Parallel()
	block := triedBlock(t, "calcurse")
	const without = "say `Hostname = 127.0.0.1:5232` and `HTTPS = No` under `[General]`"
	if !strings.Contains(readDoc(t, "docs/clients.md"), without) {
		t.Errorf("it is not said what to do without a proxy")
	}
	if _, err := exec.LookPath("calcurse-caldav"); err != nil {
		t.Skip("there is no calcurse-caldav here")
	}
	needsPython(t, "httplib2")
	r, home := aliceAtHome(t), t.TempDir()
	address := strings.TrimSuffix(strings.TrimPrefix(r.caldav("/"), "http://"), "/")
	block = strings.Replace(block, "Hostname = calendar.example.org", "Hostname = "+address+"\nHTTPS = No", 1)
	folder := filepath.Join(home, ".config", "calcurse", "caldav")
	data := filepath.Join(home, ".local", "share", "calcurse")
	for _, dir := range []string{folder, filepath.Join(data, "caldav")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "config"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	out := inHome(t, home, "", "/usr/bin/calcurse-caldav", "--init=keep-remote")
	if found, err := os.ReadFile(filepath.Join(data, "apts")); err != nil ||
		!strings.Contains(string(found), "Choir practice") {
		t.Errorf("it has fetched %q: %v\n%s", found, err, out)
	}
}

// TestPythonBlock runs the lines of docs/clients.md with python-caldav, where it is there (clients §4).
func TestPythonBlock(t *testing.T) {
	t.Parallel()
	block := triedBlock(t, "python")
	needsPython(t, "caldav")
	r := aliceAtHome(t)
	block = strings.NewReplacer("https://calendar.example.org/", r.caldav("/"), "mcp_…", "correct horse").Replace(block)
	if out := inHome(t, t.TempDir(), "", "/usr/bin/python3", "-c", "import caldav\n"+block); !strings.Contains(out,
		"Personal 1\n") {
		t.Errorf("it prints %q", out)
	}
}
