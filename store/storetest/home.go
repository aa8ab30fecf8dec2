package storetest

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

func homeTests() []test {
	return []test{
		{"has no record at first", homeEmpty},
		{"is recorded", homeRecorded},
		{"lists its members with existing calendars", homeWithCalendars},
		{"prunes removals by age, and reports that", homePruned},
		{"is prefetched in one round trip, for one response", homeReadAtOnce},
	}
}

func (b *bundle) members(user calendar.UserID, all ...calendar.Member) {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		home, _, err := tx.LockHome(b.Context(), user)
		if err != nil {
			return err
		}
		home.Version = all[len(all)-1].Version
		return tx.PutMembers(b.Context(), user, home, all, b.now())
	})
}

func (b *bundle) record(user calendar.UserID) calendar.Home {
	b.Helper()
	home, err := b.Home(b.Context(), user)
	b.must(err)
	return home
}

func homeEmpty(b *bundle) {
	same(b, "record", b.record(b.user("ann").ID), calendar.Home{Epoch: b.epoch()})
	same(b, "nobody's", b.record("nobody"), calendar.Home{Epoch: b.epoch()})
}

func homeRecorded(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	first := calendar.Member{Address: "wörk", Calendar: "c1", Seen: 7, Access: calendar.OwnerAccess, Version: 1}
	second := calendar.Member{Address: "rest", Calendar: "c2", Seen: 1, Access: calendar.ReadAccess, Version: 2}
	b.members(ann.ID, first, second)
	same(b, "record", b.record(ann.ID), calendar.Home{
		Epoch: b.epoch(), Version: 2,
		Members: []calendar.Member{first, second},
	})
	first.Version, first.Gone = 3, true
	b.members(ann.ID, first)
	same(b, "later", b.record(ann.ID), calendar.Home{
		Epoch: b.epoch(), Version: 3,
		Members: []calendar.Member{second, first},
	})
	same(b, "his", b.record(bob.ID), calendar.Home{Epoch: b.epoch()})
	first.Version, first.Gone, first.Calendar = 4, false, "c3"
	later := calendar.Home{Version: 4, Replaced: 4}
	b.update(func(tx calendar.Tx) error {
		return tx.PutMembers(b.Context(), ann.ID, later, []calendar.Member{first}, b.now())
	})
	later.Epoch, later.Members = b.epoch(), []calendar.Member{second, first}
	same(b, "with another calendar at an address", b.record(ann.ID), later)
}

func homeWithCalendars(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	member := calendar.Member{Address: "work", Calendar: cal.ID, Version: 1}
	b.members(ann.ID, member)
	b.update(func(tx calendar.Tx) error {
		home, calendars, err := tx.LockHome(b.Context(), ann.ID)
		same(b, "record", home, calendar.Home{Epoch: b.epoch(), Version: 1, Members: []calendar.Member{member}})
		same(b, "calendars", calendars, []calendar.Calendar{cal})
		return err
	})
}

func homePruned(b *bundle) {
	ann := b.user("ann")
	there := calendar.Member{Address: "there", Calendar: "c1", Version: 1}
	old := calendar.Member{Address: "old", Calendar: "c2", Version: 2, Gone: true}
	young := calendar.Member{Address: "young", Calendar: "c3", Version: 3, Gone: true}
	b.members(ann.ID, there, old)
	b.pass(time.Hour)
	b.members(ann.ID, young)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "record", b.record(ann.ID), calendar.Home{
		Epoch: b.epoch(), Version: 3, Pruned: 2,
		Members: []calendar.Member{there, young},
	})
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "again", b.record(ann.ID).Pruned, 2)
}

// ofHome is the result of all queries for a home's listing.
type ofHome struct {
	Epoch      calendar.Epoch
	Calendars  []calendar.Calendar
	Record     calendar.Home
	Usage      calendar.Usage
	Scheduling calendar.Scheduling
	Inbox      calendar.Box[calendar.InboxItem]
	Kept       []calendar.DeadProperty
	OfThose    map[calendar.CalendarID][]calendar.DeadProperty
}

// askHome runs all of these queries.
func (b *bundle) askHome(ctx context.Context, user calendar.UserID) (h ofHome) {
	b.Helper()
	var errs [8]error
	h.Epoch, errs[0] = b.Epoch(ctx)
	h.Calendars, errs[1] = b.Calendars(ctx, user)
	h.Record, errs[2] = b.Home(ctx, user)
	h.Usage, errs[3] = b.Usage(ctx, user)
	h.Scheduling, errs[4] = b.Scheduling(ctx, user)
	h.Inbox, errs[5] = b.InboxState(ctx, user)
	h.Kept, errs[6] = b.DeadProperties(ctx, calendar.Holder{Place: calendar.AtHome, User: user})
	h.OfThose, errs[7] = b.DeadPropertiesInHome(ctx, user)
	for _, err := range errs {
		b.must(err)
	}
	return h
}

func homeReadAtOnce(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	own, shared := b.calendar(ann, "own"), b.calendar(bob, "shared")
	b.must(Share(b.Context(), b, shared.ID, ann.ID, calendar.ReadAccess))
	b.put(own, "a.ics")
	b.members(ann.ID, calendar.Member{Address: "own", Calendar: own.ID, Version: 1})
	b.keep(calendar.Holder{Place: calendar.AtHome, User: ann.ID}, kept("x", "y", "home"))
	b.keep(ofCalendar(own), kept("x", "z", "z"), kept("x", "y", "own"))
	b.deliver(ann, b.item("one"))
	b.update(func(tx calendar.Tx) error {
		return tx.SetScheduling(b.Context(), ann.ID, calendar.Scheduling{Default: own.ID})
	})

	before := b.askHome(b.Context(), ann.ID)
	ctx, err := b.ReadHome(b.Context(), ann.ID)
	b.must(err)
	same(b, "read at once", b.askHome(ctx, ann.ID), before)
	one, err := b.Calendars(ctx, ann.ID)
	b.must(err)
	clear(one)
	same(b, "after a caller has modified a result", b.askHome(ctx, ann.ID), before)
	same(b, "another user's", b.askHome(ctx, bob.ID), b.askHome(b.Context(), bob.ID))

	// The prefetch is a snapshot for one response; a later request sees later changes.
	b.update(func(tx calendar.Tx) error { return tx.DropShare(b.Context(), shared.ID, ann.ID) })
	b.put(own, "b.ics")
	b.deliver(ann, b.item("two"))
	same(b, "read before", b.askHome(ctx, ann.ID), before)
	after := b.askHome(b.Context(), ann.ID)
	same(b, "calendars after", len(after.Calendars), 1)
	same(b, "messages after", after.Inbox.Version, before.Inbox.Version+1)
	next, err := b.ReadHome(b.Context(), ann.ID)
	b.must(err)
	same(b, "read after", b.askHome(next, ann.ID), after)
	cal, err := b.Calendar(ctx, ann.ID, shared.ID)
	b.must(err)
	same(b, "access to one calendar", cal.Access, calendar.NoAccess)

	nobody, err := b.ReadHome(b.Context(), "nobody")
	b.must(err)
	same(b, "nobody's", b.askHome(nobody, "nobody"), b.askHome(b.Context(), "nobody"))
}
