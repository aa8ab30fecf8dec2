package storetest

import "caldav-mcp-server/calendar"

func directoryTests() []test {
	return []test{
		{"knows both sides of a share", knowsBothSides},
		{"ignores calendars in the trash", knowsNobodyByTrash},
		{"knows who offers a share until it is declined", knowsByOffers},
	}
}

func knowsBothSides(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	work, home, bobs := b.calendar(ann, "work"), b.calendar(ann, "home"), b.calendar(bob, "work")
	b.knows("those who share nothing", ann)
	for cal, user := range map[calendar.CalendarID]calendar.User{work.ID: eve, home.ID: bob, bobs.ID: ann} {
		b.must(Share(b.Context(), b, cal, user.ID, calendar.FreeBusyAccess))
	}
	b.must(Share(b.Context(), b, work.ID, bob.ID, calendar.WriteAccess))
	b.knows("hers", ann,
		calendar.Acquaintance{User: bob, Calendar: work.ID}, calendar.Acquaintance{User: bob, Calendar: home.ID},
		calendar.Acquaintance{User: bob, Calendar: bobs.ID}, calendar.Acquaintance{User: eve, Calendar: work.ID})
	// Two sharees of the same calendar do not know each other through it.
	b.knows("eve's", eve, calendar.Acquaintance{User: ann, Calendar: work.ID})
	b.must(Share(b.Context(), b, work.ID, eve.ID, calendar.NoAccess))
	b.knows("eve's after the end", eve)
}

func knowsNobodyByTrash(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	b.must(Share(b.Context(), b, cal.ID, bob.ID, calendar.ReadAccess))
	b.trash(cal)
	b.knows("hers", ann)
	b.knows("his", bob)
}

func knowsByOffers(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	cal := b.calendar(ann, "work")
	offer := calendar.Share{Calendar: cal.ID, User: bob, Access: calendar.ReadAccess, Created: b.now()}
	for status, known := range map[calendar.ShareStatus]bool{
		calendar.SharePending: true, calendar.ShareAccepted: true, calendar.ShareDeclined: false,
		calendar.ShareWithdrawn: false,
	} {
		offer.Status = status
		b.update(func(tx calendar.Tx) error { return tx.PutShare(b.Context(), offer) })
		var hers, his []calendar.Acquaintance
		if known {
			hers, his = []calendar.Acquaintance{{User: bob, Calendar: cal.ID}},
				[]calendar.Acquaintance{{User: ann, Calendar: cal.ID}}
		}
		b.knows("hers, "+string(status), ann, hers...)
		b.knows("his, "+string(status), bob, his...)
	}
}

// knows checks a user's acquaintances.
func (b *bundle) knows(what string, user calendar.User, want ...calendar.Acquaintance) {
	b.Helper()
	gives(b, what, want)(b.Acquaintances(b.Context(), user.ID))
}
