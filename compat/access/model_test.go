package access_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// The levels of access in the model: each includes the ones before.
const (
	nothing = iota
	busy
	read
	write
	owner
)

// person is a user, and what the model knows of them.
type person struct {
	world    *world
	name     string
	cookies  map[string]*http.Cookie
	disabled bool
	member   bool // of the group
	blocks   map[*person]bool
	// delegates has the access of this user's delegates.
	delegates map[*person]int
}

// room is a calendar with one event. The event's title is known to nobody but who may read it, the name to who has any
// access or was offered it.
type room struct {
	of      *person
	id      string
	path    string // of the owner's
	uid     string
	name    string
	secret  string
	version int
	// stands is the title of an accepted suggestion, until the next write.
	stands string
	shares map[*person]*share
	group  int // what the group has
	// left are users who gave the calendar up.
	left map[*person]bool
	link *link
}

// share is what the owner offered one user.
type share struct {
	level     int
	status    string // pending, accepted or declined
	meanwhile int
}

func (s *share) inForce() int {
	switch {
	case s == nil || s.status == "declined":
		return nothing
	case s.status == "pending":
		return s.meanwhile
	}
	return s.level
}

type link struct {
	path  string
	id    auth.LinkID
	level int
	ended bool
}

// credential is what a program brings: a user's password, or a token of theirs.
type credential struct {
	world   *world
	who     *person
	token   bool
	secret  string
	session string
	id      calendar.TokenID
	scopes  calendar.Scope
	bound   []*room // nil for all
	rights  map[*room]calendar.Right
	usual   calendar.Right // in other calendars
	others  bool           // also for calendars of people who made its user their delegate
	ended   bool
}

// world is the server and the model of it.
type world struct {
	*server
	asks        bool
	people      []*person
	rooms       []*room
	credentials []*credential
	open        []*suggestion
	suggested   int
}

// suggestion is an open one.
type suggestion struct {
	id calendar.SuggestionID
	by *credential
	on *room
	// title is the suggested one, instead of base.
	title, base string
	made        time.Time
}

// ended reports whether nobody can decide the suggestion any more: its program has ended, or it is too old.
func (s *suggestion) ended() bool {
	return s.by.ended || !s.by.world.Now().Before(s.made.AddDate(0, 0, 30))
}

// right is that of a program in a calendar.
func (c *credential) right(r *room) calendar.Right {
	if one, named := c.rights[r]; named {
		return one
	}
	return c.usual
}

// allows reports whether a program has a scope in a calendar.
func (c *credential) allows(scope calendar.Scope, r *room) bool {
	return c.scopes&scope != 0 && (!c.token || c.right(r) == calendar.RightWrite)
}

// has is what a user may do with a calendar.
func (r *room) has(p *person) int {
	switch {
	case r.of == p:
		return owner
	case p.blocks[r.of]:
		return nothing
	}
	level := r.shares[p].inForce()
	if p.member && !r.left[p] {
		level = max(level, r.group)
	}
	return level
}

// works reports whether a credential gets in at all.
func (c *credential) works() bool { return !c.ended && !c.who.disabled }

// has is what a program may do with a calendar.
func (c *credential) has(r *room) int {
	if !c.works() || c.bound != nil && !slices.Contains(c.bound, r) {
		return nothing
	}
	level := r.has(c.who)
	if c.scopes&calendar.ScopeRead == 0 {
		return nothing
	}
	return level
}

// acts is what a program may do at the address of the calendar's owner, as a delegate.
func (c *credential) acts(r *room) int {
	if !c.works() || !c.others || c.bound != nil || c.scopes&calendar.ScopeRead == 0 || r.of.disabled ||
		c.who.blocks[r.of] {
		return nothing
	}
	return r.of.delegates[c.who]
}

// most is what a program may do in either way.
func (c *credential) most(r *room) int { return max(c.has(r), c.acts(r)) }

func (c *credential) mayWrite(r *room) bool {
	return c.has(r) >= write && c.allows(calendar.ScopeWrite, r)
}

func (c *credential) mayShare(r *room) bool {
	return c.has(r) == owner && c.allows(calendar.ScopeShare, r)
}

// mayPropose reports whether a program may propose a change that it may not make.
func (c *credential) mayPropose(r *room) bool {
	return c.token && c.has(r) >= write && c.scopes&calendar.ScopePropose != 0 && c.right(r) != calendar.RightRead
}

// suggests reports whether a user has the calendar "Proposed": while they have a program that may propose.
func (p *person) suggests() bool {
	return slices.ContainsFunc(p.world.credentials, func(c *credential) bool {
		return c.who == p && c.token && !c.ended && c.scopes&calendar.ScopePropose != 0
	})
}

// seesProposed reports whether a program has the calendar "Proposed" of its user: if it could accept.
func (c *credential) seesProposed() bool {
	return c.works() && c.bound == nil && c.scopes&calendar.ScopeRead != 0 && c.scopes&calendar.ScopeWrite != 0 &&
		(!c.token || c.usual == calendar.RightWrite) && c.who.suggests()
}

// title is the event's title now.
func (r *room) title() string {
	if r.stands != "" {
		return r.stands
	}
	return fmt.Sprintf("%s%dx", r.secret, r.version)
}

// knowsName reports whether a user may see the calendar's name: they have access, or were offered it.
func (r *room) knowsName(p *person) bool {
	return r.has(p) > nothing || r.shares[p] != nil
}

// scan fails if an answer has what its receiver may not see.
func (w *world) scan(what string, a answer, may func(*room) int, named func(*room) bool) {
	w.Helper()
	for _, r := range w.rooms {
		if may(r) < read && strings.Contains(a.body, r.secret) {
			w.Errorf("%s: the answer has the event of %s, at level %d: %s", what, r.name, may(r), a.body)
		}
		if !named(r) && strings.Contains(a.body, r.name) {
			w.Errorf("%s: the answer has the name %s: %s", what, r.name, a.body)
		}
	}
}

func (w *world) scanFor(what string, a answer, c *credential) {
	w.Helper()
	w.scan(what, a, c.most, func(r *room) bool {
		return c.acts(r) > nothing || c.works() && (c.bound == nil || slices.Contains(c.bound, r)) && r.knowsName(c.who)
	})
}
