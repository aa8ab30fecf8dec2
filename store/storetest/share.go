package storetest

import "caldav-mcp-server/calendar"

func shareTests() []test {
	return []test{
		{"gives access", shareGives},
		{"stands in the home under the calendar's id", shareStands},
		{"yields to an own calendar of that name", shareYields},
		{"is refused for what does not exist", shareRefused},
	}
}

func shareGives(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	cal := b.calendar(ann, "work")
	for _, access := range []calendar.Access{calendar.ReadAccess, calendar.FreeBusyAccess, calendar.WriteAccess, calendar.NoAccess} {
		b.must(b.Share(b.Context(), cal.ID, bob.ID, access))
		want := cal
		want.Access = access
		got, err := b.Calendar(b.Context(), bob.ID, cal.ID)
		b.must(err)
		same(b, "his", got, want)
		want.Access = calendar.NoAccess
		got, err = b.Calendar(b.Context(), eve.ID, cal.ID)
		b.must(err)
		same(b, "a stranger's", got, want)
		same(b, "her own", b.read(cal), cal)
	}
	all, err := b.Calendars(b.Context(), bob.ID)
	b.must(err)
	same(b, "calendars after the last", all, nil)
}

func shareStands(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(b.Share(b.Context(), cal.ID, bob.ID, calendar.ReadAccess))
	want := cal
	want.Access = calendar.ReadAccess
	got, err := b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID))
	b.must(err)
	same(b, "at its id", got, want)
	// Neither by the owner's name for it, nor in the owner's own home by id.
	_, err = b.CalendarAt(b.Context(), bob.ID, "work")
	b.refused(err, calendar.NotFound, "")
	_, err = b.CalendarAt(b.Context(), ann.ID, calendar.Segment(cal.ID))
	b.refused(err, calendar.NotFound, "")
}

func shareYields(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(b.Share(b.Context(), cal.ID, bob.ID, calendar.ReadAccess))
	own := b.calendar(bob, calendar.Segment(cal.ID))
	got, err := b.CalendarAt(b.Context(), bob.ID, calendar.Segment(cal.ID))
	b.must(err)
	same(b, "calendar", got, own)
}

func shareRefused(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.refused(b.Share(b.Context(), "nowhere", bob.ID, calendar.ReadAccess), calendar.NotFound, "")
	b.refused(b.Share(b.Context(), cal.ID, "nobody", calendar.ReadAccess), calendar.NotFound, "")
	b.refused(b.Share(b.Context(), cal.ID, bob.ID, calendar.OwnerAccess), calendar.Invalid, "")
}
