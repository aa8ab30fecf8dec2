package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func linkTests() []test {
	return []test{
		{"round-trips", linkComesBack},
		{"is unknown", linkUnknown},
		{"is refused for a missing calendar or owner", linkRefused},
		{"is deleted with its calendar or its owner", linkGoes},
		{"is revoked once, in all processes", linkRevoked},
		{"stores its latest use", linkUsed},
		{"are listed by user, calendar, time and id", linksAreListed},
	}
}

func (b *bundle) link(owner calendar.User, cal calendar.Calendar) auth.Link {
	b.Helper()
	l := auth.Link{
		ID: auth.LinkID(b.id("link")), Owner: owner, Calendar: cal.ID, CalendarName: cal.Name,
		Access: calendar.ReadAccess, Created: b.now(),
	}
	b.must(b.InsertLink(b.Context(), l, "hash of "+auth.SecretHash(l.ID)))
	return l
}

// linked checks a stored link.
func (b *bundle) linked(in Store, want auth.Link) {
	b.Helper()
	got, hash, err := in.LinkByID(b.Context(), want.ID)
	b.must(err)
	same(b, "link", got, want)
	same(b, "hash", hash, "hash of "+auth.SecretHash(want.ID))
}

func linkComesBack(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	want := auth.Link{
		ID: "link", Name: "for the “club”", Owner: ann, Calendar: cal.ID, CalendarName: "work",
		Access: calendar.FreeBusyAccess, Embed: true,
		Created: b.now(), Expires: b.now().Add(time.Hour), LastUsed: b.now().Add(time.Minute),
		Revoked: b.now().Add(time.Second),
	}
	b.must(b.InsertLink(b.Context(), want, "hash of link"))
	b.linked(b.Store, want)
	b.linked(b.Store, b.link(ann, cal))
	b.refused(b.InsertLink(b.Context(), want, "hash"), calendar.Exists, "")
}

func linkUnknown(b *bundle) {
	ann := b.user("ann")
	b.link(ann, b.calendar(ann, "work"))
	_, _, err := b.LinkByID(b.Context(), "unknown")
	b.refused(err, calendar.NotFound, "")
	b.refused(b.RevokeLink(b.Context(), "unknown", b.now()), calendar.NotFound, "")
	b.refused(b.EmbedLink(b.Context(), "unknown", true), calendar.NotFound, "")
	b.must(b.TouchLink(b.Context(), "unknown", b.now()))
}

func linkRefused(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	work, gone := b.calendar(ann, "work"), b.calendar(ann, "gone")
	b.must(Share(b.Context(), b, work.ID, bob.ID, calendar.WriteAccess))
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), gone.ID) })
	for name, l := range map[auth.LinkID]auth.Link{
		"nowhere":          {Owner: ann, Calendar: "nowhere", Access: calendar.ReadAccess},
		"in the trash":     {Owner: ann, Calendar: gone.ID, Access: calendar.ReadAccess},
		"somebody else's":  {Owner: bob, Calendar: work.ID, Access: calendar.ReadAccess},
		"a user not there": {Owner: calendar.User{ID: "nobody"}, Calendar: work.ID, Access: calendar.ReadAccess},
	} {
		l.ID, l.Created = name, b.now()
		b.refused(b.InsertLink(b.Context(), l, "hash"), calendar.NotFound, "")
		if _, _, err := b.LinkByID(b.Context(), name); calendar.ReasonOf(err) != calendar.NotFound {
			b.Errorf("%s: the link is there: %v", name, err)
		}
	}
}

// linkGoes: a calendar in the trash may be restored, and its link with it.
func linkGoes(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	work, his := b.calendar(ann, "work"), b.calendar(bob, "his")
	hers, bobs := b.link(ann, work), b.link(bob, his)
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), work.ID) })
	hers.Trashed = true
	b.linked(b.Store, hers)
	b.update(func(tx calendar.Tx) error { return tx.UntrashCalendar(b.Context(), work.ID, "work") })
	hers.Trashed = false
	b.linked(b.Store, hers)
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), work.ID) })
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	_, _, err := b.LinkByID(b.Context(), hers.ID)
	b.refused(err, calendar.NotFound, "")

	b.linked(b.Store, bobs)
	b.must(b.DeleteUser(b.Context(), bob.ID))
	_, _, err = b.LinkByID(b.Context(), bobs.ID)
	b.refused(err, calendar.NotFound, "")
}

func linkRevoked(b *bundle) {
	ann := b.user("ann")
	l := b.link(ann, b.calendar(ann, "work"))
	other := b.another()
	b.linked(other, l)
	b.must(b.RevokeLink(b.Context(), l.ID, b.now()))
	l.Revoked = b.now()
	b.linked(other, l)
	b.must(b.RevokeLink(b.Context(), l.ID, b.now().Add(time.Hour)))
	b.linked(b.Store, l)
}

func linkUsed(b *bundle) {
	ann := b.user("ann")
	l := b.link(ann, b.calendar(ann, "work"))
	l.LastUsed = b.now().Add(time.Minute)
	b.must(b.TouchLink(b.Context(), l.ID, l.LastUsed))
	// A slower process reports an earlier use.
	b.must(b.TouchLink(b.Context(), l.ID, b.now()))
	b.linked(b.Store, l)
}

func linksAreListed(b *bundle) {
	bob, ann := b.user("bob"), b.user("ann")
	bobs := b.link(bob, b.calendar(bob, "all"))
	work, home := b.calendar(ann, "work"), b.calendar(ann, "Home")
	b.pass(time.Minute)
	late := b.link(ann, work)
	b.pass(-time.Hour)
	early, tied, other := b.link(ann, work), b.link(ann, work), b.link(ann, home)
	b.must(b.RevokeLink(b.Context(), tied.ID, b.now()))
	tied.Revoked = b.now()
	gives(b, "all links", []auth.Link{other, early, tied, late, bobs})(b.Links(b.Context(), ""))
	gives(b, "his links", []auth.Link{bobs})(b.Links(b.Context(), bob.ID))
	none, err := b.Links(b.Context(), "nobody")
	b.must(err)
	same(b, "nobody's links", len(none), 0)
}
