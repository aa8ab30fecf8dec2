package caldav_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// fact is something that is so, or not, or is just being changed. A PUT that needs it must come to nothing where it was
// not so from before it was sent until it was answered.
type fact struct {
	what string
	mu   sync.Mutex
	step int
	is   bool
}

// seen is a fact as it was at a moment.
type seen struct {
	*fact
	step   int
	is, by bool
}

func (f *fact) look() seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return seen{f, f.step, f.is, f.step%2 == 0}
}

// still tells whether it has been so, or not so, since it was looked at.
func (s seen) still() (is, sure bool) {
	now := s.look()
	return s.is, s.by && now.step == s.step
}

// become changes facts, which are neither so nor not meanwhile.
func become(is bool, change func(), facts ...*fact) {
	step := func() {
		for _, f := range facts {
			f.mu.Lock()
			f.step++
			f.is = is
			f.mu.Unlock()
		}
	}
	step()
	change()
	step()
}

// login is what a program shows, and what has to be so for it to write.
type login struct {
	user, header string
	needs        []*fact
	// reaches are the calendars that it is good for, nil for all.
	reaches map[calendar.CalendarID]*fact
	token   calendar.TokenID
	expires bool
}

// owner is a user of the test.
type owner struct {
	calendar.Caller
	enabled, roomy *fact
	passwords      [2]*fact
	cals           []calendar.Calendar
}

// sent is a PUT and what came of it.
type sent struct {
	what   string
	data   string
	none   bool
	match  string
	status int
	etag   string
	// at is the calendar that lay where it was sent all the time, "" where that is not certain.
	at calendar.CalendarID
}

// crowd are programs that write by two servers on one database, with what an administrator does meanwhile.
type crowd struct {
	*testing.T
	here  [2]*process
	plain *process
	seed  uint64

	owners map[string]*owner
	mu     sync.Mutex
	logins []*login
	puts   map[string]*sent
	// tags are those that were seen, and of which text.
	tags map[string]string
	// last is the tag seen last, by the calendar and the name.
	last map[string]string
	// shares counts those that were made.
	shares int
	// lies has for each path of a calendar which one lies there.
	lies map[string]*lying
}

// lying is what lies at a path: there tells that something does, which is in.
type lying struct {
	there fact
	in    calendar.CalendarID
	// shared is who may write there besides the owner, nil for nobody: then it is the owner's own path.
	shared *fact
	owner  *owner
}

// TestPutWhileRightsChange: programs PUT by two servers while their rights are taken away and given back by either. No
// PUT is kept without a right that held from before it was sent. A PUT that was acknowledged is stored once, byte for
// byte, over the version that it named. A PUT that was refused is not stored.
func TestPutWhileRightsChange(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		first, steps := slowtest.Seed(t), slowtest.Rounds(t, slowtest.Random, 400, 1000)
		for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 1, 20)) {
			t.Run(fmt.Sprint(first+seed), func(t *testing.T) {
				database := url
				if seed > 0 {
					database = another(t, url)
				}
				c := newCrowd(t, database, first+seed)
				for _, writers := range []int{1, 6} {
					c.meet(writers, steps)
				}
				c.agree()
			})
		}
	})
}

// another is one more database of the same engine.
func another(t *testing.T, url string) string {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return testdb.SQLite(t)
	}
	return testdb.Postgres(t)
}

// mostShares is how many new shares one user may make with another in a day.
const mostShares = 20

const randomPassword = "correct horse battery"

// tokenLasts is for how long one that ends is good, much longer than the rest of the test takes.
const tokenLasts = 1000 * time.Hour

func newCrowd(t *testing.T, url string, seed uint64) *crowd {
	t.Helper()
	clock := housetest.At(now)
	clock.Form = fmt.Sprintf("id-%d-%%d", seed)
	c := &crowd{
		T: t, seed: seed, owners: map[string]*owner{}, puts: map[string]*sent{}, tags: map[string]string{},
		last: map[string]string{}, lies: map[string]*lying{},
	}
	c.plain = newProcess(t, url, clock)
	for i := range c.here {
		c.here[i] = newProcess(t, url, clock)
	}
	for _, name := range []string{"alice", "bob"} {
		u, err := c.plain.auth.CreateUser(t.Context(), auth.NewUser{Name: name, Password: randomPassword + "0"})
		c.must(err)
		o := &owner{
			Caller:  calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "mover"},
			enabled: &fact{what: "enabled", is: true}, roomy: &fact{what: "has room", is: true},
		}
		c.owners[name] = o
		for i := range o.passwords {
			o.passwords[i] = &fact{what: fmt.Sprint("the password is number ", i), is: i == 0}
			c.logins = append(c.logins, &login{
				user: name, header: basic(name, fmt.Sprint(randomPassword, i)),
				needs: []*fact{o.enabled, o.passwords[i]},
			})
		}
		stays, err := c.plain.service.CreateCalendar(t.Context(), o.Caller, calendar.NewCalendar{Segment: "default"})
		c.must(err)
		c.must(c.plain.service.PatchScheduling(t.Context(), o.Caller, func(s *calendar.Scheduling) error {
			s.Default = stays.ID
			return nil
		}))
		for _, at := range []calendar.Segment{"one", "two"} {
			cal, err := c.plain.service.CreateCalendar(t.Context(), o.Caller, calendar.NewCalendar{Segment: at})
			c.must(err)
			o.cals = append(o.cals, cal)
			c.lies[pathOf(name, at)] = &lying{
				there: fact{what: "the calendar is there", is: true}, in: cal.ID, owner: o,
			}
			for i := range 2 {
				_, err := c.plain.service.Put(t.Context(), o.Caller, cal, calendar.Draft{
					Name: calendar.ObjectName(fmt.Sprint("keep", i, ".ics")),
					Data: []byte(event(fmt.Sprint("keep", i), "keep")),
				})
				c.must(err)
			}
		}
		c.lies[pathOf(name, "third")] = &lying{there: fact{what: "the calendar is there"}, owner: o}
	}
	// bob has one of alice's calendars, for now not.
	shared := c.owners["alice"].cals[0]
	c.lies[pathOf("bob", calendar.Segment(shared.ID))] = &lying{
		there: fact{is: true}, in: shared.ID, owner: c.owners["alice"], shared: &fact{what: "shared"},
	}
	for range 4 {
		c.newToken(rand.New(rand.NewPCG(seed, 77)), c.plain)
	}
	never := &fact{what: "the name is the token's"}
	c.logins = append(c.logins, &login{
		user: "bob", header: basic("bob", strings.TrimPrefix(c.logins[len(c.logins)-1].header, "Bearer ")),
		needs: []*fact{never},
	})
	return c
}

func pathOf(user string, at calendar.Segment) string {
	return "/dav/calendars/" + user + "/" + string(at) + "/"
}

func (c *crowd) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// newToken makes a token of alice's, some of which are for one calendar, or end.
func (c *crowd) newToken(r *rand.Rand, by *process) {
	alice := c.owners["alice"]
	l := &login{
		user:  "alice",
		needs: []*fact{alice.enabled, {what: "the token stands", is: true}, {what: "the token writes", is: true}},
	}
	spec := auth.TokenSpec{User: "alice", Name: "program", Scopes: calendar.ScopeRead | calendar.ScopeWrite}
	if l.expires = r.IntN(4) == 0; l.expires {
		spec.Expires = by.Now().Add(tokenLasts)
	}
	if r.IntN(2) == 0 {
		l.reaches = map[calendar.CalendarID]*fact{}
		for _, cal := range alice.cals {
			spec.Calendars = append(spec.Calendars, cal.ID)
			l.reaches[cal.ID] = &fact{what: "the token reaches " + string(cal.ID), is: true}
		}
	}
	t, secret, err := by.auth.CreateToken(c.Context(), spec)
	c.must(err)
	l.token, l.header = t.ID, "Bearer "+string(secret)
	if r.IntN(2) == 0 {
		l.header = basic("alice", string(secret))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logins = append(c.logins, l)
}

// meet lets so many write so many steps in all, and somebody else change what they may after every few of them.
func (c *crowd) meet(writers, steps int) {
	c.Helper()
	if writers == 1 {
		r := rand.New(rand.NewPCG(c.seed, 1))
		for n := range steps {
			if r.IntN(20) == 0 {
				c.govern(r)
			}
			c.write(r, fmt.Sprint(c.seed, "-alone-", n), true)
			if c.Failed() {
				c.Fatalf("step %d", n)
			}
		}
		return
	}
	done := make(chan struct{})
	var all, governs sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(c.seed, uint64(10+w)))
			for n := range steps / writers {
				c.write(r, fmt.Sprint(c.seed, "-", w, "-", n), false)
			}
		})
	}
	governs.Go(func() {
		r := rand.New(rand.NewPCG(c.seed, 2))
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(r.IntN(30)) * time.Millisecond):
				c.govern(r)
			}
		}
	})
	all.Wait()
	close(done)
	governs.Wait()
}

// write PUTs, mostly.
func (c *crowd) write(r *rand.Rand, what string, alone bool) {
	c.mu.Lock()
	l := c.logins[r.IntN(len(c.logins))]
	for range 8 {
		if l.good() || r.IntN(8) == 0 {
			break
		}
		l = c.logins[r.IntN(len(c.logins))]
	}
	c.mu.Unlock()
	path := c.path(r, l)
	at := c.lies[path]
	// Where several write into one calendar all is done under its lock for a while: so most is done by one, another one
	// for each.
	by := c.here[len(path)%2]
	if r.IntN(60) == 0 {
		by = c.here[r.IntN(2)]
	}
	name := fmt.Sprint("n", r.IntN(8))
	if r.IntN(40) == 0 {
		c.disturb(r, by, path, name)
		return
	}
	uid := name
	if r.IntN(8) == 0 {
		uid = fmt.Sprint("n", r.IntN(8))
	}
	p := &sent{what: what, data: event(uid, what)}
	if r.IntN(40) == 0 {
		p.data = strings.Replace(p.data, "SUMMARY", "COMMENT:"+strings.Repeat("x", 70_000)+"\r\nSUMMARY", 1)
	}
	headers := []string{"Authorization", l.header, "User-Agent", what, "Content-Type", "text/calendar"}
	headers = append(headers, c.condition(r, p, path+name)...)
	body := p.data
	switch r.IntN(10) {
	case 0:
		headers = append(headers, "Prefer", "return=representation")
	case 1:
		headers, body = append(headers, "Content-Encoding", "gzip"), zipped(p.data)
	}
	needs := []seen{at.there.look()}
	for _, f := range l.needs {
		needs = append(needs, f.look())
	}
	c.mu.Lock()
	in := at.in
	c.mu.Unlock()
	room := at.owner.roomy.look()
	reaches := []seen{}
	if f := l.reaches[in]; f != nil {
		reaches = append(reaches, f.look())
	}
	if at.shared != nil {
		needs = append(needs, at.shared.look())
	}
	got := by.send(c.T, http.MethodPut, path+name+".ics", body, headers...)
	p.status, p.etag = got.status, got.header.Get("ETag")
	if is, sure := needs[0].still(); is && sure {
		p.at, needs = in, append(needs, reaches...) // else another calendar may have come to lie there
	}
	c.judge(p, needs, room, got, alone)
	c.mu.Lock()
	c.puts[p.data] = p
	if p.etag != "" && p.status/100 == 2 {
		c.tags[p.etag], c.last[path+name] = p.data, p.etag
	}
	c.mu.Unlock()
	if alone && p.status/100 == 2 {
		c.reads(p, at.owner.Caller, in, name)
	}
}

// good tells whether it lets somebody write.
func (l *login) good() bool {
	return !slices.ContainsFunc(l.needs, func(f *fact) bool { return !f.look().is })
}

// judge says what is wrong with an answer by what was so while it was made.
func (c *crowd) judge(p *sent, needs []seen, room seen, got reply, alone bool) {
	kept := p.status/100 == 2
	allowed := true
	if alone && p.status == 0 {
		c.Errorf("%s: the answer broke off", p.what)
	}
	for _, s := range needs {
		is, sure := s.still()
		allowed = allowed && is && sure
		if !is && sure && kept {
			c.Errorf("%s: %d, though it was not so that %s", p.what, p.status, s.what)
		}
	}
	if is, sure := room.still(); !is && sure && p.status == http.StatusCreated {
		c.Errorf("%s: kept beyond the quota", p.what)
	}
	switch {
	case p.status == http.StatusServiceUnavailable && strings.Contains(got.body, "your access changed"):
		// it has to be repeated
	case p.status >= 500 && p.status != http.StatusInsufficientStorage:
		c.Errorf("%s: %d %s", p.what, p.status, got.body)
	case allowed && p.status == http.StatusUnauthorized:
		c.Errorf("%s: refused, though all was as it should be", p.what)
	case kept && p.etag == "":
		c.Errorf("%s: %d without a tag", p.what, p.status)
	case kept && got.header.Get("Preference-Applied") == "return=representation" && got.body != p.data:
		c.Errorf("%s: answered with %q", p.what, got.body)
	}
}

// reads wants what was kept to be there at once, by either server.
func (c *crowd) reads(p *sent, who calendar.Caller, in calendar.CalendarID, name string) {
	for i, by := range c.here {
		cal, err := by.service.Calendar(c.Context(), who, in)
		c.must(err)
		o, err := by.service.Object(c.Context(), nil, who, cal, calendar.ObjectName(name+".ics"))
		if err != nil || string(o.Data) != p.data || string(o.ETag) != p.etag {
			c.Errorf("%s: server %d has %q, %v, of %d", p.what, i, o.Data, err, p.status)
		}
	}
}

// path is where a program writes: mostly in its user's home.
func (c *crowd) path(r *rand.Rand, l *login) string {
	if l.user == "bob" && r.IntN(6) == 0 {
		return pathOf("bob", calendar.Segment(c.owners["alice"].cals[0].ID))
	}
	path := ""
	for range 6 {
		path = pathOf(l.user, []calendar.Segment{"one", "one", "two", "third"}[r.IntN(4)])
		if c.lies[path].there.look().is {
			break
		}
	}
	return path
}

// condition is what a PUT demands.
func (c *crowd) condition(r *rand.Rand, p *sent, at string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.IntN(10) {
	case 0, 1, 2:
		p.none = true
		return []string{"If-None-Match", "*"}
	case 3, 4, 5, 6:
		if p.match = c.last[at]; p.match == "" {
			p.none = true
			return []string{"If-None-Match", "*"}
		}
		return []string{"If-Match", p.match}
	case 7:
		for tag := range c.tags {
			p.match = tag
			return []string{"If-Match", tag}
		}
	}
	return nil
}

func zipped(text string) string {
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	_, _ = gz.Write([]byte(text))
	_ = gz.Close()
	return b.String()
}

// disturb changes a calendar in another way, which may come to nothing.
func (c *crowd) disturb(r *rand.Rand, by *process, path, name string) {
	user := strings.Split(path, "/")[3]
	o := c.owners[user]
	header := ""
	for i, f := range o.passwords {
		if f.look().is {
			header = basic(user, fmt.Sprint(randomPassword, i))
		}
	}
	headers := []string{"Authorization", header, "User-Agent", "mover"}
	switch r.IntN(4) {
	case 0:
		by.send(c.T, http.MethodDelete, path+name+".ics", "", headers...)
	case 1:
		to := pathOf(user, []calendar.Segment{"one", "two"}[r.IntN(2)]) + fmt.Sprint("n", r.IntN(8)) + ".ics"
		by.send(c.T, "MOVE", path+name+".ics", "", append(headers, "Destination", by.http.URL+to)...)
	case 2:
		by.send(c.T, "PROPPATCH", path, `<propertyupdate xmlns="DAV:"><set><prop><displayname>`+name+
			`</displayname></prop></set></propertyupdate>`, headers...)
	default:
		by.send(c.T, "PROPFIND", pathOf(user, ""), "", append(headers, "Depth", "1")...)
	}
}

// govern changes who may what, by either server.
func (c *crowd) govern(r *rand.Rand) {
	by := c.here[r.IntN(2)]
	o := c.owners[[]string{"alice", "bob"}[r.IntN(2)]]
	ctx := c.Context()
	c.mu.Lock()
	tokens := slices.DeleteFunc(slices.Clone(c.logins), func(l *login) bool { return l.token == "" })
	c.mu.Unlock()
	token := tokens[r.IntN(len(tokens))]
	alice, bob := c.owners["alice"], c.owners["bob"]
	if r.IntN(2) == 0 {
		c.mend(by)
		return
	}
	set := func(e auth.UserEdit) func() {
		return func() {
			_, err := by.auth.ChangeUser(ctx, o.User.Name, e)
			c.must2(err)
		}
	}
	switch r.IntN(10) {
	case 0:
		is := o.enabled.look().is
		become(!is, set(auth.UserEdit{Disabled: &is}), o.enabled)
	case 1:
		c.setPassword(ctx, by, o)
	case 2:
		become(false, func() { c.must2(by.auth.RevokeToken(ctx, token.token)) }, token.needs[1])
		c.mend(by) // a token is for calendars that are there
		c.newToken(r, by)
	case 3:
		if token.reaches != nil {
			gone := alice.cals[r.IntN(2)].ID
			rest := slices.DeleteFunc([]calendar.CalendarID{
				alice.cals[0].ID, alice.cals[1].ID,
			}, func(id calendar.CalendarID) bool {
				return id == gone || !token.reaches[id].look().is
			})
			if len(rest) > 0 {
				become(false, func() {
					c.must2(by.auth.NarrowToken(ctx, token.token, calendar.ScopeAll, rest, calendar.Rights{}))
				},
					token.reaches[gone])
			}
			return
		}
		become(false, func() {
			c.must2(by.auth.NarrowToken(ctx, token.token, calendar.ScopeRead, nil, calendar.Rights{}))
		},
			token.needs[2])
	case 4:
		is, most := o.roomy.look().is, int64(calendar.Unbounded)
		if is {
			most = 1
		}
		become(!is, set(auth.UserEdit{QuotaObjects: &most}), o.roomy)
	case 5:
		c.share(ctx, by, alice, bob)
	case 6:
		c.clear(by, token)
	default:
		c.settle(r, by, o)
	}
}

// mend gives back what was taken away.
func (c *crowd) mend(by *process) {
	no, any := false, int64(calendar.Unbounded)
	for name, o := range c.owners {
		set := func(e auth.UserEdit) func() {
			return func() {
				_, err := by.auth.ChangeUser(c.Context(), name, e)
				c.must2(err)
			}
		}
		if !o.enabled.look().is {
			become(true, set(auth.UserEdit{Disabled: &no}), o.enabled)
		}
		if !o.roomy.look().is {
			become(true, set(auth.UserEdit{QuotaObjects: &any}), o.roomy)
		}
		trashed, err := by.service.TrashedCalendars(c.Context(), o.Caller)
		c.must2(err)
		for _, t := range trashed {
			to := c.free(o)
			c.restore(by, o, t.ID, to, calendar.Segment(strings.Split(to, "/")[4]))
		}
	}
}

// free is where none of somebody's calendars lies.
func (c *crowd) free(o *owner) string {
	all := []string{pathOf(o.User.Name, "one"), pathOf(o.User.Name, "two"), pathOf(o.User.Name, "third")}
	return all[slices.IndexFunc(all, func(path string) bool { return !c.lies[path].there.look().is })]
}

// must2 is must for what is done beside the test.
func (c *crowd) must2(err error) {
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		c.Error(err)
	}
}

func (c *crowd) setPassword(ctx context.Context, by *process, o *owner) {
	next := 0
	if o.passwords[0].look().is {
		next = 1
	}
	become(false, func() {
		become(true, func() { c.must2(by.auth.SetPassword(ctx, o.User.Name, fmt.Sprint(randomPassword, next))) },
			o.passwords[next])
	}, o.passwords[1-next])
}

// clear lets time pass, so that tokens end.
func (c *crowd) clear(by *process, _ *login) {
	var ending []*fact
	c.mu.Lock()
	for _, l := range c.logins {
		if l.expires {
			ending = append(ending, l.needs[1])
		}
	}
	c.mu.Unlock()
	become(false, func() { by.Pass(tokenLasts) }, ending...)
}

// share gives bob one of alice's calendars, or takes it away.
func (c *crowd) share(ctx context.Context, by *process, alice, bob *owner) {
	cal := alice.cals[0]
	at := c.lies[pathOf("bob", calendar.Segment(cal.ID))]
	if !at.there.look().is {
		return // what lies in the trash keeps its shares
	}
	if at.shared.look().is {
		become(false, func() { c.must2(by.service.Unshare(ctx, alice.Caller, cal.ID, bob.User.Name)) }, at.shared)
		return
	}
	if !bob.enabled.look().is || c.shares == mostShares {
		return // a disabled user takes no calendars, and nobody more than so many a day
	}
	c.shares++
	become(true, func() {
		_, err := by.service.Share(ctx, alice.Caller, cal.ID, bob.User.Name, calendar.WriteAccess)
		c.must2(err)
	}, at.shared)
}

// settle has a calendar lie elsewhere, or in the trash for a while.
func (c *crowd) settle(r *rand.Rand, by *process, o *owner) {
	from := pathOf(o.User.Name, []calendar.Segment{"one", "two", "third"}[r.IntN(3)])
	was := c.lies[from]
	if !was.there.look().is {
		return
	}
	ctx, id := c.Context(), was.in
	home := []*fact{&was.there}
	if shared := c.lies[pathOf("bob", calendar.Segment(id))]; shared != nil {
		home = append(home, &shared.there)
	}
	to := c.free(o)
	segment := calendar.Segment(strings.Split(to, "/")[4])
	if r.IntN(2) == 0 {
		become(false, func() { c.must2(by.service.DeleteCalendar(ctx, o.Caller, id)) }, home...)
		if r.IntN(2) == 0 {
			return // see mend
		}
		c.restore(by, o, id, to, segment)
		return
	}
	become(false, func() {
		c.must2(by.service.MoveCalendar(ctx, o.Caller, id, segment))
		c.mu.Lock()
		c.lies[to].in = id
		c.mu.Unlock()
	}, &was.there)
	become(true, func() {}, &c.lies[to].there)
}

// restore takes a calendar out of the trash.
func (c *crowd) restore(by *process, o *owner, id calendar.CalendarID, to string, segment calendar.Segment) {
	facts := []*fact{&c.lies[to].there}
	if shared := c.lies[pathOf("bob", calendar.Segment(id))]; shared != nil {
		facts = append(facts, &shared.there)
	}
	become(true, func() {
		_, err := by.service.RestoreCalendar(c.Context(), o.Caller, id, segment)
		c.must2(err)
		c.mu.Lock()
		c.lies[to].in = id
		c.mu.Unlock()
	}, facts...)
}

// agree compares what was answered with what there is.
func (c *crowd) agree() {
	c.Helper()
	c.mend(c.plain)
	for _, o := range c.owners {
		held := calendar.Usage{Calendars: 1} // the default one
		for _, cal := range o.cals {
			held = held.Plus(calendar.Usage{Calendars: 1}).Plus(c.follow(o, cal.ID))
		}
		if now, err := c.plain.Store.Usage(c.Context(), o.User.ID); err != nil || now != held {
			c.Errorf("%s: counted are %+v, there are %+v, %v", o.User.Name, now, held, err)
		}
	}
	good := 0
	for _, p := range c.puts {
		if p.status/100 == 2 {
			good++
		}
		if p.status/100 == 2 && !strings.HasPrefix(p.what, "found ") {
			c.Errorf("%s: %d, and not in the journal", p.what, p.status)
		}
	}
	if good < len(c.puts)/10 {
		c.Errorf("%d of %d were kept: that proves nothing", good, len(c.puts))
	}
}

// stored is what an object is by the journal.
type stored struct {
	data    string
	version calendar.Version
}

// follow walks through a calendar's journal.
func (c *crowd) follow(o *owner, id calendar.CalendarID) (held calendar.Usage) {
	c.Helper()
	var lines []calendar.Change
	for line, err := range c.plain.Store.Journal(c.Context(), id, calendar.JournalQuery{WithBefore: true}) {
		c.must(err)
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	now, err := c.plain.Store.Calendar(c.Context(), o.User.ID, id)
	c.must(err)
	if len(lines) == 0 || now.Version != lines[len(lines)-1].Version {
		c.Errorf("%s is at %d after %d lines", id, now.Version, len(lines))
	}
	final := map[calendar.ObjectName]stored{}
	for o, err := range c.plain.Store.Objects(c.Context(), id, calendar.ObjectQuery{WithData: true}) {
		c.must(err)
		final[o.Name] = stored{string(o.Data), o.Version}
		held = held.Plus(calendar.Usage{Objects: 1, Bytes: int64(len(o.Data))})
		if o.ETag != calendar.ETagOf(o.Data) || o.Size != int64(len(o.Data)) {
			c.Errorf("%s of %s has tag %s and size %d", o.Name, id, o.ETag, o.Size)
		}
	}
	there := map[calendar.ObjectName]stored{}
	versions := map[calendar.Version]map[calendar.ObjectName]calendar.Version{}
	for i, line := range lines {
		if line.Version != lines[0].Version+calendar.Version(i) {
			c.Errorf("%s: line %d has version %d", id, i, line.Version)
		}
		if line.Object == "" {
			continue
		}
		before, found := there[line.Object]
		if found == (line.Did == calendar.Created) || before.data != string(line.Before) {
			c.Errorf("%s@%d: %s is %s over %q, and was %q", id, line.Version, line.Object, line.Did, line.Before,
				before.data)
		}
		if delete(there, line.Object); line.Did != calendar.Deleted {
			after := afterwards(lines[i+1:], line.Object, final)
			there[line.Object] = stored{after, line.Version}
			if line.Agent != "mover" {
				c.wrote(id, line, before, found, after)
			}
		}
		versions[line.Version] = versionsOf(there)
	}
	if diff := cmp.Diff(there, final, cmp.AllowUnexported(stored{})); diff != "" {
		c.Errorf("%s: by the journal, and in fact: %s", id, diff)
	}
	for v, known := range versions {
		for o, err := range c.plain.Store.Changes(c.Context(), id, calendar.VersionRange{
			After: v, Until: 1 << 40, Unbroken: v,
		}) {
			c.must(err)
			if delete(known, o.Name); !o.Deleted {
				known[o.Name] = o.Version
			}
		}
		if diff := cmp.Diff(versionsOf(there), known); diff != "" {
			c.Errorf("%s: since %d: %s", id, v, diff)
		}
	}
	return held
}

func versionsOf(there map[calendar.ObjectName]stored) map[calendar.ObjectName]calendar.Version {
	all := map[calendar.ObjectName]calendar.Version{}
	for name, o := range there {
		all[name] = o.version
	}
	return all
}

// afterwards is what a change left, by what the next one found, or what there is.
func afterwards(next []calendar.Change, name calendar.ObjectName, final map[calendar.ObjectName]stored) string {
	for _, line := range next {
		if line.Object == name {
			return string(line.Before)
		}
	}
	return final[name].data
}

// wrote looks at the line of a PUT.
func (c *crowd) wrote(id calendar.CalendarID, line calendar.Change, before stored, found bool, after string) {
	p := c.puts[after]
	switch {
	case p == nil:
		c.Errorf("%s@%d: nobody wrote %q", id, line.Version, after)
		return
	case strings.HasPrefix(p.what, "found "):
		c.Errorf("%s@%d: %s is there twice", id, line.Version, p.what)
	case p.status/100 != 2 && p.status != 0: // where time passed meanwhile the answer may break off
		c.Errorf("%s@%d: %s was answered %d", id, line.Version, p.what, p.status)
	case p.none && found || p.match != "" && c.tags[p.match] != before.data:
		c.Errorf("%s@%d: what %s demanded was not so", id, line.Version, p.what)
	case p.status != 0 && (p.status == http.StatusCreated) == found:
		c.Errorf("%s@%d: %s was answered %d", id, line.Version, p.what, p.status)
	case p.at != "" && p.at != id:
		c.Errorf("%s@%d: %s was for %s", id, line.Version, p.what, p.at)
	}
	p.what = "found " + p.what
}
