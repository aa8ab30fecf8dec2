package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/archive"
)

// radicale starts the other server, with the user ann, and returns its address.
func radicale(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("radicale")
	if err != nil {
		t.Skip("radicale is not installed (apt-get install radicale)")
	}
	dir := t.TempDir()
	users, config := filepath.Join(dir, "users"), filepath.Join(dir, "config")
	held, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := held.Addr().String()
	settings := fmt.Sprintf("[server]\nhosts = %s\n[auth]\ntype = htpasswd\nhtpasswd_filename = %s\nhtpasswd_encryption = plain\ndelay = 0\n"+
		"[storage]\nfilesystem_folder = %s\n", addr, users, filepath.Join(dir, "data"))
	for file, text := range map[string]string{users: "ann:old secret\n", config: settings} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--config", config)
	var log output
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	})
	until(t, "radicale listens", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return "http://" + addr + "/"
}

// old makes a request to the other server.
func old(t *testing.T, method, at, body string, want int) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("ann", "old secret")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Fatalf("%s %s: %d, %v\n%s", method, at, answer.StatusCode, err, text)
	}
	return string(text)
}

const makeWork = `<c:mkcalendar xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="http://apple.com/ns/ical/"><d:set><d:prop>
	<d:displayname>Wörk &amp; more</d:displayname><a:calendar-color>#FF8800FF</a:calendar-color>
	<c:supported-calendar-component-set><c:comp name="VEVENT"/><c:comp name="VTODO"/></c:supported-calendar-component-set>
	</d:prop></d:set></c:mkcalendar>`

// TestImportFromRadicale imports the calendars of another server byte for byte; a second run continues where the first
// one ended.
func TestImportFromRadicale(t *testing.T) {
	t.Parallel()
	from := radicale(t)
	old(t, "MKCALENDAR", from+"ann/work/", makeWork, http.StatusCreated)
	texts := make(map[string]string)
	for i := range 12 {
		kind, name := "VEVENT", fmt.Sprintf("event %d.ics", i)
		if i%3 == 0 {
			kind, name = "VTODO", fmt.Sprintf("task-%d.ics", i)
		}
		text := fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//old//EN\r\nBEGIN:%s\r\nUID:uid-%d\r\nDTSTAMP:20260301T080000Z\r\n"+
			"DTSTART:20260302T%02d0000Z\r\nSUMMARY:Ünder %d\r\nX-OLD:kept\r\nEND:%s\r\nEND:VCALENDAR\r\n", kind, i, i, i, kind)
		at := from + "ann/work/" + url.PathEscape(name)
		old(t, http.MethodPut, at, text, http.StatusCreated)
		texts[name] = old(t, http.MethodGet, at, "", http.StatusOK)
	}

	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "bob", "--password-stdin")
	arguments := []string{"import", "--user", "bob", "--from", from, "--from-user", "ann", "--password-stdin"}
	call(t, env, "old secret\n", arguments...)
	out := t.TempDir()
	call(t, env, "", "export", "--user", "bob", "--objects", "--out", out, "--calendar", "Wörk & more")
	for name, want := range texts {
		got, err := os.ReadFile(filepath.Join(out, "work", fileName(name)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-there +here):\n%s", name, diff)
		}
	}

	// One more there, one changed here: the first comes, the second stays.
	more := strings.ReplaceAll(texts["event 1.ics"], "uid-1", "uid-more")
	old(t, http.MethodPut, from+"ann/work/more.ics", more, http.StatusCreated)
	r := serve(t, env)
	bob := newClient(t, r, "bob", "correct horse", "")
	changed := strings.ReplaceAll(texts["event 1.ics"], "Ünder", "Changed")
	bob.must(t, http.StatusNoContent, http.MethodPut, "/dav/calendars/bob/work/event%201.ics", changed)
	call(t, env, "old secret\n", arguments...)
	bob.must(t, http.StatusOK, http.MethodGet, "/dav/calendars/bob/work/more.ics", "")
	if got := bob.must(t, http.StatusOK, http.MethodGet, "/dav/calendars/bob/work/event%201.ics", ""); got.body != changed {
		t.Errorf("the second import overwrote\n%s", got.body)
	}
	props := bob.must(t, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/bob/work/", propfindBody("d:displayname", "a:calendar-color", "c:supported-calendar-component-set"), "Depth", "0")
	for _, want := range []string{"Wörk &amp; more", "#FF8800FF", `name="VEVENT"`, `name="VTODO"`} {
		if !strings.Contains(props.body, want) {
			t.Errorf("there is no %s in\n%s", want, props.body)
		}
	}
}

// TestCredentialsGoNowhereElse: a server may send us to another one of its domain over TLS, and
// nowhere else with the password (security L13).
func TestCredentialsGoNowhereElse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		home, to string
		want     bool
	}{
		{"https://caldav.example.com/", "https://caldav.example.com/x", true},
		{"https://caldav.example.com/", "https://CALDAV.example.com:443/x", true},
		{"https://caldav.example.com/", "https://caldav.example.com:8443/x", false},
		{"https://caldav.example.com:8443/", "https://CALDAV.example.com:8443/x", true},
		{"https://caldav.example.com:8443/", "https://caldav.example.com/x", true},
		{"https://example.com/", "https://caldav.example.com:8443/x", false},
		{"http://127.0.0.1:18170/", "http://127.0.0.1:18171/x", false},
		{"https://caldav.icloud.com/", "https://p42-caldav.icloud.com/x", true},
		{"https://caldav.icloud.com/", "https://evilicloud.com/x", false},
		{"https://evil.com/", "https://caldav.icloud.com/x", false},
		{"https://example.com/", "https://caldav.example.com/x", true},
		{"https://caldav.example.com/", "https://p42-caldav.example.com/x", false},
		{"https://example.co.uk/", "https://evil.co.uk/x", false},
		{"http://caldav.example.com/", "https://caldav.example.com/x", true},
		{"http://caldav.example.com/", "http://caldav.example.com/x", true},
		{"https://caldav.example.com/", "http://caldav.example.com/x", false},
		{"https://caldav.example.com/", "https://evil.com/x", false},
		{"https://caldav.example.com/", "https://evilexample.com/x", false},
		{"https://example.com/", "https://evil.com/x", false},
		{"http://example.com/", "http://p42.example.com/x", false},
		{"https://caldav.example.com/", "file:///etc/passwd", false},
	} {
		home, err := url.Parse(test.home)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(test.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := newDAVClient(home, "ann", "x").trusts(to); got != test.want {
			t.Errorf("%s sends to %s: %v, want %v", test.home, test.to, got, test.want)
		}
	}
}

func TestBarText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		done, total int
		want        string
	}{
		{0, 10, "[" + strings.Repeat(" ", barWidth) + "] 0 of 10  x"},
		{5, 10, "[" + strings.Repeat("#", barWidth/2) + strings.Repeat(" ", barWidth/2) + "] 5 of 10  x"},
		{12, 10, "[" + strings.Repeat("#", barWidth) + "] 12 of 10  x"},
	} {
		if got := barText(test.done, test.total, "x"); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestPace: a bar shows the rate and the remaining time (clients F12).
func TestPace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		done, left int
		took       time.Duration
		want       string
	}{
		{10, 10, time.Second / 2, ""},
		{0, 10, time.Minute, ""},
		{100, 1000, 2 * time.Second, "  50/s, 20s left"},
		{1900, 19000, 10 * time.Second, "  190/s, 1m40s left"},
	} {
		if got := pace(test.done, test.left, test.took); got != test.want {
			t.Errorf("%d and %d in %s: %q, want %q", test.done, test.left, test.took, got, test.want)
		}
	}
}

// The line number in an error about an object is the line in the file.
func TestRefusalsNameTheFilesLines(t *testing.T) {
	t.Parallel()
	for part := range archive.Split([]byte("BEGIN:VCALENDAR\nX-A:1\nX-B:2\nX-C:3\nBEGIN:VEVENT\nUID:a\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n"), nil) {
		for reason, want := range map[string]string{
			"line 4: bad": "line 5: bad", "line 6: and line 4": "line 7: and line 5", "line 1: odd": "line 5: odd", "no lines": "no lines", "outline 4": "outline 4",
		} {
			if got := part.InFile(reason); got != want {
				t.Errorf("%q becomes %q, want %q", reason, got, want)
			}
		}
	}
}
