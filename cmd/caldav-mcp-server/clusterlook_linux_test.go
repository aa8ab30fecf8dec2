package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/store"
)

// onlookers is the path of the calendar that one onlooker writes to.
const onlookers = "/dav/calendars/admin/onlookers/"

// onlooker changes its own calendar through one server after the other, and lets all servers export it at once. A
// standby may answer that read.
type onlooker struct {
	*witness
	// told is the expected content by UID. After a write without a response, its object is in doubt.
	told   map[string]string
	doubt  map[string]bool
	looked int
	stale  []string
}

func newOnlooker(t *testing.T, l *witness) *onlooker {
	t.Helper()
	l.clients[0].must(t, http.StatusCreated, "MKCALENDAR", onlookers, "")
	return &onlooker{witness: l, told: map[string]string{}, doubt: map[string]bool{}}
}

// begin starts the checks; the returned function stops them.
func (o *onlooker) begin(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			o.write(ctx, n)
			for k := range servers {
				o.look(ctx, n, o.clients[(n+1+k)%servers])
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (o *onlooker) write(ctx context.Context, n int) {
	uid, title := fmt.Sprintf("look%d-%d", n%20, len(o.doubt)), fmt.Sprint("look ", n)
	a, err := o.clients[n%servers].dav(ctx, http.MethodPut, onlookers+uid+".ics", event(uid, title))
	if err == nil && a.status < 300 {
		o.told[uid] = title
		return
	}
	o.doubt[uid] = true
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// look compares a server's response with the writes acknowledged before the request.
func (o *onlooker) look(ctx context.Context, n int, c client) {
	got, ok := c.exported(ctx)
	if !ok {
		return
	}
	o.looked++
	maps.DeleteFunc(got, func(uid, _ string) bool { return o.doubt[uid] })
	want := maps.Clone(o.told)
	maps.DeleteFunc(want, func(uid, _ string) bool { return o.doubt[uid] })
	if differences(want, got) > 0 {
		o.stale = append(o.stale, fmt.Sprintf("%s: after write %d, %d objects are not as they were acknowledged",
			time.Now().Format("05.000"), n, differences(want, got)))
	}
}

var exportedEvent = regexp.MustCompile(`UID:(\S+)\r\nDTSTAMP:.*\r\nDTSTART:.*\r\nDTEND:.*\r\nSUMMARY:(.*)\r\n`)

// exported is the content of the calendar by UID; ok is false if the server does not respond.
func (c client) exported(ctx context.Context) (titles map[string]string, ok bool) {
	a, err := c.dav(ctx, http.MethodGet, onlookers, "")
	if err != nil || a.status != http.StatusOK {
		return nil, false
	}
	titles = map[string]string{}
	for _, m := range exportedEvent.FindAllStringSubmatch(a.body, -1) {
		titles[m[1]] = m[2]
	}
	return titles, true
}

// answered counts the reads that the standbys answered, over all servers.
func (o *onlooker) answered(t *testing.T) (all int) {
	t.Helper()
	for _, c := range o.clients {
		n, err := strconv.Atoi(c.became(t)[string(store.ReplicaAnswered)])
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	return all
}

// await waits until standbys answer.
func (o *onlooker) await(t *testing.T) {
	t.Helper()
	goal := o.answered(t) + 20
	until(t, "a standby answers", func() bool { return o.answered(t) >= goal })
}

// judge compares each server with one that uses no standby. If nothing was lost, no client has seen less than was
// acknowledged.
func (o *onlooker) judge(t *testing.T, nothingLost bool) {
	t.Helper()
	t.Logf("%d looks, %d of them without something that was acknowledged; %d writes without an answer", o.looked,
		len(o.stale), len(o.doubt))
	for _, c := range o.clients {
		t.Log("of one server's questions to the standbys came: ", c.became(t))
	}
	if nothingLost && len(o.stale) > 0 {
		t.Error(strings.Join(o.stale[:min(len(o.stale), 10)], "\n"))
	}
	truth, ok := o.clients[0].at(serve(t, o.env)).exported(t.Context())
	for _, c := range o.clients {
		if got, there := c.exported(t.Context()); !ok || !there || differences(truth, got) > 0 {
			t.Errorf("one shows %v, and the first node has %v", got, truth)
		}
	}
}
