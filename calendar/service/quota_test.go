package service_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/service"
)

// within has the service made anew with settings for all.
func (h *house) within(q calendar.Quota) {
	h.config.Quota = q
	h.Service = service.New(h.config)
}

// used is what a user has.
func (h *house) used(c calendar.Caller) calendar.Usage {
	h.t.Helper()
	u, _, err := h.Usage(h.ctx, c)
	h.must(err)
	return u
}

// What a user has grows and shrinks with each change, and what the bounds are broken by leaves everything as it was
// (security L18).
func TestQuota(t *testing.T) {
	each(t, func(h *house) {
		h.within(calendar.Quota{Calendars: 2, Objects: 2, Bytes: 1000})
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "a.ics", event("a", 1, "one"))
		size := int64(len(event("a", 1, "one")))
		if got, want := h.used(h.alice), (calendar.Usage{Calendars: 1, Objects: 1, Bytes: size}); got != want {
			t.Errorf("after one: %+v, want %+v", got, want)
		}
		try := func(c calendar.Caller, name calendar.ObjectName, data string) error {
			_, err := h.Put(h.ctx, c, cal, calendar.Draft{Name: name, Data: []byte(data)})
			return err
		}
		h.refused(try(h.alice, "a.ics", event("a", 1, strings.Repeat("long ", 200))), calendar.TooLarge,
			calendar.RuleQuota, "bytes")
		h.must(try(h.alice, "b.ics", event("b", 1, "two")))
		h.refused(try(h.alice, "c.ics", event("c", 1, "three")), calendar.TooLarge, calendar.RuleQuota,
			"that would be 3 objects, and the account may have 2")
		h.must(try(h.alice, "b.ics", event("b", 1, "TWO and more")))
		if got := h.used(h.alice); got.Objects != 2 {
			t.Errorf("what was refused counts: %+v", got)
		}
		h.must(h.give(cal.ID, h.bob.User.ID, calendar.WriteAccess))
		shared, err := h.Calendar(h.ctx, h.bob, cal.ID)
		h.must(err)
		_, err = h.Put(h.ctx, h.bob, shared, calendar.Draft{Name: "d.ics", Data: []byte(event("d", 1, "by bob"))})
		h.refused(err, calendar.TooLarge, calendar.RuleQuota,
			"the calendar's owner has reached a limit of their account")
		if got := h.used(h.bob); got != (calendar.Usage{}) {
			t.Errorf("bob pays for alice's: %+v", got)
		}
		h.must(h.Delete(h.ctx, h.alice, cal, "b.ics", calendar.Precondition{}))
		h.must(try(h.alice, "c.ics", event("c", 1, "three")))

		other := h.calendar(h.alice, "other")
		_, err = h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Segment: "third"})
		h.refused(err, calendar.TooLarge, calendar.RuleQuota, "3 calendars, and the account may have 2")
		h.chooses(h.alice, cal)
		h.must(h.DeleteCalendar(h.ctx, h.alice, other.ID))
		_, err = h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Segment: "third"})
		h.refused(err, calendar.TooLarge, calendar.RuleQuota, "calendars")
		h.must(h.ForgetCalendar(h.ctx, h.alice, other.ID))
		h.calendar(h.alice, "third")
	})
}

// A user's own bounds count before the settings', in either direction and with the next request, and anyone who has too
// much loses nothing.
func TestOwnQuota(t *testing.T) {
	each(t, func(h *house) {
		h.within(calendar.Quota{Objects: 1})
		cal := h.calendar(h.alice, "work")
		may := func(n int64) {
			h.must(h.Store.ChangeUser(h.ctx, h.alice.User.ID, auth.UserEdit{QuotaObjects: &n}))
			h.alice.User.Quota.Objects = n
		}
		try := func(name string) error {
			_, err := h.Put(h.ctx, h.alice, cal,
				calendar.Draft{Name: calendar.ObjectName(name), Data: []byte(event(name, 1, "x"))})
			return err
		}
		h.must(try("a"))
		h.refused(try("b"), calendar.TooLarge, calendar.RuleQuota, "objects")
		may(calendar.Unbounded)
		for _, name := range []string{"b", "c", "d"} {
			h.must(try(name))
		}
		may(2)
		h.refused(try("e"), calendar.TooLarge, calendar.RuleQuota,
			"that would be 5 objects, and the account may have 2")
		h.must(h.Delete(h.ctx, h.alice, cal, "d", calendar.Precondition{}))
		h.refused(try("e"), calendar.TooLarge, calendar.RuleQuota, "objects")
		if got := h.used(h.alice); got.Objects != 3 {
			t.Errorf("%+v", got)
		}
		may(0)
		h.refused(try("e"), calendar.TooLarge, calendar.RuleQuota, "may have 1")
	})
}

// What is counted is what there is, after whatever happened.
func TestUsageIsCounted(t *testing.T) {
	each(t, func(h *house) {
		r := rand.New(rand.NewPCG(7, 11))
		cals := []calendar.Calendar{h.calendar(h.alice, "one"), h.calendar(h.alice, "two")}
		for step := range 150 {
			cal := cals[r.IntN(len(cals))]
			name := fmt.Sprintf("%d.ics", r.IntN(9))
			switch r.IntN(5) {
			case 0:
				_ = h.Delete(h.ctx, h.alice, cal, calendar.ObjectName(name), calendar.Precondition{})
			case 1:
				_, _ = h.MoveToCalendar(h.ctx, h.alice, cal, calendar.UID(name), cals[r.IntN(len(cals))],
					calendar.Precondition{})
			case 2:
				_, _ = h.RestoreDeleted(h.ctx, h.alice, cal, calendar.UID(name))
			default:
				_, _ = h.Put(h.ctx, h.alice, cal, calendar.Draft{
					Name: calendar.ObjectName(name), Data: []byte(event(name, 1, strings.Repeat("x", r.IntN(40)))),
				})
			}
			var want calendar.Usage
			if step%25 != 24 {
				continue
			}
			want.Calendars = int64(len(cals))
			for _, cal := range cals {
				for _, o := range h.all(h.Objects(h.ctx, nil, h.alice, h.fresh(h.alice, cal), calendar.ObjectQuery{})) {
					want.Objects++
					want.Bytes += o.Size
				}
			}
			if got := h.used(h.alice); got != want {
				t.Fatalf("step %d: counted %+v, there are %+v", step, got, want)
			}
			// A program of before the counts has written to one of them.
			h.must(h.Store.Update(h.ctx, func(tx calendar.Tx) error {
				return tx.Count(h.ctx, []calendar.CalendarID{cal.ID},
					calendar.Usage{Objects: r.Int64N(2), Bytes: -r.Int64N(3)})
			}))
			h.must(h.Store.Recount(h.ctx))
			if got := h.used(h.alice); got != want {
				t.Fatalf("step %d: counted anew %+v, there are %+v", step, got, want)
			}
		}
	})
}

// What comes to guests is counted when their calendars are opened, and put right where it was another size: of a room,
// with a change, and when the event is called off.
func TestInvitedAreCounted(t *testing.T) {
	invited(t, "ann ben carol dave eve", func(g *guests) {
		g.room("hall", aRoom)
		counted := func(what string) {
			g.t.Helper()
			for name, p := range g.people {
				before := g.used(p.Caller)
				g.must(g.Store.Recount(g.ctx))
				if after := g.used(p.Caller); before != after || name == "ben" && after.Objects != 1 {
					g.t.Errorf("%s: of %s's objects %+v are counted, and there are %+v", what, name, before, after)
				}
			}
		}
		g.save("ann", meetingOf(organizedByAnn, attendees("ben", "carol", "dave", "eve", "hall")))
		counted("invited")
		g.save("ann",
			meetingOf(organizedByAnn, attendees("ben", "carol", "dave", "eve", "hall"), "DESCRIPTION:somewhat longer"))
		counted("changed")
		g.must(g.Delete(g.ctx, g.people["ann"].Caller, g.people["ann"].cal, g.name("ann"), calendar.Precondition{}))
		counted("called off") // which their copies say
	})
}

// Of many who write at once into different calendars of one user, no more get in than may.
func TestQuotaAtOnce(t *testing.T) {
	each(t, func(h *house) {
		const calendars, may = 6, 4
		h.within(calendar.Quota{Objects: may})
		var done sync.WaitGroup
		for i := range calendars {
			cal := h.calendar(h.alice, calendar.Segment(fmt.Sprintf("cal%d", i)))
			for j := range 3 {
				done.Go(func() {
					name := fmt.Sprintf("%d-%d.ics", i, j)
					_, err := h.Put(h.ctx, h.alice, cal,
						calendar.Draft{Name: calendar.ObjectName(name), Data: []byte(event(name, 1, "x"))})
					if err != nil && calendar.RuleOf(err) != calendar.RuleQuota {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
		}
		done.Wait()
		if got := h.used(h.alice); got.Objects != may {
			t.Errorf("%d objects got in, %d may", got.Objects, may)
		}
	})
}

// What programs keep of objects counts like objects, and leaves nothing of these in the journal: a small request must
// not cost what a large object has.
func TestKeptPropertiesCount(t *testing.T) {
	each(t, func(h *house) {
		h.within(calendar.Quota{Bytes: 100_000})
		work, rest := h.calendar(h.alice, "work"), h.calendar(h.alice, "rest")
		h.put(h.alice, work, "1.ics", event("one", 2, strings.Repeat("long ", 8000)))
		base, latest := h.used(h.alice).Bytes, h.latest(h.alice, work)
		keep := func(name, value string) error {
			in := calendar.Holder{Place: calendar.AtObject, Calendar: h.fresh(h.alice, work), Object: "1.ics"}
			return h.SetDeadProperties(h.ctx, h.alice, in,
				[]calendar.DeadProperty{{Name: calendar.PropertyName{Local: name}, Value: value}},
				calendar.Precondition{})
		}
		takes := func(what string, want int64) {
			t.Helper()
			if got := h.used(h.alice).Bytes; got != want {
				t.Errorf("%s: %d bytes are counted, want %d", what, got, want)
			}
			h.must(h.Store.Recount(h.ctx))
			if got := h.used(h.alice).Bytes; got != want {
				t.Errorf("%s: counted anew there are %d bytes, want %d", what, got, want)
			}
		}
		value := "<x>" + strings.Repeat("y", 30_000) + "</x>"
		h.must(keep("x", value))
		takes("one", base+1+int64(len(value)))
		h.refused(keep("y", value), calendar.TooLarge, calendar.RuleQuota, "bytes")
		h.must(keep("y", "<y/>"))
		h.must(keep("y", ""))
		takes("the others refused or taken away", base+1+int64(len(value)))
		if now := h.latest(h.alice, work); now.ID() != latest.ID() {
			t.Errorf("the journal has %+v", now)
		}
		_, err := h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: rest, As: "2.ics"})
		h.must(err)
		takes("moved", base+1+int64(len(value)))
		h.must(h.Delete(h.ctx, h.alice, rest, "2.ics", calendar.Precondition{}))
		takes("deleted", 0)
	})
}
