package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/store"
)

// After writes over any protocol, and in any state of the standby, a server with a read replica gives the same
// responses as one without, even to immediate requests.
func TestSecondNode(t *testing.T) {
	slowtest.Skip(t, slowtest.Crash, "makes two Postgres servers and kills one of them")
	rounds := slowtest.Rounds(t, slowtest.Random, 60, 1500)
	random := rand.New(rand.NewPCG(slowtest.Seed(t), 83))
	p := newPair(t)
	env := append(on(p.primary.URL()), "MCP_CALLS_PER_MINUTE=1000000")
	plain := firstClient(t, serve(t, env))
	asking := plain.at(serve(t, append(env, "DATABASE_READ_URL="+p.standby.URL(), "METRICS_ADDR=127.0.0.1:0")))
	w := writing{T: t, random: random, both: [2]client{asking, plain}}
	paused, gone := false, false
	for round := range rounds {
		switch round % 15 {
		case 4:
			p.run(t, p.standby, `SELECT pg_wal_replay_pause()`)
			paused = true
		case 8:
			p.run(t, p.standby, `SELECT pg_wal_replay_resume()`)
			paused = false
		case 11:
			gone = true
			if err := p.standby.Kill(); err != nil {
				t.Fatal(err)
			}
		case 13:
			gone = false
			if err := p.standby.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.write(round)
		for what, ask := range longQuestions(random, round) {
			if diff := cmp.Diff(ask(t, plain), ask(t, asking)); diff != "" {
				t.Fatalf("round %d (paused: %v, gone: %v), %s (-first node alone +both):\n%s", round, paused, gone,
					what, diff)
			}
		}
	}
	became := asking.became(t)
	t.Log(became)
	for _, how := range []store.ReplicaOutcome{store.ReplicaAnswered, store.ReplicaBehind, store.ReplicaAway} {
		if became[string(how)] == "" || became[string(how)] == "0" {
			t.Errorf("no question was %s: %v", how, became)
		}
	}
	if n := strings.Count(asking.log.String(), "the read replica does not answer"); n > rounds/15+1 {
		t.Errorf("%d times the log said that the read replica does not answer", n)
	}
	c := settings.Config{DatabaseURL: p.primary.URL(), SecondURL: p.standby.URL()}
	if detail, err := doctor.TrySecond(t.Context(), c); err != nil ||
		!strings.HasSuffix(detail, "bytes behind the primary") {
		t.Errorf("the doctor says of the second node: %s, %v", detail, err)
	}
	p.run(t, p.standby, `SELECT pg_promote()`)
	if detail, err := doctor.TrySecond(t.Context(), c); err == nil {
		t.Errorf("the doctor says of a node that took over: %s", detail)
	}
}

// became returns the metrics of reads that the read replica could have answered.
func (c client) became(t *testing.T) map[string]string {
	t.Helper()
	page, err := c.send(t.Context(), http.MethodGet, "http://"+c.addrs[metricsDoor]+"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^caldav_mcp_db_second_(\w+)_total (\d+)$`).
		FindAllStringSubmatch(page.body, -1) {
		counts[m[1]] = m[2]
	}
	return counts
}

// writing writes by either door of either server.
type writing struct {
	*testing.T
	random *rand.Rand
	both   [2]client
}

func (w writing) write(round int) {
	c, uid := w.both[w.random.IntN(2)], fmt.Sprintf("o%d", w.random.IntN(30))
	title := fmt.Sprint("write ", round)
	switch w.random.IntN(6) {
	case 0:
		_, _ = c.dav(w.Context(), http.MethodDelete, personal+uid+".ics", "")
	case 1:
		_, _ = c.tool(w.Context(), "patch_event", map[string]any{
			"calendar_id": "Personal", "event_uid": uid, "title": title,
		})
	case 2:
		c.call(w.T, "create_event", map[string]any{
			"calendar_id": "Personal", "title": title, "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z",
		})
	default:
		// It may have been made with another name.
		if a, err := c.dav(w.Context(), http.MethodPut, personal+uid+".ics", event(uid, title)); err != nil ||
			a.status >= 300 {
			w.Fatalf("PUT of %s: %d, %v", uid, a.status, err)
		}
	}
}

// longQuestions are the reads sent to both servers.
func longQuestions(random *rand.Rand, round int) map[string]func(*testing.T, client) string {
	report := func(body, depth string) func(*testing.T, client) string {
		return func(t *testing.T, c client) string {
			t.Helper()
			a := c.must(t, http.StatusMultiStatus, "REPORT", personal, body, "Content-Type", "application/xml", "Depth",
				depth)
			return a.body
		}
	}
	tool := func(name string, arguments map[string]any) func(*testing.T, client) string {
		return func(t *testing.T, c client) string {
			t.Helper()
			return c.call(t, name, arguments)
		}
	}
	hrefs := ""
	for range 12 {
		hrefs += fmt.Sprintf("<d:href>%so%d.ics</d:href>", personal, random.IntN(30))
	}
	const times = `<c:time-range start="20260201T000000Z" end="20260401T000000Z"/>`
	return map[string]func(*testing.T, client) string{
		"listing": func(t *testing.T, c client) string {
			t.Helper()
			return c.must(t, http.StatusMultiStatus, "PROPFIND", personal,
				`<d:propfind xmlns:d="DAV:"><d:prop><d:getetag/><d:sync-token/></d:prop></d:propfind>`,
				"Content-Type", "application/xml", "Depth", "1").body
		},
		"query": report(`<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">
			<d:prop><d:getetag/><c:calendar-data/></d:prop>
			<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">`+times+
			`</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`, "1"),
		"multiget": report(`<c:calendar-multiget xmlns:d="DAV:" `+
			`xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/><c:calendar-data/></d:prop>`+
			hrefs+`</c:calendar-multiget>`, "1"),
		"synchronization": report(
			`<d:sync-collection xmlns:d="DAV:"><d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/></`+
				`d:prop></d:sync-collection>`, "0",
		),
		"busy times": func(t *testing.T, c client) string {
			t.Helper()
			body := c.must(t, http.StatusOK, "REPORT", personal,
				`<c:free-busy-query xmlns:c="urn:ietf:params:xml:ns:caldav">`+times+`</c:free-busy-query>`,
				"Content-Type", "application/xml", "Depth", "1").body
			return regexp.MustCompile(`(?m)^(DTSTAMP|UID).*$`).ReplaceAllString(body, "")
		},
		"list_events": tool("list_events", map[string]any{"start": "2026-02-01", "end": "2026-04-01"}),
		"search_events": tool("search_events", map[string]any{
			"query": "write " + fmt.Sprint(round), "include_past": true,
		}),
		"get_free_busy": tool("get_free_busy", map[string]any{"start_time": "2026-03-01", "end_time": "2026-03-08"}),
	}
}
