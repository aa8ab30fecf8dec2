package storetest

import "caldav-mcp-server/calendar"

func deadPropertyTests() []test {
	return []test{
		{"round-trips", keptComesBack},
		{"belongs to a single holder", keptIsApart},
		{"is changed in order, and counted", keptChanges},
		{"is deleted with an object", keptGoesWithObject},
		{"replaces existing ones when copied", keptIsCopied},
		{"is listed for a home", keptInHome},
		{"needs a holder", keptNeedsHolder},
	}
}

func kept(space, local, value string) calendar.DeadProperty {
	return calendar.DeadProperty{Name: calendar.PropertyName{Space: space, Local: local}, Value: value}
}

func ofObject(cal calendar.Calendar, name calendar.ObjectName) calendar.Holder {
	return calendar.Holder{Place: calendar.AtObject, Calendar: cal, Object: name}
}

func ofCalendar(cal calendar.Calendar) calendar.Holder {
	return calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}
}

// keep changes the stored properties and returns their number.
func (b *bundle) keep(h calendar.Holder, edits ...calendar.DeadProperty) int {
	b.Helper()
	var all calendar.Usage
	b.update(func(tx calendar.Tx) error {
		var err error
		all, _, err = tx.SetDeadProperties(b.Context(), h, edits)
		return err
	})
	return int(all.Objects)
}

func (b *bundle) keeps(what string, h calendar.Holder, want ...calendar.DeadProperty) {
	b.Helper()
	gives(b, what, want)(b.DeadProperties(b.Context(), h))
}

func keptComesBack(b *bundle) {
	cal := b.home()
	want := []calendar.DeadProperty{
		kept("", "bare", "<bare/>"), kept("http://a/", "ä", "☀\r\n\t"), kept("http://a/", "B", "b"),
		kept("http://b/", "a", "c"),
	}
	// Ordered by namespace and name, in byte order.
	want[1], want[2] = want[2], want[1]
	b.keep(ofCalendar(cal), want[3], want[1], want[0], want[2])
	b.keeps("properties", ofCalendar(cal), want...)
}

func keptIsApart(b *bundle) {
	ann := b.user("ann")
	work, rest := b.calendar(ann, "work"), b.calendar(ann, "rest")
	b.put(work, "a.ics")
	holders := []calendar.Holder{
		{Place: calendar.AtPrincipal, User: ann.ID},
		{Place: calendar.AtHome, User: ann.ID},
		ofCalendar(work), ofCalendar(rest), ofObject(work, "a.ics"), ofObject(work, "A.ics"), ofObject(rest, "a.ics"),
	}
	for i, h := range holders {
		b.keep(h, kept("x", "y", string(rune('a'+i))))
	}
	for i, h := range holders {
		b.keeps("properties", h, kept("x", "y", string(rune('a'+i))))
	}
	names, err := b.DeadPropertyHolders(b.Context(), work.ID)
	b.must(err)
	same(b, "keepers", len(names), 2)
}

func keptChanges(b *bundle) {
	h := ofCalendar(b.home())
	same(b, "count", b.keep(h, kept("x", "a", "1"), kept("x", "b", "1"), kept("x", "a", "2")), 2)
	b.keeps("after setting", h, kept("x", "a", "2"), kept("x", "b", "1"))
	same(b, "count", b.keep(h, kept("x", "a", ""), kept("x", "none", ""), kept("x", "b", ""), kept("x", "b", "3")), 1)
	b.keeps("after removing", h, kept("x", "b", "3"))
}

func keptGoesWithObject(b *bundle) {
	cal := b.home()
	o := b.put(cal, "a.ics")
	b.keep(ofObject(cal, "a.ics"), kept("x", "y", "z"))
	b.put(cal, "a.ics")
	b.keeps("after a change of the object", ofObject(cal, "a.ics"), kept("x", "y", "z"))
	b.bury(o)
	b.keeps("of a tombstone", ofObject(cal, "a.ics"))
	b.put(cal, "a.ics")
	b.keeps("of the next one there", ofObject(cal, "a.ics"))
}

func keptIsCopied(b *bundle) {
	ann := b.user("ann")
	work, rest := b.calendar(ann, "work"), b.calendar(ann, "rest")
	b.put(work, "a.ics")
	b.put(rest, "b.ics")
	b.keep(ofObject(work, "a.ics"), kept("x", "y", "a"))
	b.keep(ofObject(rest, "b.ics"), kept("x", "y", "b"), kept("x", "other", "b"))
	b.update(func(tx calendar.Tx) error {
		return tx.CopyDeadProperties(b.Context(), ofObject(work, "a.ics"), ofObject(rest, "b.ics"))
	})
	b.keeps("the copy", ofObject(rest, "b.ics"), kept("x", "y", "a"))
	b.keeps("the original", ofObject(work, "a.ics"), kept("x", "y", "a"))
}

func keptInHome(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	own, shared, others := b.calendar(ann, "own"), b.calendar(bob, "shared"), b.calendar(bob, "others")
	b.must(Share(b.Context(), b, shared.ID, ann.ID, calendar.ReadAccess))
	b.calendar(ann, "without")
	b.put(own, "a.ics")
	for _, h := range []calendar.Holder{
		ofCalendar(own), ofCalendar(shared), ofCalendar(others),
		ofObject(own, "a.ics"),
	} {
		b.keep(h, kept("x", "y", string(h.Calendar.Segment)), kept("x", "z", "z"))
	}
	b.keep(calendar.Holder{Place: calendar.AtShare, Calendar: shared, User: ann.ID}, kept("x", "y", "as she has it"))
	got, err := b.DeadPropertiesInHome(b.Context(), ann.ID)
	b.must(err)
	same(b, "kept in the home", got, map[calendar.CalendarID][]calendar.DeadProperty{
		own.ID:    {kept("x", "y", "own"), kept("x", "z", "z")},
		shared.ID: {kept("x", "y", "as she has it")},
	})
}

func keptNeedsHolder(b *bundle) {
	for _, h := range []calendar.Holder{
		{Place: calendar.AtHome, User: "nobody"}, {
			Place:    calendar.AtCalendar,
			Calendar: calendar.Calendar{ID: "nowhere"},
		},
	} {
		err := b.Update(b.Context(), func(tx calendar.Tx) error {
			_, _, err := tx.SetDeadProperties(b.Context(), h, []calendar.DeadProperty{kept("x", "y", "z")})
			return err
		})
		b.refused(err, calendar.NotFound, "")
	}
}
