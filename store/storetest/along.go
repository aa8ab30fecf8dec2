package storetest

import (
	"context"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func alongTests() []test {
	return []test{
		{"returns the same as a query, also after changes", alongAsAlone},
		{"is used once, and only for a short time", alongOnce},
		{"is used only for its user and calendar", alongForOne},
		{"covers only the user's own calendars", alongOfOwn},
	}
}

// along authenticates a subject and prefetches the calendar at "work".
func (b *bundle) along(in Store, of auth.Subject) context.Context {
	b.Helper()
	ctx := auth.AskAlong(b.Context(), "work")
	alone, err := in.CredentialGeneration(b.Context(), of)
	b.must(err)
	gives(b, "generation", alone)(in.CredentialGeneration(ctx, of))
	return ctx
}

// took checks whether the calendar was prefetched.
func (b *bundle) took(ctx context.Context, user calendar.User, want bool) (cal calendar.Calendar) {
	b.Helper()
	cal, got := auth.AlongOf(ctx).Take(user.ID, "work", b.now())
	same(b, "asked along", got, want)
	return cal
}

// alongAsAlone: a prefetch includes recent changes by another process.
func alongAsAlone(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal, token := b.calendar(ann, "work"), b.token(ann, nil).ID
	other := b.another()
	all := calendar.Properties{
		Name: "Wörk ☀\nsecond line", Description: new("two\r\nlines"), Color: new("#11223344"),
		Order: new(int64(-7)), Hidden: true,
		Timezone: "Europe/Berlin", TimezoneData: new("BEGIN:VCALENDAR\r\n"), Kinds: calendar.Kinds{calendar.Todo},
		Transparent: true,
	}
	change := func(do func(tx calendar.Tx) error) func() error {
		return func() error { return b.Update(b.Context(), do) }
	}
	before := b.read(cal)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"Advance", change(func(tx calendar.Tx) error { _, err := tx.Advance(b.Context(), cal.ID); return err })},
		{"UpdateCalendar", change(func(tx calendar.Tx) error { return tx.UpdateCalendar(b.Context(), cal.ID, all) })},
		{"PutShare", func() error { return Share(b.Context(), b, cal.ID, bob.ID, calendar.WriteAccess) }},
		{"DropShare", func() error { return Share(b.Context(), b, cal.ID, bob.ID, calendar.NoAccess) }},
		{
			"the owner's name",
			func() error { return b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{DisplayName: new("Änn\nB.")}) },
		},
		{
			"the owner's quota",
			func() error { return b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{QuotaObjects: new(int64(7))}) },
		},
		{"NewEpoch", func() error { return b.NewEpoch(b.Context()) }},
	} {
		b.must(step.do())
		alone, err := other.CalendarAt(b.Context(), ann.ID, "work")
		b.must(err)
		for _, of := range []auth.Subject{{Name: "ann"}, {Token: token}} {
			same(b, step.name, b.took(b.along(other, of), ann, true), alone)
		}
		if cmp.Equal(alone, before) {
			b.Errorf("%s changes nothing", step.name)
		}
		before = alone
	}
	b.update(func(tx calendar.Tx) error { return tx.MoveCalendar(b.Context(), cal.ID, "elsewhere") })
	b.took(b.along(other, auth.Subject{Name: "ann"}), ann, false)
	b.update(func(tx calendar.Tx) error { return tx.MoveCalendar(b.Context(), cal.ID, "work") })
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), cal.ID) })
	b.took(b.along(other, auth.Subject{Name: "ann"}), ann, false)
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.took(b.along(other, auth.Subject{Name: "ann"}), ann, false)
	b.took(b.along(other, auth.Subject{Token: token}), ann, false)
}

// alongOnce: a prefetch serves a single query, and neither after a while nor after the request's own change.
func alongOnce(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	advance := func(ctx context.Context) {
		b.must(b.Update(ctx, func(tx calendar.Tx) error { _, err := tx.Advance(ctx, cal.ID); return err }))
	}
	version := func(ctx context.Context, what string, want calendar.Version) {
		b.Helper()
		now, err := b.CalendarAt(ctx, ann.ID, "work")
		b.must(err)
		same(b, what, now.Version, want)
	}
	of := auth.Subject{Name: "ann"}
	ctx := b.along(b, of)
	advance(b.Context())
	version(ctx, "asked along", 0)
	version(ctx, "asked again", 1)

	ctx = b.along(b, of)
	advance(b.Context())
	b.pass(time.Second)
	version(ctx, "asked later", 2)

	ctx = b.along(b, of)
	advance(ctx)
	version(ctx, "asked after a change of its own", 3)
}

func alongForOne(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.calendar(ann, "work")
	his, rest := b.calendar(bob, "work"), b.calendar(ann, "rest")
	of := auth.Subject{Name: "ann"}
	gives(b, "another user's", his)(b.CalendarAt(b.along(b, of), bob.ID, "work"))
	gives(b, "at another address", rest)(b.CalendarAt(b.along(b, of), ann.ID, "rest"))
}

func alongOfOwn(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	ctx := auth.AskAlong(b.Context(), calendar.Segment(cal.ID))
	_, err := b.CredentialGeneration(ctx, auth.Subject{Name: "bob"})
	b.must(err)
	shared, err := b.CalendarAt(ctx, bob.ID, calendar.Segment(cal.ID))
	b.must(err)
	same(b, "access", shared.Access, calendar.ReadAccess)
}
