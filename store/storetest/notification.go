package storetest

import (
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

func noticeTests() []test {
	return []test{
		{"are added, replaced and withdrawn", noticesTold},
		{"are separate per user", noticesApart},
		{"expire unless they wait for an answer", noticesGrowOld},
		{"are limited", noticesBounded},
		{"are deleted with their user", noticesGo},
		{"are deleted with the user that they are about", noticesOfGoneUsers},
	}
}

// box returns a user's notifications.
func (b *bundle) box(user calendar.User) calendar.Box[calendar.Notice] {
	b.Helper()
	box, err := b.Notices(b.Context(), user.ID)
	b.must(err)
	return box
}

func (b *bundle) tell(user calendar.User, notices ...calendar.Notice) {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		for _, n := range notices {
			if err := tx.PutNotice(b.Context(), user.ID, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bundle) untell(user calendar.User, name calendar.NoticeName) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.DropNotice(b.Context(), user.ID, name) })
}

func noticesTold(b *bundle) {
	bob := b.user("bob")
	same(b, "nothing", b.box(bob), calendar.Box[calendar.Notice]{})
	first := calendar.Notice{Name: "a", Created: b.now(), Waits: true, Data: []byte("one")}
	second := calendar.Notice{Name: "b", Created: b.now(), Data: []byte("two")}
	b.tell(bob, first, second)
	first.Version, second.Version = 1, 2
	same(b, "two", b.box(bob), calendar.Box[calendar.Notice]{Version: 2, Items: []calendar.Notice{first, second}})
	b.pass(time.Minute)
	first.Created, first.Waits, first.Data = b.now(), false, []byte("three")
	b.tell(bob, first)
	first.Version = 3
	same(b, "one replaced", b.box(bob), calendar.Box[calendar.Notice]{
		Version: 3,
		Items:   []calendar.Notice{first, second},
	})
	b.untell(bob, "b")
	gone := calendar.Notice{Name: "b", Version: 4, Created: second.Created, Gone: true}
	same(b, "one taken back", b.box(bob),
		calendar.Box[calendar.Notice]{Version: 4, Items: []calendar.Notice{first, gone}})
	b.untell(bob, "b")
	b.untell(bob, "c")
	same(b, "withdrawing a missing one changes nothing", b.box(bob).Version, 4)
	second.Version = 5
	b.tell(bob, second)
	same(b, "one told again", b.box(bob),
		calendar.Box[calendar.Notice]{Version: 5, Items: []calendar.Notice{first, second}})
}

func noticesApart(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.tell(ann, calendar.Notice{Name: "a", Created: b.now(), Data: []byte("hers")})
	b.tell(bob, calendar.Notice{Name: "a", Created: b.now(), Data: []byte("his")})
	b.untell(ann, "a")
	same(b, "his", string(b.box(bob).Items[0].Data), "his")
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.PutNotice(b.Context(), "nobody", calendar.Notice{Name: "a", Created: b.now()})
	}), calendar.NotFound, "")
}

func noticesGrowOld(b *bundle) {
	bob, eve := b.user("bob"), b.user("eve")
	waits := calendar.Notice{Name: "a", Created: b.now(), Waits: true, Data: []byte("?")}
	b.tell(bob, waits, calendar.Notice{Name: "b", Created: b.now(), Data: []byte("!")})
	b.tell(eve, waits)
	b.pass(time.Hour)
	later := calendar.Notice{Name: "c", Created: b.now(), Data: []byte("!")}
	b.tell(bob, later)
	b.must(b.Prune(b.Context(), b.now()))
	waits.Version, later.Version = 1, 3
	same(b, "his", b.box(bob), calendar.Box[calendar.Notice]{
		Version: 4, Pruned: 4,
		Items: []calendar.Notice{waits, later},
	})
	same(b, "eve's, where nothing grew old", b.box(eve),
		calendar.Box[calendar.Notice]{Version: 1, Items: []calendar.Notice{waits}})
	b.untell(eve, "a")
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "eve's, after its removal was pruned", b.box(eve), calendar.Box[calendar.Notice]{Version: 3, Pruned: 3})
}

func noticesGo(b *bundle) {
	bob := b.user("bob")
	b.tell(bob, calendar.Notice{Name: "a", Created: b.now(), Data: []byte("x")})
	b.must(b.DeleteUser(b.Context(), bob.ID))
	same(b, "his", b.box(bob), calendar.Box[calendar.Notice]{})
}

func noticesOfGoneUsers(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	offered := func(cal calendar.Calendar, with calendar.User, status calendar.ShareStatus) calendar.Share {
		share := calendar.Share{
			Calendar: cal.ID, User: with, Access: calendar.ReadAccess,
			Status: status, Created: b.now(),
		}
		b.update(func(tx calendar.Tx) error { return tx.PutShare(b.Context(), share) })
		return share
	}
	anns, eves := b.calendar(ann, "work"), b.calendar(eve, "work")
	asked, _ := offered(anns, bob, calendar.SharePending).Notices()
	_, answered := offered(eves, ann, calendar.ShareDeclined).Notices()
	kept, _ := offered(eves, bob, calendar.ShareAccepted).Notices()
	about := func(name calendar.NoticeName) calendar.Notice {
		return calendar.Notice{Name: name, Created: b.now(), Waits: true, Data: []byte("x")}
	}
	b.tell(bob, about(asked), about(kept))
	b.tell(eve, about(answered))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	for _, n := range slices.Concat(b.box(bob).Items, b.box(eve).Items) {
		same(b, string(n.Name)+" is gone", n.Gone, n.Name != kept)
	}
	same(b, "the boxes moved on", []calendar.Version{b.box(bob).Version, b.box(eve).Version}, []calendar.Version{3, 2})
}

// noticesBounded: the oldest notices are dropped beyond a limit, unless they await an answer.
func noticesBounded(b *bundle) {
	bob := b.user("bob")
	notices := []calendar.Notice{{Name: "asked", Created: b.now(), Waits: true, Data: []byte("?")}}
	for i := range 503 {
		notices = append(notices, calendar.Notice{
			Name: calendar.NoticeName(fmt.Sprintf("n%03d", i)), Created: b.now(),
			Data: []byte("!"),
		})
	}
	b.tell(bob, notices...)
	var there []calendar.NoticeName
	for _, n := range b.box(bob).Items {
		if !n.Gone {
			there = append(there, n.Name)
		}
	}
	if len(there) != 501 || there[0] != "asked" || there[1] != "n003" {
		b.Errorf("%d notices are there, from %v on", len(there), there[:2])
	}
}
