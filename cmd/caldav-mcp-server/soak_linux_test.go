package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/webpush/pushtest"
)

const (
	// oldCommit is version 0.1.0, with which the day begins.
	oldCommit = "11e074e"
	// busyHours is the number of busy hours of docs/scale.md that one run lasts.
	busyHours = 24
	// usualEvents is how many events a user has: as many are deleted as are created.
	usualEvents = 20
	// Of each tenth users, one has an assistant and a device, one follows a feed, and one invites guests by mail.
	assistedUser, feedUser, mailUser = 0, 1, 2
	feedSize                         = 10
)

// soak is one day of many users at one server, which is upgraded, killed and backed up meanwhile.
type soak struct {
	*testing.T
	length   time.Duration
	began    time.Time
	program  string
	database string
	env      []string
	users    []*soaker
	http     *http.Client
	server   atomic.Pointer[running]
	devices  *pushtest.Service
	feeds    *httptest.Server
	guests   chan string
	// gate is shared by users at work; a rest has it alone.
	gate sync.RWMutex
	all  sync.WaitGroup

	polls, writes, calls, answers, unanswered, kills, backups atomic.Int64

	mu sync.Mutex
	// served is the number of the last event in a feed, told how often a device was told.
	served, told map[string]int
	logs         map[string]int
	failures     int
}

// soaker is a user, with what the server acknowledged and what the phones know.
type soaker struct {
	*soak
	client
	number int
	random *rand.Rand
	phones [phones]keptToken
	has    map[string]acknowledgedEvent
	made   int
}

// acknowledgedEvent is an event as the server acknowledged it. A meeting has no ETag here, since answers change it.
type acknowledgedEvent struct{ etag, title string }

// TestSoak: the requests of a day of 24 busy hours come to one server, which begins as version 0.1.0, is upgraded, and
// is killed and backed up again and again. No acknowledged change is lost, no phone misses one, every backup is whole.
// In the last part there are no kills: memory, descriptors, files and wake-ups at its end are as at its beginning.
// `make soak` runs it for two hours with 500 users.
func TestSoak(t *testing.T) {
	length, count := 2*time.Minute, 20
	if value := os.Getenv("SOAK"); value == "" {
		slowtest.Skip(t, slowtest.Flood, "lasts for two minutes, or as long as SOAK says")
	} else {
		var err, err2 error
		length, err = time.ParseDuration(value)
		count, err2 = strconv.Atoi(cmp.Or(os.Getenv("SOAK_USERS"), "500"))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
	}
	old, program := buildBoth(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := &soak{
				T: t, length: length, program: program, database: testdb.SQLite(t), guests: make(chan string, 10_000),
				served: map[string]int{}, told: map[string]int{}, logs: map[string]int{},
				// Go repeats no PROPFIND on a connection that the server is closing. It closes idle ones after two
				// minutes.
				http: &http.Client{Timeout: patience, Transport: &http.Transport{
					MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
				}},
			}
			if engine == "postgres" {
				s.database = ownPostgres(t, pgtest.Options{Durable: true}).URL()
			}
			s.pass(old, count)
		})
	}
}

// buildBoth builds the server of version 0.1.0 and the present one.
func buildBoth(t *testing.T) (old, program string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `set -eo pipefail
		export CGO_ENABLED=0
		go build -o "$1/present" .
		git -C ../.. archive "$0" | tar -x -C "$1"
		cd "$1" && go build -o old ./cmd/caldav-mcp-server`, oldCommit, dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("SOAK") == "" {
			t.Skipf("version 0.1.0 cannot be built: %v\n%s", err, said)
		}
		t.Fatalf("version 0.1.0 cannot be built: %v\n%s", err, said)
	}
	return filepath.Join(dir, "old"), filepath.Join(dir, "present")
}

// pass lets the day pass.
func (s *soak) pass(old string, count int) {
	s.surround()
	s.server.Store(serveProgram(s.T, old, s.env, "--no-first-user"))
	s.admit(old, count)
	if s.Failed() {
		return
	}
	ctx, cancel := context.WithCancel(s.Context())
	defer func() {
		cancel()
		s.all.Wait()
	}()
	s.began = time.Now()
	s.all.Go(func() { s.answer(ctx) })
	for _, u := range s.users {
		s.all.Go(func() { u.live(ctx) })
	}
	s.until(.16)
	s.replace((*running).interrupt)
	s.check("the upgrade")
	var warm rested
	for n := range 6 { // six kills and backups, at random times
		part := .16 + .08*float64(n)
		if n == 2 {
			warm = s.rest("warmed up")
		}
		s.until(part + .01 + .06*rand.Float64())
		s.replace((*running).kill)
		s.until(part + .08)
		s.backup()
	}
	s.check("the kills")
	first := s.rest("the last part begins")
	s.until(.82)
	s.backup()
	s.until(.945)
	last := s.rest("the end")
	cancel()
	s.all.Wait()
	s.check("all")
	s.checkOthers()
	s.backup()
	s.collect(s.server.Load())
	s.Logf("%d users: %d polls, %d changes, %d calls of assistants, %d answers by mail; %d without an answer; "+
		"%d kills, %d backups; warnings and errors in the log: %v", count, s.polls.Load(), s.writes.Load(),
		s.calls.Load(), s.answers.Load(), s.unanswered.Load(), s.kills.Load(), s.backups.Load(), s.logs)
	last.compare(s, first, warm)
}

// until waits for a moment of the day.
func (s *soak) until(part float64) {
	_ = idle(s.Context(), time.Until(s.began.Add(time.Duration(part*float64(s.length)))))
}

// fail reports a failure. Users are goroutines, which cannot end the test.
func (s *soak) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures++; s.failures <= 20 {
		s.Errorf("%s: %s", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
	}
}

// surround makes what is around the server: feeds, devices, and a mail server with guests behind it.
func (s *soak) surround() {
	s.devices = pushtest.NewService(s.T, time.Now)
	s.feeds = httptest.NewTLSServer(http.HandlerFunc(s.feed))
	s.Cleanup(s.feeds.Close)
	w := newTown(s.T)
	w.carries = func(to, text string) {
		if strings.Contains(text, "method=REQUEST") {
			s.guests <- to
		}
	}
	s.env = append(tellingEnv(s.T, s.database, s.devices), "DATA_DIR="+s.TempDir(), "SMTP_URL=smtp://"+w.addr,
		"MAIL_FROM=calendar@home.example", "MAIL_FROM_DOMAINS=home.example", "LMTP_ADDR=127.0.0.1:0",
		"MAIL_AUTHSERV_ID=town.example", "METRICS_ADDR=127.0.0.1:0", "MCP_CALLS_PER_MINUTE=100000")
}

// feed is another feed each time: its first event is gone, and there is a new one.
func (s *soak) feed(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served[r.URL.Path] = max(s.served[r.URL.Path], feedSize-1) + 1
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n"
	for n := range feedSize {
		_, rest, _ := strings.Cut(event(fmt.Sprint("f", s.served[r.URL.Path]-n), "Feed"), "BEGIN:VEVENT")
		inner, _, _ := strings.Cut(rest, "END:VCALENDAR")
		text += "BEGIN:VEVENT" + inner
	}
	_, _ = io.WriteString(w, text+"END:VCALENDAR\r\n")
}

// admit creates users by commands of version 0.1.0, with tokens, feeds, devices and events.
func (s *soak) admit(old string, count int) {
	command := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(s.Context(), old, args...)
		cmd.Env, cmd.Stdin = append([]string{"PATH=" + os.Getenv("PATH")}, s.env...), strings.NewReader(stdin)
		said, err := cmd.Output()
		if err != nil {
			s.Fatalf("%v: %v", args, err)
		}
		return string(said)
	}
	list := "name,email\n"
	for i := range count {
		list += fmt.Sprintf("%s,%s@home.example\n", nameOf(i), nameOf(i))
	}
	command(list, "import-users", "-")
	for i := range count {
		found := shownToken.FindStringSubmatch(command("", "create-token", "--user", nameOf(i), "--name", "all",
			"--scope", "read,write,delete,share,invite", "--json"))
		if found == nil {
			s.Fatal("no token is shown")
		}
		u := &soaker{
			soak: s, client: client{s.server.Load(), s.http, nameOf(i), found[1], found[1]}, number: i,
			random: rand.New(rand.NewPCG(uint64(i), 5)), has: map[string]acknowledgedEvent{},
		}
		for n := range u.phones {
			u.phones[n].etags = map[string]string{}
		}
		s.users = append(s.users, u)
		for u.made < usualEvents {
			u.create()
		}
		switch i % assisted {
		case assistedUser:
			u.registerDevice(s.T, s.devices, u.home(), "/"+u.user)
		case feedUser:
			command("", "link-calendar", "--user", u.user, "--name", "Feed", "--every", "15m", "--ics",
				s.feeds.URL+"/"+u.user+".ics")
		}
	}
}

func (u *soaker) home() string { return "/dav/calendars/" + u.user + "/personal/" }

// live is the day of a user.
func (u *soaker) live(ctx context.Context) {
	perDay := busyHours * (phones*polls + changes)
	if u.number%assisted == assistedUser {
		perDay += busyHours * calls
	}
	for idle(ctx, time.Duration(u.random.ExpFloat64()*float64(u.length)/float64(perDay))) == nil {
		u.gate.RLock()
		switch n := u.random.IntN(perDay); {
		case n < busyHours*changes:
			u.change()
		case n < busyHours*(changes+phones*polls):
			u.poll(n % phones)
		default:
			u.assistant()
		}
		u.gate.RUnlock()
	}
}

// ask makes a request. It is not done if the server ended meanwhile. Any other failure is the server's.
func (u *soaker) ask(want int, method, path, body string, headers ...string) (a answer, done bool) {
	r := u.server.Load()
	a, err := u.at(r).dav(context.Background(), method, path, body, headers...)
	if err == nil && a.status == want {
		return a, true
	}
	u.excuse(r, fmt.Sprintf("%s %s: %d, %.600s, %v", method, path, a.status, a.body, err))
	return a, false
}

// excuse lets a request fail if its server has ended or does so soon.
func (u *soaker) excuse(r *running, what string) {
	select {
	case <-r.gone:
		u.unanswered.Add(1)
		_ = idle(u.Context(), time.Second)
	case <-time.After(patience / 4):
		u.fail("%s", what)
	}
}

// change creates, changes or deletes an event, so that their number stays.
func (u *soaker) change() {
	switch names := u.plain(); {
	case len(u.has) <= usualEvents:
		u.create()
	case u.random.IntN(2) == 0 && len(names) > 0:
		u.made++
		u.put(names[u.random.IntN(len(names))], http.StatusNoContent, event)
	default:
		u.remove()
	}
}

// plain are the names of events that are no meetings.
func (u *soaker) plain() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.has)), func(name string) bool { return name[0] != 'e' })
}

// create makes an event, or a meeting with a guest.
func (u *soaker) create() {
	u.made++
	if u.number%assisted != mailUser || u.made%3 > 0 {
		u.put(fmt.Sprintf("e%d.ics", u.made), http.StatusCreated, event)
		return
	}
	u.put(fmt.Sprintf("m%d.ics", u.made), http.StatusCreated, func(uid, title string) string {
		return strings.Replace(strings.Replace(event(uid+"-"+u.user, title), ":20260301", ":20360301", 2), "END:VEVENT",
			"ORGANIZER:mailto:"+u.user+"@home.example\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:"+uid+"-"+
				u.user+"@outside.example\r\nEND:VEVENT", 1)
	})
}

func (u *soaker) put(name string, want int, text func(uid, title string) string) {
	title := fmt.Sprint("Edition ", u.made, " of ", u.user)
	uid := strings.TrimSuffix(name, ".ics")
	a, done := u.ask(want, http.MethodPut, u.home()+name, text(uid, title))
	u.writes.Add(1)
	if !done {
		u.settle(name, title)
		return
	}
	u.note(name, a.header.Get("ETag"), title)
}

func (u *soaker) note(name, etag, title string) {
	if name[0] == 'm' {
		etag = ""
	}
	u.has[name] = acknowledgedEvent{etag, title}
}

// remove deletes an event.
func (u *soaker) remove() {
	names := slices.Sorted(maps.Keys(u.has))
	name := names[u.random.IntN(len(names))]
	u.writes.Add(1)
	if _, done := u.ask(http.StatusNoContent, http.MethodDelete, u.home()+name, ""); !done {
		u.settle(name, "")
		return
	}
	delete(u.has, name)
}

// settle finds out whether a change with an unknown outcome was made. The event is as before or after it.
func (u *soaker) settle(name, title string) {
	before, existed := u.has[name]
	for u.Context().Err() == nil {
		r := u.server.Load()
		a, err := u.at(r).dav(context.Background(), http.MethodGet, u.home()+name, "")
		switch {
		case err == nil && a.status == http.StatusOK:
			for _, may := range []string{title, before.title} {
				if may != "" && strings.Contains(a.body, "SUMMARY:"+may+"\r\n") {
					u.note(name, a.header.Get("ETag"), may)
					return
				}
			}
			u.fail("%s of %s is neither %q nor %q:\n%s", name, u.user, before.title, title, a.body)
			return
		case err == nil && a.status == http.StatusNotFound:
			if delete(u.has, name); existed && title != "" {
				u.fail("%s of %s is lost", name, u.user)
			}
			return
		}
		u.excuse(r, fmt.Sprintf("GET %s: %d, %v", name, a.status, err))
	}
}

// poll has a phone look for changes by its token. Then it knows what the server acknowledged.
func (u *soaker) poll(n int) {
	u.polls.Add(1)
	r := u.server.Load()
	if _, done := u.ask(http.StatusMultiStatus, "PROPFIND", "/dav/calendars/"+u.user+"/", homeProperties, "Depth",
		"1"); !done {
		return
	}
	next, ok := u.at(r).follow(context.Background(), u.home(), u.phones[n])
	switch {
	case !ok:
		u.excuse(r, "a phone of "+u.user+" gets no changes")
		return
	case next.token == "":
		u.fail("a phone of %s has to begin again", u.user)
		u.phones[n] = keptToken{etags: map[string]string{}}
		return
	}
	u.phones[n] = next
	for name, e := range u.has {
		if etag, there := next.etags[name]; !there || e.etag != "" && etag != e.etag {
			u.fail("a phone of %s has %s with ETag %q, the server acknowledged %q", u.user, name, etag, e.etag)
		}
	}
	for name := range next.etags {
		if _, there := u.has[name]; !there {
			u.fail("a phone of %s has %s, which does not exist", u.user, name)
		}
	}
}

// assistant lists events, and sometimes changes one.
func (u *soaker) assistant() {
	u.calls.Add(1)
	r, names := u.server.Load(), u.plain()
	if u.random.IntN(10) > 0 || len(names) == 0 {
		if _, err := u.at(r).tool(context.Background(), "list_events", map[string]any{
			"start": "2026-03-01", "end": "2026-04-01",
		}); err != nil {
			u.excuse(r, fmt.Sprintf("list_events of %s: %v", u.user, err))
		}
		return
	}
	name := names[u.random.IntN(len(names))]
	u.made++
	title := fmt.Sprint("Edition ", u.made, " of ", u.user)
	u.writes.Add(1)
	if _, err := u.at(r).tool(context.Background(), "patch_event", map[string]any{
		"calendar_id": "Personal", "event_uid": strings.TrimSuffix(name, ".ics"), "title": title,
	}); err != nil {
		u.excuse(r, fmt.Sprintf("patch_event of %s: %v", u.user, err))
		u.settle(name, title)
		return
	}
	u.has[name] = acknowledgedEvent{title: title} // settle has to find exactly this
	u.settle(name, title)
}

// answer lets guests accept what they are invited to, by mail. A guest's address names the meeting and its organizer.
func (s *soak) answer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case guest := <-s.guests:
			for s.reply(ctx, guest) != nil && idle(ctx, time.Second) == nil {
			}
			s.answers.Add(1)
		}
	}
}

func (s *soak) reply(ctx context.Context, guest string) error {
	uid, _, _ := strings.Cut(guest, "@")
	_, user, _ := strings.Cut(uid, "-")
	text := strings.NewReplacer(":20260301", ":20360301", "END:VEVENT", "ORGANIZER:mailto:"+user+
		"@home.example\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:"+guest+"\r\nEND:VEVENT", "VERSION:2.0",
		"VERSION:2.0\r\nMETHOD:REPLY", "20260101T000000Z", time.Now().UTC().Format("20060102T150405Z"),
	).Replace(event(uid, "Accepted"))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.server.Load().addrs["lmtp"])
	if err != nil {
		return err
	}
	line := smtp.NewClientLMTP(conn)
	defer func() { _ = line.Close() }()
	return line.SendMail(guest, []string{user + "@home.example"}, strings.NewReader(
		"Authentication-Results: town.example; dmarc=pass header.from=outside.example\r\nFrom: "+guest+
			"\r\nSubject: Accepted\r\nMessage-ID: <"+guest+">\r\nMIME-Version: 1.0\r\n"+
			"Content-Type: text/calendar; charset=utf-8; method=REPLY\r\n\r\n"+text))
}

// replace ends the server in one way, and starts the present version in its place.
func (s *soak) replace(end func(*running) error) {
	old := s.server.Load()
	if err := end(old); err != nil {
		s.fail("the server ended badly: %v\n%s", err, lastLines(client{running: old}))
	}
	s.kills.Add(1)
	s.collect(old)
	s.server.Store(serveProgram(s.T, s.program, s.env))
}

// collect counts the warnings and errors in the log of a server.
func (s *soak) collect(r *running) {
	for line := range strings.Lines(r.log.String()) {
		var entry struct{ Level, Msg string }
		if json.Unmarshal([]byte(line), &entry) == nil && (entry.Level == "WARN" || entry.Level == "ERROR") {
			s.logs[entry.Level+" "+entry.Msg]++
		}
	}
}

// backup makes a backup while the server works, and checks it.
func (s *soak) backup() {
	file := filepath.Join(s.TempDir(), "backup")
	call(s.T, s.env, "", "backup", "--out", file)
	call(s.T, s.env, "", "restore", "--check", file)
	s.backups.Add(1)
	if err := os.Remove(file); err != nil {
		s.Fatal(err)
	}
}

// check compares everything with what was acknowledged, as phones with their tokens and as a new one.
func (s *soak) check(after string) {
	s.gate.Lock()
	defer s.gate.Unlock()
	events := 0
	for _, u := range s.users {
		kept := u.phones
		for n := range u.phones {
			u.poll(n)
		}
		u.phones[0] = keptToken{etags: map[string]string{}}
		u.poll(0)
		u.phones[1] = kept[1] // and the older token once more
		u.poll(1)
		events += len(u.has)
	}
	s.Logf("after %s, at %v: %d events are as acknowledged, %d failures", after, time.Since(s.began).Round(time.Second),
		events, s.failures)
}

// checkOthers looks whether guests, feeds and devices are up to date.
func (s *soak) checkOthers() {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	go s.answer(ctx)
	for _, m := range s.devices.Got() {
		s.told[m.Path]++
	}
	if err := s.devices.Wrong(); err != nil {
		s.Error(err)
	}
	for _, u := range s.users {
		c := u.at(s.server.Load())
		switch u.number % assisted {
		case assistedUser:
			if s.told["/"+u.user] == 0 {
				s.Errorf("the device of %s was never told", u.user)
			}
		case mailUser:
			for name := range u.has {
				if name[0] == 'm' {
					until(s.T, name+" of "+u.user+" is accepted", func() bool {
						a := c.must(s.T, http.StatusOK, http.MethodGet, u.home()+name, "")
						return strings.Contains(strings.ReplaceAll(a.body, "\r\n ", ""), "PARTSTAT=ACCEPTED")
					})
				}
			}
		case feedUser:
			s.checkFeed(c)
		}
	}
}

// checkFeed looks whether a user has the events of the feed that was served last, and no others.
func (s *soak) checkFeed(c client) {
	var calendars []struct{ Name, Address string }
	if err := json.Unmarshal([]byte(call(s.T, s.env, "", "list-calendars", "--user", c.user, "--json")),
		&calendars); err != nil {
		s.Fatal(err)
	}
	for _, cal := range calendars {
		if cal.Name == "Feed" {
			a := c.must(s.T, http.StatusMultiStatus, "REPORT", "/dav/calendars/"+c.user+"/"+cal.Address+"/",
				`<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop>`+
					`<C:calendar-data/></prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter>`+
					`</C:calendar-query>`, "Depth", "1")
			s.mu.Lock()
			last := s.served["/"+c.user+".ics"]
			s.mu.Unlock()
			if strings.Count(a.body, "UID:f") != feedSize || !strings.Contains(a.body, fmt.Sprintf("UID:f%d", last)) {
				s.Errorf("the feed of %s has %d events, and was last served with f%d:\n%s", c.user,
					strings.Count(a.body, "UID:f"), last, a.body)
			}
			return
		}
	}
	s.Errorf("the feed of %s is not there", c.user)
}
