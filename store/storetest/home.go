package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func homeTests() []test {
	return []test{
		{"has no record at first", homeEmpty},
		{"is recorded", homeRecorded},
		{"gives its members with the calendars that are there", homeWithCalendars},
		{"forgets removals by age, and says so", homePruned},
	}
}

// members writes members of a home.
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
	same(b, "record", b.record(ann.ID), calendar.Home{Epoch: b.epoch(), Version: 2, Members: []calendar.Member{first, second}})
	first.Version, first.Gone = 3, true
	b.members(ann.ID, first)
	same(b, "later", b.record(ann.ID), calendar.Home{Epoch: b.epoch(), Version: 3, Members: []calendar.Member{second, first}})
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
	same(b, "record", b.record(ann.ID), calendar.Home{Epoch: b.epoch(), Version: 3, Pruned: 2, Members: []calendar.Member{there, young}})
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "again", b.record(ann.ID).Pruned, 2)
}
