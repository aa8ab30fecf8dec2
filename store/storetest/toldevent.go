package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func toldEventTests() []test {
	return []test{
		{"are kept for a user and a UID", toldEventsKept},
		{"are deleted with the last trace of the event", toldEventsPruned},
	}
}

func (b *bundle) tellEvent(u calendar.User, uid calendar.UID, data string) {
	b.update(func(tx calendar.Tx) error { return tx.PutToldEvent(b.Context(), u.ID, uid, []byte(data)) })
}

func (b *bundle) toldEvent(u calendar.User, uid calendar.UID) (data string) {
	b.update(func(tx calendar.Tx) error {
		got, err := tx.ToldEvent(b.Context(), u.ID, uid)
		data = string(got)
		return err
	})
	return data
}

func toldEventsKept(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	same(b, "none", b.toldEvent(ann, "one"), "")
	b.tellEvent(ann, "one", "first")
	b.tellEvent(ben, "one", "ben's")
	b.tellEvent(ann, "one", "second")
	same(b, "the latest", b.toldEvent(ann, "one"), "second")
	same(b, "another user's", b.toldEvent(ben, "one"), "ben's")
	same(b, "another UID", b.toldEvent(ann, "two"), "")
	b.must(b.DeleteUser(b.Context(), ann.ID))
	same(b, "of a user who is gone", b.toldEvent(ann, "one"), "")
}

func toldEventsPruned(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	o := b.put(cal, "there.ics")
	b.tellEvent(ann, o.UID, "kept")
	b.tellEvent(ann, "nothing", "orphan")
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "of an object", b.toldEvent(ann, o.UID), "kept")
	same(b, "of nothing", b.toldEvent(ann, "nothing"), "")
	b.bury(o)
	b.must(b.Prune(b.Context(), b.now().Add(-time.Hour)))
	same(b, "of a tombstone", b.toldEvent(ann, o.UID), "kept")
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "of a tombstone that is gone", b.toldEvent(ann, o.UID), "")
}
