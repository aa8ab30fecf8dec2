package service_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

// circle is three people who share calendars and take them back at random, and a model of
// what each may do.
type circle struct {
	*house
	random *rand.Rand
	people []calendar.Caller
	cals   []calendar.Calendar
	// asking tells that shares need acceptance.
	asking bool
	// granted, offered and objects are the model: who may what, who was offered what, and what is
	// in each calendar.
	granted map[calendar.CalendarID]map[string]calendar.Access
	offered map[calendar.CalendarID]map[string]calendar.Share
	objects map[calendar.CalendarID]map[calendar.ObjectName]calendar.ETag
	// homes are what each one's client knows of their home, copies what it has of calendars.
	homes  map[string]*homeMirror
	copies map[string]map[calendar.CalendarID]*mirror
}

// homeMirror is a client's list of the calendars in a home, with what may be done there.
type homeMirror struct {
	token calendar.SyncToken
	there map[calendar.Segment]calendar.Access
}

// TestNobodyReadsOrWritesWhatTheyMayNot compares the service with a model after each of many
// random grants, answers, withdrawals and writes; clients that synchronize now and then always
// get to what is so.
func TestNobodyReadsOrWritesWhatTheyMayNot(t *testing.T) { each(t, nobodyDoes) }

// TestNobodyDoesSoUnasked is the same where who is offered a calendar has to accept it first.
func TestNobodyDoesSoUnasked(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		nobodyDoes(h)
	})
}

func nobodyDoes(h *house) {
	c := newCircle(h, 20261120)
	for step := range 120 {
		what := c.act()
		c.compare(what)
		if h.t.Failed() {
			h.t.Fatalf("after step %d: %s", step, what)
		}
		c.sync(c.people[c.random.IntN(len(c.people))])
	}
	for _, p := range c.people {
		c.sync(p)
	}
}

func newCircle(h *house, seed uint64) *circle {
	c := &circle{
		house: h, random: rand.New(rand.NewPCG(seed, 5)), people: []calendar.Caller{h.alice, h.bob, h.user("eve")},
		asking:  h.config.NeedAcceptance,
		granted: map[calendar.CalendarID]map[string]calendar.Access{},
		offered: map[calendar.CalendarID]map[string]calendar.Share{},
		objects: map[calendar.CalendarID]map[calendar.ObjectName]calendar.ETag{},
		homes:   map[string]*homeMirror{}, copies: map[string]map[calendar.CalendarID]*mirror{},
	}
	for _, p := range c.people {
		cal := h.calendar(p, "own")
		c.cals = append(c.cals, cal)
		c.granted[cal.ID] = map[string]calendar.Access{p.User.Name: calendar.OwnerAccess}
		c.offered[cal.ID] = map[string]calendar.Share{}
		c.objects[cal.ID] = map[calendar.ObjectName]calendar.ETag{}
		c.homes[p.User.Name] = &homeMirror{there: map[calendar.Segment]calendar.Access{}}
		c.copies[p.User.Name] = map[calendar.CalendarID]*mirror{}
	}
	return c
}

// outcome wants what the model says: done, refused, or as if there were nothing.
func (c *circle) outcome(what string, err error, may calendar.Access, needs calendar.Access) (done bool) {
	c.t.Helper()
	want := "done"
	switch {
	case may < calendar.ReadAccess && may < needs:
		want = "not_found"
	case may < needs:
		want = "forbidden"
	}
	got := "done"
	if err != nil {
		got = calendar.ReasonOf(err).String()
	}
	if got != want {
		c.t.Errorf("%s: %s (%v), want %s", what, got, err, want)
	}
	return got == "done"
}

// act lets somebody do something with some calendar, and notes what should come of it.
func (c *circle) act() string {
	who, cal := c.people[c.random.IntN(3)], c.cals[c.random.IntN(3)]
	whom := c.people[c.random.IntN(3)].User.Name
	may, theirs := c.granted[cal.ID][who.User.Name], c.granted[cal.ID][whom]
	what := fmt.Sprintf("%s, who has %d of %s", who.User.Name, may, cal.ID)
	level := calendar.Access(1 + c.random.IntN(3))
	switch c.random.IntN(8) {
	case 0, 1:
		if theirs == calendar.OwnerAccess {
			break
		}
		what = fmt.Sprintf("%s gives %s %d", what, whom, level)
		_, err := c.Share(c.ctx, who, cal.ID, whom, level)
		if c.outcome(what, err, may, calendar.OwnerAccess) {
			c.offer(cal, whom, level)
		}
	case 2:
		if _, offered := c.offered[cal.ID][whom]; !offered {
			break
		}
		needs := calendar.OwnerAccess
		if whom == who.User.Name {
			needs = calendar.FreeBusyAccess
		}
		what += " takes away " + whom + "'s"
		if c.outcome(what, c.Unshare(c.ctx, who, cal.ID, whom), may, needs) {
			c.withdraw(cal, who, whom)
		}
	case 5, 6:
		what += " answers"
		c.answer(what, who, cal)
	case 3, 4:
		what += " writes"
		c.write(what, who, cal, may)
	default:
		what += " deletes"
		c.remove(what, who, cal, may)
	}
	return what
}

// offer notes what becomes of an offer.
func (c *circle) offer(cal calendar.Calendar, whom string, level calendar.Access) {
	has, accepted := c.granted[cal.ID][whom]
	known := has >= level || accepted && has > calendar.FreeBusyAccess
	share := calendar.Share{Access: level, Status: calendar.ShareAccepted}
	if c.asking && !known {
		share.Status, share.Meanwhile = calendar.SharePending, has
	} else {
		c.granted[cal.ID][whom] = level
	}
	c.offered[cal.ID][whom] = share
}

// withdraw notes that an offer is taken back, or given up.
func (c *circle) withdraw(cal calendar.Calendar, who calendar.Caller, whom string) {
	delete(c.granted[cal.ID], whom)
	if who.User.Name != whom {
		delete(c.offered[cal.ID], whom)
		return
	}
	share := c.offered[cal.ID][whom]
	share.Status, share.Meanwhile = calendar.ShareDeclined, calendar.NoAccess
	c.offered[cal.ID][whom] = share
}

// answer lets somebody answer what they may have been offered of a calendar.
func (c *circle) answer(what string, who calendar.Caller, cal calendar.Calendar) {
	name := who.User.Name
	share, offered := c.offered[cal.ID][name]
	accept := c.random.IntN(3) > 0
	_, err := c.Answer(c.ctx, who, calendar.Share{Calendar: cal.ID, User: who.User}.Invitation(),
		calendar.Reply{Accept: accept})
	if !offered {
		c.refused(err, calendar.NotFound, "", "no such invitation")
		return
	}
	if err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
	has := share.Meanwhile
	share.Meanwhile = calendar.NoAccess
	switch {
	case accept:
		share.Status, c.granted[cal.ID][name] = calendar.ShareAccepted, share.Access
	case has > calendar.NoAccess:
		share.Status, share.Access = calendar.ShareAccepted, has
	default:
		share.Status = calendar.ShareDeclined
		delete(c.granted[cal.ID], name)
	}
	c.offered[cal.ID][name] = share
}

func (c *circle) write(what string, who calendar.Caller, cal calendar.Calendar, may calendar.Access) {
	name := calendar.ObjectName(fmt.Sprintf("%d.ics", c.random.IntN(4)))
	seen, err := c.Calendar(c.ctx, who, cal.ID)
	var saved calendar.Saved
	if err == nil {
		data := event("uid-"+string(name), 1+c.random.IntN(28), fmt.Sprint(c.random.Int()))
		saved, err = c.Put(c.ctx, who, seen, calendar.Draft{Name: name, Data: []byte(data)})
	}
	if c.outcome(what, err, may, calendar.WriteAccess) {
		c.objects[cal.ID][name] = saved.Object.ETag
	}
}

func (c *circle) remove(what string, who calendar.Caller, cal calendar.Calendar, may calendar.Access) {
	for name := range c.objects[cal.ID] {
		seen, err := c.Calendar(c.ctx, who, cal.ID)
		if err == nil {
			err = c.Delete(c.ctx, who, seen, name, calendar.Precondition{})
		}
		if c.outcome(what, err, may, calendar.WriteAccess) {
			delete(c.objects[cal.ID], name)
		}
		return
	}
}

// knows are the names of those whom somebody should see, by the model.
func (c *circle) knows(p calendar.Caller) string {
	var list []string
	for _, other := range c.people {
		for _, cal := range c.cals {
			mine, theirs := c.stands(p, cal), c.stands(other, cal)
			if min(mine, theirs) > calendar.NoAccess && max(mine, theirs) == calendar.OwnerAccess {
				list = append(list, other.User.Name)
				break
			}
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// stands is what somebody may do with a calendar, or could if they accepted it.
func (c *circle) stands(p calendar.Caller, cal calendar.Calendar) calendar.Access {
	offer := c.offered[cal.ID][p.User.Name]
	if offer.Status == calendar.SharePending {
		return offer.Access
	}
	return c.granted[cal.ID][p.User.Name]
}

// compare looks at every calendar, and at the others, as everybody.
func (c *circle) compare(what string) {
	c.t.Helper()
	for _, p := range c.people {
		c.sees(p, c.knows(p))
		for _, cal := range c.cals {
			may := c.granted[cal.ID][p.User.Name]
			seen, err := c.Calendar(c.ctx, p, cal.ID)
			c.outcome(what+"; seen by "+p.User.Name, err, may, calendar.FreeBusyAccess)
			if seen.Access != may {
				c.t.Errorf("%s: %s has %d, want %d", what, p.User.Name, seen.Access, may)
			}
			c.compareOffer(what, p, cal)
			for name := range c.objects[cal.ID] {
				_, err := c.Object(c.ctx, nil, p, seen, name)
				c.outcome(what+"; read by "+p.User.Name, err, may, calendar.ReadAccess)
			}
		}
	}
}

// compareOffer looks at what somebody was offered of a calendar.
func (c *circle) compareOffer(what string, p calendar.Caller, cal calendar.Calendar) {
	c.t.Helper()
	offers, err := c.Offers(c.ctx, p)
	c.must(err)
	var got calendar.Share
	for _, o := range offers {
		if o.Calendar == cal.ID {
			got = calendar.Share{Access: o.Access, Status: o.Status, Meanwhile: o.Meanwhile}
		}
	}
	if want := c.offered[cal.ID][p.User.Name]; got != want {
		c.t.Errorf("%s: %s was offered %v, want %v", what, p.User.Name, got, want)
	}
}

// sync brings a client up to date, as CalDAV clients do: first the home, then what changed in it.
func (c *circle) sync(p calendar.Caller) {
	c.t.Helper()
	name := p.User.Name
	home, copies := c.homes[name], c.copies[name]
	changes, err := c.HomeChanges(c.ctx, p, home.token)
	c.must(err)
	for _, change := range changes.List {
		if change.Gone {
			delete(home.there, change.Address)
			delete(copies, calendar.CalendarID(change.Address))
			continue
		}
		home.there[change.Address] = change.Calendar.Access
		c.pull(p, change.Calendar, copies)
	}
	home.token = changes.Now
	want, has := map[calendar.Segment]calendar.Access{}, map[calendar.CalendarID]map[calendar.ObjectName]calendar.ETag{}
	for _, cal := range c.cals {
		cal.Access = c.granted[cal.ID][name]
		if cal.Access > calendar.NoAccess {
			want[cal.Address()] = cal.Access
		}
		if copied := copies[cal.ID]; cal.Access >= calendar.ReadAccess {
			has[cal.ID] = maps.Clone(c.objects[cal.ID])
			if diff := cmp.Diff(has[cal.ID], copied.tags); diff != "" {
				c.t.Errorf("%s's copy of %s (-is +copy):\n%s", name, cal.ID, diff)
			}
		}
	}
	if diff := cmp.Diff(want, home.there); diff != "" {
		c.t.Errorf("%s's home (-is +copy):\n%s", name, diff)
	}
}

// pull brings the copy of one calendar up to date, or throws it away where it cannot be read.
func (c *circle) pull(p calendar.Caller, cal calendar.Calendar, copies map[calendar.CalendarID]*mirror) {
	c.t.Helper()
	if cal.Access < calendar.ReadAccess {
		delete(copies, cal.ID)
		for o, err := range c.Changes(c.ctx, nil, p, cal, calendar.SyncToken{}) {
			if cal.Access == calendar.NoAccess || err != nil {
				c.refused(err, calendar.NotFound, "", "no calendar")
			} else if c.objects[cal.ID][o.Name] != "" || o.Summary != "Busy" {
				c.t.Errorf("who has the busy times is told of %s %s", o.Name, o.Summary)
			}
		}
		return
	}
	client := copies[cal.ID]
	if client == nil {
		client = &mirror{tags: map[calendar.ObjectName]calendar.ETag{}}
		copies[cal.ID] = client
	}
	for _, o := range c.all(c.Changes(c.ctx, nil, p, cal, client.token)) {
		if o.Deleted {
			delete(client.tags, o.Name)
		} else {
			client.tags[o.Name] = o.ETag
		}
	}
	client.token = cal.SyncToken()
}
