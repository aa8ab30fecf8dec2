package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

func shareTests() []test {
	return []test{
		{"gives access", shareGives},
		{"is in the home under the calendar's ID", shareStands},
		{"yields to an own calendar of that name", shareYields},
		{"is refused for a missing calendar or user", shareRefused},
		{"is listed by the user's name", sharesListed},
		{"has the sharee's settings", shareArranged},
		{"keeps the sharee's own properties", shareKeeps},
		{"grants no access until accepted", shareGivesOnceAccepted},
		{"leaves the previous access until accepted", shareLeavesMeanwhile},
		{"is listed for the invited user", shareOffered},
		{"is deleted with its calendar or its user", shareGoes},
	}
}

// Share writes an accepted share without checking any rules. NoAccess removes it.
func Share(
	ctx context.Context, s calendar.Store, id calendar.CalendarID, user calendar.UserID, access calendar.Access,
) error {
	return s.Update(ctx, func(tx calendar.Tx) error {
		if access == calendar.NoAccess {
			return tx.DropShare(ctx, id, user)
		}
		return tx.PutShare(ctx, calendar.Share{
			Calendar: id, User: calendar.User{ID: user}, Access: access,
			Status: calendar.ShareAccepted, Created: start(),
		})
	})
}

func shareGives(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	cal := b.calendar(ann, "work")
	for _, access := range []calendar.Access{
		calendar.ReadAccess, calendar.FreeBusyAccess, calendar.WriteAccess,
		calendar.NoAccess,
	} {
		b.must(Share(b.Context(), b, cal.ID, bob.ID, access))
		want := cal
		want.Access, want.Transparent = access, access != calendar.NoAccess
		if access != calendar.NoAccess {
			want.Name = "work (Ms ann)"
		}
		gives(b, "his", want)(b.Calendar(b.Context(), bob.ID, cal.ID))
		want.Name, want.Access, want.Transparent = cal.Name, calendar.NoAccess, false
		gives(b, "a stranger's", want)(b.Calendar(b.Context(), eve.ID, cal.ID))
		hers := cal
		hers.Shared = access != calendar.NoAccess
		same(b, "her own", b.read(cal), hers)
	}
	b.givesNone("calendars after the last")(b.Calendars(b.Context(), bob.ID))
}

func shareStands(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	want := cal
	want.Access, want.Transparent = calendar.ReadAccess, true
	want.Name = "work (Ms ann)"
	gives(b, "at its id", want)(b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID)))
	// Neither under the owner's name for it, nor by ID in the owner's own home.
	b.refuses(calendar.NotFound, "")(b.CalendarAt(b.Context(), bob.ID, "work"))
	b.refuses(calendar.NotFound, "")(b.CalendarAt(b.Context(), ann.ID, calendar.Segment(cal.ID)))
}

func shareYields(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	own := b.calendar(bob, calendar.Segment(cal.ID))
	gives(b, "calendar", own)(b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID)))
}

func shareRefused(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.refused(Share(b.Context(), b, "nowhere", bob.ID, calendar.ReadAccess), calendar.NotFound, "")
	b.refused(Share(b.Context(), b, cal.ID, "nobody", calendar.ReadAccess), calendar.NotFound, "")
	b.refused(Share(b.Context(), b, cal.ID, bob.ID, calendar.OwnerAccess), calendar.Invalid, "")
}

func sharesListed(b *bundle) {
	ann, eve, bob := b.user("ann"), b.user("eve"), b.user("bob")
	cal, other := b.calendar(ann, "work"), b.calendar(ann, "rest")
	given := b.now()
	b.must(Share(b.Context(), b, cal.ID, eve.ID, calendar.WriteAccess))
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.FreeBusyAccess))
	b.must(Share(b.Context(), b, other.ID, bob.ID, calendar.WriteAccess))
	b.pass(time.Hour)
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	got, err := b.Shares(b.Context(), cal.ID)
	b.must(err)
	same(b, "shares", got, []calendar.Share{
		{Calendar: cal.ID, User: bob, Access: calendar.ReadAccess, Status: calendar.ShareAccepted, Created: given},
		{Calendar: cal.ID, User: eve, Access: calendar.WriteAccess, Status: calendar.ShareAccepted, Created: given},
	})
	b.givesNone("shares of nothing")(b.Shares(b.Context(), "nowhere"))
}

// arrange writes a user's own settings for a calendar.
func (b *bundle) arrange(cal calendar.Calendar, user calendar.User, a calendar.Arrangement) error {
	return b.Update(b.Context(), func(tx calendar.Tx) error { return tx.Arrange(b.Context(), cal.ID, user.ID, a) })
}

// arrangement reads these settings.
func (b *bundle) arrangement(cal calendar.Calendar, user calendar.User) (a calendar.Arrangement, err error) {
	err = b.Update(b.Context(), func(tx calendar.Tx) error {
		a, err = tx.Arrangement(b.Context(), cal.ID, user.ID)
		return err
	})
	return a, err
}

func shareArranged(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	first, second := b.calendar(ann, "a"), b.calendar(ann, "b")
	for _, cal := range []calendar.Calendar{first, second} {
		b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
		b.must(Share(b.Context(), b, cal.ID, eve.ID, calendar.ReadAccess))
	}
	his := calendar.Arrangement{
		Name: new("z of Ann"), Description: new("hers"), Color: new("#112233"), Order: new(int64(7)),
		Opaque: true, Hidden: true,
	}
	b.must(b.arrange(first, bob, his))
	b.must(b.arrange(second, bob, calendar.Arrangement{Name: new("y of Ann")}))
	b.must(Share(b.Context(), b, first.ID, bob.ID, calendar.WriteAccess)) // a change of access does not affect them
	gives(b, "arrangement", his)(b.arrangement(first, bob))
	asHis := first
	asHis.Name, asHis.Description, asHis.Color, asHis.Order = *his.Name, his.Description, his.Color, his.Order
	asHis.Hidden, asHis.Access = true, calendar.WriteAccess
	other := second
	other.Name, other.Transparent, other.Access = "y of Ann", true, calendar.ReadAccess
	gives(b, "his, in his order", []calendar.Calendar{asHis, other})(b.Calendars(b.Context(), bob.ID))
	first.Shared, second.Shared = true, true
	same(b, "hers", b.read(first), first)
	first.Name = first.Name + " (" + ann.DisplayName + ")"
	first.Shared, first.Transparent, first.Access = false, true, calendar.ReadAccess
	gives(b, "another sharee's", first)(b.CalendarAt(b.Context(), eve.ID, calendar.Segment(first.ID)))

	b.must(Share(b.Context(), b, first.ID, bob.ID, calendar.NoAccess))
	b.refuses(calendar.NotFound, "")(b.arrangement(first, bob))
	b.refused(b.arrange(first, bob, his), calendar.NotFound, "")
	b.must(Share(b.Context(), b, first.ID, bob.ID, calendar.ReadAccess))
	gives(b, "arrangement of a new share", calendar.Arrangement{})(b.arrangement(first, bob))
}

func shareKeeps(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	his := calendar.Holder{Place: calendar.AtShare, Calendar: cal, User: bob.ID}
	keep := func(tx calendar.Tx) error {
		_, _, err := tx.SetDeadProperties(b.Context(), his, []calendar.DeadProperty{kept("x", "y", "bob's")})
		return err
	}
	b.refused(b.Update(b.Context(), keep), calendar.NotFound, "")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	b.must(b.Update(b.Context(), keep))
	b.keep(ofCalendar(cal), kept("x", "y", "ann's"))
	b.keeps("his", his, kept("x", "y", "bob's"))
	b.keeps("hers", ofCalendar(cal), kept("x", "y", "ann's"))
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.NoAccess))
	b.keeps("after the share", his)
	gives(b, "kept in his home", map[calendar.CalendarID][]calendar.DeadProperty{})(b.DeadPropertiesInHome(b.Context(),
		bob.ID))
}

func (b *bundle) offer(s calendar.Share) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.PutShare(b.Context(), s) })
}

func shareGivesOnceAccepted(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	share := calendar.Share{
		Calendar: cal.ID, User: bob, Access: calendar.WriteAccess, Title: "Ann's work",
		CommonName: "Bob", Created: b.now(),
		Maker: calendar.Actor{Token: "token", Agent: "Claude"},
	}
	for _, step := range []struct {
		status calendar.ShareStatus
		has    calendar.Access
	}{
		{calendar.SharePending, calendar.NoAccess},
		{calendar.ShareAccepted, calendar.WriteAccess},
		{calendar.ShareDeclined, calendar.NoAccess},
		{calendar.ShareAccepted, calendar.WriteAccess},
		{calendar.SharePending, calendar.NoAccess},
	} {
		share.Status = step.status
		b.offer(share)
		got, err := b.Calendar(b.Context(), bob.ID, cal.ID)
		b.must(err)
		same(b, string(step.status), got.Access, step.has)
		all, err := b.Calendars(b.Context(), bob.ID)
		b.must(err)
		same(b, "in his home", len(all) == 1, step.has > calendar.NoAccess)
		_, err = b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID))
		same(b, "at its address", err == nil, step.has > calendar.NoAccess)
		same(b, "hers tells of it", b.read(cal).Shared, true)
		gives(b, "shares", []calendar.Share{share})(b.Shares(b.Context(), cal.ID))
	}
}

func shareLeavesMeanwhile(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.FreeBusyAccess))
	b.must(b.arrange(cal, bob, calendar.Arrangement{Name: new("his")}))
	share := calendar.Share{
		Calendar: cal.ID, User: bob, Access: calendar.WriteAccess, Status: calendar.SharePending,
		Meanwhile: calendar.FreeBusyAccess, Created: b.now(),
	}
	check := func(what string, has calendar.Access) {
		b.Helper()
		b.offer(share)
		got, err := b.Calendar(b.Context(), bob.ID, cal.ID)
		b.must(err)
		same(b, what, got.Access, has)
		gives(b, what, []calendar.Share{share})(b.Shares(b.Context(), cal.ID))
		offers, err := b.Offers(b.Context(), bob.ID)
		b.must(err)
		same(b, what, offers[0].Share, share)
	}
	check("offered more", calendar.FreeBusyAccess)
	share.Status, share.Meanwhile = calendar.ShareAccepted, calendar.NoAccess
	check("accepted", calendar.WriteAccess)
	gives(b, "what he had set", calendar.Arrangement{Name: new("his")})(b.arrangement(cal, bob))
	share.Status = calendar.ShareDeclined
	check("given up", calendar.NoAccess)
}

func shareOffered(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	cal, other, trashed := b.calendar(ann, "work"), b.calendar(eve, "rest"), b.calendar(ann, "old")
	var want []calendar.Offer
	for _, c := range []calendar.Calendar{cal, other, trashed} {
		share := calendar.Share{
			Calendar: c.ID, User: bob, Access: calendar.ReadAccess,
			Status: calendar.SharePending, Created: b.now(),
		}
		b.offer(share)
		c.Access = calendar.NoAccess
		want = append(want, calendar.Offer{Share: share, From: c})
	}
	b.trash(trashed)
	want = want[:2]
	slices.SortFunc(want, func(a, b calendar.Offer) int {
		return strings.Compare(string(a.Calendar), string(b.Calendar))
	})
	gives(b, "offers", want)(b.Offers(b.Context(), bob.ID))
	b.givesNone("offers to another")(b.Offers(b.Context(), eve.ID))
}

func shareGoes(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	other, trashed := b.calendar(ann, "rest"), b.calendar(ann, "old")
	for _, c := range []calendar.Calendar{cal, trashed} {
		b.offer(calendar.Share{Calendar: c.ID, User: bob, Access: calendar.ReadAccess, Status: calendar.SharePending})
	}
	b.trash(trashed)
	b.must(b.DeleteUser(b.Context(), bob.ID))
	same(b, "its owner hears of it", b.read(cal).Version, cal.Version+1)
	same(b, "and of nothing else", b.read(other).Version, other.Version)
	b.givesNone("shares after the user")(b.Shares(b.Context(), cal.ID))
	same(b, "hers", b.read(cal).Shared, false)
}
