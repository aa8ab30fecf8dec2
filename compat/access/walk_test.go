// Package access_test compares what users, tokens and strangers can do at the server's doors with a model of who may do
// what.
package access_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// few is how many steps an ordinary run takes, many how many TORTURE=random takes. MODEL_STEPS says otherwise.
const (
	few  = 60
	many = 1000
)

// number reads a setting of the walk.
func number(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s: it is a number", name, text)
	}
	return n
}

// TestWalkOfRights has users share calendars with users and with a group, accept, decline, leave and block, and tokens,
// links and users end, at random. After each step some credentials try some doors; each answer is searched for what its
// receiver may not see.
func TestWalkOfRights(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		t.Run(fmt.Sprintf("acceptance=%t", asks), func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) {
				w := newWorld(newServer(t, url, asks), asks)
				seed := uint64(number(t, "MODEL_SEED", 20261127))
				r := rand.New(rand.NewPCG(seed, 1))
				for step := range number(t, "MODEL_STEPS", slowtest.Rounds(t, slowtest.Random, few, many)) {
					did := w.step(r)
					if os.Getenv("MODEL_TRACE") != "" {
						t.Logf("%d: %s", step, did)
					}
					for range 3 {
						did += "; " + w.probe(r)
					}
					if t.Failed() {
						t.Fatalf("MODEL_SEED=%d, at step %d: %s", seed, step, did)
					}
					if step%8 == 7 {
						w.Pass(25 * time.Hour) // new shares are counted by the day
					}
				}
			})
		})
	}
}

func newWorld(s *server, asks bool) *world {
	w := &world{server: s, asks: asks}
	for _, name := range []string{"ann", "bob", "eve", "max"} {
		u, err := s.auth.CreateUser(s.Context(), auth.NewUser{Name: name, Password: password, Timezone: "UTC"})
		s.must(err)
		p := &person{
			world: w, name: name, cookies: map[string]*http.Cookie{}, blocks: map[*person]bool{},
			delegates: map[*person]int{},
		}
		w.people = append(w.people, p)
		w.credentials = append(w.credentials, &credential{
			world: w, who: p, secret: password, scopes: calendar.ScopeAll, others: true,
		})
		for range 2 {
			w.makeRoom(p, calendar.Caller{User: u, Scopes: calendar.ScopeAll})
		}
	}
	_, err := s.auth.CreateGroup(s.Context(), "team", "Team")
	s.must(err)
	return w
}

func (w *world) makeRoom(p *person, c calendar.Caller) {
	n := len(w.rooms)
	r := &room{
		of: p, uid: fmt.Sprintf("uid-%d", n), name: fmt.Sprintf("Name%02dz", n), secret: fmt.Sprintf("Secret%02dv", n),
		shares: map[*person]*share{}, left: map[*person]bool{},
	}
	segment := fmt.Sprintf("room%d", n)
	cal, err := w.service.CreateCalendar(w.Context(), c, calendar.NewCalendar{
		Segment: calendar.Segment(segment), Properties: calendar.Properties{Name: r.name, Timezone: "UTC"},
	})
	w.must(err)
	r.id, r.path = string(cal.ID), "/dav/calendars/"+p.name+"/"+segment+"/"
	a := w.credentials[len(w.credentials)-1].dav(http.MethodPut, r.path+"e.ics", event(r.uid, r.title()))
	if !a.done() {
		w.Fatalf("PUT: %d %s", a.status, a.body)
	}
	w.rooms = append(w.rooms, r)
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// levels are those that shares give, in the words of the pages and of the tools.
var levels = map[int][2]string{busy: {"busy", "free-busy"}, read: {"read", "read"}, write: {"write", "read-write"}}

// step changes who may do what, by a door where it has one.
func (w *world) step(r *rand.Rand) string {
	p, to, on := pick(r, w.people), pick(r, w.people), pick(r, w.rooms)
	switch r.IntN(21) {
	case 16, 17:
		return w.accept(r)
	case 18, 19, 20:
		return w.propose(r, p)
	case 0, 1, 2:
		return w.share(r, on, to)
	case 3:
		return w.unshare(r, on, to)
	case 4, 5:
		return w.answer(p, on, r.IntN(3) > 0)
	case 6:
		return w.leave(p, on)
	case 7:
		return w.block(p, on)
	case 8:
		return w.unblock(p)
	case 9:
		return w.join(p)
	case 10:
		return w.shareWithGroup(r, on)
	case 11:
		return w.disable(p)
	case 12:
		return w.tokens(r, p)
	case 13, 14:
		return w.appoint(r, p, to)
	default:
		return w.links(r, on)
	}
}

// appoint makes a user a delegate, or ends that: on the owner's page, at the owner's group, or on the delegate's page.
func (w *world) appoint(r *rand.Rand, of, to *person) string {
	if to == of || !of.enters(w) {
		return "nothing"
	}
	had, level := of.delegates[to], read+r.IntN(2)
	what := fmt.Sprintf("%s makes %s a delegate at %d", of.name, to.name, level)
	a, done := answer{}, http.StatusSeeOther
	switch n := r.IntN(4); {
	case n == 0:
		// The group has this delegate alone afterwards.
		done = http.StatusMultiStatus
		a = w.credentials[slices.Index(w.people, of)].dav("PROPPATCH", "/dav/principals/"+of.name+"/calendar-proxy-"+
			map[int]string{read: "read", write: "write"}[level]+"/", `<propertyupdate xmlns="DAV:"><set><prop>`+
			`<group-member-set><href>/dav/principals/`+to.name+
			`/</href></group-member-set></prop></set></propertyupdate>`)
		for other, access := range of.delegates {
			if access == level {
				delete(of.delegates, other)
			}
		}
		of.delegates[to] = level
	case had == nothing || n == 1:
		of.signIn() // appointing needs a fresh proof of identity
		a = of.page("delegates", "with", to.name, "access", levels[level][0])
		of.delegates[to] = level
	case n == 2 && !to.blocks[of] && to.enters(w):
		what = to.name + " resigns as delegate of " + of.name
		a = to.page("delegates/resign", "with", of.name)
		delete(of.delegates, to)
	default:
		what = of.name + " removes the delegate " + to.name
		a = of.page("delegates/remove", "with", to.name)
		delete(of.delegates, to)
	}
	next := a.header.Get("Location")
	if a.status != done || strings.Contains(a.body, "HTTP/1.1 4") || next != "" && !strings.Contains(next, "done=") {
		w.Errorf("%s: %d %s%s", what, a.status, next, a.body)
	}
	return what
}

// sharer is a token with which somebody tries to share a calendar: mostly its owner's.
func (w *world) sharer(r *rand.Rand, on *room) *credential {
	var all []*credential
	for _, c := range w.credentials {
		if c.token && (c.who == on.of || r.IntN(6) == 0) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(r, all)
}

// share tries to share a calendar, on the owner's page or with somebody's token.
func (w *world) share(r *rand.Rand, on *room, to *person) string {
	level := 1 + r.IntN(3)
	if c := w.sharer(r, on); c != nil && r.IntN(2) == 0 {
		what := fmt.Sprintf("%s by token shares %s with %s at %d", c.who.name, on.name, to.name, level)
		a := c.tool("share_calendar", map[string]any{
			"calendar_id": on.id, "username": to.name, "permission": levels[level][1],
		})
		w.scanFor(what, a, c)
		w.shared(what, on, to, level, a.done(), c.mayShare(on), a)
		return what
	}
	what := fmt.Sprintf("%s on the page shares %s with %s at %d", on.of.name, on.name, to.name, level)
	may := on.of.enters(w)
	a := on.of.page("calendars/"+on.id+"/share", "with", to.name, "access", levels[level][0])
	w.shared(what, on, to, level, may && a.status == http.StatusSeeOther, may, a)
	return what
}

// shared checks the outcome of an attempt to share, and notes it.
func (w *world) shared(what string, on *room, to *person, level int, done, may bool, a answer) {
	w.Helper()
	before := on.shares[to]
	fresh := before == nil || before.status == "declined"
	want := may && to != on.of && !to.blocks[on.of] && (!to.disabled || !fresh)
	w.outcome(what, done, want, a)
	if !done {
		return
	}
	next := &share{level: level, status: "accepted"}
	has := before.inForce()
	agreed := has >= level || before != nil && before.status == "accepted" && before.level > busy
	if w.asks && !agreed {
		next.status, next.meanwhile = "pending", has
	}
	on.shares[to] = next
}

func (w *world) unshare(r *rand.Rand, on *room, to *person) string {
	c := w.sharer(r, on)
	if c == nil || to == on.of || to == c.who {
		return "nothing"
	}
	what := fmt.Sprintf("%s by token takes %s from %s", c.who.name, on.name, to.name)
	a := c.tool("unshare_calendar", map[string]any{"calendar_id": on.id, "username": to.name})
	w.scanFor(what, a, c)
	if want := c.mayShare(on) && on.shares[to] != nil; a.done() != want {
		w.Errorf("%s: done %t, want %t: %s", what, a.done(), want, a.body)
	}
	if a.done() {
		delete(on.shares, to)
	}
	return what
}

// enters signs a user in on the pages, and reports whether they get in.
func (p *person) enters(w *world) bool {
	if a := p.page("calendars"); a.status == http.StatusOK && !p.disabled {
		return true
	}
	in := p.signIn()
	if in == p.disabled {
		w.Errorf("%s signs in: %t, disabled: %t", p.name, in, p.disabled)
	}
	return in
}

func (w *world) caller(p *person) calendar.Caller {
	u, err := w.auth.User(w.Context(), p.name)
	w.must(err)
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll}
}

// answer accepts or declines an offer on the page.
func (w *world) answer(p *person, on *room, accept bool) string {
	s := on.shares[p]
	if s == nil || s.status != "pending" || !p.enters(w) {
		return "nothing"
	}
	word := map[bool]string{true: "accept", false: "decline"}[accept]
	what := p.name + " " + word + "s " + on.name
	id := calendar.Share{Calendar: calendar.CalendarID(on.id), User: w.caller(p).User}.Invitation()
	a := p.page("invitations/"+string(id), "answer", word)
	want := !accept || !p.blocks[on.of]
	if done := a.status == http.StatusSeeOther; done != want {
		w.Errorf("%s: %d %s", what, a.status, a.body)
	} else if !done {
		return what
	}
	switch {
	case accept:
		s.status, s.meanwhile = "accepted", nothing
	case s.meanwhile > nothing:
		s.level, s.status, s.meanwhile = s.meanwhile, "accepted", nothing
	default:
		s.status = "declined"
	}
	return what
}

// leave gives up a calendar. No group brings it back until its user joins a group that has it.
func (w *world) leave(p *person, on *room) string {
	if on.of == p || on.has(p) == nothing || !p.enters(w) {
		return "nothing"
	}
	what := p.name + " leaves " + on.name
	if a := p.page("calendars/"+on.id+"/leave", "x", ""); a.status != http.StatusSeeOther {
		w.Errorf("%s: %d %s", what, a.status, a.body)
		return what
	}
	if s := on.shares[p]; s != nil {
		s.status, s.meanwhile = "declined", nothing
	}
	on.left[p] = true
	return what
}

func (w *world) block(p *person, on *room) string {
	if on.of == p || !on.knowsName(p) || !p.enters(w) {
		return "nothing"
	}
	what := p.name + " blocks " + on.of.name
	if _, err := w.service.Block(w.Context(), w.caller(p), calendar.CalendarID(on.id)); err != nil {
		w.Errorf("%s: %v", what, err)
		return what
	}
	p.blocks[on.of] = true
	for _, r := range w.rooms {
		if s := r.shares[p]; s != nil && r.of == on.of {
			s.status, s.meanwhile = "declined", nothing
		}
	}
	return what
}

func (w *world) unblock(p *person) string {
	for _, other := range w.people {
		if p.blocks[other] {
			what := p.name + " unblocks " + other.name
			if err := w.service.Unblock(w.Context(), w.caller(p), other.name); err != nil {
				w.Errorf("%s: %v", what, err)
			}
			delete(p.blocks, other)
			return what
		}
	}
	return "nothing"
}

func (w *world) join(p *person) string {
	if p.member {
		w.must(w.auth.RemoveMembers(w.Context(), "team", []string{p.name}))
	} else {
		_, err := w.auth.AddMembers(w.Context(), "team", []string{p.name})
		w.must(err)
		for _, on := range w.rooms {
			if on.group > nothing {
				delete(on.left, p)
			}
		}
	}
	p.member = !p.member
	return fmt.Sprintf("%s in the group: %t", p.name, p.member)
}

func (w *world) shareWithGroup(r *rand.Rand, on *room) string {
	if !on.of.enters(w) {
		return "nothing"
	}
	if on.group > nothing && r.IntN(2) == 0 {
		what := on.name + " is taken from the group"
		if a := on.of.page("calendars/"+on.id+"/unshare", "with", "team"); a.status != http.StatusSeeOther {
			w.Errorf("%s: %d %s", what, a.status, a.body)
		}
		on.group = nothing
		return what
	}
	level := 1 + r.IntN(3)
	what := fmt.Sprintf("%s shares %s with the group at %d", on.of.name, on.name, level)
	a := on.of.page("calendars/"+on.id+"/share", "with", "team", "access", levels[level][0])
	done := a.status == http.StatusSeeOther
	if want := on.of.member; done != want && on.group < level { // less may go to a group that its owner has left
		w.Errorf("%s: %d, want %t: %s", what, a.status, want, a.body)
	}
	if done {
		on.group = level
	}
	return what
}

func (w *world) disable(p *person) string {
	p.disabled = !p.disabled
	_, err := w.auth.ChangeUser(w.Context(), p.name, auth.UserEdit{Disabled: &p.disabled})
	w.must(err)
	return fmt.Sprintf("%s disabled: %t", p.name, p.disabled)
}

// tokens makes a token or ends one.
func (w *world) tokens(r *rand.Rand, p *person) string {
	var good []*credential
	for _, c := range w.credentials {
		if c.token && !c.ended {
			good = append(good, c)
		}
	}
	if len(good) > 6 || len(good) > 0 && r.IntN(3) == 0 {
		c := pick(r, good)
		w.must(w.auth.RevokeToken(w.Context(), c.id))
		c.ended = true
		return "a token of " + c.who.name + " ends"
	}
	if p.disabled {
		return "nothing"
	}
	scopes := pick(r, []calendar.Scope{
		calendar.ScopeRead, calendar.ScopeRead | calendar.ScopeWrite, calendar.ScopeAll, calendar.ScopeAll,
		calendar.ScopeWrite | calendar.ScopeRead | calendar.ScopeShare,
		calendar.ScopeRead | calendar.ScopePropose, calendar.ScopeAll | calendar.ScopePropose,
	})
	spec := auth.TokenSpec{User: p.name, Name: "token", Scopes: scopes}
	rights, usual := w.rights(r, &spec)
	var bound []*room
	if r.IntN(3) == 0 {
		for _, on := range w.rooms {
			if on.has(p) > nothing && r.IntN(2) == 0 {
				bound = append(bound, on)
				spec.Calendars = append(spec.Calendars, calendar.CalendarID(on.id))
			}
		}
	}
	spec.ForOthers = spec.Calendars == nil && r.IntN(2) == 0
	t, secret, err := w.auth.CreateToken(w.Context(), spec)
	w.must(err)
	w.credentials = append(w.credentials, &credential{
		world: w, who: p, token: true, secret: string(secret), id: t.ID, scopes: scopes, bound: bound,
		others: spec.ForOthers, rights: rights, usual: usual,
	})
	return fmt.Sprintf("a token of %s with scopes %d in %d calendars, %s", p.name, scopes, len(bound), spec.Rights)
}

// rights gives a new token rights by calendar, or one right everywhere.
func (w *world) rights(r *rand.Rand, spec *auth.TokenSpec) (map[*room]calendar.Right, calendar.Right) {
	all := []calendar.Right{calendar.RightRead, calendar.RightPropose, calendar.RightWrite}
	if spec.Scopes&calendar.ScopePropose == 0 {
		all = []calendar.Right{calendar.RightRead, calendar.RightWrite}
	}
	rights, usual := map[*room]calendar.Right{}, calendar.RightWrite
	if r.IntN(3) == 0 {
		usual = pick(r, all)
	}
	spec.Rights = calendar.Rights{Others: usual, Of: map[calendar.CalendarID]calendar.Right{}}
	for _, on := range w.rooms {
		if r.IntN(2) == 0 {
			rights[on] = pick(r, all)
			spec.Rights.Of[calendar.CalendarID(on.id)] = rights[on]
		}
	}
	return rights, usual
}

// propose has a program propose a change that it may not make. If there is none, a user gets one.
func (w *world) propose(r *rand.Rand, p *person) string {
	var able []func() string
	for _, c := range w.credentials {
		for _, on := range w.rooms {
			if c.mayPropose(on) && (c.most(on) < write || !c.allows(calendar.ScopeWrite, on)) {
				able = append(able, func() string {
					return w.suggest(fmt.Sprintf("%s proposes in %s", c.who.name, on.name), c, on)
				})
			}
		}
	}
	if len(able) > 0 {
		return pick(r, able)()
	}
	if p.disabled {
		return "nothing"
	}
	const scopes = calendar.ScopeRead | calendar.ScopePropose
	t, secret, err := w.auth.CreateToken(w.Context(), auth.TokenSpec{User: p.name, Name: "token", Scopes: scopes})
	w.must(err)
	w.credentials = append(w.credentials, &credential{
		world: w, who: p, token: true, secret: string(secret), id: t.ID, scopes: scopes, usual: calendar.RightWrite,
	})
	return p.name + " gets a program that proposes"
}

// accept has a user accept a suggestion. What the user may do then counts, whatever was allowed when it was made.
func (w *world) accept(r *rand.Rand) string {
	if len(w.open) == 0 {
		return "nothing"
	}
	n := r.IntN(len(w.open))
	s := w.open[n]
	p := s.by.who
	what := fmt.Sprintf("%s accepts a suggestion in %s", p.name, s.on.name)
	m := w.service.Meter(w.Context(), w.caller(p))
	defer m.Close()
	seen, err := w.service.Consider(w.Context(), w.caller(p), m, s.id)
	if err == nil {
		_, err = w.service.AcceptSuggestion(w.Context(), w.caller(p), m, s.id, seen.State)
	}
	if want := !s.ended() && s.on.has(p) >= write; (err == nil) != want {
		w.Errorf("%s: %v, want %t", what, err, want)
	}
	if err == nil {
		s.on.stands = s.title
	}
	if err == nil || s.ended() {
		w.open = slices.Delete(w.open, n, n+1)
	}
	w.stored(what, s.on)
	return what
}

func (w *world) links(r *rand.Rand, on *room) string {
	if on.link != nil && !on.link.ended {
		w.must(w.auth.RevokeLink(w.Context(), on.link.id))
		on.link.ended = true
		return "the link to " + on.name + " ends"
	}
	level := busy + r.IntN(2)
	caller := w.caller(on.of)
	cal, err := w.service.Calendar(w.Context(), caller, calendar.CalendarID(on.id))
	w.must(err)
	l, secret, err := w.auth.CreateLink(w.Context(), caller, cal, auth.LinkSpec{
		Name: "x", Access: calendar.Access(level),
	})
	if err != nil {
		w.Errorf("a link to %s: %v", on.name, err)
		return "no link"
	}
	on.link = &link{path: "/" + caldav.LinkPath(l, secret), id: l.ID, level: level}
	return "a link to " + on.name
}

// probe tries a door.
func (w *world) probe(r *rand.Rand) string {
	on := pick(r, w.rooms)
	c := w.prober(r)
	switch r.IntN(12) {
	case 11:
		return w.probeProposed(r, c, on)
	case 9, 10:
		return w.probeDelegate(c, on)
	case 0, 1:
		return w.probeObject(c, on)
	case 2, 3:
		return w.probeWrite(c, on)
	case 4:
		return w.probeHome(c, on)
	case 5:
		return w.probeReports(c, on)
	case 6:
		return w.probeTools(r, c, on)
	case 7:
		return w.probePages(pick(r, w.people), on)
	default:
		return w.probeLink(on)
	}
}

// prober prefers tokens that have not ended.
func (w *world) prober(r *rand.Rand) *credential {
	for range 3 {
		if c := pick(r, w.credentials); !c.ended {
			return c
		}
	}
	return pick(r, w.credentials)
}

// at is the address of the calendar for a user.
func (r *room) at(p *person) string {
	if r.of == p {
		return r.path
	}
	return "/dav/calendars/" + p.name + "/" + r.id + "/"
}

func (w *world) outcome(what string, done, want bool, a answer) {
	w.Helper()
	if done != want {
		w.Errorf("%s: done %t, want %t: %d %s", what, done, want, a.status, a.body)
	}
}

func (w *world) probeObject(c *credential, on *room) string {
	what := fmt.Sprintf("%s reads %s, has %d", c.who.name, on.name, c.has(on))
	for _, path := range []string{on.at(c.who), on.path} { // only delegates use the owner's address
		a := c.dav(http.MethodGet, path+"e.ics", "")
		w.scanFor(what, a, c)
		want := c.acts(on)
		if path == on.at(c.who) {
			want = c.has(on)
		}
		w.outcome(what+" at "+path, a.done(), want >= read, a)
		if a.done() && !strings.Contains(a.body, on.title()) {
			w.Errorf("%s: not the latest version: %s", what, a.body)
		}
	}
	return what
}

func (w *world) probeWrite(c *credential, on *room) string {
	what := fmt.Sprintf("%s writes to %s, has %d", c.who.name, on.name, c.has(on))
	next := fmt.Sprintf("%s%dx", on.secret, on.version+1)
	var a answer
	may := c.mayWrite(on)
	if c.token && on.version%2 == 0 {
		may = c.most(on) >= write && c.allows(calendar.ScopeWrite, on)
		if !may && c.mayPropose(on) {
			return w.suggest(what, c, on)
		}
		a = c.tool("patch_event", map[string]any{"calendar_id": on.id, "event_uid": on.uid, "title": next})
	} else {
		a = c.dav(http.MethodPut, on.at(c.who)+"e.ics", event(on.uid, next))
	}
	w.wrote(what, on, a, may)
	return what
}

// suggest has a program propose a change. Nothing is written.
func (w *world) suggest(what string, c *credential, on *room) string {
	w.suggested++
	title := fmt.Sprintf("%s%ds", on.secret, w.suggested)
	before := w.observed(c.who)
	a := c.tool("patch_event", map[string]any{"calendar_id": on.id, "event_uid": on.uid, "title": title})
	found := proposed.FindStringSubmatch(a.body)
	w.outcome(what+" by a proposal", a.done() && found != nil, true, a)
	if found != nil {
		w.open = append(w.open, &suggestion{calendar.SuggestionID(found[1]), c, on, title, on.title(), w.Now()})
	}
	w.stored(what, on)
	for door, body := range w.observed(c.who) {
		if body != before[door] {
			w.Errorf("%s: %s reads\n%s\nafter\n%s", what, door, body, before[door])
		}
	}
	return what
}

// observed is what everybody reads that a suggestion to a user must not change: versions, busy times, links, and what
// programs are told. Only the user's own calendar "Proposed" is left out, and with it the version of their home.
func (w *world) observed(of *person) map[string]string {
	const versions = `<propfind xmlns="DAV:" xmlns:CS="http://calendarserver.org/ns/"><prop><sync-token/>` +
		`<CS:getctag/></prop></propfind>`
	seen := map[string]string{}
	for i, c := range w.credentials {
		if c.ended || c.who.disabled {
			continue
		}
		door := fmt.Sprintf("%s %d ", c.who.name, i)
		if c.token {
			for _, tool := range readTools {
				seen[door+tool.name] = c.tool(tool.name, tool.args(w.rooms[0])).body
			}
			seen[door+"get_free_busy"] = c.tool("get_free_busy", map[string]any{
				"usernames": []string{of.name}, "start_time": "2027-01-05", "end_time": "2027-01-06",
			}).body
		}
		home := c.dav("PROPFIND", "/dav/calendars/"+c.who.name+"/", versions).body
		if c.who == of {
			home = ownVersions.ReplaceAllString(home, "")
		}
		seen[door+"home"] = home
	}
	for _, on := range w.rooms {
		if on.link != nil {
			r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, on.link.path, nil)
			w.must(err)
			seen["link to "+on.name] = w.send(w.first, r).body
		}
	}
	return seen
}

// ownVersions are the answers about a home and its calendar "Proposed".
var ownVersions = regexp.MustCompile(
	`<d:response><d:href>/dav/calendars/\w+/(proposed-by-assistants/)?</d:href>.*?</d:response>`)

var proposed = regexp.MustCompile(`"proposed":true,"id":"([^"]+)"`)

// wrote checks the outcome of an attempt to write the event's next version.
func (w *world) wrote(what string, on *room, a answer, may bool) {
	w.Helper()
	w.outcome(what, a.done(), may, a)
	if a.done() {
		on.version++
		on.stands = ""
	}
	w.stored(what, on)
}

// stored checks the stored event.
func (w *world) stored(what string, on *room) {
	w.Helper()
	// What its owner has shows whether anything was written.
	cal, err := w.service.Calendar(w.Context(), w.caller(on.of), calendar.CalendarID(on.id))
	w.must(err)
	stored, err := w.service.Object(w.Context(), nil, w.caller(on.of), cal, "e.ics")
	w.must(err)
	if !strings.Contains(string(stored.Data), on.title()) {
		w.Errorf("%s: stored is %s, want %s", what, stored.Data, on.title())
	}
}

// probeDelegate lists, queries and changes a calendar at its owner's address.
func (w *world) probeDelegate(c *credential, on *room) string {
	level := c.acts(on)
	what := fmt.Sprintf("%s at the address of %s, has %d", c.who.name, on.name, level)
	if c.who == on.of {
		return "nothing"
	}
	a := c.dav("PROPFIND", "/dav/calendars/"+on.of.name+"/", names)
	w.scanFor(what, a, c)
	for _, r := range w.rooms {
		if r.of == on.of && strings.Contains(a.body, r.name) != (level > nothing) {
			w.Errorf("%s: %s is listed wrongly: %s", what, r.name, a.body)
		}
	}
	a = c.dav("REPORT", on.path, `<D:sync-collection xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:">`+
		`<D:sync-token/><D:sync-level>1</D:sync-level><D:prop><C:calendar-data/></D:prop></D:sync-collection>`)
	w.scanFor(what, a, c)
	w.outcome(what, strings.Contains(a.body, on.title()), level >= read, a)
	next := fmt.Sprintf("%s%dx", on.secret, on.version+1)
	a = c.dav(http.MethodPut, on.path+"e.ics", event(on.uid, next))
	w.wrote(what, on, a, level >= write && c.allows(calendar.ScopeWrite, on))
	for _, refused := range [][3]string{
		{"ACL", on.path, `<acl xmlns="DAV:"/>`},
		{http.MethodDelete, on.path, ""},
		{"MKCALENDAR", "/dav/calendars/" + on.of.name + "/more/", ""},
	} {
		a = c.dav(refused[0], refused[1], refused[2])
		w.outcome(what+" "+refused[0], a.done(), false, a)
	}
	return what
}

const proposedSegment = "/proposed-by-assistants/"

// probeProposed reads the calendar "Proposed", which its user alone has, and decides by it.
func (w *world) probeProposed(r *rand.Rand, c *credential, on *room) string {
	what := c.who.name + " reads suggestions"
	if home := c.dav("PROPFIND", "/dav/calendars/"+c.who.name+"/", names); strings.Contains(home.body,
		proposedSegment) != c.seesProposed() {
		w.Errorf("%s: it is listed: %t: %s", what, !c.seesProposed(), home.body)
	}
	for _, of := range []*person{c.who, on.of} {
		a := c.dav("REPORT", "/dav/calendars/"+of.name+proposedSegment,
			`<D:sync-collection xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:sync-token/>`+
				`<D:sync-level>1</D:sync-level><D:prop><C:calendar-data/></D:prop></D:sync-collection>`)
		w.scanFor(what, a, c)
		w.outcome(what+" at "+of.name, a.done(), of == c.who && c.seesProposed(), a)
		for _, s := range w.open {
			want := s.by.who == of && !s.ended() && s.on.has(of) >= read && a.done()
			if strings.Contains(a.body, string(s.id)) != want {
				w.Errorf("%s at %s: %s listed %t: %s", what, of.name, s.id, !want, a.body)
			}
		}
	}
	if len(w.open) == 0 || r.IntN(2) == 0 {
		return what
	}
	return what + "; " + w.decide(c, r.IntN(len(w.open)), on, r.IntN(4) == 0)
}

// decide moves the event of a suggestion into a calendar, or deletes it. The program needs the rights for the change.
func (w *world) decide(c *credential, n int, into *room, decline bool) string {
	s := w.open[n]
	if into.version%2 == 0 { // mostly the user and the calendar that can
		c, into = w.credentials[slices.Index(w.people, s.by.who)], s.on
	}
	at := "/dav/calendars/" + s.by.who.name + proposedSegment +
		string(calendar.Suggestion{ID: s.id}.ProposedUID(0)) + ".ics"
	may := c.who == s.by.who && c.seesProposed() && !s.ended()
	if decline {
		what := fmt.Sprintf("%s declines a suggestion in %s", c.who.name, s.on.name)
		a := c.dav(http.MethodDelete, at, "")
		w.outcome(what, a.done(), may, a)
		if a.done() {
			w.open = slices.Delete(w.open, n, n+1)
		}
		w.stored(what, s.on)
		return what
	}
	what := fmt.Sprintf("%s moves a suggestion in %s to %s", c.who.name, s.on.name, into.name)
	r := httptest.NewRequestWithContext(w.Context(), "MOVE", at, nil)
	r.Header.Set("Destination", "http://localhost"+into.at(c.who)+"moved.ics")
	a := w.send(w.first, c.signed(r))
	w.scanFor(what, a, c)
	w.outcome(what, a.done(), may && c.mayWrite(into) && c.mayWrite(s.on) && s.on.title() == s.base, a)
	if a.done() {
		s.on.stands = s.title
		w.open = slices.Delete(w.open, n, n+1)
	}
	w.stored(what, s.on)
	return what
}

const names = `<propfind xmlns="DAV:"><prop><displayname/><current-user-privilege-set/><resourcetype/></prop></` +
	`propfind>`

func (w *world) probeHome(c *credential, on *room) string {
	what := c.who.name + " lists homes"
	a := c.dav("PROPFIND", "/dav/calendars/"+c.who.name+"/", names)
	w.scanFor(what, a, c)
	w.outcome(what, a.status == http.StatusMultiStatus, c.works(), a)
	if c.works() {
		for _, r := range w.rooms {
			if listed := strings.Contains(a.body, r.name); listed != (c.has(r) > nothing) {
				w.Errorf("%s: %s listed %t, has %d: %s", what, r.name, listed, c.has(r), a.body)
			}
		}
	}
	a = c.dav("PROPFIND", "/dav/calendars/"+on.of.name+"/", names)
	w.scanFor(what, a, c)
	return what
}

func (w *world) probeReports(c *credential, on *room) string {
	what := fmt.Sprintf("%s queries %s, has %d", c.who.name, on.name, c.has(on))
	for _, body := range []string{
		`<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
			`xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter ` +
			`name="VCALENDAR"/></C:filter></C:calendar-query>`,
		`<D:sync-collection xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
			`xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><C:calendar-data/></D:prop></` +
			`D:sync-collection>`,
		`<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
			`xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop><D:href>` + on.at(c.who) + `e.ics</D:href><D:href>` +
			on.path + `e.ics</D:href></C:calendar-multiget>`,
		`<C:free-busy-query xmlns:C="urn:ietf:params:xml:ns:caldav"><C:time-range start="20270105T000000Z" ` +
			`end="20270106T000000Z"/></C:free-busy-query>`,
	} {
		a := c.dav("REPORT", on.at(c.who), body)
		w.scanFor(what, a, c)
		switch {
		case strings.Contains(body, "free-busy"):
			w.outcome(what+" (busy)", strings.Contains(a.body, "20270105T100000Z"), c.has(on) >= busy, a)
		default:
			w.outcome(what, strings.Contains(a.body, on.title()), c.has(on) >= read, a)
		}
	}
	return what
}

// readTools are those that show something of a calendar, and whether that is its event.
var readTools = []struct {
	name  string
	args  func(on *room) map[string]any
	event bool
}{
	{"get_event", func(on *room) map[string]any {
		return map[string]any{"calendar_id": on.id, "event_uid": on.uid}
	}, true},
	{"query_events", func(on *room) map[string]any { return map[string]any{"calendar_id": on.id} }, true},
	{"search_events", func(*room) map[string]any {
		return map[string]any{"query": "Secret", "include_past": true, "limit": 50}
	}, true},
	{"list_events", func(*room) map[string]any {
		return map[string]any{"start": "2027-01-05", "end": "2027-01-06"}
	}, true},
	{"list_calendars", func(*room) map[string]any { return map[string]any{} }, false},
	{"list_shared_calendars", func(*room) map[string]any { return map[string]any{} }, false},
	{"get_calendar", func(on *room) map[string]any { return map[string]any{"calendar_id": on.id} }, false},
	{"list_changes", func(*room) map[string]any { return map[string]any{} }, false},
	{"list_invitations", func(*room) map[string]any { return map[string]any{} }, false},
	{"find_time", func(*room) map[string]any { return map[string]any{"duration_minutes": 30} }, false},
}

func (w *world) probeTools(r *rand.Rand, c *credential, on *room) string {
	if !c.token {
		return "nothing"
	}
	what := fmt.Sprintf("%s by token asks about %s, has %d", c.who.name, on.name, c.has(on))
	tool := pick(r, readTools)
	a := c.tool(tool.name, tool.args(on))
	w.scanFor(what+" "+tool.name, a, c)
	if !c.works() && a.status != http.StatusUnauthorized {
		w.Errorf("%s: %d %s", what, a.status, a.body)
	}
	if tool.event && c.has(on) >= read && !strings.Contains(a.body, on.title()) {
		w.Errorf("%s %s: no event: %s", what, tool.name, a.body)
	}
	if tool.name == "list_calendars" && strings.Contains(a.body, on.name) != (c.most(on) > nothing) {
		w.Errorf("%s: %s", what, a.body)
	}
	return what
}

func (w *world) probePages(p *person, on *room) string {
	what := fmt.Sprintf("%s on the pages, has %d of %s", p.name, on.has(p), on.name)
	may := func(r *room) int {
		if p.disabled {
			return nothing
		}
		return r.has(p)
	}
	named := func(r *room) bool { return !p.disabled && r.knowsName(p) }
	if !p.disabled && !p.enters(w) {
		return what
	}
	for _, path := range []string{
		"", "calendars", "calendars/" + on.id, "calendars/" + on.id + "/export", "calendars/" + on.id + "/links",
		"journal", "trash", "apps",
	} {
		a := p.page(path)
		w.scan(what+" "+path, a, may, named)
		if path == "calendars/"+on.id {
			w.outcome(what+" "+path, a.status == http.StatusOK, may(on) > nothing, a)
		}
	}
	return what
}

func (w *world) probeLink(on *room) string {
	if on.link == nil {
		return "nothing"
	}
	what := "a stranger opens the link to " + on.name
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, on.link.path, nil)
	w.must(err)
	a := w.send(w.first, r)
	open := !on.link.ended && !on.of.disabled
	level := func(r *room) int {
		if r == on && open {
			return on.link.level
		}
		return nothing
	}
	w.scan(what, a, level, func(r *room) bool { return r == on && open })
	w.outcome(what, a.done(), open, a)
	if open && on.link.level >= read && !strings.Contains(a.body, on.title()) {
		w.Errorf("%s: no event: %s", what, a.body)
	}
	return what
}
