package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/internal/slowtest"
)

// killable is a server of a site as a process of its own, which is killed in the midst of changes. The mail is sent and
// taken in by the test, on the same database.
type killable struct {
	env    []string
	client client
	// unanswered counts the changes with an unknown outcome.
	unanswered int
}

// start begins to serve a site by a process. Its clock is behind the test's, so that it never sends mail itself.
func (s *site) start(t *testing.T, database string) {
	t.Helper()
	// Until the test's clock, which is ahead of the process's.
	if mine, err := s.Store.Lease(t.Context(), "mail out", "test", s.now(), s.now()); err != nil || !mine {
		t.Fatalf("the lease of the sender: %v, %v", mine, err)
	}
	s.killed = &killable{
		env: append(on(database), "SMTP_URL="+s.config.Mail.SMTPURL, "MAIL_FROM="+s.config.Mail.From,
			"MAIL_FROM_DOMAINS="+s.domain, "BASE_URL=https://cal."+s.domain),
	}
	s.killed.client = newClient(t, serve(t, s.killed.env), "", "correct horse battery", "")
}

// killIn kills the process after a delay, and restarts it. The returned function waits for that.
func (k *killable) killIn(t *testing.T, while time.Duration) (again func()) {
	t.Helper()
	done := make(chan error, 1)
	running := k.client.running
	time.AfterFunc(while, func() { done <- running.kill() })
	return func() {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		k.client = k.client.at(serve(t, k.env))
	}
}

// do makes a change through the process, which may be killed meanwhile. If mail that arrived in between causes a
// refusal, the change is skipped.
func (k *killable) do(p *person, method, uid, text string) {
	p.Helper()
	name := calendar.ObjectName(uid + ".ics")
	if o, err := p.Calendars.ObjectByUID(p.Context(), nil, app.Caller(p.user), p.cal, calendar.UID(uid)); err == nil {
		name = o.Name
	}
	c := k.client
	c.user = p.user.Name
	a, err := c.dav(p.Context(), method, "/dav/calendars/"+p.user.Name+"/"+string(p.cal.Address())+"/"+string(name),
		strings.ReplaceAll(text, "\n", "\r\n"), "Content-Type", "text/calendar")
	switch {
	case err != nil:
		k.unanswered++
	case a.status >= http.StatusInternalServerError:
		p.Fatalf("%s of %s by %s: %d %s", method, uid, p.user.Name, a.status, a.body)
	}
}

func (k *killable) put(p *person, uid, text string) { k.do(p, http.MethodPut, uid, text) }
func (k *killable) remove(p *person, uid string)    { k.do(p, http.MethodDelete, uid, "") }

// recall finds out which meetings exist, after changes with an unknown outcome.
func (w *mailWalk) recall() {
	for uid, organizer := range w.callers {
		if w.meetings[uid] = organizer; organizer.event(uid) == "" {
			w.meetings[uid] = nil
		}
	}
}

var (
	messageID = regexp.MustCompile(`(?mi)^Message-ID: (\S+)`)
	attached  = regexp.MustCompile(`(?s)application/ics.*?\r?\n\r?\n(.*?)\r?\n--`)
)

// TestKillInsideTheWalk: servers are killed during changes by users who invite each other across two of them. Once the
// mail has arrived, all copies agree, no message is stuck, and no mailbox got a message twice under two names.
func TestKillInsideTheWalk(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers that write to each other")
	each(t, func(t *testing.T, database string) {
		w := &mailWalk{
			town: newTown(t), random: rand.New(rand.NewPCG(14, 41)), meetings: map[string]*person{},
			callers: map[string]*person{},
		}
		ahead := func() { w.clock.Store(time.Now().Add(time.Hour).Unix()) }
		ahead()
		named := map[string]string{}
		w.carries = func(to, text string) {
			id, what := messageID.FindStringSubmatch(text), attached.FindStringSubmatch(text)
			if id == nil || what == nil {
				t.Errorf("a mail without a name, or without a message:\n%s", text)
				return
			}
			if before := named[to+what[1]]; before != "" && before != id[1] {
				t.Errorf("%s got one message as %s and as %s", to, before, id[1])
			}
			named[to+what[1]] = id[1]
		}
		w.trouble = func() trouble { return []trouble{"", "", "", refused, lost, twice}[w.random.IntN(6)] }
		other := sqlite(t)
		a, b := w.site("a.example", database), w.site("b.example", other)
		for _, who := range [...]struct {
			name string
			at   *site
		}{{"alice", a}, {"ann", a}, {"bob", b}, {"ben", b}, {"bea", b}} {
			w.people = append(w.people, who.at.person(who.name))
		}
		a.start(t, database)
		b.start(t, other)
		for kill := range 50 {
			s := w.inOrder()[w.random.IntN(2)]
			again := s.killed.killIn(t, time.Duration(w.random.IntN(500))*time.Millisecond)
			for range 6 + w.random.IntN(14) {
				w.log = append(w.log, fmt.Sprint(kill, " ", w.step()))
			}
			again()
			w.recall()
			if kill%5 == 4 {
				w.quiet()
				w.agree()
				ahead() // for days on, what is posted now would be too old to be tried again
			}
		}
		w.quiet()
		w.agree()
		for _, s := range w.inOrder() {
			if waiting, _, err := s.Store.WaitingLetters(t.Context()); err != nil || waiting > 0 {
				t.Errorf("%s: %d letters are left over, %v", s.domain, waiting, err)
			}
		}
		t.Logf("%d meetings, %d messages, %d changes without an answer", len(w.uids), len(named),
			a.killed.unanswered+b.killed.unanswered)
		if a.killed.unanswered+b.killed.unanswered == 0 {
			t.Error("no server was killed in the midst of anything")
		}
	})
}
