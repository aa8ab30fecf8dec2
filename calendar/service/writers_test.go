package service_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// meeting is two processes in which many writers change two calendars at once, some of whom go away, or lose their
// connection. What they wanted is compared with what the journal says.
type meeting struct {
	*processes
	program string
	stores  [2]*store.Store
	cals    [2]calendar.Calendar
	mu      sync.Mutex
	wanted  map[string]wanted
	// before is what the user had before a round.
	before calendar.Usage
}

// wanted is what a writer wanted, and heard.
type wanted struct {
	// data is what was to be stored; a move has that of what it moves.
	data []byte
	// match is the tag that was demanded, none that nothing may be there.
	match calendar.ETag
	none  bool
	lines int
	err   error
}

// TestWritersMeet: whatever writers of two processes do to the same calendars at the same time, what they are told of
// is in the journal once, what they demanded was so, and all that is there follows from the journal.
func TestWritersMeet(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, where string) {
		program := fmt.Sprintf("meeting-%d", time.Now().UnixNano())
		if u, err := url.Parse(where); err == nil && !strings.HasPrefix(where, "sqlite:") {
			q := u.Query()
			q.Set("application_name", program)
			u.RawQuery = q.Encode()
			where = u.String()
		}
		p := &processes{t: t, url: where}
		m := &meeting{processes: p, program: program}
		p.plain, p.store = p.process(where, 0)
		for i := range p.two {
			p.two[i], m.stores[i] = p.process(where, 1<<20)
		}
		user := calendar.User{ID: "user-alice", Name: "alice", Created: time.Unix(0, 0)}
		p.must(p.store.InsertUser(t.Context(), user, ""))
		p.alice = calendar.Caller{User: user, Scopes: calendar.ScopeAll}
		first := slowtest.Seed(t)
		for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 1, 30)) {
			m.round(first + seed)
			if t.Failed() {
				t.Fatalf("seed %d", first+seed)
			}
		}
	})
}

// round lets writers meet in two new calendars.
func (m *meeting) round(seed uint64) {
	// Most writers put, and are in one process: those share commits.
	const writers, each = 16, 12
	m.wanted = map[string]wanted{}
	for i := range m.cals {
		cal, err := m.plain.CreateCalendar(m.t.Context(), m.alice,
			calendar.NewCalendar{Segment: calendar.Segment(fmt.Sprintf("c%d-%d", seed, i))})
		m.must(err)
		m.cals[i] = cal
	}
	var err error
	m.before, err = m.store.Usage(m.t.Context(), m.alice.User.ID)
	m.must(err)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			v := &visitor{
				meeting: m, Rand: rand.New(rand.NewPCG(seed, uint64(w))), at: w / (writers - 2), puts: w%4 > 0,
			}
			for n := range each {
				v.agent = fmt.Sprintf("%d-%d-%d", seed, w, n)
				v.visit()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	if !strings.HasPrefix(m.url, "sqlite:") {
		m.cutUntil(done)
	}
	<-done
	m.agree()
}

// cutUntil ends a connection that is at work, now and then.
func (m *meeting) cutUntil(done chan struct{}) {
	for range 3 {
		select {
		case <-done:
			return
		case <-time.After(40 * time.Millisecond):
			m.must(behind(m.t, m.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE application_name = $1 AND pid <> pg_backend_pid() AND state <> 'idle' ORDER BY random() LIMIT 1`,
				m.program))
		}
	}
}

// visitor is one of the writers, at a process.
type visitor struct {
	*meeting
	*rand.Rand
	at    int
	agent string
	// puts tells that it does nothing else.
	puts bool
}

// visit changes something, or tries to.
func (v *visitor) visit() {
	ctx, cancel := context.WithCancel(v.t.Context())
	defer cancel()
	if v.IntN(6) == 0 {
		time.AfterFunc(time.Duration(v.IntN(4000))*time.Microsecond, cancel)
	}
	who := v.alice
	who.Agent = v.agent
	in := v.IntN(2)
	cal := v.cals[in]
	name := v.name()
	var when calendar.Precondition
	w := wanted{lines: 1}
	switch v.IntN(4) {
	case 0:
		when.NoneMatchAny, w.none = true, true
	case 1:
		o, err := v.two[v.at].Object(ctx, nil, who, cal, name)
		if err != nil {
			v.heard(wanted{err: err})
			return
		}
		when.Match, w.match = []calendar.ETag{o.ETag}, o.ETag
	}
	deed := v.IntN(4)
	if v.puts {
		deed = 2
	}
	switch deed {
	case 0:
		w.none = false
		when.NoneMatchAny = false
		w.err = v.two[v.at].Delete(ctx, who, cal, name, when)
	case 1:
		w.lines = 2
		t := ledger.Transfer{
			From: cal, Name: name, To: v.cals[v.IntN(2)], As: v.name(), When: calendar.Precondition{Match: when.Match},
		}
		_, w.err = v.two[v.at].Move(ctx, who, t)
	default:
		w.data = []byte(event(v.uid(name), 1+v.IntN(28), "by "+v.agent))
		if v.IntN(2) == 0 {
			ctx = auth.AskAlong(ctx, cal.Segment)
			_, _ = v.stores[v.at].CredentialGeneration(ctx, auth.Subject{Name: "alice"})
		}
		_, w.err = v.two[v.at].Put(ctx, who, cal, calendar.Draft{Name: name, Data: w.data, When: when})
	}
	v.heard(w)
}

func (v *visitor) name() calendar.ObjectName {
	return calendar.ObjectName(fmt.Sprintf("uid-%d.ics", v.IntN(12)))
}

// uid is mostly the one that a name suggests.
func (v *visitor) uid(name calendar.ObjectName) string {
	if v.IntN(6) == 0 {
		name = v.name()
	}
	return strings.TrimSuffix(string(name), ".ics")
}

func (v *visitor) heard(w wanted) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wanted[v.agent] = w
	if w.err != nil && calendar.ReasonOf(w.err) == calendar.Internal && !errors.Is(w.err, context.Canceled) {
		v.t.Errorf("%s: %v", v.agent, w.err)
	}
}

// unclear tells whether the writer knows nothing of what became of the change.
func (w wanted) unclear() bool {
	return errors.Is(w.err, context.Canceled) || w.err != nil && calendar.ReasonOf(w.err) == calendar.Unavailable
}

// lines are those of a calendar's journal, in their order, which must have no gap.
func (m *meeting) lines(cal calendar.Calendar) []calendar.Change {
	m.t.Helper()
	var all []calendar.Change
	for line, err := range m.store.Journal(m.t.Context(), cal.ID, calendar.JournalQuery{WithBefore: true}) {
		m.must(err)
		all = append(all, line)
	}
	slices.Reverse(all)
	for i, line := range all {
		if line.Version != all[0].Version+calendar.Version(i) {
			m.t.Errorf("%s: line %d has version %d", cal.ID, i, line.Version)
		}
	}
	if now, err := m.store.Calendar(m.t.Context(), m.alice.User.ID, cal.ID); err != nil ||
		len(all) > 0 && now.Version != all[len(all)-1].Version {
		m.t.Errorf("%s is at version %d: %v", cal.ID, now.Version, err)
	}
	return all
}

// agree compares what the writers wanted and heard with what became of it.
func (m *meeting) agree() {
	m.t.Helper()
	var journals [2][]calendar.Change
	lines := map[string]int{}
	for i, cal := range m.cals {
		journals[i] = m.lines(cal)
		for _, line := range journals[i] {
			lines[line.Agent]++
			if w := m.wanted[line.Agent]; line.Did == calendar.Deleted && w.lines == 2 {
				w.data = line.Before
				m.wanted[line.Agent] = w
			}
		}
	}
	for agent, w := range m.wanted {
		if n := lines[agent]; n != w.lines && (w.err == nil || n != 0) || n != 0 && w.err != nil && !w.unclear() {
			m.t.Errorf("%s has %d lines of %d, and heard %v", agent, n, w.lines, w.err)
		}
	}
	var held calendar.Usage
	for i, cal := range m.cals {
		there := m.follow(cal, journals[i])
		for _, o := range there {
			held = held.Plus(calendar.Usage{Objects: 1, Bytes: int64(len(o.data))})
		}
	}
	now, err := m.store.Usage(m.t.Context(), m.alice.User.ID)
	m.must(err)
	if diff := cmp.Diff(held, now.Minus(m.before)); diff != "" {
		m.t.Errorf("what is counted: %s", diff)
	}
}

// kept is an object as it follows from the journal.
type kept struct {
	uid     calendar.UID
	data    string
	version calendar.Version
}

// follow walks through the journal, and compares what comes of it with what there is.
func (m *meeting) follow(cal calendar.Calendar, lines []calendar.Change) map[calendar.ObjectName]kept {
	m.t.Helper()
	there := map[calendar.ObjectName]kept{}
	versions := map[calendar.Version]map[calendar.ObjectName]calendar.Version{}
	for _, line := range lines {
		if line.Object == "" {
			continue // the calendar was made
		}
		before, found := there[line.Object]
		w := m.wanted[line.Agent]
		if found == (line.Did == calendar.Created) || before.data != string(line.Before) {
			m.t.Errorf("%s@%d: %s is %s, over %q, and was %v, %q", cal.ID, line.Version, line.Object, line.Did,
				line.Before, found, before.data)
		}
		if w.lines == 1 && (w.none && found || w.match != "" && calendar.ETagOf([]byte(before.data)) != w.match) {
			m.t.Errorf("%s@%d: what %s demanded of %s was not so", cal.ID, line.Version, line.Agent, line.Object)
		}
		if delete(there, line.Object); line.Did != calendar.Deleted {
			for name, other := range there {
				if other.uid == line.UID {
					m.t.Errorf("%s@%d: %s has the UID of %s", cal.ID, line.Version, line.Object, name)
				}
			}
			there[line.Object] = kept{line.UID, string(w.data), line.Version}
		}
		versions[line.Version] = versionsOf(there)
	}
	found := map[calendar.ObjectName]kept{}
	for o, err := range m.store.Objects(m.t.Context(), cal.ID, calendar.ObjectQuery{WithData: true}) {
		m.must(err)
		found[o.Name] = kept{o.UID, string(o.Data), o.Version}
	}
	if diff := cmp.Diff(there, found, cmp.AllowUnexported(kept{})); diff != "" {
		m.t.Errorf("%s: by the journal, and in fact: %s", cal.ID, diff)
	}
	for v, known := range versions {
		m.sync(cal, v, known, versionsOf(there))
	}
	return there
}

func versionsOf(there map[calendar.ObjectName]kept) map[calendar.ObjectName]calendar.Version {
	all := map[calendar.ObjectName]calendar.Version{}
	for name, o := range there {
		all[name] = o.version
	}
	return all
}

// sync brings what was known at a version up to date.
func (m *meeting) sync(
	cal calendar.Calendar, v calendar.Version, known, want map[calendar.ObjectName]calendar.Version,
) {
	m.t.Helper()
	for o, err := range m.store.Changes(m.t.Context(), cal.ID,
		calendar.VersionRange{After: v, Until: 1 << 40, Unbroken: v}) {
		m.must(err)
		if delete(known, o.Name); !o.Deleted {
			known[o.Name] = o.Version
		}
	}
	if diff := cmp.Diff(want, known); diff != "" {
		m.t.Errorf("%s: since version %d: %s", cal.ID, v, diff)
	}
}
