package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/webpush/pushtest"
)

// The load of one user in an hour, as docs/scale.md assumes it.
const (
	phones, polls    = 2, 4
	changes          = 2
	assisted, calls  = 10, 20 // each tenth user has an assistant, and a device that is told of changes
	peakServers      = 3
	defaultPeakUsers = 20
	defaultPeakHour  = 4 * time.Second
)

// peak is an hour of many users at several servers.
type peak struct {
	t      *testing.T
	hour   time.Duration
	users  []client
	at     []*running
	random *rand.Rand
	all    sync.WaitGroup

	mu sync.Mutex
	// took are the times of requests by kind, from when they were due.
	took map[string][]time.Duration
	// failed counts wrong answers, failures has the first of them.
	failed   int
	failures []string
}

// TestPeakHour: phones poll, users change events, assistants ask, and devices are told of changes, at three servers on
// one Postgres. Every request is answered in time, every acknowledged change is there, and every device is told.
// PEAK_USERS=5000 PEAK_HOUR=1h does it in earnest; a shorter hour has the same requests.
func TestPeakHour(t *testing.T) {
	slowtest.Skip(t, slowtest.Flood, "puts three servers under load")
	p := &peak{
		t: t, hour: defaultPeakHour, random: rand.New(rand.NewPCG(slowtest.Seed(t), 4)),
		took: map[string][]time.Duration{},
	}
	count := defaultPeakUsers
	var err, err2 error
	if value := os.Getenv("PEAK_USERS"); value != "" {
		count, err = strconv.Atoi(value)
	}
	if value := os.Getenv("PEAK_HOUR"); value != "" {
		p.hour, err2 = time.ParseDuration(value)
	}
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	database := ownPostgres(t, pgtest.Options{Durable: true}).URL()
	tokens := p.admit(database, count)
	service := pushtest.NewService(t, time.Now)
	env := tellingEnv(t, database, service)
	shared := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: time.Minute}
	t.Cleanup(shared.CloseIdleConnections)
	for range peakServers {
		p.at = append(p.at, serve(t, env))
	}
	for i, token := range tokens {
		p.users = append(p.users, client{p.at[i%peakServers], shared, nameOf(i), token, token})
	}
	p.furnish(service)
	began := p.processor()
	p.pass()
	p.report(p.processor() - began)
	p.judge(service)
}

func nameOf(i int) string { return fmt.Sprintf("u%05d", i) }

// admit creates users, each with a token for programs. A token costs a server no hash.
func (p *peak) admit(database string, count int) (tokens []string) {
	h := housetest.Open(p.t, database, housetest.At(time.Now()))
	login := auth.New(h.Login())
	for i := range count {
		h.Admit(p.t, calendar.User{ID: calendar.UserID(nameOf(i)), Name: nameOf(i)})
		_, secret, err := login.CreateToken(p.t.Context(), auth.TokenSpec{
			User: nameOf(i), Name: "all", Scopes: calendar.ScopeUsual,
		})
		if err != nil {
			p.t.Fatal(err)
		}
		tokens = append(tokens, string(secret))
	}
	if err := h.Close(); err != nil {
		p.t.Fatal(err)
	}
	return tokens
}

func (c client) work() string { return "/dav/calendars/" + c.user + "/work/" }

// furnish gives each user a calendar, and each tenth a device.
func (p *peak) furnish(s *pushtest.Service) {
	for i, c := range p.users {
		c.must(p.t, http.StatusCreated, "MKCALENDAR", c.work(), "")
		if i%assisted == 0 {
			c.registerDevice(p.t, s, c.work(), "/"+c.user)
		}
	}
}

// due does work at a moment of the hour, at any server, and notes how late it was done.
func (p *peak) due(began time.Time, part float64, kind string, c client, work func(client) error) {
	at := began.Add(time.Duration(part * float64(p.hour)))
	c = c.at(p.at[p.random.IntN(len(p.at))])
	p.all.Go(func() {
		if idle(p.t.Context(), time.Until(at)) != nil {
			return
		}
		err := work(c)
		took := time.Since(at)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.took[kind] = append(p.took[kind], took)
		if err != nil {
			if p.failed++; p.failed <= 5 {
				p.failures = append(p.failures, fmt.Sprintf("%s of %s: %v", kind, c.user, err))
			}
		}
	})
}

// ask makes a CalDAV request that has to be answered in one way.
func (p *peak) ask(c client, want int, method, path, body string, headers ...string) error {
	a, err := c.dav(context.WithoutCancel(p.t.Context()), method, path, body, headers...)
	if err == nil && a.status != want {
		err = fmt.Errorf("%s %s: answered %d, %.200s", method, path, a.status, a.body)
	}
	return err
}

const (
	homeProperties = `<propfind xmlns="DAV:" xmlns:s="http://calendarserver.org/ns/"><prop><resourcetype/>` +
		`<displayname/><s:getctag/><sync-token/></prop></propfind>`
	ctagAlone = `<propfind xmlns="DAV:" xmlns:s="http://calendarserver.org/ns/"><prop><s:getctag/></prop></propfind>`
	syncAll   = `<sync-collection xmlns="DAV:"><sync-token/><sync-level>1</sync-level><prop><getetag/></prop>` +
		`</sync-collection>`
)

// pass lets the hour pass.
func (p *peak) pass() {
	began := time.Now()
	for i, c := range p.users {
		for range phones {
			phase := p.random.Float64() / polls
			for n := range polls {
				p.due(began, phase+float64(n)/polls, "poll", c, func(c client) error {
					return errors.Join(
						p.ask(c, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/"+c.user+"/", homeProperties,
							"Depth", "1"),
						p.ask(c, http.StatusMultiStatus, "PROPFIND", c.work(), ctagAlone, "Depth", "0"))
				})
			}
		}
		for n := range changes {
			name := fmt.Sprint("change", n)
			p.due(began, p.random.Float64(), "change", c, func(c client) error {
				return p.ask(c, http.StatusCreated, http.MethodPut, c.work()+name+".ics", event(name, "a change"))
			})
			p.due(began, p.random.Float64(), "sync", c, func(c client) error {
				return p.ask(c, http.StatusMultiStatus, "REPORT", c.work(), syncAll, "Depth", "0")
			})
		}
		if i%assisted == 0 {
			for range calls {
				p.due(began, p.random.Float64(), "assistant", c, func(c client) error {
					_, err := c.tool(context.WithoutCancel(p.t.Context()), "list_events", map[string]any{
						"start": "2026-03-01", "end": "2026-04-01",
					})
					return err
				})
			}
		}
	}
	p.all.Wait()
}

// processor is the processor time of all servers so far.
func (p *peak) processor() (total time.Duration) {
	p.t.Helper()
	for _, r := range p.at {
		total += processor(p.t, r)
	}
	return total
}

// processor is the processor time of a server so far.
func processor(t *testing.T, r *running) time.Duration {
	t.Helper()
	const tick = time.Second / 100
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.cmd.Process.Pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * tick
}

// report prints the times.
func (p *peak) report(processor time.Duration) {
	total := 0
	for kind, took := range p.took {
		slices.Sort(took)
		share := func(part float64) time.Duration {
			return took[int(part*float64(len(took)-1))].Round(100 * time.Microsecond)
		}
		p.t.Logf("%-10s %7d  p50 %8v  p95 %8v  p99 %8v  max %8v",
			kind, len(took), share(.5), share(.95), share(.99), share(1))
		total += len(took)
	}
	p.t.Logf("%d users, %d tasks in %v, %d failed; the servers' processor time is %v",
		len(p.users), total, p.hour, p.failed, processor)
	for _, f := range p.failures {
		p.t.Error(f)
	}
}

// judge looks whether all changes are at every server, and all devices were told.
func (p *peak) judge(s *pushtest.Service) {
	for i, c := range p.users {
		c = c.at(p.at[(i+1)%peakServers])
		a := c.must(p.t, http.StatusMultiStatus, "REPORT", c.work(), syncAll, "Depth", "0")
		if n := strings.Count(a.body, ".ics</"); n != changes {
			p.t.Errorf("%s has %d events, want %d", c.user, n, changes)
		}
	}
	told := map[string]bool{}
	until(p.t, "all devices are told", func() bool {
		for _, m := range s.Got() {
			told[m.Path] = true
		}
		return len(told) == (len(p.users)+assisted-1)/assisted
	})
}
