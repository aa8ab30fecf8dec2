package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func digestTests() []test {
	return []test{
		{"it can be turned on and off", digestIsWanted},
		{"there is one per day", digestIsPostedOnce},
	}
}

func (b *bundle) digest(u calendar.User) calendar.Digest {
	b.Helper()
	d, err := b.Digest(b.Context(), u.ID)
	b.must(err)
	return d
}

func digestIsWanted(b *bundle) {
	ann := b.user("ann")
	same(b, "at first", b.digest(ann), calendar.Digest{User: ann.ID})
	want := calendar.Digest{User: ann.ID, Hour: 18, Agenda: true, Posted: "2026-03-13", Due: b.now()}
	b.must(b.SetDigest(b.Context(), want))
	same(b, "when set", b.digest(ann), want)
	next := calendar.Digest{User: ann.ID, Hour: 7, Changes: true, Due: b.now().Add(time.Hour)}
	b.must(b.SetDigest(b.Context(), next))
	next.Posted = want.Posted
	same(b, "when set anew", b.digest(ann), next)
	next.Changes = false
	b.must(b.SetDigest(b.Context(), next))
	same(b, "when not wanted any more", b.digest(ann), calendar.Digest{User: ann.ID})
}

func digestIsPostedOnce(b *bundle) {
	ann := b.user("ann")
	d := calendar.Digest{User: ann.ID, Hour: 18, Agenda: true, Due: b.now()}
	b.must(b.SetDigest(b.Context(), d))
	gives(b, "due", []calendar.Digest{d})(b.another().DueDigests(b.Context(), b.now(), 10))
	d.Posted, d.Due = "2026-03-14", b.now().Add(24*time.Hour)
	for range 2 {
		l := b.letter(ann, "ann@example.com", "digest")
		l.Due = b.now()
		b.must(b.PostDigest(b.Context(), d, &l, outboxMost()))
	}
	same(b, "letters", len(b.take(b.Store)), 1)
	b.givesNone("due after that")(b.DueDigests(b.Context(), b.now(), 10))
	d.Posted = "2026-03-15"
	large := b.letter(ann, "ann@example.com", "digest")
	large.Data = make([]byte, 2000)
	b.refused(b.PostDigest(b.Context(), d, &large, outboxMost()), calendar.TooLarge, calendar.RuleMaxSize)
	same(b, "a day whose letter was refused", b.digest(ann).Posted, "2026-03-14")
	d.Posted, d.Due = "", b.now().Add(time.Hour)
	b.must(b.PostDigest(b.Context(), d, nil, outboxMost()))
	d.Posted = "2026-03-14"
	same(b, "when only the time moved", b.digest(ann), d)
}
