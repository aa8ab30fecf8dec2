package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/testdb"
)

// What one door stores the other shows at once.
func TestTwoDoorsOneHouse(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		c := firstClient(t, serve(t, on(database)))
		token := c.sync(t, "").token
		put := c.must(t, http.StatusCreated, "PUT", personal+"dentist.ics", event("dentist", "Dentist"), "If-None-Match", "*")
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

// Two processes that start at the same moment on the same empty database agree on one first user,
// and then serve the same house.
func TestTwoProcessesStartAtOnce(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		servers := make([]*running, 2)
		var all sync.WaitGroup
		for i := range servers {
			all.Go(func() {
				var err error
				if servers[i], err = launch(context.WithoutCancel(t.Context()), name, on(database)); err != nil {
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
	testdb.Each(t, func(t *testing.T, database string) {
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
		if rest, err := io.ReadAll(stream); err != nil {
			t.Errorf("the stream ended with %q, %v", rest, err)
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

// inFlight tells whether the CalDAV door is busy with a request, by the server's own count.
func inFlight(t *testing.T, r *running) bool {
	t.Helper()
	page, err := newClient(t, r, "", "", "").send(t.Context(), http.MethodGet, "http://"+r.addrs[metricsDoor]+"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(page.body, "\ncaldav_mcp_requests_in_flight{door=\"caldav\"} 1\n")
}

// openStream opens a listening stream at the MCP door.
func openStream(t *testing.T, c client) io.Reader {
	t.Helper()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}`
	a, err := c.send(t.Context(), http.MethodPost, c.mcp(), hello, "Authorization", "Bearer "+c.tok,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("initialize: %v, %d %s", err, a.status, a.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.mcp(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.tok)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", a.header.Get("Mcp-Session-Id"))
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	res, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream was answered %s", res.Status)
	}
	return res.Body
}
