package storetest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

func journalTests() []test {
	return []test{
		{"yields the latest first, with the previous bytes", journalYields},
		{"is filtered", journalNarrows},
		{"spans many pages", journalPages},
		{"shows the user and the action", journalShows},
		{"reports pruned entries", journalForgets},
		{"keeps the units of a transaction", journalUnits},
		{"keeps the links between changes and their undo", journalUndone},
		{"is read within a transaction", journalWithin},
		{"lists its tokens", journalActors},
		{"has the bytes before and after a change", journalTexts},
	}
}

// drawn collects a sequence.
func drawn[T any](b *bundle, all iter.Seq2[T, error]) []T {
	b.Helper()
	var list []T
	for one, err := range all {
		b.must(err)
		list = append(list, one)
	}
	return list
}

// versions returns the versions of the matching entries.
func (b *bundle) versions(cal calendar.Calendar, q calendar.JournalQuery) []calendar.Version {
	b.Helper()
	var list, withBefore []calendar.Version
	for _, c := range drawn(b, b.Journal(b.Context(), cal.ID, q)) {
		list = append(list, c.Version)
	}
	q.WithBefore = true
	for _, c := range drawn(b, b.Journal(b.Context(), cal.ID, q)) {
		withBefore = append(withBefore, c.Version)
	}
	same(b, "the same with the bytes before", withBefore, list)
	return list
}

// log writes entries in one transaction, each with its own version.
func (b *bundle) log(entries ...calendar.Change) []calendar.Change {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		for i := range entries {
			cal, err := tx.Advance(b.Context(), entries[i].Calendar)
			if err != nil {
				return err
			}
			entries[i].Version = cal.Version
			if err := tx.Log(b.Context(), entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return entries
}

func journalYields(b *bundle) {
	cal := b.home()
	o := b.put(cal, "a.ics")
	gone := b.bury(o)
	same(b, "journal", drawn(b, b.Journal(b.Context(), cal.ID, calendar.JournalQuery{WithBefore: true})),
		[]calendar.Change{b.entry(gone, calendar.Deleted), b.entry(o, calendar.Modified)})
	same(b, "journal of no calendar", b.versions(calendar.Calendar{ID: "nowhere"}, calendar.JournalQuery{}), nil)
	b.trash(cal)
	same(b, "journal of a calendar in the trash", b.versions(cal, calendar.JournalQuery{}), []calendar.Version{2, 1})
}

func journalNarrows(b *bundle) {
	cal, other := b.home(), b.calendar(b.user("bob"), "other")
	entry := func(uid calendar.UID, token calendar.TokenID, user calendar.UserID) {
		b.pass(time.Minute)
		for _, in := range []calendar.Calendar{cal, other} {
			b.log(calendar.Change{
				Calendar: in.ID, UID: uid, Object: calendar.ObjectName(uid), Did: calendar.Created,
				At: b.now(), Token: token, User: user,
			})
		}
	}
	entry("", "t", "ann")
	entry("one", "t", "ann")
	entry("two", "", "bob")
	third := b.now()
	entry("one", "u", "ann")
	entry("one", "", "bob")
	for _, in := range []calendar.Calendar{cal, other} {
		b.log(calendar.Change{Calendar: in.ID, UID: "three", At: b.now(), User: "ann", Assistant: true})
	}
	itself, one := calendar.UID(""), calendar.UID("one")
	for _, c := range []struct {
		name string
		q    calendar.JournalQuery
		want []calendar.Version
	}{
		{"all", calendar.JournalQuery{}, []calendar.Version{6, 5, 4, 3, 2, 1}},
		{"versions", calendar.JournalQuery{From: 2, Until: 4}, []calendar.Version{4, 3, 2}},
		{"time", calendar.JournalQuery{NotAfter: third}, []calendar.Version{3, 2, 1}},
		{"the calendar", calendar.JournalQuery{Of: &itself}, []calendar.Version{1}},
		{"an object", calendar.JournalQuery{Of: &one}, []calendar.Version{5, 4, 2}},
		{
			"some objects",
			calendar.JournalQuery{Among: []calendar.UID{"two", "one"}, From: 3},
			[]calendar.Version{5, 4, 3},
		},
		{"one of some", calendar.JournalQuery{Among: []calendar.UID{"none", "two"}}, []calendar.Version{3}},
		{"a token", calendar.JournalQuery{Token: "t"}, []calendar.Version{2, 1}},
		{"assistants", calendar.JournalQuery{Assistant: true}, []calendar.Version{6}},
		{"other users' assistants", calendar.JournalQuery{Assistant: true, User: "bob"}, nil},
		{"a user", calendar.JournalQuery{User: "bob"}, []calendar.Version{5, 3}},
		{
			"all of it",
			calendar.JournalQuery{Of: &one, Token: "t", User: "ann", From: 1, Until: 9, NotAfter: b.now()},
			[]calendar.Version{2},
		},
		{"nothing", calendar.JournalQuery{Token: "nobody"}, nil},
	} {
		same(b, c.name, b.versions(cal, c.q), c.want)
	}
}

func journalPages(b *bundle) {
	cal := b.home()
	entries := make([]calendar.Change, 200)
	var want []calendar.Version
	for i := range entries {
		entries[i] = calendar.Change{
			Calendar: cal.ID, Object: "a.ics", UID: "a", Did: calendar.Modified,
			At: b.now(), Token: "t",
		}
		want = append([]calendar.Version{calendar.Version(i + 1)}, want...)
	}
	b.log(entries...)
	uid := calendar.UID("a")
	for _, q := range []calendar.JournalQuery{
		{},
		{Of: &uid},
		{Token: "t"},
		{Of: &uid, Token: "t"},
		{Among: []calendar.UID{"b", "a"}},
	} {
		same(b, fmt.Sprintf("%+v", q), b.versions(cal, q), want)
	}
}

func journalShows(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	live, gone := b.put(cal, "live.ics"), b.bury(b.put(cal, "gone.ics"))
	taken := b.event(cal, "gone.ics")
	taken.UID = "another"
	taken, err := b.write(b.Store, taken)
	b.must(err)
	b.log(calendar.Change{Calendar: cal.ID, Did: calendar.Modified, At: b.now(), User: ann.ID, Before: []byte("{}")})
	line := func(e calendar.Change, summary string, kind calendar.Kind) calendar.Change {
		e.Before, e.Kind, e.Summary, e.Unit, e.Size = nil, kind, summary, e.ID(), max(e.Size, 2)
		return e
	}
	itself := line(calendar.Change{Calendar: cal.ID, Version: 5, Did: calendar.Modified, At: b.now(), User: ann.ID},
		"", "")
	itself.UserName = "ann"
	before := gone
	before.Version--
	same(b, "lines", drawn(b, b.Journal(b.Context(), cal.ID, calendar.JournalQuery{})), []calendar.Change{
		itself, line(b.entry(taken, calendar.Modified), taken.Summary, taken.Kind),
		line(b.entry(gone, calendar.Deleted), "", ""), line(b.entry(before, calendar.Modified), "", ""),
		line(b.entry(live, calendar.Modified), live.Summary, live.Kind),
	})
}

func journalForgets(b *bundle) {
	cal := b.home()
	b.put(cal, "old.ics")
	b.pass(time.Hour)
	b.put(cal, "young.ics")
	b.must(b.Prune(b.Context(), b.now()))
	var kept []bool
	for _, l := range drawn(b, b.Journal(b.Context(), cal.ID, calendar.JournalQuery{})) {
		kept = append(kept, l.Size > 0)
	}
	same(b, "kept", kept, []bool{true, false})
	// Deleting objects for good removes their old data from the journal, but not the calendar's old settings.
	b.log(calendar.Change{Calendar: cal.ID, Did: calendar.Modified, At: b.now(), Before: []byte("{}")})
	b.must(b.ForgetDeletions(b.Context(), cal.ID))
	same(b, "settings", drawn(b, b.Journal(b.Context(), cal.ID, calendar.JournalQuery{}))[0].Size > 0, true)
}

func journalUnits(b *bundle) {
	ann := b.user("ann")
	one, two := b.calendar(ann, "one"), b.calendar(ann, "two")
	entry := func(in calendar.Calendar, uid calendar.UID) calendar.Change {
		return calendar.Change{
			Calendar: in.ID, Object: calendar.ObjectName(uid), UID: uid,
			Did: calendar.Created, At: b.now(),
		}
	}
	alone := b.log(entry(one, "a"))[0].ID()
	together := b.log(entry(two, "b"), entry(one, "b"), entry(two, "c"))
	head := together[0].ID()
	want := []calendar.ChangeID{head, together[1].ID(), together[2].ID()}
	for _, id := range want {
		gives(b, "unit of "+id.String(), want)(b.Unit(b.Context(), id))
	}
	gives(b, "unit of one", []calendar.ChangeID{alone})(b.Unit(b.Context(), alone))
	for _, missing := range []calendar.ChangeID{{Calendar: one.ID, Version: 99}, {Calendar: "nowhere", Version: 1}} {
		b.refuses(calendar.NotFound, "")(b.Unit(b.Context(), missing))
	}
	later := entry(one, "d")
	b.update(func(tx calendar.Tx) error {
		cal, err := tx.Advance(b.Context(), one.ID)
		if err != nil {
			return err
		}
		later.Version = cal.Version
		tx.Join(head)
		return tx.Log(b.Context(), later)
	})
	joined, err := b.Unit(b.Context(), later.ID())
	b.must(err)
	same(b, "unit that was joined", len(joined), len(want)+1)
	lines := drawn(b, b.Journal(b.Context(), one.ID, calendar.JournalQuery{Until: later.Version - 1}))
	same(b, "heads", []calendar.ChangeID{lines[0].Unit, lines[1].Unit}, []calendar.ChangeID{head, alone})
}

func journalUndone(b *bundle) {
	cal, other := b.home(), b.calendar(b.user("bob"), "other")
	entry := func(in calendar.Calendar, undoes ...calendar.Version) calendar.Change {
		return calendar.Change{
			Calendar: in.ID, Object: "a", UID: "a", Did: calendar.Modified,
			At: b.now(), Undoes: undoes,
		}
	}
	b.log(entry(cal), entry(cal), entry(other))
	b.log(entry(cal, 2, 1))
	b.log(entry(cal, 3))
	b.log(entry(cal, 1))
	var undoneBy []calendar.Version
	var undoes [][]calendar.Version
	for _, l := range drawn(b, b.Journal(b.Context(), cal.ID, calendar.JournalQuery{})) {
		undoneBy, undoes = append(undoneBy, l.UndoneBy), append(undoes, l.Undoes)
	}
	same(b, "undone by", undoneBy, []calendar.Version{0, 0, 4, 3, 5})
	same(b, "undoes", undoes, [][]calendar.Version{{1}, {3}, {1, 2}, nil, nil})
	same(b, "undone in another calendar",
		drawn(b, b.Journal(b.Context(), other.ID, calendar.JournalQuery{}))[0].UndoneBy, 0)
}

func journalWithin(b *bundle) {
	cal := b.home()
	b.update(func(tx calendar.Tx) error {
		h := calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}
		color := calendar.DeadProperty{Name: calendar.PropertyName{Space: "urn:x", Local: "color"}, Value: "<color/>"}
		if _, _, err := tx.SetDeadProperties(b.Context(), h, []calendar.DeadProperty{color}); err != nil {
			return err
		}
		kept, err := tx.DeadProperties(b.Context(), h)
		same(b, "kept", kept, []calendar.DeadProperty{color})
		if err != nil {
			return err
		}
		locked, err := tx.Advance(b.Context(), cal.ID)
		if err != nil {
			return err
		}
		e := calendar.Change{
			Calendar: cal.ID, Version: locked.Version, Did: calendar.Modified, At: b.now(),
			Before: []byte("{}"), Size: 2,
		}
		if err := tx.Log(b.Context(), e); err != nil {
			return err
		}
		same(b, "journal", drawn(b, tx.Journal(b.Context(), cal.ID, calendar.JournalQuery{WithBefore: true})),
			[]calendar.Change{e})
		return nil
	})
}

func journalActors(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	cal := b.calendar(ann, "work")
	by := func(token calendar.TokenID, agent string, whom calendar.UserID) calendar.Change {
		return calendar.Change{
			Calendar: cal.ID, Did: calendar.Modified, At: b.now(), User: ann.ID, Token: token,
			Agent: agent, Whom: whom,
		}
	}
	b.log(by("t2", "Claude", ""), by("t1", "mirror", ""), by("t2", "Claude", ""), by("t2", "claude at work", ""),
		by("", "Thunderbird", ""), by("t3", "sharer", ben.ID))
	for user, want := range map[calendar.UserID][]calendar.Actor{
		"": {{Token: "t1", Agent: "mirror"}, {Token: "t2", Agent: "Claude"}, {
			Token: "t2",
			Agent: "claude at work",
		}, {Token: "t3", Agent: "sharer"}},
		ben.ID: {{Token: "t1", Agent: "mirror"}, {Token: "t2", Agent: "Claude"}, {
			Token: "t2",
			Agent: "claude at work",
		}, {Token: "t3", Agent: "sharer"}},
		"cat": {{Token: "t1", Agent: "mirror"}, {Token: "t2", Agent: "Claude"}, {
			Token: "t2",
			Agent: "claude at work",
		}},
	} {
		gives(b, "tokens for "+string(user), want)(b.Actors(b.Context(), cal.ID, user))
	}
}

func journalTexts(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	cal := b.calendar(ann, "work")
	first := b.put(cal, "a.ics")
	second := b.event(cal, "a.ics")
	second.Data = []byte(strings.Replace(string(first.Data), "X-NAME:", "X-NAME:much longer ", 1))
	second.Size = int64(len(second.Data))
	second, err := b.write(b.Store, second)
	b.must(err)
	b.bury(second)
	live := b.put(cal, "b.ics")
	about := func(whom calendar.UserID, before string) calendar.Change {
		return calendar.Change{
			Calendar: cal.ID, Did: calendar.Modified, At: b.now(), Whom: whom,
			Before: []byte(before),
		}
	}
	b.log(about("", "one"), about(ben.ID, "share"), about("", "two"))
	texts := func(most int64, changes ...calendar.Version) []calendar.ChangeTexts {
		found, err := b.Texts(b.Context(), cal.ID, changes, most)
		b.must(err)
		slices.SortFunc(found, func(a, b calendar.ChangeTexts) int { return cmp.Compare(a.Version, b.Version) })
		return found
	}
	want := []calendar.ChangeTexts{
		{Version: 1, Before: first.Data, After: second.Data},
		{Version: 2, Before: second.Data, After: second.Data},
		{Version: 3, Before: second.Data, Latest: true},
		{Version: 4, Before: live.Data, After: live.Data, Latest: true},
		{Version: 5, Before: []byte("one"), After: []byte("two")},
		{Version: 6, Before: []byte("share"), Latest: true},
		{Version: 7, Before: []byte("two"), Latest: true},
	}
	same(b, "texts", texts(1<<20, 7, 1, 2, 3, 4, 5, 6), want)
	same(b, "texts of more changes than one query takes",
		texts(1<<20, 1, 1, 1, 1, 1, 1, 1, 1, 7), []calendar.ChangeTexts{want[0], want[6]})
	same(b, "no texts", texts(1<<20), nil)
	same(b, "what is too large", texts(4, 4, 5), []calendar.ChangeTexts{{Version: 4, Latest: true}, want[4]})
}
