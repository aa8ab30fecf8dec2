package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// Data stored over one protocol is visible over the other at once.
func TestTwoDoorsOneHouse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		c := firstClient(t, serve(t, on(database)))
		token := c.sync(t, "").token
		put := c.must(t, http.StatusCreated, "PUT", personal+"dentist.ics", event("dentist", "Dentist"),
			"If-None-Match", "*")
		if put.header.Get("ETag") == "" {
			t.Error("a PUT was answered without an ETag")
		}
		id := calendarNamed(t, c, "Personal")
		c.call(t, "create_event", map[string]string{
			"calendar_id": id, "title": "Lunch", "start": "20260302T120000Z", "end": "20260302T130000Z",
		})
		changed := c.sync(t, token)
		if len(changed.names) != 2 || changed.names["dentist.ics"] != http.StatusOK {
			t.Fatalf("since the beginning there changed %v", changed.names)
		}
		for name := range changed.names {
			got := c.must(t, http.StatusOK, "GET", personal+name, "").body
			if name == "dentist.ics" {
				if diff := cmp.Diff(event("dentist", "Dentist"), got); diff != "" {
					t.Errorf("the object is not what was put (-want +got):\n%s", diff)
				}
			} else if !strings.Contains(got, "SUMMARY:Lunch") {
				t.Errorf("the tool's event is\n%s", got)
			}
		}
	})
}

// calendarNamed finds a calendar's id as an assistant would.
func calendarNamed(t *testing.T, c client, want string) string {
	t.Helper()
	var calendars []struct{ ID, Name string }
	if err := json.Unmarshal([]byte(c.call(t, "list_calendars", struct{}{})), &calendars); err != nil {
		t.Fatal(err)
	}
	for _, cal := range calendars {
		if cal.Name == want {
			return cal.ID
		}
	}
	t.Fatalf("there is no calendar %q among %v", want, calendars)
	return ""
}

// Personal stays the default calendar of a new user, also when another calendar has the same or an earlier time of
// creation.
func TestPersonalIsDefault(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		c := firstClient(t, serve(t, on(database)))
		other := strings.TrimSuffix(personal, "personal/") + "another/"
		c.must(t, http.StatusCreated, "MKCALENDAR", other, "")
		(&linkWalk{T: t, database: database}).inDatabase("UPDATE calendars SET created = 0 WHERE segment = 'another'")
		c.must(t, http.StatusForbidden, "DELETE", personal, "")
		c.must(t, http.StatusNoContent, "DELETE", other, "")
	})
}

// Two processes that start at the same moment on the same empty database agree on one first user,
// and then serve the same house.
func TestTwoProcessesStartAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		servers := make([]*running, 2)
		var all sync.WaitGroup
		for i := range servers {
			all.Go(func() {
				var err error
				if servers[i], err = launch(context.WithoutCancel(t.Context()), console.Program, on(database)); err !=
					nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		t.Cleanup(func() {
			for _, s := range servers {
				if err := s.interrupt(); err != nil {
					t.Errorf("%v\n%s", err, s.log.String())
				}
			}
		})
		if t.Failed() {
			return
		}
		host, guest := servers[0], servers[1]
		until(t, "one of them shows the first user", func() bool {
			if host.stdout.String() == "" {
				host, guest = guest, host
			}
			return host.stdout.String() != ""
		})
		if guest.stdout.String() != "" {
			t.Errorf("both processes showed a first user:\n%s", guest.stdout.String())
		}
		one := firstClient(t, host)
		other := one.at(guest)
		one.must(t, http.StatusCreated, "PUT", personal+"a.ics", event("a", "A"))
		other.must(t, http.StatusOK, "GET", personal+"a.ics", "")
		other.must(t, http.StatusNoContent, "DELETE", personal+"a.ics", "")
		one.must(t, http.StatusNotFound, "GET", personal+"a.ics", "")
		calendarNamed(t, one, "Tasks")
		calendarNamed(t, other, "Tasks")
		// A password that changed counts at once, in every process.
		call(t, on(database), "an entirely new one\n", "set-password", "admin", "--password-stdin")
		one.must(t, http.StatusUnauthorized, "GET", personal, "")
		other.must(t, http.StatusUnauthorized, "GET", personal, "")
	})
}

// A stop finishes the request whose body is still on its way, and ends the streams that would
// never end.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		r := serve(t, append(on(database), "METRICS_ADDR=127.0.0.1:0"))
		c := firstClient(t, r)
		c.must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0") // logged in
		stream := openStream(t, c)
		body, send := io.Pipe()
		answered := make(chan answer, 1)
		go func() {
			a, err := putFrom(t.Context(), c, body)
			if err != nil {
				t.Error(err)
			}
			answered <- a
		}()
		text := event("late", "Late")
		if _, err := io.WriteString(send, text[:50]); err != nil {
			t.Fatal(err)
		}
		until(t, "the request is in flight", func() bool { return inFlight(t, r) })
		stopped := make(chan error, 1)
		go func() { stopped <- r.interrupt() }()
		<-r.stopping
		if _, err := io.WriteString(send, text[50:]); err != nil {
			t.Fatal(err)
		}
		_ = send.Close()
		if a := <-answered; a.status != http.StatusCreated {
			t.Errorf("the request in flight was answered %d", a.status)
		}
		if rest := stream.hears(); rest != "" || stream.stream.Err() != nil {
			t.Errorf("the stream ended with %q, %v", rest, stream.stream.Err())
		}
		if err := <-stopped; err != nil {
			t.Errorf("%v\n%s", err, r.log.String())
		}
		again := c.at(serve(t, on(database)))
		again.must(t, http.StatusOK, "GET", personal+"late.ics", "")
	})
}

// putFrom puts an object whose bytes come from a reader.
func putFrom(ctx context.Context, c client, body io.Reader) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.caldav(personal+"late.ics"), body)
	if err != nil {
		return answer{}, err
	}
	r.SetBasicAuth(c.user, c.pass)
	res, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	return answer{status: res.StatusCode}, nil
}

// inFlight reports whether the CalDAV server is handling a request, by the server's own count.
func inFlight(t *testing.T, r *running) bool {
	t.Helper()
	page, err := newClient(t, r, "", "", "").send(t.Context(), http.MethodGet, "http://"+r.addrs[metricsDoor]+
		"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(page.body, "\ncaldav_mcp_requests_in_flight{door=\"caldav\"} 1\n")
}

// listener is a client of the MCP door with a session and its stream.
type listener struct {
	client
	session string
	stream  *bufio.Scanner
}

// openStream opens a session and its listening stream.
func openStream(t *testing.T, c client) listener {
	t.Helper()
	a := listener{client: c}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}`
	a.session = a.say(t, hello).header.Get("Mcp-Session-Id")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.mcp(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.tok)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", a.session)
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	res, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream was answered %s", res.Status)
	}
	a.stream = bufio.NewScanner(res.Body)
	return a
}

// say sends a message of the session, which must be answered.
func (a listener) say(t *testing.T, message string) answer {
	t.Helper()
	headers := []string{
		"Authorization", "Bearer " + a.tok, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream",
	}
	if a.session != "" {
		headers = append(headers, "Mcp-Session-Id", a.session)
	}
	said, err := a.send(t.Context(), http.MethodPost, a.mcp(), message, headers...)
	if err != nil || said.status != http.StatusOK || strings.Contains(said.body, `"error"`) {
		t.Fatalf("%s: %v, %d %s", message, err, said.status, said.body)
	}
	return said
}

// hears waits for the next message of the stream, "" for its end.
func (a listener) hears() string {
	for a.stream.Scan() {
		if data, ok := strings.CutPrefix(a.stream.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// An assistant that follows a calendar is notified of changes by a CalDAV client at another process and by the command
// line, until its token is revoked.
func TestAssistantHearsOfChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		c := firstClient(t, serve(t, on(database)))
		other := c.at(serve(t, on(database)))
		a := openStream(t, c)
		uri := "calendar://" + calendarNamed(t, c, "Personal")
		a.say(t, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`)
		hears := func(what string) {
			t.Helper()
			want := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
			if got := a.hears(); got != want {
				t.Fatalf("%s: heard %q", what, got)
			}
		}
		other.must(t, http.StatusCreated, "PUT", personal+"a.ics", event("a", "A"))
		hears("a CalDAV client at another process")
		call(t, on(database), event("b", "B"), "import", "--user", "admin", "-")
		hears("the command line")
		status := a.say(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"calendar_auth_status"}}`)
		var token struct {
			Result struct {
				StructuredContent struct {
					ID string `json:"token_id"`
				}
			}
		}
		if err := json.Unmarshal([]byte(status.body), &token); err != nil {
			t.Fatal(err)
		}
		call(t, on(database), "", "revoke-token", token.Result.StructuredContent.ID)
		if got := a.hears(); got != "" {
			t.Errorf("after its token was revoked it heard %q", got)
		}
	})
}
