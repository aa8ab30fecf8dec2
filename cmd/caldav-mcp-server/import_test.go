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

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
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
	settings := fmt.Sprintf("[server]\nhosts = %s\n[auth]\ntype = htpasswd\nhtpasswd_filename = %s\n"+
		"htpasswd_encryption = plain\ndelay = 0\n"+
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

const makeWork = `<c:mkcalendar xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"
	xmlns:a="http://apple.com/ns/ical/">
	<d:set><d:prop>
	<d:displayname>Wörk &amp; more</d:displayname><a:calendar-color>#FF8800FF</a:calendar-color>
	<c:supported-calendar-component-set><c:comp name="VEVENT"/><c:comp name="VTODO"/>
	</c:supported-calendar-component-set></d:prop></d:set></c:mkcalendar>`

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
		text := fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//old//EN\r\nBEGIN:%s\r\nUID:uid-%d\r\n"+
			"DTSTAMP:20260301T080000Z\r\n"+
			"DTSTART:20260302T%02d0000Z\r\nSUMMARY:Ünder %d\r\nX-OLD:kept\r\nEND:%s\r\nEND:VCALENDAR\r\n", kind, i, i,
			i, kind)
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
		got, err := os.ReadFile(filepath.Join(out, "work", strings.ReplaceAll(name, " ", "%20")))
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
	if got := bob.must(t, http.StatusOK, http.MethodGet, "/dav/calendars/bob/work/event%201.ics", ""); got.body !=
		changed {
		t.Errorf("the second import overwrote\n%s", got.body)
	}
	props := bob.must(t, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/bob/work/",
		davclient.PropfindBody("d:displayname", "a:calendar-color", "c:supported-calendar-component-set"), "Depth", "0")
	for _, want := range []string{"Wörk &amp; more", "#FF8800FF", `name="VEVENT"`, `name="VTODO"`} {
		if !strings.Contains(props.body, want) {
			t.Errorf("there is no %s in\n%s", want, props.body)
		}
	}
}

// The line number in an error about an object is the line in the file.
func TestRefusalsNameTheFilesLines(t *testing.T) {
	t.Parallel()
	for part := range archive.Split(
		[]byte("BEGIN:VCALENDAR\nX-A:1\nX-B:2\nX-C:3\nBEGIN:VEVENT\nUID:a\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n"),
		nil,
	) {
		for reason, want := range map[string]string{
			"line 4: bad": "line 5: bad", "line 6: and line 4": "line 7: and line 5", "line 1: odd": "line 5: odd",
			"no lines": "no lines", "outline 4": "outline 4",
		} {
			if got := part.InFile(reason); got != want {
				t.Errorf("%q becomes %q, want %q", reason, got, want)
			}
		}
	}
}
