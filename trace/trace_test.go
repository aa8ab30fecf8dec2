package trace_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"caldav-mcp-server/trace"
)

// collector keeps what it is told, or refuses it.
type collector struct {
	mu    sync.Mutex
	spans []trace.Ended
	away  bool
}

func (c *collector) send(_ context.Context, batch []trace.Ended) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return 0, errors.New("nobody answers")
	}
	c.spans = append(c.spans, batch...)
	return 0, nil
}

func newTracer(t *testing.T, c *collector, sampler, share string) *trace.Tracer {
	t.Helper()
	s, err := trace.ParseSampler(sampler, share)
	if err != nil {
		t.Fatal(err)
	}
	return trace.New(trace.Config{
		Sampler: s, Send: c.send, Now: func() time.Time { return time.Unix(1, 0) },
		Logger: slog.New(slog.DiscardHandler),
	})
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestPartsBelongToTheirRequest(t *testing.T) {
	t.Parallel()
	var c collector
	tracer := newTracer(t, &c, "parentbased_always_on", "")
	stop := tracer.Begin(t.Context())
	ctx, request := tracer.Request(t.Context(), "GET /", parent)
	inner, part := trace.Start(ctx, "transaction", trace.Client)
	_, least := trace.Start(inner, "SELECT objects", trace.Client)
	least.End(true)
	part.Text("empty", "")
	part.End(false)
	request.Number("status", 200)
	request.End(false)
	stop()
	if len(c.spans) != 3 {
		t.Fatalf("got %d spans, want 3", len(c.spans))
	}
	leaf, middle, root := c.spans[0], c.spans[1], c.spans[2]
	if leaf.Parent != middle.ID || middle.Parent != root.ID || leaf.Trace != root.Trace || !leaf.Failed ||
		root.Failed || len(middle.Attributes) != 0 {
		t.Errorf("the spans are %+v", c.spans)
	}
	if root.Trace[0] != 0x0a || root.Parent[0] != 0xb7 {
		t.Errorf("the request does not belong to its caller's span: %+v", root)
	}
}

func TestTraceparents(t *testing.T) {
	t.Parallel()
	for text, known := range map[string]bool{
		parent: true, strings.Replace(parent, "00-", "01-", 1) + "-more": true, parent + "-more": false,
		strings.ToUpper(parent): false,
		"":                      false, "ff" + parent[2:]: false, parent[:54]: false, "00-" + strings.Repeat("0", 32) +
			"-b7ad6b7169203331-01": false,
		"00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01": false,
		strings.Repeat("-", 5000): false, "00-xx" + parent[5:]: false,
	} {
		var c collector
		tracer := newTracer(t, &c, "parentbased_always_off", "")
		if _, span := tracer.Request(t.Context(), "", text); (span != nil) != known {
			t.Errorf("%.80q: known %v, want %v", text, span != nil, known)
		}
	}
	var c collector
	if _, span := newTracer(t, &c, "parentbased_always_on", "").Request(t.Context(), "",
		strings.TrimSuffix(parent, "1")+"0"); span != nil {
		t.Error("a request whose caller is not told of is")
	}
	if _, span := newTracer(t, &c, "always_off", "").Request(t.Context(), "", parent); span != nil {
		t.Error("a caller can have requests told of that are not to be")
	}
}

func TestShareOfRequests(t *testing.T) {
	t.Parallel()
	var c collector
	tracer, n := newTracer(t, &c, "traceidratio", "0.25"), 0
	for range 4000 {
		if _, span := tracer.Request(t.Context(), "", ""); span != nil {
			n++
		}
	}
	if n < 800 || n > 1200 {
		t.Errorf("%d of 4000 requests are told of, want about 1000", n)
	}
	for _, wrong := range [][2]string{
		{"sometimes", ""}, {"traceidratio", "2"}, {"traceidratio", "NaN"}, {"traceidratio", "-1"}, {"parentbased_", ""},
	} {
		if _, err := trace.ParseSampler(wrong[0], wrong[1]); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// Without a tracer nothing is done, and with a collector that is away nothing grows.
func TestBounds(t *testing.T) {
	t.Parallel()
	var none *trace.Tracer
	ctx, span := none.Request(t.Context(), "GET /", parent)
	if _, part := trace.Start(ctx, "query", trace.Client); span != nil || part != nil {
		t.Error("there are spans without a tracer")
	}
	span.Text("a", "b")
	span.End(false)
	none.Begin(ctx)()
	c := collector{away: true}
	tracer := newTracer(t, &c, "always_on", "")
	ctx, span = tracer.Request(t.Context(), "GET /", "")
	for range 2000 {
		_, part := trace.Start(ctx, "query", trace.Client)
		part.End(false)
	}
	span.End(false)
	for range 5000 {
		_, one := tracer.Request(t.Context(), "GET /", "")
		one.End(false)
	}
	tracer.Begin(t.Context())()
	sent, dropped := tracer.Counted()
	// One batch was tried and given up, or two where it was full and the end came as well; the others wait. What did
	// not fit before, or was too much of one request, is counted as well.
	if one := int64(2000+1+5000) - (2048 - 512); sent != 0 || dropped != one && dropped != one+512 {
		t.Errorf("sent %d, dropped %d, want %d, or %d", sent, dropped, one, one+512)
	}
}

// What the server does by itself is a trace of its own, with its parts, unless the sampler leaves it out, and then with
// its parts. Within a request it is a part of that.
func TestTasks(t *testing.T) {
	t.Parallel()
	var c collector
	tracer := newTracer(t, &c, "always_on", "")
	stop := tracer.Begin(t.Context())
	do := func(ctx context.Context) {
		ctx, end := trace.Task(ctx, "linked account")
		inner, endInner := trace.Task(ctx, "mail out")
		_, part := trace.Start(inner, "GET", trace.Client)
		part.End(false)
		endInner(false)
		end(true, slog.String("provider", "ics"), slog.String("status", ""), slog.Int("created", 0))
	}
	do(t.Context())
	do(tracer.Own(t.Context()))
	do((*trace.Tracer)(nil).Own(t.Context()))
	none := newTracer(t, &c, "always_off", "")
	do(none.Own(t.Context()))
	ctx, request := tracer.Request(t.Context(), "POST /mcp", "")
	do(ctx)
	request.End(false)
	stop()
	if len(c.spans) != 7 {
		t.Fatalf("got %d spans, want 3 and 4: %+v", len(c.spans), c.spans)
	}
	part, inner, root := c.spans[0], c.spans[1], c.spans[2]
	if part.Parent != inner.ID || inner.Parent != root.ID || root.Parent != [8]byte{} || part.Trace != root.Trace ||
		root.Kind != trace.Internal || !root.Failed || inner.Failed {
		t.Errorf("the spans are %+v", c.spans[:3])
	}
	facts := []trace.Attribute{{Name: "caldav_mcp.provider", Text: "ics"}, {Name: "caldav_mcp.created"}}
	if !slices.Equal(root.Attributes, facts) {
		t.Errorf("the facts are %+v", root.Attributes)
	}
	if whole := c.spans[6]; c.spans[5].Parent != whole.ID || whole.Trace == root.Trace || whole.Kind != trace.Server {
		t.Errorf("the request's spans are %+v", c.spans[3:])
	}
}

// A batch that is being sent when the server stops is not broken off, and neither does a collector that hangs keep it
// from stopping.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]time.Duration{"slow": 900 * time.Millisecond, "hanging": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sampler, err := trace.ParseSampler("always_on", "")
				if err != nil {
					t.Fatal(err)
				}
				begun := make(chan struct{}, 8)
				tracer := trace.New(trace.Config{
					Sampler: sampler, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
					Send: func(ctx context.Context, _ []trace.Ended) (int, error) {
						begun <- struct{}{}
						select {
						case <-time.After(takes):
							return 0, nil
						case <-ctx.Done():
							return 0, ctx.Err()
						}
					},
				})
				stop := tracer.Begin(t.Context())
				one := func() {
					_, span := tracer.Request(t.Context(), "GET /", "")
					span.End(false)
				}
				for range 512 {
					one()
				}
				<-begun
				one()
				told := time.Now()
				stop()
				sent, _ := tracer.Counted()
				if took := time.Since(told); takes < time.Minute && (sent != 513 || took > 2*time.Second) ||
					takes > time.Minute && (sent != 0 || took != 2*time.Second) {
					t.Errorf("%d spans were sent, and stopping took %s", sent, took)
				}
			})
		})
	}
}
