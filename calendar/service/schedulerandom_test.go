package service_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/slowtest"
)

// company is people who call meetings, change them and answer, each through their own program.
type company struct {
	*guests
	random *rand.Rand
	names  []string
	// meetings are the UIDs, with who organizes each.
	meetings map[calendar.UID]string
	uids     []calendar.UID
	// stale are objects as somebody's program still has them.
	stale map[string]calendar.Object
	// gone are those who have thrown a meeting away since they were last asked.
	done  map[string]int
	count int
	// undone tells of the last change of somebody, to take it back.
	last map[string]calendar.ChangeID
}

// instances are how often a meeting of theirs takes place, every day.
const instances = 5

// TestEverybodyAgrees: whatever organizers and guests do, in the end each guest's copy says what the organizer's says:
// when it is, what it is, and who has answered what.
func TestEverybodyAgrees(t *testing.T) {
	invited(t, "ann bob eve joe kim", func(g *guests) {
		for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 2, 8)) {
			c := &company{
				guests: g, random: rand.New(rand.NewPCG(seed, 38)), names: []string{"ann", "bob", "eve", "joe", "kim"},
				meetings: map[calendar.UID]string{},
				stale:    map[string]calendar.Object{}, done: map[string]int{}, last: map[string]calendar.ChangeID{},
			}
			for step := range slowtest.Rounds(t, slowtest.Random, 100, 500) {
				what := c.step()
				c.done[strings.Fields(what)[0]]++
				if diff := c.disagreement(); diff != "" {
					g.t.Fatalf("seed %d, step %d, after %s:\n%s", seed, step, what, diff)
				}
				g.Pass(time.Minute)
			}
			t.Log(c.done)
			for _, uid := range c.uids {
				c.meetings[uid] = ""
			}
		}
	})
}

func pick[T any](c *company, from []T) T { return from[c.random.IntN(len(from))] }

// step makes one change.
func (c *company) step() string {
	if len(c.uids) < 2 || c.random.IntN(12) == 0 {
		return c.call()
	}
	uid := pick(c, c.uids[max(0, len(c.uids)-4):])
	who := pick(c, c.names)
	if c.meetings[uid] != "" && c.random.IntN(2) == 0 {
		who = c.meetings[uid]
	}
	o, there := c.of(who, uid)
	if !there {
		return "nothing"
	}
	if c.random.IntN(12) == 0 {
		return c.undo(who)
	}
	name := who + " " + string(uid)
	if c.random.IntN(4) == 0 {
		c.stale[name] = o
	}
	when := calendar.Precondition{}
	if old, kept := c.stale[name]; kept && c.random.IntN(3) == 0 {
		o, when.ScheduleMatch = old, old.ScheduleTag
		delete(c.stale, name)
	}
	if c.random.IntN(14) == 0 {
		err := c.Delete(c.ctx, c.people[who].Caller, c.people[who].cal, o.Name, calendar.Precondition{})
		c.must(err)
		if c.meetings[uid] == who {
			c.meetings[uid] = ""
		}
		c.note(who)
		return fmt.Sprintf("delete by %s of %s", who, uid)
	}
	edit := c.guest
	switch c.meetings[uid] {
	case who:
		edit = c.organizer
	case "":
		return "over" // a copy of what was called off
	}
	tree, err := content.Read(o.Data, ical.Limits{})
	c.must(err)
	what := edit(tree, who)
	if what == "" {
		return "nothing"
	}
	_, err = c.Put(c.ctx, c.people[who].Caller, c.people[who].cal,
		calendar.Draft{Name: o.Name, Data: tree.Document.Bytes(), When: when})
	c.settle(err, when, what+" by "+who+" of "+string(uid))
	c.note(who)
	return fmt.Sprintf("%s by %s of %s", what, who, uid)
}

// settle takes an error for what it may be: that somebody else was quicker.
func (c *company) settle(err error, when calendar.Precondition, what string) {
	c.t.Helper()
	switch reason := calendar.ReasonOf(err); {
	case err == nil, when.ScheduleMatch != "" && reason == calendar.Stale:
	case when.ScheduleMatch != "" && reason == calendar.NotFound:
	default:
		c.t.Fatalf("%s: %v", what, err)
	}
}

func (c *company) note(who string) {
	c.last[who] = calendar.ChangeID{
		Calendar: c.people[who].cal.ID, Version: c.fresh(c.people[who].Caller, c.people[who].cal).Version,
	}
}

// undo takes back the last change of somebody's, if that can be done still.
func (c *company) undo(who string) string {
	id, there := c.last[who]
	if !there {
		return "nothing"
	}
	delete(c.last, who)
	done, err := c.Undo(c.ctx, c.people[who].Caller, id)
	if err != nil {
		return "undo-refused by " + who
	}
	for _, step := range done.Steps {
		o, there := c.of(who, step.UID)
		organizes := there &&
			strings.Contains(strings.ReplaceAll(string(o.Data), "\r\n ", ""), "ORGANIZER:mailto:"+who+"@")
		switch {
		case there && !organizes && c.meetings[step.UID] == "":
			// Anyone who takes back that they have thrown something away does not hear that it was called off since.
			c.uids = slices.DeleteFunc(c.uids, func(uid calendar.UID) bool { return uid == step.UID })
		case organizes:
			c.meetings[step.UID] = who
		case c.meetings[step.UID] == who:
			c.meetings[step.UID] = ""
		}
	}
	return "undo by " + who
}

func (c *company) of(who string, uid calendar.UID) (calendar.Object, bool) {
	o, err := c.Store.ObjectByUID(c.ctx, c.people[who].cal.ID, uid)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return o, false
	}
	c.must(err)
	return o, true
}

// call makes a meeting.
func (c *company) call() string {
	c.count++
	uid := calendar.UID(fmt.Sprintf("m%d-%d", c.count, c.random.IntN(1000000)))
	who := pick(c, c.names)
	rule := ""
	if c.random.IntN(3) > 0 {
		rule = fmt.Sprintf("RRULE:FREQ=DAILY;COUNT=%d", instances)
	}
	lines := []string{"ORGANIZER:mailto:" + who + "@example.com", attendees(c.some()...), rule}
	data := strings.Replace(meetingOf(lines...), "UID:meeting", "UID:"+string(uid), 1)
	p := c.people[who]
	_, err := c.Put(c.ctx, p.Caller, p.cal, calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(data)})
	c.must(err)
	c.meetings[uid] = who
	c.uids = append(c.uids, uid)
	c.note(who)
	return "call by " + who
}

// some are some of them, at least one.
func (c *company) some() []string {
	all := slices.Clone(c.names)
	c.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+c.random.IntN(len(all))]
}

// apart is the override of a random instance, which is made where there is none; nil for what takes place once.
func (c *company) apart(o *content.Object) *ical.Component {
	if o.Master == nil || o.Master.Property("RRULE") == nil {
		if len(o.Overrides) > 0 {
			return pick(c, o.Overrides)
		}
		return nil
	}
	start, _ := o.Master.Property("DTSTART").Time()
	id := ical.UTC(start.Civil.AddDays(c.random.IntN(instances)))
	for _, p := range o.Master.All("EXDATE") {
		times, _ := p.Times()
		if slices.Contains(times, id) {
			return nil
		}
	}
	for _, r := range o.Overrides {
		if at, _ := r.Property("RECURRENCE-ID").Time(); at == id {
			return r
		}
	}
	r := o.Master.Clone()
	for _, name := range []string{"RRULE", "EXDATE"} {
		r.Remove(name)
	}
	r.Set(ical.NewTime("DTSTART", id))
	r.Set(ical.NewTime("DTEND", ical.UTC(id.Civil.AddSeconds(3600))))
	r.Add(ical.NewTime("RECURRENCE-ID", id))
	o.Calendar.AddComponent(r)
	o.Overrides = append(o.Overrides, r)
	return r
}

func (c *company) shift(r *ical.Component) {
	by := int64(c.random.IntN(7)-3) * 600
	for _, name := range []string{"DTSTART", "DTEND"} {
		at, _ := r.Property(name).Time()
		r.Property(name).SetTime(ical.UTC(at.Civil.AddSeconds(by)))
	}
}

// organizer changes a meeting as its organizer may.
func (c *company) organizer(o *content.Object, who string) string {
	all := o.Components()
	switch c.random.IntN(9) {
	case 0:
		if len(o.Overrides) > 0 || o.Master == nil {
			return ""
		}
		c.shift(o.Master)
		return "move"
	case 1:
		for _, r := range all {
			r.SetText("SUMMARY", fmt.Sprint("Plans ", c.random.IntN(100)))
		}
		return "rename"
	case 2:
		name := pick(c, c.names)
		for _, r := range all {
			if findLine(r, name) == nil {
				r.Add(ical.NewProperty("ATTENDEE", "mailto:"+name+"@example.com"))
			}
		}
		return "add-" + name
	case 3:
		name := pick(c, c.names)
		for _, r := range all {
			if p := findLine(r, name); p != nil && len(r.All("ATTENDEE")) > 1 {
				r.RemoveProperty(p)
			}
		}
		return "remove-" + name
	case 4:
		r := c.apart(o)
		if r == nil {
			return ""
		}
		c.shift(r)
		return "move-one"
	case 5:
		r := c.apart(o)
		if r == nil {
			return ""
		}
		r.SetText("LOCATION", fmt.Sprint("Room ", c.random.IntN(100)))
		return "place-one"
	case 6:
		r := c.apart(o)
		name := pick(c, c.names)
		if r == nil || findLine(r, name) == nil || len(r.All("ATTENDEE")) < 2 {
			return ""
		}
		r.RemoveProperty(findLine(r, name))
		return "uninvite-one-" + name
	case 7:
		r := c.apart(o)
		if r == nil {
			return ""
		}
		name := pick(c, c.names)
		if findLine(r, name) == nil {
			r.Add(ical.NewProperty("ATTENDEE", "mailto:"+name+"@example.com"))
		}
		return "invite-one-" + name
	default:
		return c.leaveOut(o)
	}
}

// leaveOut takes an instance out of a series.
func (c *company) leaveOut(o *content.Object) string {
	if o.Master == nil {
		return ""
	}
	r := c.apart(o)
	if r == nil || len(o.Master.All("EXDATE")) > 2 {
		return ""
	}
	id, _ := r.Property("RECURRENCE-ID").Time()
	o.Calendar.RemoveComponent(r)
	o.Master.Add(ical.NewTime("EXDATE", id))
	return "leave-out"
}

func findLine(r *ical.Component, name string) *ical.Property {
	for _, p := range r.All("ATTENDEE") {
		if p.Value() == "mailto:"+name+"@example.com" {
			return p
		}
	}
	return nil
}

// guest changes a meeting as an attendee may.
func (c *company) guest(o *content.Object, who string) string {
	said := pick(c, []string{"ACCEPTED", "DECLINED", "TENTATIVE"})
	switch c.random.IntN(5) {
	case 0:
		r := c.apart(o)
		if r == nil || findLine(r, who) == nil {
			return ""
		}
		findLine(r, who).SetParam("PARTSTAT", said)
		return "answer-one-" + said
	case 1:
		alarm := ical.NewComponent("VALARM")
		alarm.Add(ical.NewText("ACTION", "DISPLAY"))
		alarm.Add(ical.NewText("DESCRIPTION", fmt.Sprint(c.random.IntN(1000))))
		alarm.Add(ical.NewProperty("TRIGGER", "-PT5M"))
		pick(c, o.Components()).AddComponent(alarm)
		return "alarm"
	case 2:
		return c.leaveOut(o)
	default:
		for _, r := range o.Components() {
			if p := findLine(r, who); p != nil {
				p.SetParam("PARTSTAT", said)
			}
		}
		return "answer-" + said
	}
}

// disagreement is how the copies of the guests differ from what the organizers have.
func (c *company) disagreement() string {
	c.t.Helper()
	var all []string
	for _, uid := range c.uids[max(0, len(c.uids)-5):] {
		organizer := c.meetings[uid]
		for _, who := range c.names {
			if who == organizer {
				continue
			}
			want := map[string]string{}
			if organizer != "" {
				o, there := c.of(organizer, uid)
				if !there {
					c.t.Fatalf("%s is of %s, who does not have it", uid, organizer)
				}
				want = c.taking(o, who)
			}
			got := map[string]string{}
			if o, there := c.of(who, uid); there {
				got = c.taking(o, who)
			}
			// Anyone who has thrown something away has declined it.
			for id, text := range want {
				if got[id] == "" && strings.Contains(text, who+"=DECLINED") {
					delete(want, id)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				all = append(all,
					fmt.Sprintf("%s of %s, as %s has it (-organizer +guest):\n%s", uid, organizer, who, diff))
			}
		}
	}
	return strings.Join(all, "\n")
}

// taking is what somebody takes part in, instance by instance.
func (c *company) taking(o calendar.Object, who string) map[string]string {
	c.t.Helper()
	tree, err := content.Read(o.Data, ical.Limits{})
	c.must(err)
	all := map[string]string{}
	tell := func(id string, r *ical.Component) {
		if findLine(r, who) == nil || content.WordOf(r, "STATUS") == "CANCELLED" {
			return
		}
		start, _ := r.Property("DTSTART").Time()
		if r.Property("RRULE") != nil {
			at, err := ical.ParseTime(id, "")
			c.must(err)
			start = at
		}
		var guests []string
		for _, p := range r.All("ATTENDEE") {
			said, _ := p.Param("PARTSTAT")
			if said == "" {
				said = "NEEDS-ACTION"
			}
			guests = append(guests,
				strings.TrimSuffix(strings.TrimPrefix(p.Value(), "mailto:"), "@example.com")+"="+said)
		}
		slices.Sort(guests)
		all[id] = fmt.Sprint(start, content.TextOf(r, "SUMMARY"), content.TextOf(r, "LOCATION"), guests)
	}
	apart := map[string]bool{}
	for _, r := range tree.Overrides {
		id, _ := r.Property("RECURRENCE-ID").Time()
		apart[id.String()] = true
		tell(id.String(), r)
	}
	if tree.Master == nil {
		return all
	}
	start, _ := tree.Master.Property("DTSTART").Time()
	if tree.Master.Property("RRULE") == nil {
		tell(start.String(), tree.Master)
		return all
	}
	for _, p := range tree.Master.All("EXDATE") {
		times, _ := p.Times()
		for _, at := range times {
			apart[at.String()] = true
		}
	}
	for i := range instances {
		if id := ical.UTC(start.Civil.AddDays(i)).String(); !apart[id] {
			tell(id, tree.Master)
		}
	}
	return all
}
