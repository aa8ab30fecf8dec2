package caldav_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/trace"
)

// counted counts the queries to the database.
type counted struct {
	mu   sync.Mutex
	asks []string
}

func (c *counted) send(_ context.Context, batch []trace.Ended) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, span := range batch {
		if span.Kind == trace.Client {
			c.asks = append(c.asks, span.Name)
		}
	}
	return 0, nil
}

// TestHomeIsReadAtOnce: Apple's apps request so many properties of a home that it took a dozen queries, three of them
// for the calendars. Postgres answers them in one round trip.
func TestHomeIsReadAtOnce(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		const body = `<d:propfind xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"
			xmlns:s="http://calendarserver.org/ns/"><d:prop>
			<d:sync-token/><s:getctag/><d:quota-used-bytes/><c:schedule-default-calendar-URL/>
			<s:subscribed-strip-todos/></d:prop></d:propfind>`
		// the first listing records the members of the home
		first := h.must(t, "PROPFIND /dav/calendars/alice/\nDepth: 1", body)

		all, err := trace.ParseSampler("always_on", "")
		if err != nil {
			t.Fatal(err)
		}
		var c counted
		tracer := trace.New(trace.Config{
			Sampler: all, Send: c.send, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		})
		stop := tracer.Begin(t.Context())
		ctx, span := tracer.Request(t.Context(), "PROPFIND", "")
		r := httptest.NewRequestWithContext(ctx, "PROPFIND", "/dav/calendars/alice/", strings.NewReader(body))
		r.Header.Set("Depth", "1")
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		span.End(false)
		stop()
		if got.Body.String() != first.body ||
			!strings.Contains(first.body, "<c:schedule-default-calendar-URL><d:href>/dav/calendars/alice/work/<") {
			t.Errorf("got %s, and before %s", got.Body, first.body)
		}
		want := "SELECT invitations" // the calendars, by the first of their tables
		if !strings.HasPrefix(url, "postgres") {
			// The record of the home is named by the first table in its statement, too.
			want += ", SELECT tokens, SELECT SELECT, SELECT calendars"
		}
		if asked := strings.Join(c.asks, ", "); asked != want {
			t.Errorf("asked %s", asked)
		}
	})
}
