package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func ownPartTests() []test {
	return []test{
		{"round-trips, and advances only its user's version", ownPartComesBack},
		{"is listed after a version", ownPartsSince},
		{"needs a share, and is deleted with it", ownPartGoesWithShare},
		{"is copied for all users but one", ownPartsAreCopied},
		{"is kept as long as the object's tombstone", ownPartIsPruned},
	}
}

// shared creates a calendar of ann's with shares for ben and eve.
func (b *bundle) shared() (cal calendar.Calendar, ben, eve calendar.User) {
	b.Helper()
	cal = b.calendar(b.user("ann"), "work")
	ben, eve = b.user("ben"), b.user("eve")
	for _, u := range []calendar.User{ben, eve} {
		b.update(func(tx calendar.Tx) error {
			return tx.PutShare(b.Context(), calendar.Share{
				Calendar: cal.ID, User: u, Access: calendar.WriteAccess,
				Status: calendar.ShareAccepted, Created: b.now(),
			})
		})
	}
	return cal, ben, eve
}

// own writes a user's own part of an object, and returns the bytes that the user has used.
func (b *bundle) own(cal calendar.Calendar, u calendar.User, uid calendar.UID, data string) (bytes int64) {
	b.Helper()
	p := calendar.OwnPart{UID: uid, Data: []byte(data)}
	if data != "" {
		p.ETag = calendar.ETagOf(p.Data)
	}
	b.update(func(tx calendar.Tx) error {
		var err error
		bytes, err = tx.PutOwnPart(b.Context(), cal.ID, u.ID, p)
		return err
	})
	return bytes
}

// owns checks a user's own parts of objects that changed after a version.
func (b *bundle) owns(what string, cal calendar.Calendar, u calendar.User, after calendar.Version, want ...string) {
	b.Helper()
	all, err := b.OwnParts(b.Context(), cal.ID, u.ID, after, true)
	b.must(err)
	got := []string{}
	for _, p := range all {
		got = append(got, string(p.UID)+" "+string(p.Data))
	}
	same(b, what, got, append([]string{}, want...))
}

func ownPartComesBack(b *bundle) {
	cal, ben, eve := b.shared()
	same(b, "bytes", b.own(cal, ben, "a", "one"), 3)
	same(b, "bytes of two", b.own(cal, ben, "b", "three"), 8)
	p, err := b.OwnPart(b.Context(), cal.ID, ben.ID, "b")
	b.must(err)
	same(b, "part", p, calendar.OwnPart{
		UID: "b", Version: 2, ETag: calendar.ETagOf([]byte("three")),
		Data: []byte("three"),
	})
	gives(b, "eve's", calendar.OwnPart{})(b.OwnPart(b.Context(), cal.ID, eve.ID, "b"))
	heads, err := b.OwnParts(b.Context(), cal.ID, ben.ID, 0, false)
	b.must(err)
	same(b, "without data", len(heads) == 2 && heads[0].Data == nil && heads[0].ETag != "", true)
	for user, want := range map[calendar.UserID]calendar.Version{ben.ID: 2, eve.ID: 0, cal.Owner: 0} {
		now, err := b.Calendar(b.Context(), user, cal.ID)
		b.must(err)
		same(b, "own version", now.Own, want)
		same(b, "version", now.Version, cal.Version)
	}
}

func ownPartsSince(b *bundle) {
	cal, ben, _ := b.shared()
	b.own(cal, ben, "a", "one")
	b.own(cal, ben, "b", "two")
	b.own(cal, ben, "a", "")
	b.owns("at first", cal, ben, 0, "b two")
	b.owns("after the first", cal, ben, 1, "b two", "a ")
	b.owns("after all", cal, ben, 3)
}

func ownPartGoesWithShare(b *bundle) {
	cal, ben, eve := b.shared()
	b.own(cal, ben, "a", "one")
	b.own(cal, eve, "a", "two")
	b.update(func(tx calendar.Tx) error { return tx.DropShare(b.Context(), cal.ID, ben.ID) })
	b.owns("ben's", cal, ben, 0)
	b.owns("eve's", cal, eve, 0, "a two")
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		_, err := tx.PutOwnPart(b.Context(), cal.ID, ben.ID, calendar.OwnPart{UID: "a", ETag: "x", Data: []byte("x")})
		return err
	}), calendar.NotFound, "")
}

func ownPartsAreCopied(b *bundle) {
	cal, ben, eve := b.shared()
	b.own(cal, ben, "a", "one")
	b.own(cal, eve, "a", "two")
	b.update(func(tx calendar.Tx) error { return tx.CopyOwnParts(b.Context(), cal.ID, "a", "b", eve.ID) })
	b.owns("ben's", cal, ben, 1, "b one")
	b.owns("eve's", cal, eve, 1)
}

func ownPartIsPruned(b *bundle) {
	cal, ben, _ := b.shared()
	gone, back := b.put(cal, "a.ics"), b.put(cal, "b.ics")
	stays := b.put(cal, "c.ics")
	for _, o := range []calendar.Object{gone, back, stays} {
		b.own(cal, ben, o.UID, "mine")
	}
	b.bury(gone)
	b.bury(back)
	b.put(cal, "b.ics")
	b.owns("before", cal, ben, 0, string(gone.UID)+" mine", string(back.UID)+" mine", string(stays.UID)+" mine")
	b.pass(48 * time.Hour)
	b.put(cal, "d.ics")
	b.must(b.Prune(b.Context(), b.now()))
	b.owns("after", cal, ben, 0, string(back.UID)+" mine", string(stays.UID)+" mine")
}
