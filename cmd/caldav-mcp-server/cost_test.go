package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
)

// costMemory is the memory limit for fifty of the costliest requests, costWait the limit for another user's small
// request meanwhile.
const (
	costMemory = 300 << 20
	costWait   = 100 * time.Millisecond
)

// Fifty of the costliest requests at once, of any kind that is known, neither eat the memory nor stay unanswered: each
// is done, refused because it is too much for one, or sent away for a moment. Meanwhile others hardly wait (security H1
// to H4) (security H4).
func TestFiftyCostlyRequestsAtOnce(t *testing.T) {
	slowtest.Skip(t, slowtest.Big, "puts fifty of the most costly requests at once, for a minute")
	program := build(t)
	each(t, func(t *testing.T, database string) {
		r := serveProgram(t, program, on(database), "--first-user", "ann")
		until(t, "the first user's credentials are shown", func() bool { _, tok := r.credentials(); return tok != "" })
		pass, tok := r.credentials()
		call(t, on(database), "correct horse\n", "create-user", "ben", "--password-stdin")
		call(t, on(database), "", "create-calendar", "--user", "ann", "--name", "Many", "--address", "many")
		call(t, on(database), manyEvents(6000), "import", "--user", "ann", "--calendar", "Many", "-")
		c, other := newClient(t, r, "ann", pass, tok), newClient(t, r, "ben", "correct horse", "")
		//nolint:forbidigo // how long others wait is what it measures
		quiet := waits(t, other, func() { time.Sleep(time.Second) })
		for _, kind := range costly() {
			busy := waits(t, other, func() { tortured(t, c, kind) })
			t.Logf("%s: another user's small request waits %v, and at rest %v", kind.name, busy, quiet)
			// A machine that is busy with other things as well has as much less time for these.
			if most := time.Duration(float64(costWait) * crowded()); busy.half > most {
				t.Errorf("beside fifty times %s half of another user's small requests wait longer than %v", kind.name,
					most)
			}
			if peak := peakMemory(t, r); peak > costMemory {
				t.Errorf("with fifty times %s the server took %d MiB", kind.name, peak>>20)
			}
		}
	})
}

// waiting is how long requests take: half of them no longer than this, and nineteen of twenty no longer than that.
type waiting struct{ half, most time.Duration }

// String shows both.
func (w waiting) String() string { return fmt.Sprintf("%v (most: %v)", w.half, w.most) }

// waits is how long another user's small requests take while something goes on.
func waits(t *testing.T, c client, during func()) waiting {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		during()
	}()
	var all []time.Duration
	for {
		began := time.Now()
		c.must(t, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/ben/", "", "Depth", "0")
		all = append(all, time.Since(began))
		select {
		case <-over:
			slices.Sort(all)
			const to = 100 * time.Microsecond
			return waiting{all[len(all)/2].Round(to), all[len(all)*19/20].Round(to)}
		default:
		}
	}
}

// crowded is the slowdown by other load on this machine: the same small work is repeated on all processors, and the
// fastest time compared with the usual one.
func crowded() float64 {
	const times = 40
	took := make(chan time.Duration, times*runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range times {
				began, sum := time.Now(), [32]byte{}
				for range 20_000 {
					sum = sha256.Sum256(sum[:])
				}
				took <- time.Since(began)
			}
		})
	}
	all.Wait()
	close(took)
	least, total, n := time.Duration(math.MaxInt64), time.Duration(0), 0
	for d := range took {
		least, total, n = min(least, d), total+d, n+1
	}
	return max(1, float64(total)/float64(n)/float64(least))
}

// manyEvents are events as a calendar of years has them, every twentieth a series.
func manyEvents(n int) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n")
	for i := range n {
		rule := ""
		if i%20 == 0 {
			rule = "RRULE:FREQ=WEEKLY\r\n"
		}
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nUID:many-%d\r\nDTSTAMP:20260101T000000Z\r\n"+
			"DTSTART:2026%02d%02dT%02d0000Z\r\nDURATION:PT1H\r\n%sSUMMARY:words of event %d\r\nEND:VEVENT\r\n",
			i, i%12+1, i%28+1, i%24, rule, i)
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// costlyKind is a request that takes much; %d in its address is another number each time. With a tool, the body is its
// arguments.
type costlyKind struct {
	name, method, path, body string
	tool                     string
}

// ask makes the request and returns the status of the answer.
func (k costlyKind) ask(ctx context.Context, c client, i int) (int, error) {
	path, body := strings.ReplaceAll(k.path, "%d", fmt.Sprint(i)), strings.ReplaceAll(k.body, "%d", fmt.Sprint(i))
	if k.tool == "" {
		a, err := c.dav(ctx, k.method, path, body, "Depth", "1")
		return a.status, err
	}
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, k.tool,
		body)
	a, err := c.send(ctx, http.MethodPost, c.mcp(), message, "Authorization", "Bearer "+c.tok, "Content-Type",
		"application/json", "Accept", "application/json, text/event-stream")
	return a.status, err
}

func tortured(t *testing.T, c client, kind costlyKind) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			status, err := kind.ask(t.Context(), c, i)
			if err != nil || status >= 500 && status != http.StatusServiceUnavailable {
				t.Errorf("%s: %v %d", kind.name, err, status)
			}
		})
	}
	all.Wait()
}

func costly() []costlyKind {
	const home = "/dav/calendars/ann/personal/"
	const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
	event := func(uid, lines string) string {
		return strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:"+uid+
			"\nDTSTAMP:20260101T000000Z\n"+
			"DTSTART:20270101T100000Z\nDTEND:20270101T110000Z\n"+lines+"END:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n")
	}
	large := "DESCRIPTION:" + strings.Repeat(strings.Repeat("X", 70)+"\n ", 50_000) + "X\n"
	query := func(data, filter string) string {
		return `<C:calendar-query` + spaces + `<D:prop>` + data +
			`</D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">` +
			filter + `</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
	}
	hrefs := ""
	for i := range 2 {
		hrefs += fmt.Sprintf("<D:href>%s%d.ics</D:href>", home, i)
	}
	folded := `<C:prop-filter name="COMMENT"><C:text-match collation="i;unicode-casemap">` + strings.Repeat("Ä", 400) +
		`</C:text-match></C:prop-filter>`
	const year = `"start":"2027-01-01","end":"2027-12-31"`
	kinds := []costlyKind{
		{name: "a large PUT", method: "PUT", path: home + "%d.ics", body: event("%d", large)},
		{name: "a large GET", method: "GET", path: home + "%d.ics"},
		{name: "list_events over large objects", tool: "list_events", body: `{` + year + `,"keyword":"nothing"}`},
		{name: "search_events over large objects", tool: "search_events", body: `{"query":"XXX","limit":100}`},
		{name: "a multiget of large objects", method: "REPORT", path: home, body: `<C:calendar-multiget` + spaces +
			`<D:prop><C:calendar-data/></D:prop>` + hrefs + `</C:calendar-multiget>`},
		{name: "a large series", method: "PUT", path: home +
			"series.ics", body: event("series", "RRULE:FREQ=DAILY\n"+large)},
		{
			name: "its expansion", method: "REPORT", path: home,
			body: query(
				`<C:calendar-data><C:expand start="20270101T000000Z" end="20350101T000000Z"/></C:calendar-data>`,
				`<C:time-range start="20280101T000000Z" end="20290101T000000Z"/>`,
			),
		},
		{name: "many comments", method: "PUT", path: home +
			"comments.ics", body: event("comments", strings.Repeat("COMMENT:Ä\n", 40_000))},
		{name: "a query for text in them", method: "REPORT", path: home, body: query(`<D:getetag/>`,
			strings.Repeat(folded, 9))},
	}
	const many = "/dav/calendars/ann/many/"
	return append(kinds,
		costlyKind{
			name: "a PROPFIND of 6,000", method: "PROPFIND", path: many,
			body: `<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`,
		},
		costlyKind{
			name: "an expansion of 6,000", method: "REPORT", path: many,
			body: query(
				`<C:calendar-data><C:expand start="20260101T000000Z" end="20270101T000000Z"/></C:calendar-data>`,
				`<C:time-range start="20260101T000000Z" end="20270101T000000Z"/>`,
			),
		},
		costlyKind{
			name: "list_events over 6,000", tool: "list_events",
			body: `{"start":"2026-01-01","end":"2026-12-31","limit":100}`,
		},
		costlyKind{name: "search_events over 6,000", tool: "search_events", body: `{"query":"words","limit":100}`},
	)
}
